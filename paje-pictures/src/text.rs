//! Escapes, shortens, measures and compares names.

use std::cmp::Ordering;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Approximate width of a text column at font size [`SIZE`], in pixels.
const COLUMN: f64 = 6.1;

pub(crate) const SIZE: f64 = 11.0;

/// Escapes a name for XML and HTML. Replaces control characters and changes of text direction.
#[must_use]
pub fn escaped(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for letter in name.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => out.push('\u{fffd}'),
            _ if letter.is_control() || matches!(letter, '\u{fffe}' | '\u{ffff}') => {
                out.push('\u{fffd}');
            }
            _ => out.push(letter),
        }
    }
    out
}

/// Shortens a name in its middle, since names often differ at their ends.
#[must_use]
pub fn shortened(name: &str, pixels: f64) -> String {
    let columns = ((pixels / COLUMN + 1e-6) as usize).max(3);
    if name.width() <= columns {
        return name.to_owned();
    }
    let fits = |room: usize| {
        let mut taken = 0;
        move |letter: &char| {
            taken += letter.width().unwrap_or(0);
            taken <= room
        }
    };
    let behind = (columns - 1) / 2;
    let end: Vec<char> = name.chars().rev().take_while(fits(behind)).collect();
    let start = name.chars().take_while(fits(columns - 1 - behind));
    start.chain(['…']).chain(end.into_iter().rev()).collect()
}

pub(crate) fn pixels(text: &str) -> f64 {
    text.width() as f64 * COLUMN
}

pub(crate) fn widest<'n>(names: impl IntoIterator<Item = &'n str>, most: f64) -> f64 {
    names.into_iter().map(pixels).fold(0.0, f64::max).min(most)
}

/// Compares names with numbers in numeric order: rank-10 comes after rank-9.
#[must_use]
pub fn natural(a: &str, b: &str) -> Ordering {
    let (mut left, mut right) = (a, b);
    loop {
        let (one, other) = (part(&mut left), part(&mut right));
        let numbers = one.parse::<u64>().ok().zip(other.parse::<u64>().ok());
        let order = numbers.map_or_else(|| one.cmp(other), |(one, other)| one.cmp(&other));
        if order.is_ne() {
            return order;
        }
        if left.is_empty() || right.is_empty() {
            return left.cmp(right).then_with(|| a.cmp(b));
        }
    }
}

/// Removes and returns the leading digits of a text, or the leading part without digits.
fn part<'t>(text: &mut &'t str) -> &'t str {
    let digits = text.starts_with(|c: char| c.is_ascii_digit());
    let end = text.find(|c: char| c.is_ascii_digit() != digits).unwrap_or(text.len());
    let (part, rest) = text.split_at(end);
    *text = rest;
    part
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_escaped() {
        assert_eq!(
            escaped("<a onload=\"x\"> & 'b'\u{1b}[0m\u{202e}"),
            "&lt;a onload=&quot;x&quot;&gt; &amp; &#39;b&#39;\u{fffd}[0m\u{fffd}"
        );
    }

    #[test]
    fn long_names_are_shortened_in_the_middle() {
        assert_eq!(shortened("rank-0", 100.0), "rank-0");
        assert_eq!(shortened("a-very-long-name-of-12", 9.0 * COLUMN), "a-ve…f-12");
        assert_eq!(shortened("計算計算計算", 9.0 * COLUMN), "計算…計算");
    }

    #[test]
    fn digits_count_as_numbers() {
        let mut names = ["rank-10", "rank-2", "rank", "a10b", "a9", "rank-"];
        names.sort_by(|a, b| natural(a, b));
        assert_eq!(names, ["a9", "a10b", "rank", "rank-", "rank-2", "rank-10"]);
    }
}
