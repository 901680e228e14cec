//! Human-readable numbers.

/// Formats seconds in about four digits with a unit.
#[must_use]
pub fn duration(seconds: f64) -> String {
    let size = seconds.abs();
    let (scale, unit) = match size {
        0.0 => return "0 s".into(),
        1.0.. => (1.0, "s"),
        1e-3.. => (1e3, "ms"),
        1e-6.. => (1e6, "µs"),
        _ => (1e9, "ns"),
    };
    let scaled = seconds * scale;
    let digits = match scaled.abs() {
        100.0.. => 1,
        10.0.. => 2,
        _ => 3,
    };
    format!("{scaled:.digits$} {unit}")
}

/// Formats an integer, with digits in groups of three.
#[must_use]
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// Formats an amount in about four digits, with an SI prefix.
#[must_use]
pub fn amount(number: f64) -> String {
    let size = number.abs();
    let (scale, unit) = match size {
        1e12.. => (1e12, " T"),
        1e9.. => (1e9, " G"),
        1e6.. => (1e6, " M"),
        1e4.. => (1e3, " k"),
        _ => (1.0, ""),
    };
    let scaled = number / scale;
    if scaled.fract() == 0.0 && scaled.abs() < 1e15 {
        return format!("{scaled}{unit}");
    }
    match scaled.abs() {
        1e15.. => format!("{scaled:.3e}"),
        100.0.. => format!("{scaled:.1}{unit}"),
        0.01.. => format!("{scaled:.3}{unit}"),
        _ => format!("{scaled:.3e}"),
    }
}

/// Formats a fraction in per cent.
#[must_use]
pub fn percent(part: f64) -> String {
    format!("{:.1} %", part * 100.0)
}

/// Returns the spacing between the marks of an axis: 1, 2 or 5 times a power of ten, and no smaller
/// than `least`.
#[must_use]
pub fn step(least: f64) -> f64 {
    let power = 10f64.powf(least.log10().floor());
    [1.0, 2.0, 5.0].into_iter().map(|it| it * power).find(|it| *it >= least).unwrap_or(10.0 * power)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_readable() {
        let all = [0.0, 12.3456, 123.456, 0.001_234, 4.5e-7, 1e-9, -2.0];
        let wanted = ["0 s", "12.35 s", "123.5 s", "1.234 ms", "450.0 ns", "1.000 ns", "-2.000 s"];
        assert_eq!(all.map(duration), wanted);
        assert_eq!([0, 999, 1000, 1_234_567].map(count), ["0", "999", "1 000", "1 234 567"]);
        let all = [0.0, 1024.0, 12_345.0, 2.5e6, 1e9, 1e30, 0.125, 1e-6];
        let wanted = ["0", "1024", "12.345 k", "2.500 M", "1 G", "1.000e18", "0.125", "1.000e-6"];
        assert_eq!(all.map(amount), wanted);
    }

    #[test]
    fn steps_are_round() {
        for (least, found) in [(0.9, 1.0), (1.0, 1.0), (1.5, 2.0), (0.03, 0.05), (7.0, 10.0)] {
            assert!((step(least) - found).abs() < found * 1e-9, "{least}");
        }
    }
}
