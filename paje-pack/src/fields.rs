//! Values of fields. Each value is coded as its difference from an earlier value, or as the number
//! of an earlier text.
//!
//! A *slot* is a field within a step. The values of a slot are adjacent. The writer chooses the
//! form of a field from its first values.

mod read;
mod write;

pub(crate) use read::{FieldsIn, is_bare, is_word};
pub(crate) use write::FieldsOut;

/// Columns of fields, numbered from the first of them: forms, bases, and a table of numbers by
/// slot.
mod column {
    pub(super) const FORMS: usize = 0;
    pub(super) const BASES: usize = 1;
    pub(super) const NUMBERS: usize = 2;
}

/// Forms of fields. A field has numbers of texts, differences of hexadecimal numbers, or
/// differences of decimal numbers. In the form `ANY`, each number may have a different number of
/// decimals. Each form from `DECIMAL` on has a fixed number of decimals. In all forms, the code 0
/// means that the value follows as a text.
mod form {
    pub(super) const TEXTS: u8 = 0;
    pub(super) const HEX: u8 = 1;
    pub(super) const ANY: u8 = 2;
    pub(super) const DECIMAL: u8 = 3;
}

/// Number of bases. The base of a difference is zero, the last number of the field, the last number
/// of the slot, or that number plus its last difference.
const BASES: usize = 4;

const DIGITS: u64 = 19;

#[derive(Clone, Copy, Default)]
struct Slot {
    last: i64,
    step: i64,
}

impl Slot {
    /// Returns the base that is subtracted from the next number.
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

#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub(crate) slot: u32,
    pub(crate) field: u32,
}

/// Returns an element of a list. If the list is too short, extends it.
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
