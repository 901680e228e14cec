//! Writer of the fields of a stream.

use std::ops::Range;

use super::{BASES, DIGITS, Place, Slot, at, column, form, zigzag};
use crate::stream::StreamWriter;
use crate::table::Rows;
use crate::texts::{Texts, word_at};
use crate::value::{Kind, Value};

/// Number of values of a field after which its form is chosen, if one form is clearly best.
/// Otherwise, the form is chosen after `MANY` values. Only the second half of these values is
/// considered.
const FEW: usize = 1 << 8;
const MANY: usize = 1 << 10;

/// Marks a field whose form has not been chosen yet.
const WAITING: u8 = u8::MAX;

/// Length in bytes up to which a slot stores its last text completely.
const SHORT: usize = 8;

/// A value whose field has no form yet.
#[derive(Clone, Copy)]
pub(crate) struct Row {
    slot: u32,
    start: u32,
    end: u32,
    value: Value,
}

struct Field {
    form: u8,
    base: u8,
    last: i64,
    texts: Texts,
    /// First values of the field, until its form is chosen.
    waiting: Vec<Row>,
}

impl Default for Field {
    fn default() -> Self {
        let (texts, waiting) = Default::default();
        Field { form: WAITING, base: 0, last: 0, texts, waiting }
    }
}

#[derive(Clone, Copy, Default)]
struct SlotOut {
    numbers: Slot,
    /// First bytes, length and code of the last text. The code is 0 if the slot has had no text.
    first: u64,
    len: usize,
    code: u32,
}

#[derive(Default)]
pub(crate) struct FieldsOut {
    fields: Vec<Field>,
    slots: Vec<SlotOut>,
    table: Rows,
    spelt: Vec<(u32, u32)>,
}

impl FieldsOut {
    pub(crate) fn with_room(values: usize) -> FieldsOut {
        FieldsOut { table: Rows::with_room(values), ..FieldsOut::default() }
    }

    /// Writes the next value of a slot, which is `text[range]`.
    #[inline]
    pub(crate) fn value(&mut self, place: Place, text: &[u8], range: Range<usize>) {
        let field = at(&mut self.fields, place.field);
        match field.form {
            form::TEXTS => {
                let slot = at(&mut self.slots, place.slot);
                let len = range.end - range.start;
                let is_last = slot.len == len && slot.code > 0 && {
                    let first = word_at(text, range.start, len.min(SHORT));
                    let same = || field.texts.get(slot.code - 1) == &text[range.clone()];
                    slot.first == first && (len <= SHORT || same())
                };
                if is_last {
                    self.table.push(place.slot, slot.code.into());
                } else {
                    self.text(place, text, range);
                }
            }
            form::DECIMAL if range.len() <= SHORT => {
                let word = word_at(text, range.start, range.len());
                let Some(value) = Value::whole(word, range.len()) else {
                    return self.number(place, text, range);
                };
                // Numbers have at most 18 digits, so this does not overflow.
                let slot = &mut at(&mut self.slots, place.slot).numbers;
                let came = value.bits as i64;
                let code = zigzag(came - slot.base(field.base, field.last)) + 1;
                slot.take(came);
                field.last = came;
                self.table.push(place.slot, code);
            }
            WAITING => self.wait(place, text, range),
            _ => self.number(place, text, range),
        }
    }

    #[inline(never)]
    fn text(&mut self, place: Place, text: &[u8], range: Range<usize>) {
        let (field, slot) =
            (&mut self.fields[place.field as usize], &mut self.slots[place.slot as usize]);
        let given = &text[range.clone()];
        let count = field.texts.len();
        let number = field.texts.put(given);
        slot.first = word_at(text, range.start, given.len().min(SHORT));
        (slot.len, slot.code) = (given.len(), number + 1);
        if number < count {
            self.table.push(place.slot, u64::from(number) + 1);
        } else {
            self.table.push(place.slot, 0);
            self.spell(range);
        }
    }

    /// Writes a value as a difference, or as a text if the value does not have the form of its
    /// field.
    #[inline(never)]
    fn number(&mut self, place: Place, text: &[u8], range: Range<usize>) {
        let field = &mut self.fields[place.field as usize];
        let value = number(field.form, text, range.clone());
        let slot = &mut at(&mut self.slots, place.slot).numbers;
        let base = slot.base(field.base, field.last);
        match value.and_then(|value| code(field.form, value, base).zip(Some(value.bits as i64))) {
            Some((code, came)) => {
                slot.take(came);
                field.last = came;
                self.table.push(place.slot, code);
            }
            None => {
                self.table.push(place.slot, 0);
                self.spell(range);
            }
        }
    }

    /// Writes a text that is not a value. A reader must know when such a text comes.
    #[inline]
    pub(crate) fn spell(&mut self, range: Range<usize>) {
        self.spelt.push((range.start as u32, range.end as u32));
    }

    /// Keeps a value of a field until the field's form is chosen.
    #[cold]
    fn wait(&mut self, place: Place, text: &[u8], range: Range<usize>) {
        let field = &mut self.fields[place.field as usize];
        let (start, end) = (range.start as u32, range.end as u32);
        let value = Value::of(&text[range]).unwrap_or_default();
        field.waiting.push(Row { slot: place.slot, start, end, value });
        if [FEW, MANY].contains(&field.waiting.len()) {
            let way = way(&field.waiting, field.waiting.len() / 2, text);
            if way.is_clear || field.waiting.len() == MANY {
                self.settle(place.field, way, text);
            }
        }
    }

