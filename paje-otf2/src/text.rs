//! Writes the words of Pajé lines, or counts their bytes.

use std::ops::Range;

use crate::record::UNDEFINED;

/// Integers below this are exact as doubles.
pub(crate) const EXACT: u64 = 1 << 53;

/// Takes the words of lines.
pub(crate) trait Sink {
    /// Takes bytes as they are.
    fn plain(&mut self, bytes: &[u8]);

    /// Takes a name between quotes: see [`harmless`].
    fn name(&mut self, name: &[u8]);

    /// Takes a number.
    fn number(&mut self, number: u64);

    /// Writes a number with leading zeros, so that it has this number of digits.
    fn padded(&mut self, number: u64, digits: u32);

    /// Returns the number of bytes so far, if the sink only counts.
    fn count(&mut self) -> Option<&mut u64> {
        None
    }

    /// Takes a number with its sign.
    fn signed(&mut self, number: i64) {
        if number < 0 {
            self.plain(b"-");
        }
        self.number(number.unsigned_abs());
    }

    /// Takes the identifier that begins with a letter.
    fn alias(&mut self, letter: &[u8], number: u64) {
        self.plain(letter);
        self.number(number);
    }
}

/// Replaces characters that would end a name between quotes.
const fn harmless(byte: u8) -> u8 {
    match byte {
        b'"' => b'\'',
        0..=0x1f | 0x7f => b' ',
        other => other,
    }
}

impl Sink for Vec<u8> {
    fn plain(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }

    fn name(&mut self, name: &[u8]) {
        self.extend(name.iter().map(|byte| harmless(*byte)));
    }

    fn number(&mut self, number: u64) {
        let mut digits = [0; 20];
        let (mut left, mut first) = (number, digits.len());
        loop {
            first -= 1;
            digits[first] = b'0' + (left % 10) as u8;
            left /= 10;
            if left == 0 {
                break;
            }
        }
        self.extend_from_slice(&digits[first..]);
    }

    fn padded(&mut self, number: u64, digits: u32) {
        let written = number.checked_ilog10().unwrap_or(0) + 1;
        self.extend_from_slice(&[b'0'; 20][..(digits - written) as usize]);
        self.number(number);
    }
}

/// Counts the bytes of lines.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Count(pub(crate) u64);

impl Sink for Count {
    fn plain(&mut self, bytes: &[u8]) {
        self.0 += bytes.len() as u64;
    }

    fn name(&mut self, name: &[u8]) {
        self.0 += name.len() as u64;
    }

    fn number(&mut self, number: u64) {
        // Most numbers are small, and a logarithm takes longer.
        self.0 += match number {
            0..10 => 1,
            10..100 => 2,
            100..1000 => 3,
            _ => u64::from(number.ilog10()) + 1,
        };
    }

    fn padded(&mut self, _: u64, digits: u32) {
        self.0 += u64::from(digits);
    }

    fn count(&mut self) -> Option<&mut u64> {
        Some(&mut self.0)
    }
}

/// Number of bytes of a time, and the ticks whose times have this number of bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct TimeBytes {
    bytes: u64,
    ticks: Range<u64>,
}

/// Turns ticks into seconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seconds {
    /// Ticks per second.
    resolution: u64,
    /// Tick of time 0.
    offset: u64,
    /// Number of decimals.
    digits: u32,
    /// 10 to the power of the number of decimals.
    power: u64,
    /// Units per tick, if that is an integer.
    factor: Option<i64>,
}

impl Seconds {
    /// Times have the number of decimals that writes them exactly or, if no number does, that
    /// distinguishes all ticks.
    pub(crate) fn new((resolution, offset): (u64, u64)) -> Self {
        const MOST: u32 = 19;
        let powers = (0..=MOST).map(|digits| (digits, 10_u64.pow(digits)));
        let exact = powers.clone().find(|(_, power)| power % resolution == 0);
        let enough = exact.or_else(|| powers.clone().find(|(_, power)| *power >= resolution));
        let (digits, power) = enough.unwrap_or((MOST, 10_u64.pow(MOST)));
        let factor = Some(power / resolution).filter(|_| power % resolution == 0);
        let factor = factor.and_then(|factor| i64::try_from(factor).ok());
        Seconds { resolution, offset, digits, power, factor }
    }

