//! Compares waits of traces that are read in portions with those of whole traces. `PAJE_SEEDS` sets
//! the number of random runs.

use std::io::Read;
use std::ops::ControlFlow;
use std::path::Path;
use std::{env, fs};

use datasets::passing::random;
use datasets::{Rng, Shape, generate};
use paje_analysis::Table;
use paje_analysis::classes::{Classes, Map};
use paje_analysis::waits::portions::{First, Found};
use paje_analysis::waits::{Options, Waits};
use paje_sim::{Portion, Progress, Source, TimeRange, Trace};
use paje_workers::Workers;

use crate::operations_text;

/// Reads a trace in portions.
fn read(bytes: &[u8], portion: u64, see: &mut (dyn FnMut(&Trace) + Send)) -> Trace {
    let mut options = paje_sim::Options::default();
    (options.user_defined, options.ignore_incomplete_links) = (true, true);
    options.keep_link_halves = true;
    let mut see = |portion: &Portion<'_>| {
        see(portion.trace());
        ControlFlow::Continue(())
    };
    let (source, progress) = (Source::stream(bytes), Progress::default());
    Trace::read_in_portions(source, &options, &Workers::one(), &progress, portion, &mut see)
        .expect("a valid trace")
}

/// Returns the report, unless it needs the whole trace, and the most bytes that were kept.
fn in_portions(
    bytes: &[u8],
    portion: u64,
    options: &Options,
    window: TimeRange,
) -> (Option<Table>, u64) {
    let mut first = First::default();
    let trace = read(bytes, portion, &mut |trace| first.see(trace));
    let map = Map::of_trace(&trace);
    let Some(mut growing) = first.plan(&trace, &map, options, window) else { return (None, 0) };
    let mut most = 0;
    loop {
        let mut held = Some(growing);
        read(bytes, portion, &mut |trace| {
            let next = held.take().expect("the waits so far").see(trace);
            most = most.max(next.bytes());
            held = Some(next);
        });
        match held.expect("the waits").finish() {
            Found::Again(next) => growing = *next,
            Found::Table(table) => return (Some(table), most),
            Found::Nothing => return (None, most),
        }
    }
}

fn whole(bytes: &[u8], options: &Options, window: TimeRange) -> Option<Table> {
    let mut reading = paje_sim::Options::default();
    (reading.user_defined, reading.ignore_incomplete_links) = (true, true);
    reading.keep_link_halves = true;
    let trace = Trace::read(bytes, &reading).expect("a valid trace");
    let map = Map::of_trace(&trace);
    if Classes::new(&trace, &map).is_empty() {
        return None;
    }
    let waits = Waits::new(&trace, &map, options);
    let finite = |asked: f64, found: f64| if asked.is_finite() { asked } else { found };
    let whole = waits.whole();
    Some(waits.kinds_table((finite(window.from, whole.0), finite(window.to, whole.1))))
}

