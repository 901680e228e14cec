//! Generates the man page. `clap_mangen` formats the options, and [`Manual`] has the other
//! sections. The order follows man-pages(7).

use std::fmt::Write as _;
use std::io;

use clap::Command;
use clap::builder::StyledStr;
use clap_mangen::Man;
use clap_mangen::roff::{Inline, Roff, bold, roman};

use super::manual::{Block, Manual};

/// List of our programs and their packages, one per line. Packaging also reads this list, through a link.
const PROGRAMS: &str = include_str!("programs");

/// Returns the page in roff. It has only ASCII characters, so that no reader has to guess the
/// encoding.
pub(crate) fn page(mut command: Command, manual: &Manual) -> String {
    let usage = command.render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").to_owned();
    let name = command.get_name().to_owned();
    // The title is written by hand, because `clap_mangen` would omit an empty date and shift the
    // following arguments.
    let version = command.get_version().unwrap_or_default();
    let title =
        format!(".TH {} 1 \"\" \"Pajé Replay {version}\" \"User Commands\"\n", name.to_uppercase());
    let man = Man::new(with_full_stops(command.override_usage(usage)));
    let mut text = title.into_bytes();
    from_clap(&man, &mut text).expect("writing to memory cannot fail");
    let mut text = String::from_utf8(text).expect("roff of UTF-8 is UTF-8");
    text.push_str(&rest(&name, manual).render());
    ascii(&once(&text))
}

fn from_clap(man: &Man, text: &mut Vec<u8>) -> io::Result<()> {
    man.render_name_section(text)?;
    man.render_synopsis_section(text)?;
    man.render_description_section(text)?;
    man.render_options_section(text)
}

/// Adds full stops to the help of options. `--help` does not need them, but paragraphs read better
/// with them.
fn with_full_stops(command: Command) -> Command {
    let ended = |help: &StyledStr| {
        let help = help.to_string().replace(" (see a summary with '-h')", "");
        let sentences = help.split("\n\n").map(|paragraph| match paragraph {
            ended if ended.ends_with(['.', ':', '?', '!']) => ended.to_owned(),
            open => format!("{open}."),
        });
        sentences.collect::<Vec<_>>().join("\n\n")
    };
    command.mut_args(|mut arg| {
        if let Some(help) = arg.get_help().map(ended) {
            arg = arg.help(help);
        }
        if let Some(help) = arg.get_long_help().map(ended) {
            arg = arg.long_help(help);
        }
        // `clap_mangen` would omit an option without short help.
        arg.hide_short_help(false)
    })
}

fn rest(name: &str, manual: &Manual) -> Roff {
    let mut roff = Roff::new();
    for (title, blocks) in manual.sections {
        roff.control("SH", [*title]);
        for (index, block) in blocks.iter().enumerate() {
            match block {
                Block::Text(text) => {
                    if index > 0 {
                        roff.control("PP", []);
                    }
                    roff.text([roman(*text)]);
                }
                Block::Lines(lines) => as_they_are(&mut roff, lines),
                Block::Terms(terms) => {
                    for (term, means) in *terms {
                        explained(&mut roff, term, means);
                    }
                }
            }
        }
    }
    roff.control("SH", ["EXIT STATUS"]);
    for (status, means) in manual.statuses {
        explained(&mut roff, &status.to_string(), &sentence(means));
    }
    roff.control("SH", ["EXAMPLES"]);
    for (line, does) in manual.examples {
        explained(&mut roff, line, &sentence(does));
    }
    roff.control("SH", ["SEE ALSO"]);
    let mut line: Vec<Inline> = Vec::new();
    for other in programs().filter(|other| *other != name) {
        if !line.is_empty() {
            line.push(roman(", "));
        }
        line.extend([bold(other), roman("(1)")]);
    }
    roff.text(line);
    roff
}

fn programs() -> impl Iterator<Item = &'static str> {
    let lines = PROGRAMS.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.split_ascii_whitespace().next())
}

fn explained(roff: &mut Roff, term: &str, means: &str) {
    roff.control("TP", []);
    roff.text([bold(term)]);
    roff.text([roman(means)]);
}

fn as_they_are(roff: &mut Roff, lines: &str) {
    roff.control("PP", []);
    roff.control("RS", ["4"]);
    roff.control("nf", []);
    for line in lines.lines() {
        roff.text([roman(line)]);
    }
    roff.control("fi", []);
    roff.control("RE", []);
}

fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    format!("{}{}.", first.unwrap_or_default(), letters.as_str())
}

/// Removes repeated definitions of the apostrophe.
fn once(text: &str) -> String {
    let preamble = Roff::new().render();
    format!("{preamble}{}", text.replace(&preamble, ""))
}

/// Replaces characters that are not ASCII by their numbers. groff and mandoc understand these in
/// any encoding.
fn ascii(text: &str) -> String {
    let mut ascii = String::with_capacity(text.len());
    for letter in text.chars() {
        if letter.is_ascii() {
            ascii.push(letter);
        } else {
            let _ = write!(ascii, "\\[u{:04X}]", u32::from(letter));
        }
    }
    ascii
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_outside_ascii_become_numbers() {
        assert_eq!(ascii("Pajé … 🦀"), "Paj\\[u00E9] \\[u2026] \\[u1F980]");
    }

    #[test]
    fn sentences_get_a_capital_and_a_full_stop() {
        assert_eq!(sentence("é is one letter"), "É is one letter.");
        assert_eq!(sentence(""), ".");
    }
}
