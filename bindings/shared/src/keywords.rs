//! Keywords of both packages.

use std::fmt;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use paje_export::{Table, TableOptions};
use paje_sim::selection::Glob;
use paje_sim::{
    FieldNames, MemoryLimit, NameOrder, Options, Precision, Selection, TypeNature, ValueNames,
};
use paje_workers::{Pin, Workers};

/// Keywords for reading a trace, described in docs/how-to/python.md and docs/how-to/r.md.
#[derive(Clone, Debug)]
#[allow(missing_docs)] // The fields have the names of the keywords.
pub struct Keywords {
    pub threads: Option<usize>,
    pub pin: Option<String>,
    pub strict: bool,
    pub ignore_incomplete_links: bool,
    pub no_imbrication: bool,
    pub user_defined: bool,
    pub lines: bool,
    pub sort: bool,
    pub recover: bool,
    pub stop_at: Option<f64>,
    pub time_unit: Option<String>,
    pub start: Option<f64>,
    pub end: Option<f64>,
    pub natures: Option<Vec<String>>,
    pub types: Option<Vec<String>>,
    pub containers: Option<Vec<String>>,
    pub memory_limit: Option<Size>,
    pub temp_dir: Option<PathBuf>,
    pub variable_precision: String,
    pub quotes: String,
    pub follow_files: bool,
    pub files_from: Vec<PathBuf>,
}

impl Default for Keywords {
    fn default() -> Self {
        Keywords {
            threads: None,
            pin: None,
            strict: true,
            ignore_incomplete_links: false,
            no_imbrication: false,
            user_defined: false,
            lines: false,
            sort: false,
            recover: false,
            stop_at: None,
            time_unit: None,
            start: None,
            end: None,
            natures: None,
            types: None,
            containers: None,
            memory_limit: None,
            temp_dir: None,
            variable_precision: "double".into(),
            quotes: "strip".into(),
            follow_files: true,
            files_from: Vec::new(),
        }
    }
}

/// Error for a keyword with an invalid value. The message names the keyword and valid values.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Wrong(pub String);

fn wrong(error: impl fmt::Display) -> Wrong {
    Wrong(error.to_string())
}

/// Size in bytes, as a number or a text such as `4G`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Size {
    Bytes(u64),
    Text(String),
}

impl Size {
    /// Returns the number of bytes.
    ///
    /// # Errors
    /// The text is not a size.
    pub fn bytes(&self) -> Result<u64, Wrong> {
        match self {
            Size::Bytes(bytes) => Ok(*bytes),
            Size::Text(text) => paje_decimal::amounts::size(text)
                .map_err(|error| Wrong(format!("{text:?} is not a size such as '4G': {error}"))),
        }
    }
}

impl Keywords {
    /// Creates the workers.
    ///
    /// # Errors
    /// The number of threads or their placement is invalid.
    pub fn workers(&self) -> Result<Workers, Wrong> {
        let threads = match self.threads.map(NonZeroUsize::new) {
            Some(None) => return Err(wrong("threads must be at least 1")),
            Some(threads) => threads,
            None => None,
        };
        let pin = self.pin.as_deref().unwrap_or("none").parse::<Pin>().map_err(wrong)?;
        Workers::new(threads, &pin).map_err(wrong)
    }

    fn keeps_quotes(&self) -> Result<bool, Wrong> {
        match self.quotes.as_str() {
            "strip" => Ok(false),
            "keep" => Ok(true),
            other => Err(Wrong(format!("quotes must be 'strip' or 'keep', not {other:?}"))),
        }
    }

    /// Returns the options of the replay.
    ///
    /// # Errors
    /// A keyword has an invalid value.
    pub fn replay(&self) -> Result<Options, Wrong> {
        let mut options = Options::default();
        options.field_names = if self.strict { FieldNames::Strict } else { FieldNames::Old };
        options.variable_precision = match self.variable_precision.as_str() {
            "double" => Precision::Double,
            "single" => Precision::Single,
            other => {
                let must = "variable_precision must be 'double' or 'single'";
                return Err(Wrong(format!("{must}, not {other:?}")));
            }
        };
        if self.keeps_quotes()? {
            options.value_names = ValueNames::AsWritten;
        }
        options.stop_at = number("stop_at", self.stop_at)?;
        options.time_unit = match &self.time_unit {
            Some(unit) => Some(unit.parse().map_err(|error| Wrong(format!("time_unit: {error}")))?),
            None => None,
        };
        options.no_imbrication = self.no_imbrication;
        options.ignore_incomplete_links = self.ignore_incomplete_links;
        options.user_defined = self.user_defined;
        options.keep_lines = self.lines;
        options.selection = self.selection()?;
        options.sort = self.sort;
        options.recover = self.recover;
        if let Some(size) = &self.memory_limit {
            options.memory = Some(MemoryLimit::new(size.bytes()?, self.temp_dir.clone()));
        }
        Ok(options)
    }

