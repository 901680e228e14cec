//! Rules by which two traces are compared.

use crate::values::Case;
use paje_sim::TimeRange;

/// Parts of two traces that are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum What {
    /// Types and containers.
    Structure,
    /// These, and of the rows all but numbers and keys: how many there are, their values, imbrications,
    /// and what links begin and end in.
    Names,
    /// These, and times, values of variables, and keys.
    #[default]
    Everything,
}

/// Rules by which two traces are compared.
#[derive(Clone, Debug)]
pub struct Rules {
    /// Parts of them that are compared.
    pub what: What,
    /// Case of letters in names.
    pub case: Case,
    /// By how many seconds times may differ.
    pub tolerance: f64,
    /// By which part of the larger one times, and values of variables, may differ.
    pub relative: f64,
    /// Whether keys of links count.
    pub keys: bool,
    /// Which rows of each trace count; containers always do.
    pub windows: [TimeRange; 2],
}

impl Default for Rules {
    fn default() -> Self {
        Rules {
            what: What::default(),
            case: Case::default(),
            tolerance: 0.0,
            relative: 0.0,
            keys: true,
            windows: [TimeRange::default(); 2],
        }
    }
}

impl Rules {
    pub(crate) fn keys(&self) -> bool {
        self.keys && self.what == What::Everything
    }

    /// Returns whether two times, in seconds, are near enough. What a tolerance of 0.1 means is decimal, and
    /// times are not: so 1.1 is within it of 1.0, by half a unit in the last place of each.
    #[must_use]
    pub fn times(&self, a: f64, b: f64) -> bool {
        let largest = a.abs().max(b.abs());
        let rounding = if self.tolerance > 0.0 { largest * f64::EPSILON } else { 0.0 };
        a == b || (a - b).abs() <= self.tolerance + rounding || self.numbers(a, b)
    }

    /// Returns whether two values of a variable are near enough. What is not a number is like itself.
    #[must_use]
    pub fn numbers(&self, a: f64, b: f64) -> bool {
        let largest = a.abs().max(b.abs());
        // Of an infinite number, every part is infinite.
        let near = largest.is_finite() && (a - b).abs() <= self.relative * largest;
        a == b || near || (a.is_nan() && b.is_nan())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_are_near_enough() {
        let rules = |tolerance, relative| Rules { tolerance, relative, ..Rules::default() };
        let (nan, inf) = (f64::NAN, f64::INFINITY);
        let exact = rules(0.0, 0.0);
        assert!(exact.times(0.1 + 0.2, 0.30000000000000004) && !exact.times(0.1 + 0.2, 0.3));
        assert!(exact.times(0.0, -0.0) && exact.numbers(nan, nan) && exact.numbers(inf, inf));
        assert!(!exact.numbers(nan, 1.0) && !exact.numbers(inf, -inf) && !exact.numbers(inf, 1.0));
        let tenth = rules(0.1, 0.0);
        assert!(tenth.times(1.0, 1.1) && tenth.times(0.3, 0.2) && !tenth.times(1.0, 1.1001));
        assert!(!tenth.numbers(1.0, 1.05), "values of variables are no times");
        let part = rules(0.0, 0.01);
        assert!(
            part.times(1000.0, 1009.0) && part.numbers(-99.5, -100.0) && !part.times(1.0, 1.02)
        );
        assert!(!part.numbers(inf, 1.0) && !part.numbers(1.0, nan));
    }
}
