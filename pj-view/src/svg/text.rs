//! Numbers and names in drawings.

/// Appends a rectangle to a path.
pub(super) fn push_rect(path: &mut String, left: f64, right: f64, top: f64, height: f64) {
    let (left, right) = (tenths(left), tenths(right));
    let parts = [('M', left), (' ', tenths(top)), ('h', right - left)];
    for (letter, number) in parts.into_iter().chain([('v', tenths(height)), ('H', left)]) {
        path.push(letter);
        push_tenths(path, number);
    }
    path.push('z');
}

pub(super) fn tenths(number: f64) -> i64 {
    (number * 10.0 + 0.5f64.copysign(number)) as i64
}

/// Appends a number of tenths as a decimal number. The standard formatting is too slow here.
pub(super) fn push_tenths(out: &mut String, tenths: i64) {
    if tenths < 0 {
        out.push('-');
    }
    let mut digits = [b'0'; 24];
    let (mut at, mut rest) = (digits.len(), tenths.unsigned_abs());
    let fraction = rest % 10;
    rest /= 10;
    while {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        rest > 0
    } {}
    out.extend(digits[at..].iter().map(|digit| char::from(*digit)));
    if fraction > 0 {
        out.push('.');
        out.push(char::from(b'0' + fraction as u8));
    }
}

pub(super) fn significant(number: f64) -> String {
    // Avoids minus zero.
    let number = number + 0.0;
    let before = if number == 0.0 { 0.0 } else { number.abs().log10().floor() };
    if before.abs() > 9.0 {
        return format!("{number:.3e}");
    }
    let digits = (3.0 - before).max(0.0) as usize;
    let text = format!("{number:.digits$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

pub(super) fn shortened(name: &str, most: usize) -> String {
    match name.chars().count() > most.max(2) {
        true => name.chars().take(most.max(2) - 1).chain(['…']).collect(),
        false => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use paje_pictures::tenth;

    use super::*;

    #[test]
    fn long_names_are_shortened() {
        assert_eq!((shortened("abcdef", 4), shortened("abcd", 4)), ("abc…".into(), "abcd".into()));
    }

    #[test]
    fn values_have_four_significant_digits() {
        for (number, expected) in [
            (0.0, "0"),
            (-0.0, "0"),
            (217.83, "217.8"),
            (1_573_000.0, "1573000"),
            (0.000_123_46, "0.0001235"),
            (-2.5, "-2.5"),
            (1.5e12, "1.500e12"),
            (9.99996, "10"),
        ] {
            assert_eq!(significant(number), expected);
        }
    }

    #[test]
    fn tenths_are_written_as_by_the_standard_library() {
        let mut numbers = vec![0.0, 0.04, 0.05, 0.25, 9.95, 10.0, 99.96, 100.0, 1234.5678, 4e9];
        numbers.extend((0..2000).map(|i| f64::from(i) * 0.37 - 250.0));
        for number in numbers {
            let mut out = String::new();
            push_tenths(&mut out, tenths(number));
            assert_eq!(out, tenth(number).to_string(), "{number}");
        }
    }
}
