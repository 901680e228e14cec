use std::io;

use paje_console::options::Coloured;
use paje_console::output;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Width and colours of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Screen {
    /// Number of columns.
    pub(crate) width: usize,
    /// Whether colours are used.
    pub(crate) has_colours: bool,
}

/// Default width. A report of states fits into it.
const WIDTH: usize = 100;

impl Screen {
    /// Creates a screen of this width without colours.
    pub(crate) const fn plain(width: usize) -> Self {
        Screen { width, has_colours: false }
    }

    pub(super) fn of_output(coloured: Coloured) -> Self {
        let out = io::stdout();
        let width = output::columns(&out).unwrap_or(WIDTH).max(40);
        Screen { width, has_colours: coloured.is_wanted(&out) }
    }

    pub(super) fn paint(self, code: u8, text: &str) -> String {
        if self.has_colours { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

pub(super) fn width(text: &str) -> usize {
    text.width()
}

/// Escapes control characters in a name, and truncates the name to a width.
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
    // Rounds up, so that small values stay visible.
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
