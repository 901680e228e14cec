//! Colours of values and variable types.

use crate::number;

/// A colour as a trace gives it: red, green, blue and opacity, usually each from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Color(pub [f64; 4]);

impl Color {
    /// Parses three or four numbers separated by blanks or commas, or six hexadecimal digits.
    ///
    /// The rules are those of lang-paje 1.3.1, "color". Hexadecimal colours follow PajeNG 1.3.6.
    #[must_use]
    pub fn parse(text: &[u8]) -> Option<Color> {
        if text.len() == 6 && text.iter().all(u8::is_ascii_hexdigit) {
            let digits = std::str::from_utf8(text).ok()?;
            let part = |i: usize| u8::from_str_radix(&digits[2 * i..2 * i + 2], 16).ok();
            let unit = |i| Some(f64::from(part(i)?) / 255.0);
            return Some(Color([unit(0)?, unit(1)?, unit(2)?, 1.0]));
        }
        let mut parts = [0.0, 0.0, 0.0, 1.0];
        let mut count = 0;
        let words = text.split(|&b| b == b',' || crate::token::is_white(b));
        for word in words.filter(|word| !word.is_empty()) {
            *parts.get_mut(count)? = match tenths(word) {
                Some(part) => part,
                None => number::parse_f64(word)?,
            };
            count += 1;
        }
        (count >= 3).then_some(Color(parts))
    }

    /// Returns red, green and blue for a screen.
    ///
    /// StarPU writes components from 0 to 255. A colour is read so if a component exceeds 1.
    #[must_use]
    pub fn rgb(self) -> [u8; 3] {
        let [red, green, blue, _] = self.0;
        let parts = [red, green, blue];
        let whole = if parts.iter().any(|part| *part > 1.0) { 1.0 } else { 255.0 };
        // The conversion limits numbers to 0 to 255.
        parts.map(|part| (part * whole).round() as u8)
    }
}

/// Parses a component as most programs write it: a digit, perhaps followed by a point and one more
/// digit.
fn tenths(word: &[u8]) -> Option<f64> {
    let digit = |byte: u8| byte.is_ascii_digit().then(|| f64::from(byte - b'0'));
    match *word {
        [ones] => digit(ones),
        // Both numbers are exact, so only the division rounds.
        [ones, b'.', tenths] => Some((10.0 * digit(ones)? + digit(tenths)?) / 10.0),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_numbers_are_read_like_all_others() {
        for number in 0..100 {
            for text in [format!("{}.{}", number / 10, number % 10), (number % 10).to_string()] {
                assert_eq!(tenths(text.as_bytes()), number::parse_f64(text.as_bytes()), "{text}");
            }
        }
        for other in ["", "-1", "1.", ".5", "0.25", "a", "1,5", "1.x"] {
            assert_eq!(tenths(other.as_bytes()), None, "{other}");
        }
    }

    #[test]
    fn every_spelling_of_a_colour_is_read() {
        let parse = |text: &str| Color::parse(text.as_bytes()).map(|c| c.0);
        assert_eq!(parse("0.5 0 1"), Some([0.5, 0.0, 1.0, 1.0]));
        assert_eq!(parse("1,0,0,0.25"), Some([1.0, 0.0, 0.0, 0.25]));
        assert_eq!(parse(" 1, 0, 0 "), Some([1.0, 0.0, 0.0, 1.0]));
        assert_eq!(parse("ff0000"), Some([1.0, 0.0, 0.0, 1.0]));
        for bad in ["", "1 0", "1 0 0 1 1", "junk", "ff00a", "ff0G00", "red green blue"] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn colours_of_starpu_are_out_of_255() {
        for (text, rgb) in [
            ("0.5 0 1", [128, 0, 255]),
            ("128.000000 128.000000 255.000000", [128, 128, 255]),
            ("0 1 200.4", [0, 1, 200]),
            ("-1 1 0", [0, 255, 0]),
            ("-1 300 0", [0, 255, 0]),
        ] {
            assert_eq!(Color::parse(text.as_bytes()).map(Color::rgb), Some(rgb), "{text}");
        }
    }
}
