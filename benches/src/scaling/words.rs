//! Meanings of words on command lines, for all studies, and the options that all have.

use std::path::PathBuf;

use datasets::Shape;
use paje_workers::Pin;

use super::study::Source;

/// Options of every study.
#[derive(Clone, Debug, clap::Args)]
pub struct Asked {
    /// Traces to measure after the generated ones
    #[arg(value_name = "TRACE")]
    pub traces: Vec<PathBuf>,

    /// Measure the given traces only
    #[arg(long, requires = "traces")]
    pub only_given: bool,

    /// Repetitions [default: 5, quick: 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    runs: Option<u32>,

    /// Small traces and few runs: this checks the study, and says nothing about speed
    #[arg(long)]
    pub quick: bool,
}

impl Asked {
    /// Number of runs of each configuration.
    pub fn runs(&self) -> u32 {
        self.runs.unwrap_or(if self.quick { 2 } else { 5 })
    }

    /// Sources to measure: traces of these shapes, if not the given ones only, and the given ones.
    ///
    /// # Errors
    ///
    /// Two traces with the same name.
    pub fn sources(&self, shapes: &[Shape]) -> Result<Vec<Source>, String> {
        Source::all(if self.only_given { &[] } else { shapes }, &self.traces)
    }
}

/// A number of threads. More than a set of CPUs of the kernel holds is a slip of the finger.
///
/// # Errors
///
/// A text that is no number from 1 to 1024.
pub fn threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(threads @ 1..=1024) => Ok(threads),
        _ => Err("not a number from 1 to 1024".into()),
    }
}

/// Policies that one word names.
#[derive(Clone, Debug)]
pub struct Pins(pub Vec<Pin>);

/// Policies, with commas between them. What begins with a digit goes on with the list before it.
///
/// # Errors
///
/// A word that is none.
pub fn pins(text: &str) -> Result<Pins, String> {
    let mut words: Vec<String> = Vec::new();
    for part in text.split(',') {
        match words.last_mut() {
            Some(list) if goes_on(list, part) => *list = format!("{list},{part}"),
            _ => words.push(part.to_owned()),
        }
    }
    let pins = words.iter().map(|word| word.parse().map_err(|error| format!("{error}")));
    pins.collect::<Result<_, _>>().map(Pins)
}

fn goes_on(list: &str, part: &str) -> bool {
    let digit = |text: &str| text.starts_with(|first: char| first.is_ascii_digit());
    digit(part) && (digit(list) || list.starts_with("numa:"))
}

/// The policies of an option that was given any number of times.
pub fn all(pins: &[Pins]) -> Vec<Pin> {
    pins.iter().flat_map(|pins| pins.0.clone()).collect()
}

/// In order, each once.
pub fn unique<T: Clone + Ord>(values: &[T]) -> Vec<T> {
    let mut values = values.to_vec();
    values.sort_unstable();
    values.dedup();
    values
}
