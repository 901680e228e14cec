//! Width and colours of the output.

use std::env;
use std::io::{self, IsTerminal};

use rustix::termios::tcgetwinsize;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Width and colours of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Screen {
    /// Number of columns.
    pub width: usize,
    /// Whether colours are used.
    pub has_colours: bool,
}

/// Default width, which is large enough for a report of states.
const WIDTH: usize = 100;

impl Screen {
    /// Creates a screen of this width without colours.
    #[must_use]
    pub const fn plain(width: usize) -> Self {
        Screen { width, has_colours: false }
    }

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

    pub(super) fn paint(self, code: u8, text: &str) -> String {
        if self.has_colours { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

pub(super) fn width(text: &str) -> usize {
    text.width()
}

/// Escapes control characters of a name, and truncates it to a width.
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

pub(super) fn bar(part: f64, columns: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (part.clamp(0.0, 1.0) * columns as f64 * 8.0).round() as usize;
    let mut text = "█".repeat(eighths / 8);
    text += EIGHTHS[eighths % 8];
    text
}

pub(super) fn heat(part: f64) -> char {
    const LEVELS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    // Round up, so that small values stay visible.
    let level = (part.clamp(0.0, 1.0) * 8.0).ceil() as usize;
    LEVELS[level.min(8)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_and_strips_show_parts() {
        assert_eq!([0.0, 0.5, 1.0, 2.0].map(|part| bar(part, 4)), ["", "██", "████", "████"]);
        assert_eq!(bar(0.1, 4), "▍");
        assert_eq!([0.0, 1e-9, 0.5, 1.0].map(heat), [' ', '▁', '▄', '█']);
    }

    #[test]
    fn names_are_escaped_and_truncated() {
        assert_eq!(fitted("MPI_Send", 8), "MPI_Send");
        assert_eq!(fitted("MPI_Sendrecv", 8), "MPI_Sen…");
        assert_eq!(fitted("\x1b[31m", 20), "\\u{1b}[31m");
        assert_eq!(fitted("計算計算", 5), "計算…");
        assert_eq!(width(&fitted("計算計算", 6)), 5);
    }
}
