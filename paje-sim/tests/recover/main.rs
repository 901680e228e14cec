//! Tests replays of damaged traces with any number of workers and any size of blocks.

mod naive;

use std::collections::BTreeMap;
use std::convert::Infallible;

use datasets::invalid::{self, Fault};
use paje_sim::{
    ContainerId, ErrorKind, Events, Lane, Limits, Links, NameOrder, Options, Progress, Recovery,
    Source, States, Trace, Variables, Visitor,
};
use paje_workers::Workers;
use testkit::{Rng, damage, number, team};

use naive::{AT_THE_END, Kind, Naive};

#[derive(Default)]
struct Listing(Vec<String>);

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

impl Listing {
    fn of(trace: &Trace) -> Vec<String> {
        let mut listing = Listing::default();
        match trace.visit(NameOrder::Bare, &mut listing) {
            Ok(()) => {
                listing.0.sort();
                listing.0
            }
        }
    }

    fn push(&mut self, lane: Lane<'_>, row: usize, what: &str) {
        let trace = lane.trace();
        let container = text(trace.containers().identifier(lane.container()).text);
        let type_ = text(trace.types().identifier(lane.type_id()).text);
        self.0.push(format!("{container} {type_} {row}: {what}"));
    }
}

/// Returns the number that the lane's next object has, given the objects listed so far.
fn numbered(known: &[String], lane: Lane<'_>) -> usize {
    let trace = lane.trace();
    let container = text(trace.containers().identifier(lane.container()).text);
    let about = format!("{container} {} ", text(trace.types().identifier(lane.type_id()).text));
    let is_row = |line: &&String| {
        let rest = line.strip_prefix(&about).and_then(|rest| rest.split_once(": "));
        rest.is_some_and(|(row, _)| row.parse::<usize>().is_ok())
    };
    known.iter().filter(is_row).count()
}

impl Visitor for Listing {
    type Error = Infallible;

    fn container(&mut self, trace: &Trace, id: ContainerId) -> Result<(), Infallible> {
        let all = trace.containers();
        let (start, end) = (all.start(id), all.end(id));
        let (identifier, name) = (text(all.identifier(id).text), text(all.name(id).text));
        let type_ = text(trace.types().name(all.type_of(id)).text);
        let parent = text(all.identifier(all.parent(id)).text);
        self.0.push(format!("{identifier} {name} {type_} {parent} {start:?} {end:?}"));
        Ok(())
    }

    fn states(&mut self, lane: Lane<'_>, states: States<'_>) -> Result<(), Infallible> {
        let first = numbered(&self.0, lane);
        for (i, value) in states.value.iter().enumerate() {
            let (start, end, level) = (states.start[i], states.end[i], states.imbrication[i]);
            let value = text(lane.value_name(*value).text);
            self.push(lane, first + i, &format!("{start:?} {end:?} {level} {value}"));
        }
        Ok(())
    }

    fn variables(&mut self, lane: Lane<'_>, variables: Variables<'_>) -> Result<(), Infallible> {
        let first = numbered(&self.0, lane);
        for (i, value) in variables.value.iter().enumerate() {
            let (start, end) = (variables.start[i], variables.end(i));
            self.push(lane, first + i, &format!("{start:?} {end:?} {value:?}"));
        }
        Ok(())
    }

    fn events(&mut self, lane: Lane<'_>, events: Events<'_>) -> Result<(), Infallible> {
        let first = numbered(&self.0, lane);
        for (i, (time, value)) in events.time.iter().zip(events.value).enumerate() {
            let value = text(lane.value_name(*value).text);
            self.push(lane, first + i, &format!("{time:?} {value}"));
        }
        Ok(())
    }

    fn links(&mut self, lane: Lane<'_>, links: Links<'_>) -> Result<(), Infallible> {
        let first = numbered(&self.0, lane);
        for (i, value) in links.value.iter().enumerate() {
            let (start, end) = (links.start[i], links.end[i]);
            let at = |id| text(lane.trace().containers().identifier(id).text);
            let (from, to) = (at(links.from[i]), at(links.to[i]));
            let raw = links.raw_key(i);
            let key = raw.strip_prefix(b"\"").unwrap_or(raw);
            let key = text(key.strip_suffix(b"\"").filter(|_| raw.len() > 1).unwrap_or(key));
            let value = text(lane.value_name(*value).text);
            let what = format!("{start:?} {end:?} {value} {from} {to} {key}");
            self.push(lane, first + i, &what);
        }
        Ok(())
    }
}

