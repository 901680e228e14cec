//! Options of reports: their format and colours.

use std::env;
use std::io::IsTerminal;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};

/// Format of a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Text to read
    #[default]
    Text,
    /// Comma-separated values with a header line
    Csv,
    /// JSON
    Json,
    /// Apache Parquet
    Parquet,
}

impl Format {
    /// Returns a parser that accepts some of the formats.
    #[must_use]
    pub fn among(formats: &'static [Format]) -> impl TypedValueParser<Value = Format> {
        let values = formats.iter().filter_map(ValueEnum::to_possible_value);
        PossibleValuesParser::new(values)
            .map(|name| Format::from_str(&name, false).unwrap_or_default())
    }
}

/// The option `--format`.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct Formatted {
    /// Format of the report
    #[arg(long, value_name = "FORMAT", value_parser = Format::among(&[Format::Text, Format::Csv, Format::Json]), default_value = "text")]
    pub format: Format,
}

/// The option `--color`.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct Coloured {
    /// When to use colours
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = When::Auto, hide_short_help = true)]
    pub color: When,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum When {
    /// If standard output is a terminal that is not dumb, and NO_COLOR is not set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl Coloured {
    /// Returns whether to use colours on `out`.
    pub fn is_wanted(self, out: &impl IsTerminal) -> bool {
        match self.color {
            When::Always => true,
            When::Never => false,
            When::Auto => {
                let refused = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
                let dumb = env::var_os("TERM").is_none_or(|term| term == "dumb");
                out.is_terminal() && !refused && !dumb
            }
        }
    }
}
