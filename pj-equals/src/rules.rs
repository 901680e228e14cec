use crate::values::Case;
use paje_sim::TimeRange;

/// Compared parts of two traces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum What {
    /// Types and containers.
    Structure,
    /// Types, containers and rows. Times, values of variables and keys of links are not compared.
    Names,
    /// Everything, including times, values of variables, and keys.
    #[default]
    Everything,
}

/// Rules by which two traces are compared.
#[derive(Clone, Debug)]
pub struct Rules {
    /// Compared parts.
    pub what: What,
    /// Whether the case of letters in names matters.
    pub case: Case,
    /// Accepted difference of times, in seconds.
    pub tolerance: f64,
    /// Accepted difference of times and values of variables, as a fraction of the larger one.
    pub relative: f64,
    /// Whether keys of links are compared.
    pub keys: bool,
    /// Windows of compared rows in each trace. Containers are always compared.
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

    /// Returns whether two times, in seconds, are close enough. Decimal numbers such as 0.1 are not
    /// exact in binary, so half a unit in the last place of each time is added to the tolerance.
    /// Then 1.1 is within 0.1 of 1.0.
    #[must_use]
    pub fn times(&self, a: f64, b: f64) -> bool {
        let largest = a.abs().max(b.abs());
        let rounding = if self.tolerance > 0.0 { largest * f64::EPSILON } else { 0.0 };
        a == b || (a - b).abs() <= self.tolerance + rounding || self.numbers(a, b)
    }

    /// Returns whether two values of a variable are close enough. NaN equals NaN.
    #[must_use]
    pub fn numbers(&self, a: f64, b: f64) -> bool {
        let largest = a.abs().max(b.abs());
        // A fraction of an infinite number would be infinite.
        let near = largest.is_finite() && (a - b).abs() <= self.relative * largest;
        a == b || near || (a.is_nan() && b.is_nan())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tolerances_are_applied() {
        let rules = |tolerance, relative| Rules { tolerance, relative, ..Rules::default() };
        let (nan, inf) = (f64::NAN, f64::INFINITY);
        let exact = rules(0.0, 0.0);
        assert!(exact.times(0.1 + 0.2, 0.30000000000000004) && !exact.times(0.1 + 0.2, 0.3));
        assert!(exact.times(0.0, -0.0) && exact.numbers(nan, nan) && exact.numbers(inf, inf));
        assert!(!exact.numbers(nan, 1.0) && !exact.numbers(inf, -inf) && !exact.numbers(inf, 1.0));
        let tenth = rules(0.1, 0.0);
        assert!(tenth.times(1.0, 1.1) && tenth.times(0.3, 0.2) && !tenth.times(1.0, 1.1001));
        assert!(!tenth.numbers(1.0, 1.05), "the tolerance of times should not apply to variables");
        let part = rules(0.0, 0.01);
        assert!(
            part.times(1000.0, 1009.0) && part.numbers(-99.5, -100.0) && !part.times(1.0, 1.02)
        );
        assert!(!part.numbers(inf, 1.0) && !part.numbers(1.0, nan));
    }
}
