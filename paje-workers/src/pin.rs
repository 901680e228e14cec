//! CPUs for worker threads, as users ask for them.

use std::fmt;
use std::str::FromStr;

use crate::cpulist::{Cpulist, ListError, parse_cpulist};

/// Where worker threads run. The order is only one for tables.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Pin {
    /// Where the system puts them.
    #[default]
    None,
    /// One NUMA node is filled before the next. In a node, each core gets one worker before any
    /// gets a second one.
    Compact,
    /// Worker after worker on the next NUMA node, in turn. Each core gets one worker before any
    /// gets a second one.
    Scatter,
    /// Like [`Pin::Scatter`], but only on these NUMA nodes, and in this order; none means all.
    Numa(Vec<u32>),
    /// The first worker on the first of these CPUs, and so on.
    List(Vec<usize>),
}

/// Why a text is no [`Pin`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParsePinError(Cause);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Cause {
    Word(String),
    Cpus(ListError),
    Nodes(ListError),
}

impl fmt::Display for ParsePinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Cause::Word(word) => write!(
                f,
                "`{word}` is no place for workers; say none, compact, scatter, numa, \
                 numa:NODES or CPUS, where lists are like 0,2,4-7"
            ),
            Cause::Cpus(error) => write!(f, "{error}; CPUs are listed like 0,2,4-7"),
            Cause::Nodes(error) => {
                write!(f, "{error}; NUMA nodes are listed like numa:0,2, and numa means all")
            }
        }
    }
}

impl std::error::Error for ParsePinError {}

impl FromStr for Pin {
    type Err = ParsePinError;

    fn from_str(text: &str) -> Result<Pin, ParsePinError> {
        match text {
            "none" => Ok(Pin::None),
            "compact" => Ok(Pin::Compact),
            "scatter" => Ok(Pin::Scatter),
            "numa" => Ok(Pin::Numa(Vec::new())),
            _ => {
                if let Some(nodes) = text.strip_prefix("numa:") {
                    let nodes = parse_cpulist(nodes).map_err(Cause::Nodes);
                    nodes.map(Pin::Numa).map_err(ParsePinError)
                } else if text.starts_with(|first: char| first.is_ascii_digit()) {
                    let cpus =
                        parse_cpulist(text).map_err(|error| ParsePinError(Cause::Cpus(error)))?;
                    Ok(Pin::List(cpus.into_iter().map(|cpu| cpu as usize).collect()))
                } else {
                    Err(ParsePinError(Cause::Word(text.to_owned())))
                }
            }
        }
    }
}

/// The text that reads back as this value. An empty [`Pin::List`] has none.
impl fmt::Display for Pin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pin::None => f.write_str("none"),
            Pin::Compact => f.write_str("compact"),
            Pin::Scatter => f.write_str("scatter"),
            Pin::Numa(nodes) if nodes.is_empty() => f.write_str("numa"),
            Pin::Numa(nodes) => write!(f, "numa:{}", Cpulist(nodes)),
            Pin::List(cpus) => Cpulist(cpus).fmt(f),
        }
    }
}
