//! Shapes of valid traces.

mod all_links;
mod deep;
mod flight;
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

use std::io::{self, Write};

use crate::named::named;
use crate::rng::Rng;
use crate::sink::Sink;

pub use ping_pong::ping_pong;

named! {
    /// A kind of trace, which stresses one part of a reader.
    #[non_exhaustive]
    pub Shape {
        /// The main benchmark: an MPI program on 4 to 64 ranks, as SimGrid's SMPI traces it. It has
        /// short lines of about 27 bytes, interleaved ranks, nested states, links between ranks
        /// with unique keys, and some variables and events. 166 MB are about six million lines.
        Mpi "mpi",
        /// The same kinds of lines as [`Shape::Mpi`], but without a program: ranks push, pop and
        /// send at random, states are up to four deep, some lines come late, and links overtake
        /// each other.
        MpiWild "mpi-wild",
        /// Up to 100,000 containers in two levels, with a few events each. This stresses tables of
        /// containers and lanes.
        ManyContainers "many-containers",
        /// All events in one state lane, so that lanes cannot be replayed in parallel.
        OneContainer "one-container",
        /// Stacks of hundreds to thousands of open states, and containers nested in containers.
        Deep "deep",
        /// Links, half of which end before they start, both in the file and in time.
        LinksReversed "links-reversed",
        /// Almost only links. This stresses keys, and rows in order of completion.
        AllLinks "all-links",
        /// Every state has a different value, and some values are not defined before their use.
        /// This stresses the symbol table.
        UniqueValues "unique-values",
        /// Long lines with quoted names, which contain blanks, `#`, commas and braces. This
        /// stresses the lexer.
        Quoted "quoted",
        /// A StarPU trace. It has tabs, up to 17 fields on a line, several numbers for one event,
        /// user-defined fields, aliases, colours, variables and links.
        TaskRuntime "task-runtime",
        /// The events of [`Shape::TaskRuntime`] for the same size and seed, but out of order in the
        /// file and in lanes. The trace is valid only after a stable sort by time.
        Unsorted "unsorted",
        /// Almost only variables, which are set, added to and subtracted from.
        Variables "variables",
        /// Two ranks that exchange messages in two loops: the first has 100 rounds, and the second
        /// runs until the size is reached. This tests the search for structure.
        PingPong "ping-pong",
    }
}

impl Shape {
    /// Returns a line that describes the content of the shape and what it stresses.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Mpi => {
                "main benchmark, an MPI program: short lines, interleaved ranks, nested states, links"
            }
            Self::MpiWild => "the same lines from random ranks: late lines, deep states",
            Self::ManyContainers => {
                "up to 100,000 containers with few events each: tables of containers and lanes"
            }
            Self::OneContainer => "every event in one lane: no parallelism between lanes",
            Self::Deep => "stacks of up to thousands of states, nested containers",
            Self::LinksReversed => "links that end before they start, among ordinary ones",
            Self::AllLinks => "almost only links: keys and order of completion",
            Self::UniqueValues => "every state has another value: the symbol table",
            Self::Quoted => "long quoted lines with blanks, #, commas and braces: the lexer",
            Self::TaskRuntime => {
                "StarPU-like: 17 fields, user-defined ones, several numbers for one event"
            }
            Self::Unsorted => {
                "task-runtime out of time order: valid only after a stable sort by time"
            }
            Self::Variables => "almost only variables: parsing and adding numbers",
            Self::PingPong => "two ranks in two loops: structure for pj_pack to find",
        }
    }

    /// Returns whether traces of the shape are valid as they are. [`Shape::Unsorted`] must be
    /// sorted first.
    pub fn is_sorted(self) -> bool {
        self != Self::Unsorted
    }
}

/// Returns the approximate length of a short `13 TIME TYPE CONTAINER` line at `now`. With it,
/// shapes estimate how much they must write at the end.
fn closing_line(now: u64) -> u64 {
    let seconds = (now / 1_000_000).max(1).ilog10() as u64 + 1;
    seconds + 16
}

/// Writes a trace of `shape` of about `size` bytes to `out` and returns the number of bytes
/// written.
///
/// From 16 KiB on, the size is accurate to 1 % or one line. The smallest traces have 1 to 6 KB,
/// depending on the shape. States are popped, links completed, and containers destroyed at the
/// latest time of the trace. Memory use does not depend on the size, except for some megabytes for
/// the containers of [`Shape::ManyContainers`]. `out` needs no buffer.
///
/// # Errors
/// Fails if writing to `out` fails.
pub fn write<W: Write + ?Sized>(
    shape: Shape,
    size: u64,
    seed: u64,
    out: &mut W,
) -> io::Result<u64> {
    write_containers(shape, size, seed, None, out)
}

/// Writes a trace like [`write()`], with this number of ranks or workers.
///
/// # Errors
/// Fails if writing to `out` fails, or if the number of containers of the shape is fixed. It can be
/// chosen for [`Shape::Mpi`] (an even number), [`Shape::ManyContainers`] and
/// [`Shape::TaskRuntime`].
pub fn write_containers<W: Write + ?Sized>(
    shape: Shape,
    size: u64,
    seed: u64,
    containers: Option<u64>,
    out: &mut W,
) -> io::Result<u64> {
    let mut out = out;
    let mut sink = Sink::new(&mut out);
    let rng = Rng::new(seed);
    match shape {
        Shape::Mpi if containers.is_none_or(|count| count >= 4 && count.is_multiple_of(2)) => {}
        Shape::ManyContainers | Shape::TaskRuntime if containers.is_none_or(|count| count >= 2) => {
        }
        _ if containers.is_none() => {}
        _ => {
            let message = "this shape cannot have this number of containers";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
    }
    sink.containers = containers;
    let write = match shape {
        Shape::Mpi => mpi::write,
        Shape::MpiWild => mpi_wild::write,
        Shape::ManyContainers => many_containers::write,
        Shape::OneContainer => one_container::write,
        Shape::Deep => deep::write,
        Shape::LinksReversed => all_links::write_reversed,
        Shape::AllLinks => all_links::write,
        Shape::UniqueValues => unique_values::write,
        Shape::Quoted => quoted::write,
        Shape::TaskRuntime => task_runtime::write,
        Shape::Unsorted => unsorted::write,
        Shape::Variables => variables::write,
        Shape::PingPong => ping_pong::write,
    };
    write(&mut sink, size, rng)?;
    sink.finish()
}

/// Returns the trace that [`write()`] writes.
pub fn generate(shape: Shape, size: u64, seed: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(shape, size, seed, &mut bytes).expect("writing to memory does not fail");
    bytes
}
