//! The fields of a stream that is read.

use super::{BASES, DIGITS, Fields, Place, Slot, at, column, form, unzigzag};
use crate::coder::{Reading, Side};
use crate::columns::{is_bare, is_word};
use crate::digits::{SHORT, decimal_len};
use crate::out::Out;
use crate::table::Table;
use crate::texts::Texts;
use crate::value::{Kind, Value};

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
        FieldsIn { table, fields, slots: Vec::new(), texts: Texts::default(), has_odd: false }
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

    /// The next value of a slot of whole numbers, mostly, which is appended to `out`.
    #[inline(always)]
    pub(crate) fn part(&mut self, side: &mut Reading<'_>, place: Place, out: &mut Out) -> Value {
        let FieldsIn { table, fields, slots, texts, .. } = self;
        let (slot, field) =
            (slots.get_mut(place.slot as usize), fields.get_mut(place.field as usize));
        // The value is a number, and its slot and field are there.
        if let (Some(slot), Some(field)) = (slot, field)
            && field.form == form::DECIMAL
            && let Some(told) = table.next_if(place.slot, |told| told > 0)
        {
            let came = slot.base(field.base, field.last).wrapping_add(unzigzag(told - 1));
            slot.take(came);
            field.last = came;
            out.put_whole(came as u64, texts);
            return Value { kind: Kind::Decimal(0), bits: came as u64 };
        }
        self.other_part(side, place, out)
    }

    #[inline(never)]
    fn other_part(&mut self, side: &mut Reading<'_>, place: Place, out: &mut Out) -> Value {
        let value = self.value_only(side, place);
        self.put(value, out);
        value
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