/// Returns the reported problems: for each kind, the line of the first problem and the number of problems.
fn told(recovery: &Recovery) -> BTreeMap<Kind, (usize, u64)> {
    let kinds = recovery.problems.iter().map(|problem| {
        let ErrorKind::Invalid(why) = problem.error.kind() else {
            panic!("memory can be read: {}", problem.error);
        };
        let line = problem.error.position().map_or(AT_THE_END, |at| at.line as usize);
        ((why.code(), problem.remedy.word()), (line, problem.count))
    });
    kinds.collect()
}

fn replay(bytes: &[u8], block: usize, workers: &Workers) -> Trace {
    let mut options = Options::default();
    options.recover = true;
    options.limits = Limits { block, ..Limits::default() };
    options.decoder_symbols = 4;
    let trace = Trace::read_with(Source::stream(bytes), &options, workers, &Progress::default());
    trace.unwrap_or_else(|error| panic!("{error}\n{}", text(bytes)))
}

/// Teams of workers and block sizes. Each trace uses only a few of them, because all would take too long.
struct Ways {
    teams: Vec<Workers>,
    turn: usize,
}

const BLOCKS: [usize; 5] = [1, 64, 300, 4096, 1 << 20];

impl Ways {
    fn new() -> Self {
        Ways { teams: (1..=4).map(team).collect(), turn: 0 }
    }

    fn check(&mut self, bytes: &[u8]) {
        self.check_often(bytes, 3);
    }

    fn check_often(&mut self, bytes: &[u8], ways: usize) {
        if bytes.is_empty() {
            return;
        }
        let wanted = Naive::replay(bytes);
        let listing = wanted.listing();
        for _ in 0..ways {
            self.turn += 1;
            let workers = &self.teams[self.turn % 4];
            let block = BLOCKS[self.turn / 4 % BLOCKS.len()];
            let trace = replay(bytes, block, workers);
            let about = || {
                let threads = workers.threads();
                format!("{threads} threads, blocks of {block}\n{}", text(bytes))
            };
            assert_eq!(told(trace.recovered()), wanted.told, "{}", about());
            for (found, wanted) in Listing::of(&trace).iter().zip(&listing) {
                assert_eq!(found, wanted, "{}", about());
            }
            assert_eq!(Listing::of(&trace).len(), listing.len(), "{}", about());
        }
    }
}

#[test]
fn recovery_does_not_change_sound_traces() {
    let mut ways = Ways::new();
    for seed in 0..40 {
        let bytes = datasets::random::trace(seed).bytes;
        if Trace::read(&bytes[..], &Options::default()).is_ok() {
            assert!(replay(&bytes, 500, &Workers::one()).recovered().problems.is_empty(), "{seed}");
        }
        ways.check(&bytes);
    }
}

#[test]
fn every_fault() {
    let mut ways = Ways::new();
    for seed in 0..4 {
        for fault in Fault::ALL {
            let bytes = invalid::trace(fault, seed).bytes;
            ways.check(&bytes);
            if !bytes.is_empty() {
                let trace = replay(&bytes, 1000, &Workers::one());
                assert!(!trace.recovered().problems.is_empty(), "{fault}");
            }
        }
    }
}

#[test]
fn damaged_traces_of_former_bugs() {
    let mut ways = Ways::new();
    ways.check(include_bytes!("traces/wrong-remedy.trace"));
    // A decoder is restarted although it knows a value of an unknown type.
    ways.check(include_bytes!("traces/unknown-type.trace"));
}

/// The container's last event in the file is not its latest event.
#[test]
fn a_container_that_ends_too_early_ends_at_its_latest_event() {
    let bytes = include_bytes!("traces/ended-too-early.trace");
    Ways::new().check_often(bytes, 20);
}

/// `PAJE_SEEDS=100000 cargo test --release -p paje-sim --test recover` tries more traces.
#[test]
fn damaged_in_any_way() {
    let mut ways = Ways::new();
    for seed in 0..number("PAJE_SEEDS").unwrap_or(400) {
        let mut rng = Rng::new(seed);
        let sound = match seed % 2 {
            0 => datasets::random::trace(seed).bytes,
            _ => invalid::trace(Fault::ALL[rng.index(Fault::ALL.len())], seed).bytes,
        };
        let bytes = damage(&sound, &mut rng);
        println!("seed {seed}");
        ways.check(&bytes);
    }
}

#[test]
fn every_prefix() {
    let mut ways = Ways::new();
    let bytes = invalid::trace(Fault::OpenLinkAtEnd, 3).bytes;
    for end in 1..bytes.len() {
        ways.check_often(&bytes[..end], 1);
    }
}
