//! The shapes of valid traces, and how to write one.

mod all_links;
mod deep;
mod flight;
mod links_reversed;
mod many_containers;
mod mpi;
mod mpi_wild;
mod one_container;
mod ping_pong;
mod quoted;
mod task_runtime;
mod unique_values;
mod unsorted;
mod variables;

use std::error::Error;
use std::fmt;
use std::io::{self, Write};
use std::str::FromStr;

use crate::rng::Rng;
use crate::sink::Sink;

pub use ping_pong::ping_pong;

/// A kind of trace: what it holds most of, and so what it stresses in a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Shape {
    /// The main benchmark: an MPI program on 4 to 64 ranks, as SimGrid's SMPI traces it. Short lines of some 27 bytes,
    /// ranks interleaved, nested states, links between ranks with unique keys, some variables and events.
    /// 166 MB are about six million lines.
    Mpi,
    /// The same kinds of lines as in [`Shape::Mpi`], but of no program: ranks push, pop and send at random, states are up to
    /// four deep, some lines come late, links overtake one another.
    MpiWild,
    /// Up to 100,000 containers in two levels with few events each: the tables of containers and lanes.
    ManyContainers,
    /// Every event in one state lane of one container: what cannot be done in parallel by lane.
    OneContainer,
    /// Stacks of hundreds to thousands of open states, and containers nested in containers.
    Deep,
    /// Links half of which end before they start, in the file and in time.
    LinksReversed,
    /// Hardly anything but links: keys, and rows in order of completion.
    AllLinks,
    /// Every state has a value of its own, a part of them defined at first use: the symbol table.
    UniqueValues,
    /// Long lines full of quoted names with blanks, `#`, commas and braces: the lexer.
    Quoted,
    /// StarPU's traces: tabs, 17 fields on a line, several event numbers for one event, user-defined fields,
    /// aliases, colours, variables, links.
    TaskRuntime,
    /// The same events as [`Shape::TaskRuntime`] for the same size and seed, but neither the file nor its lanes
    /// are in order of time: valid only after a stable sort by time.
    Unsorted,
    /// Hardly anything but variables, set, added to and subtracted from.
    Variables,
    /// Two ranks in loops: 100 rounds of one message there and back, and then as many as fit. What structure there is to
    /// find.
    PingPong,
}

impl Shape {
    /// Every shape.
    pub const ALL: [Self; 13] = [
        Self::Mpi,
        Self::MpiWild,
        Self::ManyContainers,
        Self::OneContainer,
        Self::Deep,
        Self::LinksReversed,
        Self::AllLinks,
        Self::UniqueValues,
        Self::Quoted,
        Self::TaskRuntime,
        Self::Unsorted,
        Self::Variables,
        Self::PingPong,
    ];

    /// The name on a command line, such as `many-containers`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mpi => "mpi",
            Self::MpiWild => "mpi-wild",
            Self::ManyContainers => "many-containers",
            Self::OneContainer => "one-container",
            Self::Deep => "deep",
            Self::LinksReversed => "links-reversed",
            Self::AllLinks => "all-links",
            Self::UniqueValues => "unique-values",
            Self::Quoted => "quoted",
            Self::TaskRuntime => "task-runtime",
            Self::Unsorted => "unsorted",
            Self::Variables => "variables",
            Self::PingPong => "ping-pong",
        }
    }

    /// One line on what the shape holds and stresses.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Mpi => {
                "an MPI program: short lines, interleaved ranks, nested states, links (the main benchmark)"
            }
            Self::MpiWild => {
                "the same lines, of ranks that do anything at any time: late lines, deep states"
            }
            Self::ManyContainers => {
                "up to 100,000 containers with few events each: tables of containers and lanes"
            }
            Self::OneContainer => "every event in one lane: what cannot be replayed in parallel",
            Self::Deep => "stacks of up to thousands of states, nested containers",
            Self::LinksReversed => "links that end before they start, among ordinary ones",
            Self::AllLinks => "hardly anything but links: keys and order of completion",
            Self::UniqueValues => "every state value distinct: the symbol table",
            Self::Quoted => "long quoted lines with blanks, #, commas and braces: the lexer",
            Self::TaskRuntime => {
                "StarPU-like: 17 fields, user-defined ones, several numbers for one event"
            }
            Self::Unsorted => {
                "task-runtime out of time order: valid only after a stable sort by time"
            }
            Self::Variables => "hardly anything but variables: number parsing and accumulation",
            Self::PingPong => "two ranks in two loops: the structure that pj_pack finds",
        }
    }

    /// Tells whether a trace of the shape is valid as it stands; [`Shape::Unsorted`] must be sorted first.
    pub fn is_sorted(self) -> bool {
        self != Self::Unsorted
    }
}

/// Bytes of the shortest `13 TIME TYPE CONTAINER` line's kind that closes something at `now`: an estimate, some
/// bytes at most from the truth, for what remains to be written when the events end.
fn closing_line(now: u64) -> u64 {
    let seconds = (now / 1_000_000).max(1).ilog10() as u64 + 1;
    seconds + 16
}

impl fmt::Display for Shape {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

impl FromStr for Shape {
    type Err = ParseShapeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|shape| shape.name() == text)
            .ok_or_else(|| ParseShapeError(text.to_owned()))
    }
}

/// A text that names no shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseShapeError(String);

impl fmt::Display for ParseShapeError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = Shape::ALL.iter().map(|shape| shape.name()).collect();
        write!(formatter, "no shape is called `{}`; there are {}", self.0, names.join(", "))
    }
}

impl Error for ParseShapeError {}

/// Writes a trace of `shape` of about `size` bytes to `out` and returns the number of bytes written.
///
/// From 16 KiB on the size is met within 1 % or one line. A trace is never smaller than its
/// header and a few events, which is 1 to 6 KB depending on the shape. Everything opened is closed: states are popped,
/// links completed, containers destroyed at the largest time of the trace. Memory does not grow with the size (up to the
/// 100,000 containers of [`Shape::ManyContainers`], some megabytes). The output is buffered here: give it bare.
///
/// # Errors
///
/// Those of `out`.
pub fn write<W: Write + ?Sized>(
    shape: Shape,
    size: u64,
    seed: u64,
    out: &mut W,
) -> io::Result<u64> {
    let mut sink = Sink::new(out);
    let rng = Rng::new(seed);
    match shape {
        Shape::Mpi => mpi::write(&mut sink, size, rng)?,
        Shape::MpiWild => mpi_wild::write(&mut sink, size, rng)?,
        Shape::ManyContainers => many_containers::write(&mut sink, size, rng)?,
        Shape::OneContainer => one_container::write(&mut sink, size, rng)?,
        Shape::Deep => deep::write(&mut sink, size, rng)?,
        Shape::LinksReversed => links_reversed::write(&mut sink, size, rng)?,
        Shape::AllLinks => all_links::write(&mut sink, size, rng)?,
        Shape::UniqueValues => unique_values::write(&mut sink, size, rng)?,
        Shape::Quoted => quoted::write(&mut sink, size, rng)?,
        Shape::TaskRuntime => task_runtime::write(&mut sink, size, rng)?,
        Shape::Unsorted => unsorted::write(&mut sink, size, rng)?,
        Shape::Variables => variables::write(&mut sink, size, rng)?,
        Shape::PingPong => ping_pong::write(&mut sink, size, rng)?,
    }
    sink.finish()
}

/// The trace that [`write()`] writes, in memory.
pub fn generate(shape: Shape, size: u64, seed: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(shape, size, seed, &mut bytes).expect("writing to memory does not fail");
    bytes
}
