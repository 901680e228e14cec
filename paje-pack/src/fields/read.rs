//! Reader of the fields of a stream.

use super::{BASES, DIGITS, PARTS, Place, Slot, at, column, form, unzigzag};
use crate::stream::StreamReader;
use std::ops::Range;

use paje_parser::token::is_white;

use crate::digits::{SHORT, decimal_len, decimal_lengths, few_digits};
use crate::out::Out;
use crate::table::{Group, Table};
use crate::texts::Texts;
use crate::value::{Kind, Value};

const AT_ONCE: usize = 1 << 12;

#[derive(Default)]
struct Field {
    form: u8,
    base: u8,
    last: i64,
    known: Vec<Known>,
    /// A range of decimal numbers, and the length of their texts. All texts of the range have this
    /// length.
    lengths: (Range<i64>, usize),
}

#[derive(Clone, Copy)]
struct Known {
    value: Value,
    /// Bytes of the text if there are at most [`FEW`], with the first byte lowest.
    text: u64,
    len: u32,
    is_word: bool,
}

/// Maximum length of a short text. A word has room for one more byte.
const FEW: usize = 7;

/// Room for the parts of a key, and for the surplus bytes that are written after each part.
const ROOM: usize = (FEW + 1) * (PARTS + 1);

pub(crate) struct FieldsIn {
    table: Table,
    fields: Vec<Field>,
    slots: Vec<Slot>,
    texts: Texts,
    /// Whether there are texts that are neither words nor parts of words.
    has_odd: bool,
}

impl FieldsIn {
    /// Creates a reader for a segment with `length` bytes of text. `column` is the first column of
    /// the fields.
    pub(crate) fn new(side: &mut StreamReader<'_>, column: usize, length: usize) -> FieldsIn {
        let bases = side.all(column + column::BASES).iter();
        let ways = side.all(column + column::FORMS).iter().zip(bases);
        let field =
            |(form, base): (&u8, &u8)| Field { form: *form, base: *base, ..Field::default() };
        let fields: Vec<_> = ways.map(field).collect();
        let is_known = |field: &Field| {
            u64::from(field.form) < u64::from(form::DECIMAL) + DIGITS
                && usize::from(field.base) < BASES
        };
        if !fields.iter().all(is_known) {
            side.fail();
        }
        // A key has eight slots, and each slot may have a number.
        let most = length.saturating_mul(8);
        let table = Table::read(side, column + column::NUMBERS, [most; 2]);
        let slots = vec![Slot::default(); table.len().min(AT_ONCE)];
        FieldsIn { table, fields, slots, texts: Texts::default(), has_odd: false }
    }

    #[inline]
    pub(crate) const fn has_odd(&self) -> bool {
        self.has_odd
    }

    /// Returns whether reading went beyond the end of any slot.
    pub(crate) fn has_overrun(&self) -> bool {
        self.table.has_overrun()
    }

    /// Reads the next value of a slot. Returns the value and its length, or `None` if the value is
    /// not a word.
    #[inline(always)]
    pub(crate) fn word(
        &mut self,
        side: &mut StreamReader<'_>,
        place: Place,
    ) -> Option<(Value, usize)> {
        self.plain(place).or_else(|| self.any_word(side, place))
    }

    /// Skips the next value of a slot. Returns its length, or `None` if it is not a word.
    #[inline(always)]
    pub(crate) fn pass(&mut self, side: &mut StreamReader<'_>, place: Place) -> Option<u32> {
        match self.plain(place) {
            Some((_, len)) => Some(len as u32),
            None => self.any_word(side, place).map(|(_, len)| len as u32),
        }
    }

    #[inline(never)]
    fn any_word(&mut self, side: &mut StreamReader<'_>, place: Place) -> Option<(Value, usize)> {
        let value = self.value_only(side, place);
        Some((value, self.len_of(value)?))
    }

