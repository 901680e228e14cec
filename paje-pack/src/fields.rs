//! Values of fields, each coded as a difference to an earlier one, or as the number of an earlier text.
//!
//! A *slot* is a field in a step: the values of each are together. The writer chooses the form of a field by its first values.

mod read;
mod write;

pub(crate) use read::{FieldsIn, is_word};
pub(crate) use write::FieldsOut;

/// Parts that a key is cut into: each is a value of a field of its own.
pub(crate) const PARTS: usize = 8;

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

/// The last number of a slot, and what it was more than the one before.
#[derive(Clone, Copy, Default)]
struct Slot {
    last: i64,
    step: i64,
}

impl Slot {
    /// Returns the number that the next one is a difference to.
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