    /// Sets the form of a field, and writes its first values.
    fn settle(&mut self, number: u32, way: Way, text: &[u8]) {
        let field = &mut self.fields[number as usize];
        let rows = std::mem::take(&mut field.waiting);
        (field.form, field.base) = (way.form, way.base);
        for Row { slot, start, end, .. } in &rows {
            let place = Place { slot: *slot, field: number };
            at(&mut self.slots, *slot);
            self.value(place, text, *start as usize..*end as usize);
        }
    }

    /// Writes all values. `text` is the text that contains them.
    pub(crate) fn write(&mut self, side: &mut StreamWriter, column: usize, text: &[u8]) {
        for number in 0..self.fields.len() {
            if self.fields[number].form == WAITING {
                let way = way(&self.fields[number].waiting, 0, text);
                self.settle(number as u32, way, text);
            }
            let Field { form, base, .. } = self.fields[number];
            side.byte(column + column::FORMS, form);
            side.byte(column + column::BASES, base);
        }
        // Texts are read in the order of the segment's text.
        self.spelt.sort_unstable();
        for (start, end) in &self.spelt {
            side.text(&text[*start as usize..*end as usize]);
        }
        self.table.write(side, column + column::NUMBERS);
    }
}

#[inline]
fn number(form: u8, text: &[u8], range: Range<usize>) -> Option<Value> {
    let of_form = match form {
        form::TEXTS..=form::DECIMAL => None,
        _ => Value::with_point(&text[range.clone()], form - form::DECIMAL),
    };
    of_form.or_else(|| Value::of(&text[range]))
}

/// Returns the code of a value in a form, or `None` if the value has another form.
#[inline]
fn code(form: u8, value: Value, base: i64) -> Option<u64> {
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

/// Counts the first values of a field by kind.
#[derive(Default)]
struct Tally {
    all: u32,
    hex: u32,
    decimals: [u32; DIGITS as usize],
}

impl Tally {
    fn learn(&mut self, value: Value) {
        self.all += 1;
        match value.kind {
            Kind::Hex => self.hex += 1,
            Kind::Decimal(after) => self.decimals[usize::from(after)] += 1,
            Kind::Text => {}
        }
    }

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

/// Estimates the number of bits of a code, given the previous code of its slot. A repetition takes
/// no bits.
#[inline]
fn bits(number: u64, before: &mut u64) -> u64 {
    match std::mem::replace(before, number) == number {
        true => 0,
        false => 4 + u64::from(64 - number.leading_zeros()),
    }
}

const TEXT_BITS: u64 = 48;

struct Way {
    form: u8,
    base: u8,
    /// Whether the choice is clear: every other choice takes either much more space, or exactly the
    /// same space.
    is_clear: bool,
}

/// Chooses the form and the base of a field, given its first values in this text. Only the values
/// from index `from` on are considered.
fn way(rows: &[Row], from: usize, text: &[u8]) -> Way {
    let texts = Way { form: form::TEXTS, base: 0, is_clear: true };
    let is_first = |row: &Row| {
        let [row, first] = [row, &rows[0]];
        (row.value, row.end - row.start) == (first.value, first.end - first.start)
            && row.value.kind != Kind::Text
    };
    if rows.iter().all(is_first) {
        return texts;
    }
    let mut tally = Tally::default();
    rows.iter().for_each(|row| tally.learn(row.value));
    let form = tally.numbers();
    if form == form::TEXTS {
        return texts;
    }
    let mut all = [0; BASES + 1];
    // Number of considered values that have not occurred earlier.
    let mut new = 0;
    let mut last = 0;
    // State of each slot, and its last code for each base and for texts.
    let mut slots: Vec<(Slot, [u64; BASES + 1])> = Vec::new();
    let first = rows.iter().map(|row| row.slot).min().unwrap_or_default();
    let mut known = Texts::default();
    for (place, row) in rows.iter().enumerate() {
        let (slot, before) = at(&mut slots, row.slot - first);
        let next = known.len();
        let number = known.put(&text[row.start as usize..row.end as usize]);
        // Texts have no code in a form for numbers.
        let is_number = code(form, row.value, 0).is_some();
        if place >= from {
            new += usize::from(number == next);
            let ways = all.iter_mut().zip(before.iter_mut());
            for (base, (all, before)) in (0..).zip(ways).take(BASES) {
                let code = code(form, row.value, slot.base(base, last)).filter(|_| is_number);
                *all += code.map_or(TEXT_BITS, |code| bits(code, before));
            }
            let number_told = u64::from(number) + 1;
            all[BASES] +=
                if number == next { TEXT_BITS } else { bits(number_told, &mut before[BASES]) };
        }
        if is_number {
            slot.take(row.value.bits as i64);
            last = row.value.bits as i64;
        }
    }
    // If only a few of these texts are new, even fewer of the following texts will be new.
    if from > 0 && 8 * new < rows.len() - from {
        all[BASES] -= TEXT_BITS / 4 * 3 * new as u64;
        // zstd also finds repeated texts in another order, so texts take less space than estimated.
        all[BASES] -= all[BASES] / 4;
    }
    let way = (0..=BASES).min_by_key(|way| all[*way]).unwrap_or_default();
    let is_clear = all.iter().all(|other| *other == all[way] || 4 * other > 5 * all[way]);
    match way {
        BASES => Way { is_clear, ..texts },
        base => Way { form, base: base as u8, is_clear },
    }
}
