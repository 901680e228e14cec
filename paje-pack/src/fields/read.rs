//! The fields of a stream that is read.

use super::{BASES, DIGITS, Fields, Place, Slot, at, column, form, unzigzag};
use crate::coder::{Reading, Side};
use crate::columns::{is_bare, is_word};
use crate::digits::{SHORT, decimal_len};
use crate::out::{Out, digits};
use crate::table::Table;
use crate::texts::Texts;
use crate::value::{Kind, Value};

/// Slots that are made at once; others are when they come.
const AT_ONCE: usize = 1 << 12;

/// A field that is read.
#[derive(Default)]
struct Field {
    form: u8,
    base: u8,
    last: i64,
    /// The values that came as texts.
    known: Vec<Value>,
}

/// Fields that are read.
pub(crate) struct FieldsIn {
    table: Table,
    fields: Vec<Field>,
    slots: Vec<Slot>,
    texts: Texts,
    /// There are texts that are no words.
    has_odd: bool,
}

impl FieldsIn {
    /// Of a segment whose text has `length` bytes; their columns begin with `column`.
    pub(crate) fn new(side: &mut Reading<'_>, column: usize, length: usize) -> FieldsIn {
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
        // A key has eight slots, of which each may have a number.
        let most = length.saturating_mul(8);
        let table = Table::read(side, column + column::NUMBERS, [most; 2]);
        let slots = vec![Slot::default(); table.len().min(AT_ONCE)];
        FieldsIn { table, fields, slots, texts: Texts::default(), has_odd: false }
    }

    /// Some of the texts that have come are no words, or no part of one.
    #[inline]
    pub(crate) const fn has_odd(&self) -> bool {
        self.has_odd
    }

    /// The next value of a slot, which is not written.
    #[inline]
    pub(crate) fn value_only(&mut self, side: &mut Reading<'_>, place: Place) -> Value {
        let Some(told) = self.table.next(place.slot) else {
            side.fail();
            return Value::default();
        };
        self.told(side, place, told)
    }

    /// The next values of some slots, one behind the other, with `joint` between them: whole numbers, mostly. They are appended to `out`;
    /// the first ones are given.
    #[inline]
    pub(crate) fn parts<const GIVEN: usize>(
        &mut self,
        side: &mut Reading<'_>,
        place: Place,
        count: u32,
        joint: u8,
        out: &mut Out,
    ) -> [Option<Value>; GIVEN] {
        let mut given = [None; GIVEN];
        let first = self.whole_parts(place, count, joint, out, &mut given);
        for part in first..count {
            if part > 0 {
                out.push(joint);
            }
            let of = Place { slot: place.slot + part, field: place.field + part };
            let value = self.value_only(side, of);
            self.put(value, out);
            if let Some(given) = given.get_mut(part as usize) {
                *given = Some(value);
            }
        }
        given
    }

    /// The same of those before the first that is no whole number, or a long one; how many they are.
    #[inline(always)]
    fn whole_parts<const GIVEN: usize>(
        &mut self,
        place: Place,
        count: u32,
        joint: u8,
        out: &mut Out,
        given: &mut [Option<Value>; GIVEN],
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
        let room = out.room();
        let (mut at, mut done) = (0, 0);
        for ((group, slot), field) in groups.iter_mut().zip(slots).zip(fields) {
            let Some(told) = numbers.get(group.next()).and_then(|told| told.checked_sub(1)) else {
                break;
            };
            let came = match field.form {
                form::DECIMAL => slot.base(field.base, field.last).wrapping_add(unzigzag(told)),
                form::TEXTS => match field.known.get(told as usize) {
                    Some(Value { kind: Kind::Decimal(0), bits }) => *bits as i64,
                    _ => break,
                },
                _ => break,
            };
            let behind = at + usize::from(done > 0);
            let Some((digits, len)) = digits(came as u64) else { break };
            let Some(to) = room.get_mut(at..behind + digits.len()) else { break };
            // Of the first, it is overwritten.
            to[0] = joint;
            to[behind - at..].copy_from_slice(&digits);
            if field.form == form::DECIMAL {
                slot.take(came);
                field.last = came;
            }
            group.pass();
            if let Some(given) = given.get_mut(done as usize) {
                *given = Some(Value { kind: Kind::Decimal(0), bits: came as u64 });
            }
            at = behind + len;
            done += 1;
        }
        out.pass(at);
        done
    }

    /// Bytes of a value; none if it is no word.
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

    /// Appends a value.
    #[inline]
    pub(crate) fn put(&self, value: Value, out: &mut Out) {
        out.put_value(value, &self.texts);
    }

    /// The next value of a slot, unless it is known by the number that tells it, and this is the same as the last time: a text that came before.
    #[inline]
    pub(crate) fn other(
        &mut self,
        side: &mut Reading<'_>,
        place: Place,
        last: &mut u64,
    ) -> Option<Value> {
        let Some(told) = self.table.next(place.slot) else {
            side.fail();
            return Some(Value::default());
        };
        if told == *last && told > 0 && at(&mut self.fields, place.field).form == form::TEXTS {
            return None;
        }
        *last = told;
        Some(self.told(side, place, told))
    }

    /// The value that a number tells.
    #[inline(always)]
    fn told(&mut self, side: &mut Reading<'_>, place: Place, told: u64) -> Value {
        let field = at(&mut self.fields, place.field);
        let Some(told) = told.checked_sub(1) else { return self.text(side, place) };
        if field.form == form::TEXTS {
            let value = field.known.get(told as usize).copied();
            if value.is_none() {
                side.fail();
            }
            return value.unwrap_or_default();
        }
        let (difference, kind) = match field.form {
            form::HEX => (told, Kind::Hex),
            form::ANY => (told / DIGITS, Kind::Decimal((told % DIGITS) as u8)),
            form => (told, Kind::Decimal(form - form::DECIMAL)),
        };
        let slot = at(&mut self.slots, place.slot);
        let came = slot.base(field.base, field.last).wrapping_add(unzigzag(difference));
        slot.take(came);
        field.last = came;
        Value { kind, bits: came as u64 }
    }

    /// A value that is told as a text.
    #[cold]
    #[inline(never)]
    fn text(&mut self, side: &mut Reading<'_>, place: Place) -> Value {
        let text = side.text(b"");
        self.has_odd |= text.is_empty() || !is_bare(text);
        let value = Value::of(text)
            .unwrap_or_else(|| Value { kind: Kind::Text, bits: self.texts.put(text).into() });
        let field = at(&mut self.fields, place.field);
        if field.form == form::TEXTS {
            field.known.push(value);
        }
        value
    }
}

impl<'a> Fields<Reading<'a>> for FieldsIn {
    #[inline(always)]
    fn value(&mut self, side: &mut Reading<'a>, place: Place, _: &[u8], out: &mut Out) -> Value {
        let value = self.value_only(side, place);
        out.put_value(value, &self.texts);
        value
    }
}
