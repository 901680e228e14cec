//! Formats like `%g`: six significant digits, for people to read.

use std::io::Write as _;

use crate::{TENS, put_groups, round, spell, write_u64};

/// Appends `value` as C's `%g` and C++ streams print it: at most six significant digits, no
/// trailing zeros, and an exponent for values below 10^-4 or from 10^6 on.
///
/// ```
/// # use paje_decimal::write_general;
/// let mut out = Vec::new();
/// write_general(&mut out, 1234567.25);
/// assert_eq!(out, b"1.23457e+06");
/// ```
pub fn write_general(out: &mut Vec<u8>, value: f64) {
    let magnitude = value.abs();
    if !(1e-4..1e6).contains(&magnitude) {
        return write_general_long(out, value);
    }
    // The doubles nearest to 10^-1 … 10^-4 are not exact. A double below such a power still prints
    // as the power, because it rounds up to six digits.
    let precision = if magnitude >= 1.0 {
        5 - (1..6).take_while(|n| magnitude >= TENS[*n] as f64).count()
    } else {
        6 + [1e-1, 1e-2, 1e-3].iter().take_while(|power| magnitude < **power).count()
    };
    let Some((integer, fraction)) = round(magnitude.to_bits(), precision) else {
        return write_general_long(out, value);
    };
    if integer == 1_000_000 {
        // From 999999.5 on, rounding gives seven digits.
        return write_general_long(out, value);
    }
    if value < 0.0 {
        out.push(b'-');
    }
    write_u64(out, integer);
    if fraction == 0 {
        return;
    }
    // At most three zeros and six digits follow the point.
    let mut text = [b'.'; 12];
    put_groups(&mut text[1..], fraction * TENS[9 - precision], 9);
    let end = text[..10].iter().rposition(|byte| *byte != b'0').unwrap_or(0);
    out.extend_from_slice(&text[..=end]);
}

#[cold]
fn write_general_long(out: &mut Vec<u8>, value: f64) {
    if value == 0.0 {
        let text: &[u8] = if value.is_sign_negative() { b"-0" } else { b"0" };
        return out.extend_from_slice(text);
    }
    if !value.is_finite() {
        return out.extend_from_slice(spell(value));
    }
    let scientific = format!("{value:.5e}");
    let (digits, exponent) =
        scientific.split_once('e').expect("scientific notation has an exponent");
    let exponent: i32 = exponent.parse().expect("an exponent is an integer");
    if (-4..6).contains(&exponent) {
        let fixed = format!("{value:.*}", (5 - exponent) as usize);
        out.extend_from_slice(without_zeros(&fixed).as_bytes());
        return;
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    let digits = without_zeros(digits);
    write!(out, "{digits}e{sign}{:02}", exponent.unsigned_abs()).expect("vectors take everything");
}

fn without_zeros(decimal: &str) -> &str {
    if decimal.contains('.') {
        decimal.trim_end_matches('0').trim_end_matches('.')
    } else {
        decimal
    }
}