    /// Reads a value that occurred before, or a decimal number. For any other value, reads nothing
    /// and returns `None`.
    #[inline(always)]
    fn plain(&mut self, place: Place) -> Option<(Value, usize)> {
        let FieldsIn { table, fields, slots, .. } = self;
        let (groups, numbers) = table.parts();
        let group = groups.get_mut(place.slot as usize)?;
        let code = numbers.get(group.next_or_other())?.checked_sub(1)?;
        let field = fields.get_mut(place.field as usize)?;
        if field.form == form::TEXTS {
            let known = field.known.get(code as usize).filter(|known| known.is_word)?;
            group.pass();
            return Some((known.value, known.len as usize));
        }
        let after = field.form.checked_sub(form::DECIMAL)?;
        let slot = slots.get_mut(place.slot as usize)?;
        let came = slot.base(field.base, field.last).wrapping_add(unzigzag(code));
        if !field.lengths.0.contains(&came) {
            field.lengths = decimal_lengths(came, after);
        }
        slot.take(came);
        field.last = came;
        group.pass();
        Some((Value { kind: Kind::Decimal(after), bits: came as u64 }, field.lengths.1))
    }

    #[inline(always)]
    pub(crate) fn value(&mut self, side: &mut StreamReader<'_>, place: Place, out: &mut Out) {
        let value = self.value_only(side, place);
        self.put(value, out);
    }

    #[inline]
    pub(crate) fn value_only(&mut self, side: &mut StreamReader<'_>, place: Place) -> Value {
        let Some(code) = self.table.next(place.slot) else {
            side.fail();
            return Value::default();
        };
        self.code(side, place, code)
    }

    /// Reads the next values of consecutive slots and appends them to `out`, separated by `joint`.
    /// Returns where the second value begins and ends.
    #[inline(always)]
    pub(crate) fn parts(
        &mut self,
        side: &mut StreamReader<'_>,
        place: Place,
        count: u32,
        joint: u8,
        out: &mut Out,
    ) -> (u32, u32) {
        let mut second = (0, 0);
        for number in self.short_parts(place, count, joint, out, &mut second)..count {
            if number > 0 {
                out.push(joint);
            }
            let from = out.len() as u32;
            let of = Place { slot: place.slot + number, field: place.field + number };
            self.value(side, of, out);
            if number == 1 {
                second = (from, out.len() as u32);
            }
        }
        second
    }

    /// Reads and appends values up to the first long value. Returns how many values were read.
    #[inline(always)]
    fn short_parts(
        &mut self,
        place: Place,
        count: u32,
        joint: u8,
        out: &mut Out,
        second: &mut (u32, u32),
    ) -> u32 {
        let of = |first: u32| first as usize..first as usize + count as usize;
        let FieldsIn { table, fields, slots, .. } = self;
        let (groups, numbers) = table.parts();
        let (Some(groups), Some(slots), Some(fields)) = (
            groups.get_mut(of(place.slot)),
            slots.get_mut(of(place.slot)),
            fields.get_mut(of(place.field)),
        ) else {
            return 0;
        };
        let start = out.len();
        let Some(room) = out.room().first_chunk_mut::<ROOM>() else { return 0 };
        let (mut at, mut done) = (0, 0);
        for ((group, slot), field) in groups.iter_mut().zip(slots).zip(fields) {
            let Some((text, len)) = field.short(numbers, group, slot) else { break };
            let Some(to) = room.get_mut(at..).and_then(|room| room.first_chunk_mut()) else {
                break;
            };
            *to = (text | u64::from(joint) << (8 * len)).to_le_bytes();
            if done == 1 {
                *second = ((start + at) as u32, (start + at + len) as u32);
            }
            at += len + 1;
            done += 1;
        }
        // No joint follows the last part.
        out.pass(at.saturating_sub(1));
        done
    }

    #[inline]
    pub(crate) fn len_of(&self, value: Value) -> Option<usize> {
        match value.kind {
            Kind::Text => {
                let text = self.texts.get(value.bits as u32);
                (!self.has_odd || is_word(text)).then_some(text.len())
            }
            Kind::Decimal(after) => Some(decimal_len(value.bits as i64, after)),
            Kind::Hex => Some(SHORT),
        }
    }

