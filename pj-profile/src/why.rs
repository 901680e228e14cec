//! The report `why`, and predictions of runs with an ideal network.

use std::path::Path;

use paje_analysis::classes::Map;
use paje_analysis::states::States;
use paje_analysis::tasks::Findings;
use paje_analysis::waits::{Options, Waits};
use paje_analysis::why::{self, Ideal, Pop, Verdict};
use paje_analysis::{By, Scope, Table};
use paje_console::Failure;
use paje_sim::Trace;
use paje_whatif::{Facts, Graph, Settings};
use paje_workers::Workers;

use crate::cli::Cli;
use crate::{tasks, waiting};

const UNRECORDED: &str = "no efficiencies, as the trace has no ranks that compute and communicate in recorded calls. Record the states \
     of MPI calls, and messages as links that start and end in them";

/// Returns the verdict as a table. Must be called inside the worker pool.
pub(crate) fn table(
    cli: &Cli,
    name: &Path,
    trace: &Trace,
    workers: &Workers,
) -> Result<Table, Failure> {
    Ok(verdict(cli, name, trace, workers)?.table(&quoted(name)))
}

fn verdict(cli: &Cli, name: &Path, trace: &Trace, workers: &Workers) -> Result<Verdict, Failure> {
    let read = Read::new(cli, name, trace)?;
    let of_states = |why| {
        let mut states = States::new(Scope::new(&cli.selection()), By::Value);
        states.see(trace, workers);
        why::of_states(&states.rows(trace), why)
    };
    if let Some(found) = tasks::find(cli, name, trace, &read.map)? {
        return Ok(verdict_of_tasks(&found));
    }
    if read.facts.tracks.classes().is_empty() {
        return Ok(of_states(
            "the trace has no states that the maps mpi and starpu know, so nothing is known about waiting. \
             Record calls as states and messages as links, or classify the states with --map FILE",
        ));
    }
    let (waits, ideal) = read.waits_and_ideal();
    if read.map.name() == "starpu" {
        return Ok(why::of_workers(&waits));
    }
    let found = why::of_ranks(&waits, ideal);
    let mut verdict = found.unwrap_or_else(|| of_states(UNRECORDED));
    verdict.add_notes(waits.assumptions(&read.map));
    Ok(verdict)
}

/// Returns the verdict on a run of tasks as a table.
pub(crate) fn of_tasks(found: &Findings<'_>, name: &Path) -> Table {
    verdict_of_tasks(found).table(&quoted(name))
}

fn verdict_of_tasks(found: &Findings<'_>) -> Verdict {
    let mut verdict = why::of_tasks(found);
    // The first note has the bounds, which are in the verdict.
    verdict.add_notes(found.notes().into_iter().skip(1));
    verdict
}

/// Returns the efficiencies of a run, or why it has none. Must be called inside the worker pool.
pub(crate) fn pop(cli: &Cli, name: &Path, trace: &Trace) -> Result<Pop, Failure> {
    let read = Read::new(cli, name, trace)?;
    let unsuitable = |why: String| Failure::Unsuitable(name.to_owned(), why);
    if read.facts.tracks.classes().is_empty() {
        return Err(unsuitable(read.map.unknown(trace, "--map FILE")));
    }
    let (waits, ideal) = read.waits_and_ideal();
    Pop::new(&waits, ideal).ok_or_else(|| unsuitable(UNRECORDED.into()))
}

/// The communication of a run, and how it was read.
struct Read<'t> {
    map: Map,
    options: Options,
    facts: Facts<'t>,
}

impl<'t> Read<'t> {
    fn new(cli: &Cli, name: &Path, trace: &'t Trace) -> Result<Self, Failure> {
        let map = waiting::map(cli)?.unwrap_or_else(|| Map::of_trace(trace));
        waiting::needs(cli, name, Waits::bytes(trace) + Graph::bytes(trace))?;
        let options = waiting::options(cli, name, trace)?;
        let facts = Facts::new(trace, &map, &options);
        Ok(Read { map, options, facts })
    }

    /// Returns the waits, and the length of the run with an ideal network.
    fn waits_and_ideal(&self) -> (Waits<'t>, Ideal) {
        rayon::join(|| Waits::of(self.facts.clone()), || self.ideal())
    }

    fn ideal(&self) -> Ideal {
        let counts = self.facts.tracks.trace().counts();
        if counts.states.max(counts.links) >= Graph::MAX {
            return Err("the trace has too many states or messages for a prediction".into());
        }
        let settings =
            Settings { reading: self.options.clone(), ..Settings::new(self.map.clone()) };
        paje_whatif::ideal(self.facts.clone(), &settings)
    }
}

/// Quotes a file's name for a shell, if it needs quotes.
fn quoted(name: &Path) -> String {
    let name = name.display().to_string();
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+=:,@%".contains(c);
    match name.chars().all(is_plain) && name != "-" {
        true => name,
        false if name.contains(' ') && !name.contains('\'') && name != "standard input" => {
            format!("'{name}'")
        }
        false => "FILE".into(),
    }
}
