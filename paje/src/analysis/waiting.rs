//! Waits and the critical path.

use paje_analysis::critical::{CriticalPath, refusal};
use paje_analysis::waits::Waits;
use paje_comm::classes::Map;
use paje_sim::Trace;

use super::record::record;
use super::{Options, Refusal};

record! {
    /// One wait of a container.
    Wait {
        /// Kind of wait state, as Scalasca defines it: `late sender`, `late receiver`, `late broadcast`, `early reduce`,
        /// `late scan`, `wait at all-to-all` or `wait at barrier`.
        kind: String,
        /// Container that waits.
        waiter: String,
        /// Container that is waited for, and so causes the wait.
        whom: String,
        /// Value of the state in which the container waits.
        state: String,
        /// Start in seconds.
        start: f64,
        /// End in seconds.
        end: f64,
        /// Length in seconds.
        seconds: f64,
    }
}

/// Returns the waits of each container, in the order of their ends.
///
/// # Errors
/// No state of the trace has a known class, a name of the options does not exist, or the trace was read without the
/// sizes of its messages.
pub fn waits(trace: &Trace, options: &Options) -> Result<Vec<Wait>, Refusal> {
    let rows = |waits: &Waits<'_>, _: &Map| {
        let (scale, tracks) = (trace.time_scale(), waits.facts.tracks.list());
        let name =
            |track: u32| trace.containers().name(tracks[track as usize].container).to_string();
        let row = |wait: &paje_analysis::waits::Wait| {
            let track = &tracks[wait.waiter as usize];
            let state = trace.types().value_name(track.type_, track.value[wait.state as usize]);
            Wait {
                kind: wait.kind.name().to_owned(),
                waiter: name(wait.waiter),
                whom: name(wait.whom),
                state: state.to_string(),
                start: scale.seconds(wait.from),
                end: scale.seconds(wait.until),
                seconds: wait.seconds().scaled(scale).to_f64(),
            }
        };
        Ok(waits.iter().map(row).collect())
    };
    found(trace, options, rows)
}

record! {
    /// A part of the critical path.
    PathPart {
        /// The container.
        container: String,
        /// Value of its state, or nothing between states.
        state: Option<String>,
        /// Start in seconds.
        start: f64,
        /// End in seconds.
        end: f64,
    }
}

/// Returns the chain of activities that determines the length of the run, in the order of time and without gaps.
///
/// # Errors
/// Fails like [`waits`], or if the trace has no dependencies between containers.
pub fn critical_path(trace: &Trace, options: &Options) -> Result<Vec<PathPart>, Refusal> {
    let rows = |waits: &Waits<'_>, map: &Map| {
        if let Some(why) = refusal(waits, map) {
            return Err(Refusal(why));
        }
        let (scale, tracks) = (trace.time_scale(), waits.facts.tracks.list());
        let parts = CriticalPath::new(waits).map(|path| path.parts).unwrap_or_default();
        let mut rows = Vec::new();
        for part in parts.iter().rev() {
            let track = &tracks[part.track as usize];
            rows.extend(track.pieces_back(part.start, part.end).map(|piece| PathPart {
                container: trace.containers().name(track.container).to_string(),
                state: piece.state.map(|state| {
                    trace.types().value_name(track.type_, track.value[state]).to_string()
                }),
                start: scale.seconds(piece.start),
                end: scale.seconds(piece.end),
            }));
        }
        rows.reverse();
        Ok(rows)
    };
    found(trace, options, rows)
}

fn found<R: Send>(
    trace: &Trace,
    options: &Options,
    rows: impl FnOnce(&Waits<'_>, &Map) -> Result<Vec<R>, Refusal> + Send,
) -> Result<Vec<R>, Refusal> {
    let (map, reading) = options.communication(trace)?;
    options.workers()?.run(|| {
        let waits = Waits::new(trace, &map, &reading);
        if waits.facts.tracks.classes().is_empty() {
            return Err(Refusal(map.unknown(trace, "`Options::map`")));
        }
        rows(&waits, &map)
    })
}
