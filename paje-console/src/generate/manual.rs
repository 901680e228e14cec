//! Texts of a program's manual, except for the options.

use std::fmt::Write;

/// The parts of a man page after the options. `--help` prints some of them as well.
#[derive(Clone, Copy, Debug)]
pub struct Manual {
    /// Exit statuses with their meanings, without full stops.
    pub statuses: &'static [(u8, &'static str)],
    /// Example command lines with their effects, without full stops.
    pub examples: &'static [(&'static str, &'static str)],
    /// Further sections with their titles. They are printed between the options and the exit
    /// statuses.
    pub sections: &'static [(&'static str, &'static [Block])],
}

/// A part of a section.
#[derive(Clone, Copy, Debug)]
pub enum Block {
    /// A paragraph, whose lines are filled.
    Text(&'static str),
    /// Preformatted lines.
    Lines(&'static str),
    /// Terms with their meanings.
    Terms(&'static [(&'static str, &'static str)]),
}

impl Manual {
    /// Returns the text at the end of `-h`: the exit statuses on one line, and all examples.
    #[must_use]
    pub fn after_help(&self) -> String {
        self.short(self.examples.len())
    }

    /// Returns the text at the end of `-h` with only three examples, so that all options fit on a
    /// screen.
    #[must_use]
    pub fn after_short_help(&self) -> String {
        self.short(3)
    }

    fn short(&self, examples: usize) -> String {
        let statuses: Vec<_> =
            self.statuses.iter().map(|(status, means)| format!("{status} {means}")).collect();
        let mut text = format!("Exit status: {}.\n\nExamples:", statuses.join(", "));
        for (line, _) in self.examples.iter().take(examples) {
            let _ = write!(text, "\n  {line}");
        }
        text
    }

    /// Returns the text at the end of `--help`: exit statuses, and examples with their effects.
    #[must_use]
    pub fn after_long_help(&self) -> String {
        let mut text = String::from("Exit status:");
        for (status, means) in self.statuses {
            let _ = write!(text, "\n  {status}  {means}");
        }
        text.push_str("\n\nExamples:");
        for (line, does) in self.examples {
            // The meaning is on the next line, so that long texts wrap within their column.
            let _ = write!(text, "\n  {line}\n          {does}");
        }
        text
    }
}
