//! Reader of the fields of a stream.

use super::{BASES, DIGITS, Place, Slot, at, column, form, unzigzag};
use crate::stream::StreamReader;

use paje_parser::token::is_white;

use crate::digits::{SHORT, decimal_len};
use crate::out::Out;
use crate::table::Table;
use crate::texts::Texts;
use crate::value::{Kind, Value};

const AT_ONCE: usize = 1 << 12;

#[derive(Default)]
struct Field {
    form: u8,
    base: u8,
    last: i64,
    known: Vec<Known>,
}

#[derive(Clone, Copy)]
struct Known {
    value: Value,
    len: u32,
    is_word: bool,
}

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
        let table = Table::read(side, column + column::NUMBERS, [length; 2]);
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
    pub(crate) fn plain(&mut self, place: Place) -> Option<(Value, usize)> {
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
        slot.take(came);
        field.last = came;
        group.pass();
        Some((Value { kind: Kind::Decimal(after), bits: came as u64 }, decimal_len(came, after)))
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
            field.known.push(Known { value, len, is_word });
        }
        value
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
pub(crate) fn is_bare(text: &[u8]) -> bool {
    !text.iter().any(|byte| is_white(*byte) || *byte == b'#' || *byte == b'"')
}
