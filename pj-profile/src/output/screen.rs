//! What tables for people are shown on.

use std::env;
use std::io::{self, IsTerminal};

use rustix::termios::tcgetwinsize;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// How wide a line is, and whether it may have colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Screen {
    /// In columns.
    pub width: usize,
    /// Whether there are colours.
    pub has_colours: bool,
}

/// Wide enough for a report of states; where nothing else is known.
const WIDTH: usize = 100;

impl Screen {
    /// So wide, and without colours.
    #[must_use]
    pub const fn plain(width: usize) -> Self {
        Screen { width, has_colours: false }
    }

    /// Standard output.
    pub(super) fn of_output() -> Self {
        let out = io::stdout();
        if !out.is_terminal() {
            let columns = env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
            return Screen::plain(columns.unwrap_or(WIDTH));
        }
        let width = tcgetwinsize(&out).map_or(80, |size| usize::from(size.ws_col));
        let refused = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = env::var_os("TERM").is_none_or(|term| term == "dumb");
        Screen { width: width.max(40), has_colours: !refused && !dumb }
    }

    /// Text in one of the eight colours of a terminal.
    pub(super) fn paint(self, code: u8, text: &str) -> String {
        if self.has_colours { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// How many columns a text takes.
pub(super) fn width(text: &str) -> usize {
    text.width()
}

/// A name that nothing can be done to a terminal with, cut to so many columns.
pub(super) fn fitted(name: &str, columns: usize) -> String {
    let mut text = String::new();
    for c in name.chars() {
        if c.is_control() { text.extend(c.escape_default()) } else { text.push(c) }
    }
    if width(&text) <= columns {
        return text;
    }
    let mut taken = 1;
    let fits = |c: &char| {
        taken += c.width().unwrap_or(0);
        taken <= columns
    };
    let mut cut: String = text.chars().take_while(fits).collect();
    cut.push('…');
    cut
}

/// Seconds with a unit, in some four digits.
pub(super) fn duration(seconds: f64) -> String {
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

/// A whole number, its digits in groups of three.
pub(super) fn count(number: u64) -> String {
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

/// An amount in some four digits, with a letter for thousands of thousands.
pub(super) fn amount(number: f64) -> String {
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

/// A bar of so many columns, this part of it full.
pub(super) fn bar(part: f64, columns: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (part.clamp(0.0, 1.0) * columns as f64 * 8.0).round() as usize;
    let mut text = "█".repeat(eighths / 8);
    text += EIGHTHS[eighths % 8];
    text
}

/// A place of a heat strip: the more, the higher.
pub(super) fn heat(part: f64) -> char {
    const LEVELS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    // Little is not nothing.
    let level = (part.clamp(0.0, 1.0) * 8.0).ceil() as usize;
    LEVELS[level.min(8)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_for_people() {
        let all = [0.0, 12.3456, 123.456, 0.001_234, 4.5e-7, 1e-9, -2.0];
        let wanted = ["0 s", "12.35 s", "123.5 s", "1.234 ms", "450.0 ns", "1.000 ns", "-2.000 s"];
        assert_eq!(all.map(duration), wanted);
        assert_eq!([0, 999, 1000, 1_234_567].map(count), ["0", "999", "1 000", "1 234 567"]);
        let all = [0.0, 1024.0, 12_345.0, 2.5e6, 1e9, 1e30, 0.125, 1e-6];
        let wanted = ["0", "1024", "12.345 k", "2.500 M", "1 G", "1.000e18", "0.125", "1.000e-6"];
        assert_eq!(all.map(amount), wanted);
    }

    #[test]
    fn bars_and_strips() {
        assert_eq!([0.0, 0.5, 1.0, 2.0].map(|part| bar(part, 4)), ["", "██", "████", "████"]);
        assert_eq!(bar(0.1, 4), "▍");
        assert_eq!([0.0, 1e-9, 0.5, 1.0].map(heat), [' ', '▁', '▄', '█']);
    }

    #[test]
    fn names_fit() {
        assert_eq!(fitted("MPI_Send", 8), "MPI_Send");
        assert_eq!(fitted("MPI_Sendrecv", 8), "MPI_Sen…");
        assert_eq!(fitted("\x1b[31m", 20), "\\u{1b}[31m");
        assert_eq!(fitted("計算計算", 5), "計算…");
        assert_eq!(width(&fitted("計算計算", 6)), 5);
    }
}
