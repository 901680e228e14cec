//! Chooses the resolution of an archive's clock, and turns times into ticks.

use std::fmt::Write;

use paje_sim::TimeUnit;

/// Maximum number of decimals. Powers of ten up to this one are exact as doubles.
const MOST: u32 = 18;

/// Integers up to this are exact as doubles, with some distance.
const EXACT: f64 = (1_u64 << 51) as f64;

const LARGEST: f64 = (1_u64 << 62) as f64;

/// Number of decimals that the times of a trace need, and their range.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Needs {
    digits: u32,
    least: f64,
    most: f64,
}

impl Needs {
    pub(super) fn add(&mut self, time: f64) {
        if !time.is_finite() {
            return;
        }
        (self.least, self.most) = (self.least.min(time), self.most.max(time));
        if self.digits < MOST && units(time, self.digits).is_none() {
            let (_, digits) = decimal(time);
            self.digits = self.digits.max(digits.clamp(0, MOST as i32) as u32);
        }
    }

    pub(super) fn and(self, other: Needs) -> Needs {
        Needs {
            digits: self.digits.max(other.digits),
            least: self.least.min(other.least),
            most: self.most.max(other.most),
        }
    }
}

/// Returns a time in units of its last decimal, if that is a small integer.
fn units(time: f64, digits: u32) -> Option<i64> {
    let power = 10_f64.powi(digits as i32);
    let units = (time * power).round();
    // The quotient is rounded correctly, as a number is when it is read.
    (units.abs() < EXACT && units / power == time).then_some(units as i64)
}

/// Returns the shortest decimal number that is read as this time, and its number of decimals.
fn decimal(time: f64) -> (i64, i32) {
    let mut text = String::with_capacity(32);
    let _ = write!(text, "{time:e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let decimals = mantissa.split_once('.').map_or(0, |(_, decimals)| decimals.len() as i32);
    let exponent: i32 = exponent.parse().unwrap_or(0);
    (mantissa.replace('.', "").parse().unwrap_or(0), decimals - exponent)
}

/// The clock of an archive.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ticks {
    digits: u32,
    /// Ticks per second.
    pub(super) resolution: u64,
    /// Tick of time 0.
    pub(super) start: u64,
}

impl Ticks {
    /// Uses the smallest number of decimals that is enough, or as many as there is room for.
    pub(super) fn new(needs: Needs, unit: TimeUnit) -> Self {
        let size = needs.most.max(-needs.least);
        let resolution = |digits| 10_u64.pow(digits).checked_mul(unit.per_second().into());
        let fits = |digits: &u32| size * 10_f64.powi(*digits as i32) < LARGEST;
        let found = (0..=needs.digits).rev().filter(fits);
        let found = found.filter_map(|digits| Some((digits, resolution(digits)?))).next();
        let (digits, resolution) = found.unwrap_or((0, unit.per_second().into()));
        let mut ticks = Ticks { digits, resolution, start: 0 };
        let (least, _) = ticks.since(needs.least);
        ticks.start = least.min(0).unsigned_abs();
        ticks
    }

    /// Returns the tick of a time, and whether it is exact.
    pub(super) fn at(self, time: f64) -> (u64, bool) {
        let (units, is_exact) = self.since(time);
        (self.start.wrapping_add_signed(units), is_exact)
    }

    /// Returns the ticks since time 0, and whether they are exact.
    fn since(self, time: f64) -> (i64, bool) {
        if let Some(units) = units(time, self.digits) {
            return (units, true);
        }
        let size = time.abs() * 10_f64.powi(self.digits as i32);
        if !time.is_finite() || size >= LARGEST {
            let most = 1 << 62;
            return (if time > 0.0 { most } else { -most }, false);
        }
        let (number, decimals) = decimal(time);
        let shift = decimals - self.digits as i32;
        let power = |digits: i32| 10_i128.pow(digits.clamp(0, 38) as u32);
        if shift <= 0 {
            return ((i128::from(number) * power(-shift)) as i64, true);
        }
        // Rounds to the nearest tick.
        let (power, number) = (power(shift), i128::from(number));
        let rounded = (number.abs() + power / 2) / power * number.signum();
        (rounded as i64, false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks(times: &[f64]) -> Ticks {
        let mut needs = Needs::default();
        times.iter().for_each(|time| needs.add(*time));
        Ticks::new(needs, TimeUnit::Seconds)
    }

    #[test]
    fn the_resolution_has_the_decimals_of_the_times() {
        for (times, per_unit) in [
            (&[0.0, 7.0][..], 1),
            (&[0.5, 0.25], 100),
            (&[1e-6, 1_700_000_000.25], 1_000_000),
            (&[0.1 + 0.2], 100_000_000_000_000_000),
            (&[1e30], 1),
        ] {
            assert_eq!(ticks(times).resolution, per_unit, "{times:?}");
        }
    }

    #[test]
    fn exact_times_are_read_back() {
        let times = [0.0, -0.25, 0.1 + 0.2, 1.0 / 3.0, 5.123456789, 1e-9];
        let ticks = ticks(&times);
        for time in times {
            let (tick, is_exact) = ticks.at(time);
            assert!(is_exact, "{time}");
            let units = i128::from(tick) - i128::from(ticks.start);
            let read: f64 = format!("{units}e-{}", ticks.digits).parse().expect("a number");
            assert_eq!(read, time);
        }
    }

    #[test]
    fn other_times_are_rounded() {
        let ticks = ticks(&[4e9, 1e-12]);
        assert_eq!(ticks.resolution, 1_000_000_000);
        assert_eq!(ticks.at(1.0000000006), (1_000_000_001, false));
        assert_eq!(ticks.at(f64::INFINITY), (1 << 62, false));
    }
}
