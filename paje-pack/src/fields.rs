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

pub(crate) use read::{FieldsIn, Part, SMALL};

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
const SAMPLE: usize = 1 << 9;

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

/// A value that is written: the how many-th of all, and its slot.
#[derive(Clone, Copy)]
pub(crate) struct Row {
    number: u32,
    slot: u32,
    value: Value,
}

kept! { Row }

/// Fields that are written.
#[derive(Default)]
pub(crate) struct FieldsOut {
    /// The values of each field, in their order.
    rows: Vec<Vec<Row>>,
    count: u32,
    texts: Texts,
    /// The last text of each slot that has any, by number.
    last: Vec<u32>,
}

impl Drop for FieldsOut {
    fn drop(&mut self) {
        self.rows.drain(..).for_each(spare::give);
    }
}

impl Fields<Writing> for FieldsOut {
    #[inline]
    fn value(&mut self, _: &mut Writing, place: Place, given: &[u8], _: &mut Out) -> Value {
        let Place { slot, field } = place;
        let value = Value::of(given).unwrap_or_else(|| {
            let bits = self.text(slot, given).into();
            Value { kind: Kind::Text, bits }
        });
        let row = Row { number: self.count, slot, value };
        self.count += 1;
        let rows = at(&mut self.rows, field);
        if rows.len() == rows.capacity() {
            first(rows);
        }
        rows.push(row);
        value
    }
}

/// Room for the first values of a field.
#[cold]
#[inline(never)]
fn first(rows: &mut Vec<Row>) {
    if rows.is_empty() {
        *rows = spare::take();
        rows.clear();
    }
}

/// Knowledge of a writer about a field: the number of its values of each kind.
#[derive(Default)]
struct Tally {
    all: u32,
    hex: u32,
    decimals: [u32; DIGITS as usize],
}

/// Form and base of a field.
#[derive(Clone, Copy)]
struct Way {
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

/// A slot, and what told its last value in each way.
type Sample = (Slot, [u64; BASES + 1]);

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

    /// The form and the base that make a field short, by its first values.
    fn way(&self, field: u32, slots: &mut Vec<Sample>, known: &mut Known) -> Way {
        let rows = &self.rows[field as usize];
        let first = &rows[..rows.len().min(2 * SAMPLE)];
        let mut tally = Tally::default();
        first.iter().for_each(|row| tally.learn(row.value));
        let form = tally.numbers();
        if form == form::TEXTS {
            return Way { form, base: 0 };
        }
        // Those that count, if there are others before them.
        let from = if first.len() < 2 * SAMPLE { 0 } else { SAMPLE };
        let mut all = [0; BASES + 1];
        let (mut next, mut last) = (0, 0);
        for (place, Row { slot, value, .. }) in first.iter().enumerate() {
            let number = known.number((field, *value), next);
            let is_new = number == next;
            next += u32::from(is_new);
            let (slot, before) = at(slots, *slot);
            let own = told(form, *value, 0);
            if place >= from {
                let ways = all.iter_mut().zip(before.iter_mut());
                for (base, (all, before)) in (0..).zip(ways).take(BASES) {
                    let told = own.and_then(|_| told(form, *value, slot.base(base, last)));
                    *all += told.map_or(TEXT_BITS, |told| bits(told, before));
                }
                all[BASES] +=
                    if is_new { TEXT_BITS } else { bits(number.into(), &mut before[BASES]) };
            }
            if own.is_some() {
                slot.take(value.bits as i64);
                last = value.bits as i64;
            }
        }
        let way = (0..=BASES).min_by_key(|way| all[*way]).unwrap_or_default();
        match way {
            BASES => Way { form: form::TEXTS, base: 0 },
            base => Way { form, base: base as u8 },
        }
    }

    /// Writes all values.
    pub(crate) fn write(&self, side: &mut Writing, column: usize) {
        let (mut samples, mut known, mut slots) = (Vec::new(), Known::default(), Vec::new());
        let fields = 0..self.rows.len() as u32;
        let ways: Vec<Way> =
            fields.map(|field| self.way(field, &mut samples, &mut known)).collect();
        for Way { form, base } in &ways {
            side.byte(column + column::FORMS, *form);
            side.byte(column + column::BASES, *base);
        }
        let mut table = Rows::default();
        let (mut known, mut spelt) = (Known::default(), Vec::new());
        for ((field, rows), Way { form, base }) in (0..).zip(&self.rows).zip(ways) {
            let mut tell = |row: &Row, told: u64| {
                if told == 0 {
                    spelt.push((row.number, row.value));
                }
                table.push(row.slot, told);
            };
            match form {
                form::TEXTS => {
                    let mut count = 0;
                    for row in rows {
                        let next = count + 1;
                        let number = known.number((field, row.value), next);
                        count = count.max(number);
                        tell(row, if number == next { 0 } else { number.into() });
                    }
                }
                form => {
                    let mut last = 0;
                    for row in rows {
                        let slot: &mut Slot = at(&mut slots, row.slot);
                        let told = told(form, row.value, slot.base(base, last));
                        if told.is_some() {
                            slot.take(row.value.bits as i64);
                            last = row.value.bits as i64;
                        }
                        tell(row, told.unwrap_or(0));
                    }
                }
            }
        }
        spelt.sort_unstable_by_key(|(number, _)| *number);
        spelt.into_iter().for_each(|(_, value)| self.spell(value, side));
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
