//! Tests numbers of a known shape.

use super::*;
use crate::number::swar;

fn ending(before: u8, text: &[u8]) -> [u8; ENDING] {
    let mut ending = [before; ENDING];
    ending[ENDING - text.len()..].copy_from_slice(text);
    ending
}

fn check(pattern: &str, text: &str) {
    for before in *b" 9.\0\xff" {
        let shape = Shape::of(&ending(before, pattern.as_bytes()), pattern.len());
        let ending = ending(before, text.as_bytes());
        let found = shape.read(&ending, text.len());
        let is_like = |(one, other): (u8, u8)| match one {
            b'.' => other == b'.',
            _ => one.is_ascii_digit() && other.is_ascii_digit(),
        };
        let digits = pattern.bytes().filter(u8::is_ascii_digit).count();
        let is_short = (1..=15).contains(&digits) && digits + 1 >= pattern.len();
        let fits = is_short && !pattern.starts_with('.') && pattern.len() == text.len();
        let fits = fits && pattern.bytes().zip(text.bytes()).all(is_like);
        let expected = parse_f64(text.as_bytes()).filter(|_| fits).map(f64::to_bits);
        assert_eq!(found.map(f64::to_bits), expected, "{text:?} like {pattern:?}");
        assert_eq!(swar::shaped(&ending, &shape.rows), row::shaped(&ending, &shape.rows));
    }
}

proptest! {
    #[test]
    fn a_shape_reads_exactly_the_numbers_of_its_shape(pattern in "[0-9]{0,9}[.]?[0-9]{0,8}", digits in "[0-9]{17}", odd in "[0-9./:\\-e]") {
        if pattern.len() > 16 {
            return Ok(());
        }
        let like = |text: &str| -> String {
            let places = text.bytes().zip(digits.bytes());
            places.map(|(byte, digit)| if byte == b'.' { '.' } else { digit as char }).collect()
        };
        let mut text = like(&pattern);
        check(&pattern, &text);
        if !text.is_empty() {
            let place = digits.len() * 7 % text.len();
            text.replace_range(place..=place, &odd);
            check(&pattern, &text);
            check(&text, &pattern);
        }
        check(&pattern, &digits[..16]);
    }
}
