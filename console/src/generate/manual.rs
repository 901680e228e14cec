//! What a program's user should know beside its options.

use std::fmt::Write;

/// What stands in a man page after the options, and partly in `--help` too.
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

/// Where the meanings of examples begin, in columns: command lines that reach there have theirs below.
const COLUMN: usize = 42;

impl Manual {
    /// Exit statuses in a line, and examples: what `-h` ends with.
    #[must_use]
    pub fn after_help(&self) -> String {
        let statuses: Vec<_> =
            self.statuses.iter().map(|(status, means)| format!("{status} {means}")).collect();
        let mut text = format!("Exit status: {}.\n\nExamples:", statuses.join(", "));
        for (line, _) in self.examples {
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
            let _ = match line.len() + 3 < COLUMN {
                true => write!(text, "\n  {line:<width$}{does}", width = COLUMN - 2),
                false => write!(text, "\n  {line}\n{:COLUMN$}{does}", ""),
            };
        }
        text
    }
}
