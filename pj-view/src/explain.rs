//! Wait states, the critical path and the verdict of a trace. They are computed once, on demand.

mod answers;
mod once;
mod tasks;

use paje_analysis::classes::Map;
use paje_analysis::critical::{CriticalPath, refusal};
use paje_analysis::states::States;
use paje_analysis::tasks::NO_FILE;
use paje_analysis::waits::{Kind, Options, Waits};
use paje_analysis::why::{self, Verdict};
use paje_analysis::{By, Scope, recorded};
use paje_comm::Facts;
use paje_comm::tracks::Track;
use paje_parser::TypeNature;
use paje_pictures::colours::Rgb;
use paje_sim::{LaneId, Trace};
use paje_whatif::{Graph, Settings};
use paje_workers::Workers;
use rustc_hash::FxHashMap;

use crate::pyramid::Spans;
use crate::view::View;

pub(crate) use once::Once;
pub(crate) use tasks::TasksFile;

/// Results of the analyses, with the times of the trace. Lanes are those of the waiting states.
#[derive(Debug)]
pub(crate) struct Explained {
    /// Waits by lane, or the reason of the refusal.
    pub(crate) waits: Result<FxHashMap<u32, LaneWaits>, String>,
    /// The critical path, or the reason of the refusal.
    pub(crate) path: Result<Path, String>,
    pub(crate) verdict: Result<Verdict, String>,
}

/// Waits of a lane, sorted by their starts.
#[derive(Debug, Default)]
pub(crate) struct LaneWaits {
    pub(crate) list: Vec<Wait>,
    pub(crate) spans: Spans,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Wait {
    pub(crate) kind: Kind,
    pub(crate) start: f64,
    pub(crate) end: f64,
    /// Row that waits.
    pub(crate) row: u32,
    /// Lane that is waited for.
    pub(crate) whom: u32,
    /// Row of that lane which ends the wait.
    pub(crate) release: Option<u32>,
    /// End of the wait on the clock of that lane.
    pub(crate) released: f64,
}

/// The critical path: lane, start and end of its parts, in chronological order.
#[derive(Debug, Default)]
pub(crate) struct Path {
    pub(crate) parts: Vec<(u32, f64, f64)>,
    pub(crate) spans: Spans,
}

/// Colours of the kinds of waits. People with any kind of colour vision can tell them apart.
pub(crate) const COLOURS: [Rgb; Kind::ALL.len()] = [
    [0xd5, 0x5e, 0x00],
    [0x00, 0x72, 0xb2],
    [0xcc, 0x79, 0xa7],
    [0xf0, 0xc2, 0x30],
    [0x00, 0x9e, 0x73],
    [0x56, 0xb4, 0xe9],
    [0x7f, 0x3f, 0xa8],
];

/// Colour of the critical path.
pub(crate) const PATH_COLOUR: Rgb = [0xd0, 0x00, 0x20];

/// Returns the number of a kind of waits.
pub(crate) fn number(kind: Kind) -> u32 {
    Kind::ALL.iter().position(|it| *it == kind).unwrap_or(0) as u32
}

impl Explained {
    pub(crate) fn refused(why: &str) -> Self {
        let why = || why.to_owned();
        Explained { waits: Err(why()), path: Err(why()), verdict: Err(why()) }
    }

    /// Analyses a trace, with at most `memory` bytes beside the rows.
    pub(crate) fn of(
        view: &View,
        tasks: &TasksFile,
        memory: Option<u64>,
        workers: &Workers,
    ) -> Self {
        let trace = &view.trace;
        if !view.is_whole {
            return Explained::refused(A_PART);
        }
        if let Some(why) = lacks_fields(trace).or_else(|| too_large(trace, memory)) {
            return Explained::refused(&why);
        }
        workers.run(|| {
            let map = Map::of_trace(trace);
            if let Some(found) = tasks.explained(view, &map) {
                return found;
            }
            let options = Options::default();
            let facts = Facts::new(trace, &map, &options);
            if facts.tracks.classes().is_empty() {
                let verdict = of_states(trace, workers, NO_CLASSES);
                let why = match trace.counts().states {
                    0 => map.unknown(trace, "--map FILE"),
                    _ => NO_VALUES.into(),
                };
                return Explained { waits: Err(why.clone()), path: Err(why), verdict: Ok(verdict) };
            }
            let (waits, ideal) =
                rayon::join(|| Waits::of(facts.clone().on_one_clock()), || ideal(&facts, &map));
            let verdict = match map.name() == "starpu" {
                true => why::of_workers(&waits),
                false => {
                    let found = why::of_ranks(&waits, ideal);
                    let mut found = found.unwrap_or_else(|| of_states(trace, workers, NO_RANKS));
                    let notes = waits.assumptions(&map).into_iter();
                    found.add_notes(
                        notes.map(|note| note.replace("with --", "with pj_profile's --")),
                    );
                    found
                }
            };
            let tracks = Tracks::of(view, waits.facts.tracks.list());
            Explained {
                waits: tracks.waits(view, &waits, &map),
                path: tracks.path_of_waits(view, &waits, &map),
                verdict: Ok(verdict),
            }
        })
    }
}

const A_PART: &str = "only the selected part of the trace is read; with --waits or --critical-path, pj_view reads all of it";

const NO_VALUES: &str = "the maps mpi and starpu know none of the state values; pj_profile reads other maps (--map FILE)";

const NO_CLASSES: &str = "the trace has no states that the maps mpi and starpu know, so nothing is known about waiting. \
     Record calls as states and messages as links";

const NO_RANKS: &str = "no efficiencies, as the trace has no ranks that compute and communicate in recorded calls. Record the states \
     of MPI calls, and messages as links that start and end in them";

/// Explains that communicators are recorded, but were not read. Without them, results would differ.
fn lacks_fields(trace: &Trace) -> Option<String> {
    let mut fields = trace.defs().iter().flat_map(|def| def.extras());
    let is_needed =
        !trace.has_user_defined() && fields.any(|(name, _)| recorded::FIELDS.contains(&name));
    is_needed.then(|| {
        "the trace records communicators and requests in user-defined fields, which are not kept; start pj_view \
         with --fields"
            .into()
    })
}

fn too_large(trace: &Trace, memory: Option<u64>) -> Option<String> {
    let needed = Waits::bytes(trace) + Graph::bytes(trace) + trace.counts().links * 64;
    let limit = memory.filter(|limit| *limit < needed)?;
    let [needed, limit] = [needed, limit].map(|bytes| bytes.div_ceil(1_000_000));
    Some(format!(
        "the analysis of waiting needs about {needed} MB beside the rows, but --memory-limit is {limit} MB"
    ))
}

fn of_states(trace: &Trace, workers: &Workers, why: &str) -> Verdict {
    let mut states = States::new(Scope::default(), By::Value);
    states.see(trace, workers);
    why::of_states(&states.rows(trace), why)
}

/// Predicts the length of the run with an ideal network.
fn ideal(facts: &Facts<'_>, map: &Map) -> why::Ideal {
    let counts = facts.tracks.trace().counts();
    if counts.states.max(counts.links) >= Graph::MAX {
        return Err("the trace has too many states or messages for a prediction".into());
    }
    paje_whatif::ideal(facts.clone(), &Settings::new(map.clone()))
}

/// Lanes of the analysed tracks, and how far their clocks were shifted.
struct Tracks(Vec<(LaneId, f64)>);

impl Tracks {
    fn of(view: &View, list: &[Track]) -> Self {
        let states = view.trace.lanes().filter(|lane| lane.nature() == TypeNature::State);
        let lanes: FxHashMap<_, _> =
            states.map(|lane| ((lane.container(), lane.type_id()), lane)).collect();
        let tracks = list.iter().map(|track| {
            let lane = lanes[&(track.container, track.type_)];
            (lane.id(), track.start.first().map_or(0.0, |start| start - lane.start(0)))
        });
        Tracks(tracks.collect())
    }

