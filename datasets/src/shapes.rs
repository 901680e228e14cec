//! The shapes of valid traces, and how to write one.

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
    /// A kind of trace: what it contains most, and so what it stresses in a reader.
    #[non_exhaustive]
    pub Shape {
        /// The main benchmark: an MPI program on 4 to 64 ranks, as SimGrid's SMPI traces it. Short lines of some 27 bytes,
        /// ranks interleaved, nested states, links between ranks with unique keys, some variables and events.
        /// 166 MB are about six million lines.
        Mpi "mpi",
        /// The same kinds of lines as in [`Shape::Mpi`], but of no program: ranks push, pop and send at random, states are up to
        /// four deep, some lines come late, links overtake one another.
        MpiWild "mpi-wild",
        /// Up to 100,000 containers in two levels with few events each: the tables of containers and lanes.
        ManyContainers "many-containers",
        /// Every event in one state lane of one container: what cannot be done in parallel by lane.
        OneContainer "one-container",
        /// Stacks of hundreds to thousands of open states, and containers nested in containers.
        Deep "deep",
        /// Links half of which end before they start, in the file and in time.
        LinksReversed "links-reversed",
        /// Hardly anything but links: keys, and rows in order of completion.
        AllLinks "all-links",
        /// Every state has another value, some of them defined at first use: the symbol table.
        UniqueValues "unique-values",
        /// Long lines full of quoted names with blanks, `#`, commas and braces: the lexer.
        Quoted "quoted",
        /// StarPU's traces: tabs, 17 fields on a line, several event numbers for one event, user-defined fields,
        /// aliases, colours, variables, links.
        TaskRuntime "task-runtime",
        /// The same events as [`Shape::TaskRuntime`] for the same size and seed, but neither the file nor its lanes
        /// are in order of time: valid only after a stable sort by time.
        Unsorted "unsorted",
        /// Hardly anything but variables, set, added to and subtracted from.
        Variables "variables",
        /// Two ranks in loops: 100 rounds of one message there and back, and then as many as fit. This tests the search for
        /// structure.
        PingPong "ping-pong",
    }
}

impl Shape {
    /// Returns one line on what the shape contains and stresses.
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

    /// Returns whether a trace of the shape is valid as it is; [`Shape::Unsorted`] must be sorted first.
    pub fn is_sorted(self) -> bool {
        self != Self::Unsorted
    }
}

/// Returns the estimated length, to a few bytes, of a short `13 TIME TYPE CONTAINER` line at `now`. Shapes use it to
/// know how much is left to write at the end.
fn closing_line(now: u64) -> u64 {
    let seconds = (now / 1_000_000).max(1).ilog10() as u64 + 1;
    seconds + 16
}

/// Writes a trace of `shape` of about `size` bytes to `out` and returns the number of bytes written.
///
/// From 16 KiB on the size is met within 1 % or one line. A trace is never smaller than its
/// header and a few events, which is 1 to 6 KB depending on the shape. Everything opened is closed: states are popped,
/// links completed, containers destroyed at the largest time of the trace. Memory does not grow with the size (up to the
/// 100,000 containers of [`Shape::ManyContainers`], some megabytes). The output needs no buffer.
///
/// # Errors
///
/// An error of `out`.
pub fn write<W: Write + ?Sized>(
    shape: Shape,
    size: u64,
    seed: u64,
    out: &mut W,
) -> io::Result<u64> {
    let mut out = out;
    let mut sink = Sink::new(&mut out);
    let rng = Rng::new(seed);
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