    /// Returns the options of tables.
    ///
    /// # Errors
    /// A keyword has an invalid value.
    pub fn tables(&self) -> Result<TableOptions, Wrong> {
        let mut options = TableOptions::default();
        if self.keeps_quotes()? {
            options.order = NameOrder::Raw;
        }
        options.selection = self.selection()?;
        Ok(options)
    }

    fn selection(&self) -> Result<Selection, Wrong> {
        let mut selection = Selection::default();
        let window = &mut selection.window;
        window.from = number("start", self.start)?.unwrap_or(window.from);
        window.to = number("end", self.end)?.unwrap_or(window.to);
        if window.from > window.to {
            let (start, end) = (window.from, window.to);
            return Err(Wrong(format!("start must not be later than end: {start} and {end}")));
        }
        selection.types = globs("types", self.types.as_deref())?;
        selection.containers = globs("containers", self.containers.as_deref())?;
        if self.natures.is_some() {
            let natures = all("natures", self.natures.as_deref())?.iter();
            selection.natures = natures.map(|name| nature(name)).collect::<Result<_, _>>()?;
        }
        Ok(selection)
    }
}

/// Returns the names of a keyword.
fn all<'k>(keyword: &str, given: Option<&'k [String]>) -> Result<&'k [String], Wrong> {
    match given {
        Some([]) => Err(Wrong(format!("{keyword} must not be empty; omit it to select all"))),
        given => Ok(given.unwrap_or_default()),
    }
}

fn globs(keyword: &str, patterns: Option<&[String]>) -> Result<Vec<Glob>, Wrong> {
    let glob =
        |pattern: &String| pattern.parse().map_err(|error| Wrong(format!("{keyword}: {error}")));
    all(keyword, patterns)?.iter().map(glob).collect()
}

fn nature(name: &str) -> Result<TypeNature, Wrong> {
    let nature = name.to_ascii_lowercase().parse().ok().and_then(Table::nature);
    nature.ok_or_else(|| {
        let natures = "'container', 'state', 'variable', 'event' and 'link'";
        Wrong(format!("natures are {natures}, not {name:?}"))
    })
}

fn number(keyword: &str, time: Option<f64>) -> Result<Option<f64>, Wrong> {
    match time {
        Some(time) if time.is_nan() => {
            Err(Wrong(format!("{keyword} must be a time in seconds, not nan")))
        }
        time => Ok(time),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(keywords: &Keywords) -> String {
        keywords.replay().expect_err("an invalid keyword").0
    }

    #[test]
    fn all_natures_are_selected_by_default() {
        let every = Keywords::default().replay().expect("valid keywords");
        assert_eq!(every.selection, Selection::default());
        let natures = Some(vec!["link".to_owned()]);
        let some = Keywords { natures, ..Keywords::default() }.replay().expect("a nature");
        assert!(some.selection.natures.contains(TypeNature::Link));
        assert!(!some.selection.natures.contains(TypeNature::State));
    }

    #[test]
    fn messages_name_the_keyword() {
        let ours = Keywords::default;
        assert!(message(&Keywords { quotes: "no".into(), ..ours() }).starts_with("quotes must be"));
        assert!(
            message(&Keywords { start: Some(f64::NAN), ..ours() }).starts_with("start must be")
        );
        assert!(
            message(&Keywords { types: Some(vec![]), ..ours() }).starts_with("types must not be")
        );
        let natures = Some(vec!["states".to_owned()]);
        assert!(message(&Keywords { natures, ..ours() }).ends_with("not \"states\""));
        let memory_limit = Some(Size::Text("much".into()));
        assert!(message(&Keywords { memory_limit, ..ours() }).contains("not a size such as"));
        let none = Keywords { threads: Some(0), ..ours() }.workers();
        assert_eq!(none.err(), Some(Wrong("threads must be at least 1".into())));
    }
}