    fn waits(
        &self,
        view: &View,
        waits: &Waits<'_>,
        map: &Map,
    ) -> Result<FxHashMap<u32, LaneWaits>, String> {
        if map.name() == "starpu" {
            return Err(format!("{NO_FILE} (--tasks FILE)"));
        }
        if !waits.has_dependences() {
            return Err("the trace has no messages between containers with these states, and no collectives; record \
                        them (Pajé links)"
                .into());
        }
        let mut found = FxHashMap::default();
        for (track, (lane, shift)) in self.0.iter().enumerate() {
            let of_track = waits.of_track(track).iter().map(|wait| {
                let (whom, shift_of_whom) = self.0[wait.whom as usize];
                Wait {
                    kind: wait.kind,
                    start: wait.from - shift,
                    end: wait.until - shift,
                    row: wait.state,
                    whom: whom.0,
                    release: wait.release,
                    released: wait.until - shift_of_whom,
                }
            });
            let mut list: Vec<Wait> = of_track.collect();
            if list.is_empty() || view.lane(*lane).is_none() {
                continue;
            }
            list.sort_by(|a, b| a.start.total_cmp(&b.start));
            let spans = list.iter().map(|wait| (wait.start, wait.end, number(wait.kind)));
            let spans = Spans::new(view.pyramid.clock(), spans);
            found.insert(lane.0, LaneWaits { list, spans });
        }
        Ok(found)
    }

    fn path_of_waits(&self, view: &View, waits: &Waits<'_>, map: &Map) -> Result<Path, String> {
        if map.name() == "starpu" {
            return Err(format!("no critical path, as {NO_FILE} (--tasks FILE)"));
        }
        if let Some(why) = refusal(waits, map) {
            return Err(why);
        }
        let parts = CriticalPath::new(waits).map(|path| path.parts).unwrap_or_default();
        Ok(self.path(view, parts.iter().map(|part| (part.track, part.start, part.end))))
    }

    /// Returns a path from the track, start and end of its parts.
    fn path(&self, view: &View, parts: impl Iterator<Item = (u32, f64, f64)>) -> Path {
        let parts = parts.map(|(track, start, end)| {
            let (lane, shift) = self.0[track as usize];
            (lane.0, start - shift, end - shift)
        });
        let mut parts: Vec<(u32, f64, f64)> = parts.collect();
        // The clocks of the lanes may differ.
        parts.sort_by(|a, b| a.1.total_cmp(&b.1));
        let spans = parts.iter().map(|(lane, start, end)| (*start, *end, *lane));
        let spans = Spans::new(view.pyramid.clock(), spans);
        Path { parts, spans }
    }
}

#[cfg(test)]
mod tests {
    use paje_sim::{Options as Reading, Selection, TimeRange};

    use super::*;
    use crate::view::Purpose;

    #[test]
    fn a_memory_limit_is_kept() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../datasets/examples/mpi.trace");
        let workers = Workers::one();
        let mut options = Reading::default();
        options.user_defined = true;
        let trace = Trace::open_with(path, &options, &workers).expect("an example");
        let (selection, window) = (Selection::default(), TimeRange::ALWAYS);
        let view = View::new(trace, "mpi".into(), &selection, window, Purpose::Page, &workers);
        let of = |limit| Explained::of(&view, &TasksFile::default(), Some(limit), &workers).waits;
        let refused = of(1000).expect_err("too large");
        assert!(refused.contains("--memory-limit is 1 MB"), "{refused}");
        assert!(of(1 << 30).is_ok());
    }
}
