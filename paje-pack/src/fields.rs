//! Values of fields, each told by what it is more than one that came before, or by which of those it is.
//!
//! A *slot* is a field in a step: the values of each stand together. How those of a field are told, a writer says once it has
//! them all.

use crate::coder::{Side, Writing};
use crate::digits::LONGEST;
use crate::known::Known;
use crate::out::Out;
use crate::spare::{self, kept};
use crate::table::Rows;
use crate::texts::Texts;
use crate::value::{Kind, Value};

mod read;

pub(crate) use read::FieldsIn;

/// Columns, from the first of the fields on: forms, bases, a table of numbers by slot.
mod column {
    pub(super) const FORMS: usize = 0;
    pub(super) const BASES: usize = 1;
    pub(super) const NUMBERS: usize = 2;
}

/// Forms of fields: texts by number; differences of hexadecimal numbers; of decimal ones with any number of digits after the point; with as
/// many as are added to this. In all of them, 0 is a text that follows.
mod form {
    pub(super) const TEXTS: u8 = 0;
    pub(super) const HEX: u8 = 1;
    pub(super) const ANY: u8 = 2;
    pub(super) const DECIMAL: u8 = 3;
}

/// Bases of differences: nothing; the last number of the field; of the slot; that and the step to it once more.
const BASES: usize = 4;

/// Numbers of digits that there can be after a point.
const DIGITS: u64 = 19;

/// Values of a field from which it is told what makes them shorter; if there are twice as many, they are those behind the first ones.
const SAMPLE: u32 = 1 << 10;

/// The last number of a slot, and what it was more than the one before.
#[derive(Clone, Copy, Default)]
struct Slot {
    last: i64,
    step: i64,
}

impl Slot {
    /// Number from which the next one is told.
    #[inline]
    const fn base(self, base: u8, field: i64) -> i64 {
        match base {
            0 => 0,
            1 => field,
            2 => self.last,
            _ => self.last.wrapping_add(self.step),
        }
    }

    #[inline]
    const fn take(&mut self, came: i64) {
        self.step = came.wrapping_sub(self.last);
        self.last = came;
    }
}

pub(crate) const fn zigzag(number: i64) -> u64 {
    (number << 1 ^ number >> 63) as u64
}

pub(crate) const fn unzigzag(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

/// Number by which a form tells a value; none if it does not.
#[inline]
fn told(form: u8, value: Value, base: i64) -> Option<u64> {
    let difference = zigzag((value.bits as i64).wrapping_sub(base));
    match (form, value.kind) {
        (form::HEX, Kind::Hex) => difference.checked_add(1),
        (form::ANY, Kind::Decimal(after)) => {
            difference.checked_mul(DIGITS)?.checked_add(u64::from(after) + 1)
        }
        (form, Kind::Decimal(after)) if form == form::DECIMAL + after => difference.checked_add(1),
        _ => None,
    }
}

/// The fields of a stream, which are written or read.
pub(crate) trait Fields<S: Side> {
    /// The next value of a slot; one that is read is appended to `out`.
    fn value(&mut self, side: &mut S, place: Place, given: &[u8], out: &mut Out) -> Value;
}

/// A slot, and the field that it is of.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub(crate) slot: u32,
    pub(crate) field: u32,
}

/// Element `at` of a list that has all up to it.
#[inline]
fn at<T: Default>(list: &mut Vec<T>, at: u32) -> &mut T {
    let at = at as usize;
    if list.len() <= at {
        grow(list, at);
    }
    &mut list[at]
}

#[cold]
#[inline(never)]
fn grow<T: Default>(list: &mut Vec<T>, at: usize) {
    list.resize_with(at + 1, T::default);
}

/// A value that is written, and where.
pub(crate) type Row = (Place, Value);

kept! { Row }

/// Fields that are written.
pub(crate) struct FieldsOut {
    rows: Vec<Row>,
    texts: Texts,
    /// The last text of each slot that has any, by number.
    last: Vec<u32>,
}

impl Default for FieldsOut {
    fn default() -> Self {
        let mut rows = spare::take();
        rows.clear();
        FieldsOut { rows, texts: Texts::default(), last: Vec::new() }
    }
}

impl Drop for FieldsOut {
    fn drop(&mut self) {
        spare::give(std::mem::take(&mut self.rows));
    }
}

impl Fields<Writing> for FieldsOut {
    #[inline]
    fn value(&mut self, _: &mut Writing, place: Place, given: &[u8], _: &mut Out) -> Value {
        let value = Value::of(given).unwrap_or_else(|| {
            let bits = self.text(place.slot, given).into();
            Value { kind: Kind::Text, bits }
        });
        self.rows.push((place, value));
        value
    }
}

/// Knowledge of a writer about a field: the number of its values of each kind.
#[derive(Default)]
struct Tally {
    all: u32,
    hex: u32,
    decimals: [u32; DIGITS as usize],
    /// Bits that its values take, in each way; the last is that of texts.
    bits: [u64; BASES + 1],
    seen: u32,
    last: i64,
    form: u8,
    base: u8,
}