fn seeds() -> u64 {
    env::var("PAJE_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(100)
}

#[test]
fn portions_of_random_runs_give_the_same_report() {
    let mut refused = 0;
    for seed in 0..seeds() {
        let run = random(seed, if seed % 10 == 0 { 120 } else { 30 });
        let eager = Some(run.eager).filter(|_| seed % 3 > 0);
        let options = Options { eager, ..Options::default() };
        let mut window = TimeRange::default();
        if seed % 4 == 1 {
            window = TimeRange { from: 2e-4, to: 9e-4 };
        }
        let expected = whole(&run.bytes, &options, window);
        for portion in [200, 3_000] {
            let found = in_portions(&run.bytes, portion, &options, window).0;
            refused += u64::from(found.is_none());
            if found.is_some() {
                assert_eq!(found, expected, "seed {seed}, portions of {portion} bytes");
            }
        }
    }
    assert!(refused < seeds(), "{refused}");
}

/// Values of states, the collectives last.
const VALUES: [&str; 15] = [
    "computing",
    "MPI_File_open",
    "MPI_Comm_rank",
    "MPI_Send",
    "MPI_Isend",
    "MPI_Ssend",
    "MPI_Irecv",
    "MPI_Recv",
    "MPI_Sendrecv",
    "MPI_Wait",
    "MPI_Waitall",
    "MPI_Barrier",
    "MPI_Allreduce",
    "MPI_Bcast",
    "MPI_Reduce",
];
const COLLECTIVES: usize = 4;
const RECEIVE: usize = 6;
const WAIT: usize = 9;

/// Returns a trace of random states and links, many of which start or end at the same time. If
/// `is_even`, all ranks have the same number of each collective.
fn ties(seed: u64, is_even: bool) -> Vec<u8> {
    let mut rng = Rng::new(seed);
    let mut text = match seed % 4 {
        0 => "# SimGrid\n".to_owned(),
        _ => String::new(),
    };
    text += &crate::definitions();
    let (ranks, is_deep) = (2 + rng.below(3), rng.below(4) == 0);
    let parent = if is_deep { "N" } else { "0" };
    text +=
        &format!("0 N 0 NODE\n0 R {parent} RANK\n2 S R MPI_STATE\n4 L 0 R R LINK\n6 0 n N 0 n\n");
    for rank in 0..ranks {
        text += &format!("6 0 r{rank} R {} r{rank}\n", if is_deep { "n" } else { "0" });
    }
    let (mut open, mut links) = (vec![Vec::new(); ranks as usize], Vec::new());
    let mut counts = vec![[0; COLLECTIVES]; ranks as usize];
    let (mut now, mut keys) = (0, 0);
    let first = VALUES.len() - COLLECTIVES;
    let mut push = |text: &mut String, now: u64, rank: usize, value: usize| {
        *text += &format!("12 {now} S r{rank} {}\n", VALUES[value]);
        if value >= first {
            counts[rank][value - first] += 1;
        }
    };
    for _ in 0..20 + rng.below(100) {
        now += [0, 0, 1, 2][rng.below(4) as usize];
        let rank = rng.below(ranks) as usize;
        match rng.below(7) {
            0 | 1 if open[rank].len() < 3 => {
                let value = rng.below(VALUES.len() as u64) as usize;
                push(&mut text, now, rank, value);
                open[rank].push(value);
            }
            0..=2 if open[rank].pop().is_some() => text += &format!("13 {now} S r{rank}\n"),
            3 => {
                text += &format!("15 {now} L 0 m r{rank} {keys}\n");
                links.push(keys);
                keys += 1;
            }
            4 => {
                for _ in 0..1 + rng.below(3) {
                    push(&mut text, now, rank, RECEIVE);
                    text += &format!("13 {now} S r{rank}\n");
                }
            }
            // Several links end in several calls at the same time.
            5 => {
                for _ in 0..rng.below(3) {
                    push(&mut text, now, rank, WAIT + rng.below(2) as usize);
                    text += &format!("13 {now} S r{rank}\n");
                }
                for _ in 0..1 + rng.below(2).min(links.len() as u64) {
                    let Some(key) = links.pop() else { break };
                    text += &format!("16 {now} L 0 m r{rank} {key}\n");
                }
            }
            _ if !links.is_empty() => {
                let key = links.swap_remove(rng.below(links.len() as u64) as usize);
                text += &format!("16 {now} L 0 m r{rank} {key}\n");
            }
            _ => {}
        }
    }
    for (rank, open) in open.iter().enumerate() {
        open.iter().for_each(|_| text += &format!("13 {now} S r{rank}\n"));
    }
    for key in links {
        text += &format!("16 {now} L 0 m r0 {key}\n");
    }
    for value in (first..VALUES.len()).filter(|_| is_even) {
        let most = counts.iter().map(|counts| counts[value - first]).max().unwrap_or(0);
        for (rank, counts) in counts.iter().enumerate() {
            for _ in counts[value - first]..most {
                text += &format!("12 {now} S r{rank} {}\n", VALUES[value]);
                now += rng.below(2);
                text += &format!("13 {now} S r{rank}\n");
            }
        }
    }
    text.into_bytes()
}

#[test]
fn portions_of_runs_with_equal_times_give_the_same_report() {
    let (mut refused, mut all) = (0, 0);
    for seed in 0..2 * seeds() {
        let bytes = ties(seed, seed % 8 > 0);
        let options = Options { eager: Some(0).filter(|_| seed % 3 > 0), ..Options::default() };
        let window = TimeRange::default();
        let expected = whole(&bytes, &options, window);
        for portion in [35, 300] {
            let found = in_portions(&bytes, portion, &options, window).0;
            (all, refused) = (all + 1, refused + u64::from(found.is_none()));
            if found.is_some() {
                assert_eq!(found, expected, "seed {seed}, portions of {portion} bytes");
            }
        }
    }
    assert!(2 * refused < all, "{refused} of {all}");
    println!("{refused} of {all} refused");
}

#[test]
fn groups_and_roots_that_times_determine_are_right_or_refused() {
    let (one, every) = (["a", "b", "c", "d"], ["n0", "n0", "n1", "n1"]);
    // Number of operations of each rank.
    let trace = |value, counts: [u32; 4], times: &dyn Fn(u32, u32) -> (u32, u32)| {
        let all = (0..40).filter(|at| at / 4 < counts[*at as usize % 4]).map(|at| {
            let (operation, member) = (at / 4, at % 4);
            let (enter, leave) = times(operation, member);
            let (rank, node) = (one[member as usize], every[member as usize]);
            (rank, node, 20 * operation + enter, 20 * operation + leave)
        });
        operations_text(value, &all.collect::<Vec<_>>()).into_bytes()
    };
    let report = |bytes: &[u8], is_possible: bool| {
        let (options, window) = (Options::default(), TimeRange::default());
        let expected = whole(bytes, &options, window);
        assert!(expected.as_ref().is_some_and(|table| table.len() > 1));
        for portion in [50, 400] {
            let found = in_portions(bytes, portion, &options, window).0;
            assert_eq!(found, expected.clone().filter(|_| is_possible));
        }
    };
    let rotating =
        |operation, member| if member == (operation + 1) % 4 { (5, 5) } else { (1 + member, 6) };
    report(&trace("MPI_Bcast", [10; 4], &rotating), true);
    let reduce = |_, member| if member == 2 { (1, 9) } else { (member, 5) };
    report(&trace("MPI_Reduce", [10; 4], &reduce), true);
    report(&trace("MPI_Allreduce", [10; 4], &|_, member| (member, 9)), true);
    // The nodes have their own barriers.
    let nodes = |_, member| (5 * (member / 2) + member % 2, 5 * (member / 2) + 2);
    report(&trace("MPI_Barrier", [8; 4], &nodes), false);
    report(&trace("MPI_Barrier", [3, 3, 6, 6], &nodes), false);
    // Every second operation is that of a node, so that the times contradict one group of all.
    let halves = |operation, member| match operation % 2 {
        0 => (member, 15),
        _ => (5 * (member / 2) + member % 2, 5 * (member / 2) + 2),
    };
    report(&trace("MPI_Barrier", [10; 4], &halves), false);
}

#[test]
fn memory_does_not_depend_on_the_length() {
    for size in [400_000, 1_600_000] {
        let bytes = generate(Shape::Mpi, size, 3);
        let (found, most) = in_portions(&bytes, 20_000, &Options::default(), TimeRange::default());
        assert_eq!(found, whole(&bytes, &Options::default(), TimeRange::default()));
        assert!(most < 300_000, "{most} bytes");
    }
}

/// Real traces are in the folder `PAJE_CORPUS`.
#[test]
fn portions_of_examples_and_real_traces_give_the_same_report() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../datasets/examples");
    let folders = [Some(examples), env::var_os("PAJE_CORPUS").map(Into::into)];
    let (mut compared, mut refused, mut with_waits) = (0, Vec::new(), 0);
    for folder in folders.into_iter().flatten() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("a file").path();
            if path.is_dir() {
                continue;
            }
            let mut bytes = Vec::new();
            let input = splitter::Input::open(Some(&path)).expect("a file");
            let most = 30_000_000;
            if input.take(most + 1).read_to_end(&mut bytes).is_err() || bytes.len() as u64 > most {
                continue;
            }
            let mut reading = paje_sim::Options::default();
            reading.ignore_incomplete_links = true;
            if Trace::read(&bytes[..], &reading).is_err() {
                continue;
            }
            let (options, window) = (Options::default(), TimeRange::default());
            let expected = whole(&bytes, &options, window);
            for portion in [1_000, 30_000] {
                let found =
                    in_portions(&bytes, portion.max(bytes.len() as u64 / 200), &options, window).0;
                if found.is_none() && expected.is_some() {
                    refused.push(path.clone());
                } else {
                    assert_eq!(found, expected, "{}", path.display());
                    compared += 1;
                    with_waits += usize::from(found.is_some_and(|found| found.len() > 2));
                }
            }
        }
    }
    assert!(compared > 3, "{compared}");
    println!("{compared} compared, {with_waits} with waits, refused: {refused:?}");
}
