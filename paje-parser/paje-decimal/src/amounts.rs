//! Amounts as people write and read them: `20ms`, `64KiB`, `10GB/s`, `x2`; `1.23 ms`, `12,345`.

const SECONDS: &str = "expected a time in seconds, or with a unit such as 20ms";
const SIZE: &str = "expected a size such as 64K, 100MB or 1GiB";
const RATE: &str = "expected a rate such as 10GB/s or 25Gbit/s";
const FACTOR: &str = "expected a factor of 0 or more such as x2, 2x or 0.5";

/// Units of time with the numbers that a value is multiplied and divided by. Longer ones first.
const TIMES: [(&str, f64, f64); 7] = [
    ("min", 60.0, 1.0),
    ("ms", 1.0, 1e3),
    ("us", 1.0, 1e6),
    ("µs", 1.0, 1e6),
    ("ns", 1.0, 1e9),
    ("h", 3600.0, 1.0),
    ("s", 1.0, 1.0),
];

/// Parses a time in seconds, with or without a unit: `1.5`, `20ms`, `-3us`.
///
/// # Errors
/// Returns what was expected.
pub fn seconds(text: &str) -> Result<f64, String> {
    let united = TIMES.iter().find_map(|(unit, times, parts)| {
        Some((text.strip_suffix(unit)?.trim_end(), *times, *parts))
    });
    // Dividing rounds correctly: 9 / 1e3 is the double of 0.009.
    let (digits, times, parts) = united.unwrap_or((text, 1.0, 1.0));
    let number = digits.parse::<f64>().ok().filter(|number| !number.is_nan());
    number.map(|number| number * times / parts).ok_or_else(|| SECONDS.into())
}

/// Parses a number of bytes: plain, or with K, M, G or T (powers of 1024, also written KiB and so
/// on), or with KB, MB, GB or TB (powers of 1000).
///
/// # Errors
/// Returns what was expected.
pub fn size(text: &str) -> Result<u64, String> {
    bytes(text).map(|bytes| bytes as u64).ok_or_else(|| SIZE.into())
}

/// Parses a rate in bytes per second: plain, a size with `/s` or `ps`, or bits such as `25Gbit/s`.
///
/// # Errors
/// Returns what was expected.
pub fn rate(text: &str) -> Result<f64, String> {
    let amount = text.strip_suffix("/s").or_else(|| text.strip_suffix("ps")).unwrap_or(text);
    let bits = ["bits", "bit", "b"].iter().find_map(|unit| amount.strip_suffix(unit));
    let rate = match bits {
        Some(bits) => bytes(&format!("{bits}B")).map(|bits| bits / 8.0),
        None => bytes(amount).or_else(|| amount.parse().ok().filter(|rate| *rate >= 0.0)),
    };
    rate.ok_or_else(|| RATE.into())
}

fn bytes(text: &str) -> Option<f64> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let unit = unit.to_ascii_uppercase();
    let (letter, base) = match (unit.strip_suffix("IB"), unit.strip_suffix('B')) {
        (Some(letter), _) => (letter, 1024.0_f64),
        (None, Some(letter)) => (letter, 1000.0),
        (None, None) => (unit.as_str(), 1024.0),
    };
    let power = ["", "K", "M", "G", "T"].iter().position(|known| *known == letter)?;
    Some(number.parse::<f64>().ok()? * base.powi(power as i32))
}

/// Parses a factor of at least 0: `x2`, `2x` or `2`.
///
/// # Errors
/// Returns what was expected.
pub fn factor(text: &str) -> Result<f64, String> {
    let number = marked_factor(text).or_else(|| text.parse().ok());
    number.filter(|it| it.is_finite() && *it >= 0.0).ok_or_else(|| FACTOR.into())
}

/// Parses a factor that has its mark, such as `x2` or `2x`, and so differs from an amount.
#[must_use]
pub fn marked_factor(text: &str) -> Option<f64> {
    text.strip_prefix(['x', '×']).or_else(|| text.strip_suffix(['x', '×']))?.parse().ok()
}

/// Formats seconds in three significant digits with a unit. Less than half a picosecond is 0.
#[must_use]
pub fn duration(seconds: f64) -> String {
    if seconds.abs() < 5e-13 {
        return "0 s".into();
    }
    let units = [("s", 1.0), ("ms", 1e3), ("µs", 1e6), ("ns", 1e9)];
    // 0.9999 ms is 1.00 ms, not 1000 µs.
    let fits = units.iter().find(|(_, scale)| (seconds * scale).abs() >= 0.9995);
    let (unit, scale) = fits.unwrap_or(&units[3]);
    format!("{} {unit}", three_digits(seconds * scale))
}