    /// Returns the number of ticks since time 0, which may be negative.
    #[inline]
    pub(crate) const fn since(&self, tick: u64) -> i64 {
        tick.wrapping_sub(self.offset).cast_signed()
    }

    /// Returns the number of decimals of times.
    pub(crate) const fn digits(&self) -> u32 {
        self.digits
    }

    /// Returns a time in units of its last decimal: the nearest, or the even one of the two nearest.
    #[inline]
    pub(crate) fn units(&self, tick: u64) -> i128 {
        let ticks = self.since(tick);
        match self.factor.and_then(|factor| ticks.checked_mul(factor)) {
            Some(units) => units.into(),
            None => self.rounded(ticks),
        }
    }

    /// Returns a time in units of its last decimal, if it is exact as a double.
    #[inline]
    pub(crate) fn exact_units(&self, tick: u64) -> Option<i64> {
        let ticks = self.since(tick);
        let units = match self.factor.and_then(|factor| ticks.checked_mul(factor)) {
            Some(units) => units,
            None => i64::try_from(self.rounded(ticks)).ok()?,
        };
        (units.unsigned_abs() < EXACT).then_some(units)
    }

    /// Returns the number of bytes of a time. `last` is the result of the last call.
    #[inline]
    pub(crate) fn bytes(&self, tick: u64, last: &mut TimeBytes) -> u64 {
        if !last.ticks.contains(&tick) {
            *last = self.count(tick);
        }
        last.bytes
    }

    /// Counts the bytes of a time, and finds the later times with the same number of bytes.
    #[cold]
    fn count(&self, tick: u64) -> TimeBytes {
        let count = |tick| {
            let mut count = Count::default();
            self.write(self.units(tick), &mut count);
            count.0
        };
        let (bytes, mut ticks) = (count(tick), tick..tick.saturating_add(1));
        // Times get longer when the number of seconds reaches the next power of ten.
        let longer = tick.checked_sub(self.offset).and_then(|since| {
            let seconds = since / self.resolution;
            let power = 10_u64.checked_pow(seconds.checked_ilog10().unwrap_or(0) + 1)?;
            let since = power.checked_mul(self.resolution)?;
            i64::try_from(since).ok()?;
            self.offset.checked_add(since)
        });
        if let Some(longer) = longer.filter(|longer| count(longer - 1) == bytes) {
            ticks.end = longer;
        }
        TimeBytes { bytes, ticks }
    }

    fn rounded(&self, ticks: i64) -> i128 {
        let (size, resolution) = (ticks.unsigned_abs(), self.resolution);
        // The whole seconds have no fraction, and the product is below the square of 2^64.
        let (seconds, rest) = (size / resolution, size % resolution);
        let scaled = u128::from(rest) * u128::from(self.power);
        let (part, rest) = (scaled / u128::from(resolution), scaled % u128::from(resolution));
        let twice = 2 * rest;
        let units = i128::from(seconds) * i128::from(self.power) + part as i128;
        let is_up = twice > resolution.into() || twice == resolution.into() && units % 2 != 0;
        let units = units + i128::from(is_up);
        if ticks < 0 { -units } else { units }
    }

    /// Writes a time given in these units.
    #[inline]
    pub(crate) fn write(&self, units: i128, sink: &mut impl Sink) {
        if units < 0 {
            sink.plain(b"-");
        }
        let units = units.unsigned_abs();
        let (seconds, fraction) = match u64::try_from(units) {
            Ok(units) => (units / self.power, units % self.power),
            Err(_) => {
                let power = u128::from(self.power);
                ((units / power) as u64, (units % power) as u64)
            }
        };
        sink.number(seconds);
        if self.digits > 0 {
            sink.plain(b".");
            sink.padded(fraction, self.digits);
        }
    }
}

