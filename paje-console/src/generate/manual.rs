//! Manual of a program: all that its user should know beside its options.

use std::fmt::Write;

/// Parts of a man page after the options; some of them stand in `--help` too.
#[derive(Clone, Copy, Debug)]
pub struct Manual {
    /// Exit statuses, and what each of them means: the end of a sentence, without a full stop.
    pub statuses: &'static [(u8, &'static str)],
    /// Command lines, and what each of them does: some words, without a full stop.
    pub examples: &'static [(&'static str, &'static str)],
    /// Further sections, by title, between the options and the exit statuses.
    pub sections: &'static [(&'static str, &'static [Block])],
}

/// A part of a section.
#[derive(Clone, Copy, Debug)]
pub enum Block {
    /// A paragraph, its lines filled.
    Text(&'static str),
    /// Lines that stay as they are.
    Lines(&'static str),
    /// Words, each with what it means.
    Terms(&'static [(&'static str, &'static str)]),
}

impl Manual {
    /// Exit statuses in a line, and examples: what `-h` ends with.
    #[must_use]
    pub fn after_help(&self) -> String {
        self.short(self.examples.len())
    }

    /// The same with three examples, where all options fit one screen only so.
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

    /// The same, with what each example does: what `--help` ends with.
    #[must_use]
    pub fn after_long_help(&self) -> String {
        let mut text = String::from("Exit status:");
        for (status, means) in self.statuses {
            let _ = write!(text, "\n  {status}  {means}");
        }
        text.push_str("\n\nExamples:");
        for (line, does) in self.examples {
            // Below it: what is too long for a line goes on in the column where the line began.
            let _ = write!(text, "\n  {line}\n          {does}");
        }
        text
    }
}
