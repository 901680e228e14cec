//! Tests the exact comparison against a simple one, which compares rows as text, container by
//! container.

use std::collections::BTreeMap;
use std::fs;
use std::num::NonZeroUsize;
use std::process::ExitCode;

use clap::Parser;
use datasets::mutate::{Change, mutated};
use datasets::{Shape, random};
use paje_sim::{ContainerId, FieldNames, Options, Row, Trace, TypeId};
use pj_equals::cli::Cli;
use pj_equals::exact::{Rules, are_equal, compare};
use pj_equals::run::main_with;
use splitter::Limits;

/// Returns rows by container path, type name and nature, or `None` if a path or type is ambiguous.
fn rows(trace: &Trace) -> Option<BTreeMap<String, Vec<String>>> {
    let (mut all, mut twice) = (BTreeMap::new(), false);
    let mut add = |key: String, row: String| twice |= all.insert(key, vec![row]).is_some();
    for type_ in trace.types().ids() {
        let ends = trace.types().link_ends(type_);
        let ends = ends.map(|(from, to)| (type_path(trace, from), type_path(trace, to)));
        add(format!("type {}", type_path(trace, type_)), format!("{ends:?}"));
    }
    let containers = trace.containers();
    for id in containers.ids() {
        let times = (containers.start(id) + 0.0, containers.end(id) + 0.0);
        add(format!("container {}", path(trace, id)), format!("{times:?}"));
    }
    for lane in trace.lanes().filter(|lane| !lane.is_empty()) {
        let type_ = type_path(trace, lane.type_id());
        let key = format!("lane {} {type_}", path(trace, lane.container()));
        all.entry(key).or_default().extend(lane.rows().map(|row| text(trace, &row)));
    }
    (!twice).then_some(all)
}

fn text(trace: &Trace, row: &Row<'_>) -> String {
    let times = (row.start() + 0.0, row.end() + 0.0);
    match row {
        Row::Container(_) => String::new(),
        Row::State(it) => format!("{times:?} {} {:?}", it.imbrication, it.value_name().text),
        Row::Variable(it) => format!("{times:?} {:?}", it.value + 0.0),
        Row::Event(it) => format!("{times:?} {:?}", it.value_name().text),
        Row::Link(it) => {
            let (ends, value) = ((path(trace, it.from), path(trace, it.to)), it.value_name().text);
            format!("{times:?} {ends:?} {value:?} {:?}", it.key().text)
        }
    }
}

fn type_path(trace: &Trace, id: TypeId) -> String {
    let types = trace.types();
    let own = format!("{:?} {:?}", types.nature(id), types.name(id).text);
    if id == TypeId::ROOT { own } else { format!("{}/{own}", type_path(trace, types.parent(id))) }
}

fn path(trace: &Trace, id: ContainerId) -> String {
    let containers = trace.containers();
    let type_ = type_path(trace, containers.type_of(id));
    let own = format!("{:?} {type_}", containers.name(id).text);
    match id {
        ContainerId::ROOT => own,
        _ => format!("{}/{own}", path(trace, containers.parent(id))),
    }
}

fn read(trace: &[u8]) -> Option<Trace> {
    let mut options = Options::default();
    options.field_names = FieldNames::Old;
    options.ignore_incomplete_links = true;
    Trace::read(trace, &options).ok()
}

fn differences(a: &BTreeMap<String, Vec<String>>, b: &BTreeMap<String, Vec<String>>) -> [u64; 4] {
    let mut sums = [0; 4];
    let keys = a.keys().chain(b.keys().filter(|key| !a.contains_key(*key)));
    for key in keys {
        let (one, other) = (a.get(key), b.get(key));
        let lane =
            |rows: Option<&Vec<String>>, i: usize| rows.and_then(|rows| rows.get(i).cloned());
        let count = one.map_or(0, Vec::len).max(other.map_or(0, Vec::len));
        let differ = (0..count).filter(|i| lane(one, *i) != lane(other, *i)).count() as u64;
        // If a type or container is in only one trace, only this difference is reported, and
        // nothing inside it.
        match key.split(' ').next() {
            Some("type") => sums[0] += differ,
            Some("container") => sums[1] += differ,
            _ => {
                sums[2] += u64::from(differ > 0);
                sums[3] += differ;
            }
        }
    }
    sums
}

#[test]
fn changed_traces_have_the_expected_differences() {
    let (mut equal, mut different) = (0, 0);
    for seed in 0..250u64 {
        let trace = random::trace(seed).bytes;
        let Some(a) = read(&trace) else { continue };
        let Some(one) = rows(&a) else { continue };
        let tries = (0..24u64).filter_map(|n| {
            let number = |shift: u64| {
                (seed * 24 + n + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(shift as u32)
            };
            let change = |at: u64| Change {
                what: (number(at) % 12) as u8,
                line: number(at + 16) as u16,
                number: number(at + 32) as u16,
            };
            let changes = [change(3), change(29)];
            read(&mutated(&trace, &changes[..1 + n as usize % 2]))
        });
        for b in tries {
            let Some(other) = rows(&b) else { continue };
            for (traces, rows) in [([&a, &b], [&one, &other]), ([&b, &a], [&other, &one])] {
                let found = compare(traces, &Rules::default(), 1000);
                let sums = [found.types, found.containers, found.lanes, found.rows];
                assert_eq!(sums, differences(rows[0], rows[1]), "seed {seed}");
                assert_eq!(found.is_none(), are_equal(traces, &Rules::default()), "seed {seed}");
            }
            *if one == other { &mut equal } else { &mut different } += 1;
        }
    }
    println!("{equal} pairs are equal, {different} are not");
    assert!(equal > 50 && different > 50, "{equal}, {different}");
}

/// A trace equals itself with any number of threads, any size of blocks and any compression. With
/// an additional row, it does not.
#[test]
fn answers_do_not_depend_on_threads_and_blocks() {
    let folder = tempfile::tempdir().expect("a folder");
    let paths = ["a.trace", "b.trace"].map(|name| folder.path().join(name));
    for shape in Shape::ALL.into_iter().filter(|shape| shape.is_sorted()) {
        let trace = datasets::generate(shape, 20_000, 7);
        fs::write(&paths[0], &trace).expect("writable");
        fs::write(&paths[1], &trace).expect("writable");
        for (threads, block) in [(1, 1), (2, 777), (3, 1 << 14), (8, 1 << 20)] {
            let answer = |form: &str| {
                let mut cli = Cli::parse_from(["pj_equals", form, "-qz", "a", "b"]);
                (cli.file1, cli.file2) = (Some(paths[0].clone()), Some(paths[1].clone()));
                cli.parallel.threads = NonZeroUsize::new(threads);
                format!("{:?}", main_with(&cli, Limits { block, ..Limits::default() }))
            };
            let equal = format!("{:?}", ExitCode::from(1));
            assert_eq!(answer("-q"), equal, "{shape:?}, {threads} threads, {block}");
            assert_eq!(answer("--exact"), equal, "{shape:?}, {threads} threads, {block}");
            assert_eq!(answer("--names-only"), equal, "{shape:?}, {threads} threads, {block}");
        }
    }
}