    #[inline]
    pub(crate) fn put(&self, value: Value, out: &mut Out) {
        out.put_value(value, &self.texts);
    }

    /// Reads the next value of a slot. Returns `None` if the value is a text with the same code as
    /// the previous value.
    #[inline]
    pub(crate) fn other(
        &mut self,
        side: &mut StreamReader<'_>,
        place: Place,
        last: &mut u64,
    ) -> Option<Value> {
        let Some(code) = self.table.next(place.slot) else {
            side.fail();
            return Some(Value::default());
        };
        if code == *last && code > 0 && at(&mut self.fields, place.field).form == form::TEXTS {
            return None;
        }
        *last = code;
        Some(self.code(side, place, code))
    }

    #[inline(always)]
    fn code(&mut self, side: &mut StreamReader<'_>, place: Place, code: u64) -> Value {
        let field = at(&mut self.fields, place.field);
        let Some(code) = code.checked_sub(1) else { return self.text(side, place) };
        if field.form == form::TEXTS {
            let value = field.known.get(code as usize).map(|known| known.value);
            if value.is_none() {
                side.fail();
            }
            return value.unwrap_or_default();
        }
        let (difference, kind) = match field.form {
            form::HEX => (code, Kind::Hex),
            form::ANY => (code / DIGITS, Kind::Decimal((code % DIGITS) as u8)),
            form => (code, Kind::Decimal(form - form::DECIMAL)),
        };
        let slot = at(&mut self.slots, place.slot);
        let came = slot.base(field.base, field.last).wrapping_add(unzigzag(difference));
        slot.take(came);
        field.last = came;
        Value { kind, bits: came as u64 }
    }

    #[cold]
    #[inline(never)]
    fn text(&mut self, side: &mut StreamReader<'_>, place: Place) -> Value {
        let text = side.text();
        self.has_odd |= text.is_empty() || !is_bare(text);
        let value = Value::of(text)
            .unwrap_or_else(|| Value { kind: Kind::Text, bits: self.texts.put(text).into() });
        let len = text.len() as u32;
        let is_word = is_word(text);
        let field = at(&mut self.fields, place.field);
        if field.form == form::TEXTS {
            let text = Known::text_of(text);
            field.known.push(Known { value, text, len, is_word });
        }
        value
    }
}

impl Field {
    /// Reads the next value of a slot if it is short; otherwise reads nothing. Returns its text,
    /// with the first byte lowest, and its length.
    #[inline(always)]
    fn short(
        &mut self,
        numbers: &[u64],
        group: &mut Group,
        slot: &mut Slot,
    ) -> Option<(u64, usize)> {
        let code = numbers.get(group.next_or_other())?.checked_sub(1)?;
        if self.form == form::DECIMAL {
            let came = slot.base(self.base, self.last).wrapping_add(unzigzag(code));
            let text = few_digits(came as u64)?;
            slot.take(came);
            self.last = came;
            group.pass();
            return Some(text);
        }
        let known = self.known.get(code as usize).filter(|_| self.form == form::TEXTS)?;
        if known.len > FEW as u32 {
            return None;
        }
        group.pass();
        Some((known.text, known.len as usize))
    }
}

impl Known {
    fn text_of(text: &[u8]) -> u64 {
        text.iter().take(FEW).rev().fold(0, |all, byte| all << 8 | u64::from(*byte))
    }
}

/// Returns whether a text is one word: either quoted as a whole, or without whitespace, quotes and
/// comments.
pub(crate) fn is_word(text: &[u8]) -> bool {
    match text {
        [b'"', inner @ .., b'"'] => memchr::memchr(b'"', inner).is_none(),
        _ => is_bare(text) && !text.is_empty(),
    }
}

/// Returns whether a text can be part of a word.
fn is_bare(text: &[u8]) -> bool {
    !text.iter().any(|byte| is_white(*byte) || *byte == b'#' || *byte == b'"')
}
