//! Tests replays of damaged traces with any number of workers and any size of blocks.

mod naive;

use std::collections::BTreeMap;

use datasets::invalid::{self, Fault};
use paje_sim::{ErrorKind, Limits, Options, Progress, Recovery, Row, Source, Trace};
use paje_workers::Workers;
use testkit::{Rng, damage, number, team};

use naive::{AT_THE_END, Kind, Naive};

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Lists all objects, sorted. Each row has its number in its lane.
fn listing(trace: &Trace) -> Vec<String> {
    let (all, types) = (trace.containers(), trace.types());
    let at = |id| text(all.identifier(id).text);
    let containers = all.ids().map(|id| {
        let (start, end, name) = (all.start(id), all.end(id), text(all.name(id).text));
        let type_ = text(types.name(all.type_of(id)).text);
        format!("{} {name} {type_} {} {start:?} {end:?}", at(id), at(all.parent(id)))
    });
    let mut listing: Vec<String> = containers.collect();
    // Several lanes may have the same names.
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for row in trace.rows() {
        let (start, end) = (row.start(), row.end());
        let what = match &row {
            Row::Container(_) => continue,
            Row::State(it) => {
                format!("{start:?} {end:?} {} {}", it.imbrication, text(it.value_name().text))
            }
            Row::Variable(it) => format!("{start:?} {end:?} {:?}", it.value),
            Row::Event(it) => format!("{start:?} {}", text(it.value_name().text)),
            Row::Link(it) => {
                let (value, key) = (text(it.value_name().text), text(it.key().text));
                format!("{start:?} {end:?} {value} {} {} {key}", at(it.from), at(it.to))
            }
        };
        let lane = row.lane().expect("only containers have none");
        let type_ = text(types.identifier(lane.type_id()).text);
        let lane = format!("{} {type_}", at(lane.container()));
        let count = counts.entry(lane.clone()).or_default();
        listing.push(format!("{lane} {count}: {what}"));
        *count += 1;
    }
    listing.sort();
    listing
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
        let objects = wanted.listing();
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
            let found = listing(&trace);
            for (found, wanted) in found.iter().zip(&objects) {
                assert_eq!(found, wanted, "{}", about());
            }
            assert_eq!(found.len(), objects.len(), "{}", about());
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