/// Writes a floating-point number so that it is read back as it is.
pub(crate) fn double(number: f64, sink: &mut impl Sink) {
    let size = number.abs();
    let text = match number {
        _ if number.is_nan() => "nan".to_owned(),
        _ if number.is_infinite() => (if number > 0.0 { "inf" } else { "-inf" }).to_owned(),
        _ if size == 0.0 || (1e-5..1e16).contains(&size) => format!("{number}"),
        _ => format!("{number:e}"),
    };
    sink.plain(text.as_bytes());
}

/// Writes a name, or the identifier if there is no name.
pub(crate) fn name_or_id(name: Option<&[u8]>, id: u64, sink: &mut impl Sink) {
    match name {
        Some(name) => sink.name(name),
        None if id == UNDEFINED => sink.plain(b"UNDEFINED"),
        None => sink.number(id),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(clock: (u64, u64), tick: u64) -> String {
        let seconds = Seconds::new(clock);
        let mut text = Vec::new();
        seconds.write(seconds.units(tick), &mut text);
        let mut count = Count::default();
        seconds.write(seconds.units(tick), &mut count);
        assert_eq!(count.0, text.len() as u64);
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn times_are_exact_where_they_can_be() {
        assert_eq!(written((1, 0), 17), "17");
        assert_eq!(written((1_000_000_000, 5), 1_000_000_010), "1.000000005");
        assert_eq!(written((1_000_000, 10), 3), "-0.000007");
        assert_eq!(written((2_500_000_000, 0), 1), "0.0000000004");
        // A third of a second, and the tie 1/3 does not have.
        assert_eq!(written((3, 0), 1), "0.3");
        assert_eq!(written((2_095_197_216, 0), 1), "0.0000000005");
    }

    proptest! {
        #[test]
        fn ticks_can_be_told_apart(resolution in 1..u64::MAX / 2, tick in 0..u64::from(u32::MAX)) {
            let seconds = Seconds::new((resolution, 0));
            prop_assert!(seconds.units(tick) < seconds.units(tick + 1));
        }

        #[test]
        fn times_are_counted_as_they_are_written(
            resolution in 1..u64::MAX / 2,
            round in 0..12_u32,
            ticks in prop::collection::vec(any::<u64>(), 1..20),
            offset: u64,
        ) {
            for resolution in [resolution, 10_u64.pow(round)] {
                let seconds = Seconds::new((resolution, offset));
                let mut last = TimeBytes::default();
                let small = ticks.iter().map(|tick| offset.wrapping_add(tick >> (tick % 64)));
                for tick in small.chain(ticks.iter().copied()) {
                    let mut text = Vec::new();
                    seconds.write(seconds.units(tick), &mut text);
                    prop_assert_eq!(seconds.bytes(tick, &mut last), text.len() as u64);
                    let exact = i64::try_from(seconds.units(tick)).ok();
                    let exact = exact.filter(|units| units.unsigned_abs() < EXACT);
                    prop_assert_eq!(seconds.exact_units(tick), exact);
                }
            }
        }

        #[test]
        fn what_is_counted_is_written(number: i64, name: Vec<u8>, float: f64) {
            fn write(number: i64, name: &[u8], float: f64, sink: &mut impl Sink) {
                sink.signed(number);
                sink.name(name);
                double(float, sink);
            }
            let (mut text, mut count) = (Vec::new(), Count::default());
            write(number, &name, float, &mut text);
            write(number, &name, float, &mut count);
            prop_assert_eq!(count.0, text.len() as u64);
            prop_assert!(!text.contains(&b'\n') && !text.contains(&b'"'));
        }
    }
}