impl Tally {
    fn learn(&mut self, value: Value) {
        self.all += 1;
        match value.kind {
            Kind::Text => {}
            Kind::Hex => self.hex += 1,
            Kind::Decimal(after) => self.decimals[usize::from(after)] += 1,
        }
    }

    /// The form that most of its values can have, if they are numbers.
    fn numbers(&self) -> u8 {
        let decimals: u32 = self.decimals.iter().sum();
        let most = (0..DIGITS as u8).max_by_key(|after| self.decimals[usize::from(*after)]);
        let after = most.unwrap_or_default();
        if 2 * self.hex.max(decimals) < self.all {
            form::TEXTS
        } else if self.hex > decimals {
            form::HEX
        } else if 16 * (decimals - self.decimals[usize::from(after)]) > decimals {
            form::ANY
        } else {
            form::DECIMAL + after
        }
    }
}

/// A guess of the bits that a number takes behind another of its slot: it takes none if it is the same.
#[inline]
fn bits(number: u64, before: &mut u64) -> u64 {
    match std::mem::replace(before, number) == number {
        true => 0,
        false => 4 + u64::from(64 - number.leading_zeros()),
    }
}

/// The same for a text.
const TEXT_BITS: u64 = 48;

impl FieldsOut {
    /// The number of a text in a slot, which is mostly the last one there.
    #[inline(never)]
    fn text(&mut self, slot: u32, text: &[u8]) -> u32 {
        // Whatever text has the number, it is the same one.
        let last = *at(&mut self.last, slot);
        if !text.is_empty() && self.texts.get(last) == text {
            return last;
        }
        let number = self.texts.put(text);
        self.last[slot as usize] = number;
        number
    }

    /// For each field, the form and the base that make it short.
    fn ways(&self) -> Vec<Tally> {
        let mut fields: Vec<Tally> = Vec::new();
        for (place, value) in &self.rows {
            let field = at(&mut fields, place.field);
            if field.all < 2 * SAMPLE {
                field.learn(*value);
            }
        }
        fields.iter_mut().for_each(|field| field.form = field.numbers());
        let mut slots: Vec<(Slot, [u64; BASES + 1])> = Vec::new();
        let (mut known, mut next) = (Known::default(), 0);
        for (place, value) in &self.rows {
            let field = &mut fields[place.field as usize];
            if field.form == form::TEXTS || field.seen == 2 * SAMPLE {
                continue;
            }
            let counts = field.seen >= SAMPLE || field.all < 2 * SAMPLE;
            field.seen += 1;
            let number = known.number((place.field, *value), next);
            let is_new = number == next;
            next += u32::from(is_new);
            let (slot, before) = at(&mut slots, place.slot);
            if counts {
                let ways = field.bits.iter_mut().zip(before.iter_mut());
                for (base, (all, before)) in (0..).zip(ways).take(BASES) {
                    let told = told(field.form, *value, slot.base(base, field.last));
                    *all += told.map_or(TEXT_BITS, |told| bits(told, before));
                }
                let before = &mut before[BASES];
                field.bits[BASES] += if is_new { TEXT_BITS } else { bits(number.into(), before) };
            }
            if told(field.form, *value, 0).is_some() {
                slot.take(value.bits as i64);
                field.last = value.bits as i64;
            }
        }
        for field in &mut fields {
            let way = (0..=BASES).min_by_key(|way| field.bits[*way]).unwrap_or_default();
            field.base = way as u8;
            if way == BASES {
                (field.form, field.base) = (form::TEXTS, 0);
            }
            field.last = 0;
        }
        fields
    }

    /// Writes all values.
    pub(crate) fn write(&self, side: &mut Writing, column: usize) {
        let mut fields = self.ways();
        for field in &fields {
            side.byte(column + column::FORMS, field.form);
            side.byte(column + column::BASES, field.base);
        }
        let (mut slots, mut counts, mut table) = (Vec::new(), Vec::new(), Rows::default());
        let mut known = Known::default();
        for (place, value) in &self.rows {
            let field = &mut fields[place.field as usize];
            let number = if field.form == form::TEXTS {
                let count: &mut u32 = at(&mut counts, place.field);
                let next = *count + 1;
                let number = known.number((place.field, *value), next);
                *count = number.max(*count);
                if number == next { 0 } else { number.into() }
            } else {
                let slot: &mut Slot = at(&mut slots, place.slot);
                let told = told(field.form, *value, slot.base(field.base, field.last));
                if told.is_some() {
                    slot.take(value.bits as i64);
                    field.last = value.bits as i64;
                }
                told.unwrap_or(0)
            };
            if number == 0 {
                self.spell(*value, side);
            }
            table.push(place.slot, number);
        }
        table.write(side, column + column::NUMBERS);
    }

    #[cold]
    fn spell(&self, value: Value, side: &mut Writing) {
        if value.kind == Kind::Text {
            side.text(self.texts.get(value.bits as u32));
        } else {
            let mut text = Out::new(LONGEST);
            text.put_value(value, &self.texts);
            side.text(text.since(0));
        }
    }
}