/// Formats a number in three significant digits; from 1000 on, all digits before the point.
fn three_digits(number: f64) -> String {
    match number.abs() {
        1e15.. => format!("{number:.2e}"),
        999.5.. => {
            let sign = if number < 0.0 { "-" } else { "" };
            format!("{sign}{}", count(number.abs().round() as u64))
        }
        99.95.. => format!("{number:.0}"),
        9.995.. => format!("{number:.1}"),
        0.9995.. => format!("{number:.2}"),
        0.1.. => format!("{number:.3}"),
        0.01.. => format!("{number:.4}"),
        _ => format!("{number:.2e}"),
    }
}

/// Formats an integer with a comma after each group of three digits.
#[must_use]
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats an amount in three significant digits, with an SI prefix from 10,000 on.
#[must_use]
pub fn amount(number: f64) -> String {
    let scales = [(1e12, " T"), (1e9, " G"), (1e6, " M"), (1e3, " k")];
    let size = number.abs();
    let fits = scales.iter().find(|(scale, _)| size >= *scale && (1e4..1e15).contains(&size));
    let (scale, unit) = fits.copied().unwrap_or((1.0, ""));
    let scaled = number / scale;
    let is_short = scaled.fract() == 0.0 && scaled.abs() < 1e4;
    let text = if is_short { scaled.to_string() } else { three_digits(scaled) };
    text + unit
}

/// Formats a fraction in per cent.
#[must_use]
pub fn percent(part: f64) -> String {
    format!("{:.1} %", part * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_parsed() {
        for (text, wanted) in [
            ("-1.5", -1.5),
            ("1e3", 1000.0),
            ("9ms", 0.009),
            ("10us", 1e-5),
            ("10 µs", 1e-5),
            ("1e3ns", 1e-6),
            ("2s", 2.0),
            ("2min", 120.0),
            ("1h", 3600.0),
            ("inf", f64::INFINITY),
        ] {
            assert_eq!(seconds(text), Ok(wanted), "{text}");
        }
        for wrong in ["", "soon", "nan", "s", "1m", "1 day", "ms"] {
            assert!(seconds(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn sizes_are_parsed() {
        for (text, bytes) in [
            ("0", 0),
            ("17", 17),
            ("17B", 17),
            ("2K", 2048),
            ("2kib", 2048),
            ("1.5kB", 1500),
            ("512M", 512 << 20),
            ("3T", 3 << 40),
        ] {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
        for wrong in ["", "K", "1X", "-1", "1..2", "1 K", "nan", "1e3", "KB"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn rates_and_factors_are_parsed() {
        for (text, wanted) in [
            ("1e9", 1e9),
            ("10GB/s", 1e10),
            ("125MBps", 1.25e8),
            ("1Gbps", 1.25e8),
            ("25Gbit/s", 3.125e9),
            ("1KiB/s", 1024.0),
        ] {
            assert_eq!(rate(text), Ok(wanted), "{text}");
        }
        assert!(rate("fast").is_err() && rate("-1").is_err() && rate("10GB/h").is_err());
        assert_eq!(["x2", "2x", "2", "x0.5"].map(factor), [Ok(2.0), Ok(2.0), Ok(2.0), Ok(0.5)]);
        assert_eq!([marked_factor("2"), marked_factor("2x")], [None, Some(2.0)]);
        for wrong in ["", "x", "2y", "-1", "inf", "nan"] {
            assert!(factor(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn numbers_are_readable() {
        let all = [0.0, 12.3456, 123.456, 0.001_234, 4.5e-7, 1e-9, -2.0, 2756.597, 0.000_999_9];
        let wanted = ["0 s", "12.3 s", "123 s", "1.23 ms", "450 ns", "1.00 ns", "-2.00 s"];
        assert_eq!(all[..7].iter().map(|it| duration(*it)).collect::<Vec<_>>(), wanted);
        assert_eq!([duration(all[7]), duration(all[8])], ["2,757 s", "1.00 ms"]);
        assert_eq!([0, 999, 1000, 1_234_567].map(count), ["0", "999", "1,000", "1,234,567"]);
        let all = [0.0, 1024.0, 12_345.0, 2.5e6, 1e9, 1e30, 0.125, 1e-6];
        let wanted = ["0", "1024", "12.3 k", "2.50 M", "1 G", "1.00e30", "0.125", "1.00e-6"];
        assert_eq!(all.map(amount), wanted);
    }
}
