//! Traces with known results.

use std::collections::BTreeMap;

use datasets::passing::{Case, Parameters, Waiting};
use paje_analysis::Seconds;
use paje_analysis::classes::{Classes, Map};
use paje_analysis::collectives::{Grouping, Level};
use paje_analysis::critical::CriticalPath;
use paje_analysis::waits::{Options, Waits};
use paje_sim::Trace;

use crate::{micros, mpi, operations_text, replayed, waits};

const PARAMETERS: [Parameters; 4] = [
    Parameters { ranks: 2, work: 1_000_000, late: 1_000_000, transfer: 2 },
    Parameters { ranks: 4, work: 3_000, late: 700, transfer: 100 },
    Parameters { ranks: 5, work: 0, late: 21, transfer: 10 },
    Parameters { ranks: 16, work: 123_457, late: 98_765, transfer: 4_321 },
];

fn eager() -> Options {
    Options { eager: Some(65_536), ..Options::default() }
}

fn waiting(waits: &Waits<'_>) -> Vec<Waiting> {
    let one = |wait: &paje_analysis::waits::Wait| Waiting {
        kind: wait.kind.name(),
        waiter: wait.waiter as usize,
        whom: wait.whom as usize,
        from: micros(wait.from),
        until: micros(wait.until),
    };
    let mut found: Vec<Waiting> = waits.iter().map(one).collect();
    found.sort_by_key(|wait| (wait.waiter, wait.from));
    found
}

#[test]
fn closed_forms() {
    for parameters in PARAMETERS {
        for case in Case::ALL {
            let known = case.trace(&parameters);
            let trace = replayed(&known.bytes);
            let waits = waits(&trace, &eager());
            assert_eq!(waiting(&waits), known.waits, "{case:?} {parameters:?}");
            let path = CriticalPath::new(&waits).expect("there are states");
            let parts = path.parts.iter();
            let parts: Vec<_> = parts
                .map(|part| (part.track as usize, micros(part.start), micros(part.end)))
                .collect();
            assert_eq!(parts, known.path, "{case:?} {parameters:?}");
            let costs = waits.costs(waits.whole());
            let delays = costs.iter().map(|cost| (cost.whom as usize, micros(cost.delay)));
            let delays: Vec<_> = delays.filter(|(_, delay)| *delay > 0).collect();
            assert_eq!(delays, known.delays, "{case:?} {parameters:?}");
            let sum =
                |waits: &[Waiting]| waits.iter().map(|wait| wait.until - wait.from).sum::<u64>();
            let direct: Seconds = costs.iter().map(|cost| cost.direct).sum();
            assert_eq!(micros(direct.to_f64()), sum(&known.waits), "{case:?} {parameters:?}");
        }
    }
}

#[test]
fn two_ranks_one_late_by_a_second_in_a_barrier() {
    let parameters = Parameters { ranks: 2, work: 500_000, late: 1_000_000, transfer: 2 };
    let trace = replayed(&Case::Barrier.trace(&parameters).bytes);
    let waits = waits(&trace, &Options::default());
    let whole = waits.whole();
    let kinds = waits.by_kind(whole).into_iter();
    let kinds = kinds.map(|(kind, total)| (kind.name(), total.count, total.seconds));
    assert!(kinds.eq([("wait at barrier", 1, Seconds::new(1.0))]));
    let [pair] = waits.by_pair(whole)[..] else { panic!("one pair") };
    assert_eq!(
        (waits.name(pair.waiter), waits.name(pair.whom)),
        ("rank-0".into(), "rank-1".into())
    );
    assert!(pair.most);
    assert_eq!(
        waits.most_waited_dot(whole),
        "digraph most_waited {\n  node [shape=box];\n  \"rank-0\" -> \"rank-1\" [label=\"1.000000\", penwidth=5.0];\n}\n"
    );
    let path = CriticalPath::new(&waits).expect("there are states");
    assert_eq!(path.parts.iter().map(|part| part.track).collect::<Vec<_>>(), [1]);
    let computing = path.imbalance(&waits, whole)[0];
    // The path has 1.5 s of computing, but the mean is 1 s. The excess is half a second, in two
    // containers.
    assert_eq!(computing.on_path.to_string(), "1.500000000");
    assert_eq!(computing.mean.to_string(), "1.000000000");
    assert_eq!(computing.imbalance.to_string(), "0.500000000");
    assert_eq!(computing.cost.to_string(), "1.000000000");
}

#[test]
fn the_path_shows_the_innermost_states() {
    let parameters = Parameters { ranks: 2, work: 300, late: 200, transfer: 50 };
    let trace = replayed(&Case::Nested.trace(&parameters).bytes);
    let waits = waits(&trace, &Options::default());
    let path = CriticalPath::new(&waits).expect("there are states");
    let rows: BTreeMap<String, u64> = path
        .by_activity(&waits, waits.whole())
        .iter()
        .map(|row| {
            let (type_, value) = row.activity;
            let name = trace.types().value_name(type_, value.expect("in states"));
            (format!("{} {name}", row.track), micros(row.seconds.to_f64()))
        })
        .collect();
    let expected = [("0 computing", 500), ("1 PMPI_Recv", 50), ("1 computing", 300)];
    assert_eq!(rows, expected.map(|(name, micros)| (name.to_owned(), micros)).into());
}

#[test]
fn eager_messages_have_no_late_receiver() {
    let trace = replayed(&Case::LateReceiver.trace(&PARAMETERS[1]).bytes);
    let count = |eager, map: &Map| {
        let options = Options { eager, ..Options::default() };
        Waits::new(&trace, map, &options).iter().count()
    };
    assert_eq!(count(None, &mpi()), 0);
    assert_eq!(count(Some(1_000_001), &mpi()), 0);
    assert_eq!(count(Some(1_000_000), &mpi()), 1);
    assert_eq!(count(Some(0), &mpi()), 1);
    let map = |head: &str| {
        let text = format!("{head}\n[classes]\nPMPI_Send = \"send\"\nPMPI_Recv = \"recv\"\n");
        Map::parse("mine", &text).expect("a map")
    };
    assert_eq!(count(None, &map("")), 0);
    assert_eq!(count(None, &map("eager = 1000")), 1);
    assert_eq!(count(Some(2_000_000), &map("eager = 1000")), 0);
    assert_eq!(count(None, &map("rendezvous = [\"*_Send\"]")), 1);
    assert_eq!(count(Some(0), &map("links = [\"OTHER\"]")), 0);
}

#[test]
fn sizes_are_read_from_the_named_field() {
    let trace = replayed(&Case::LateReceiver.trace(&PARAMETERS[1]).bytes);
    let bytes = |field: Option<&str>| {
        let options = Options { bytes: field.map(str::to_owned), ..Options::default() };
        waits(&trace, &options).facts.messages.list()[0].bytes()
    };
    assert_eq!(bytes(None), Some(1e6));
    assert_eq!(bytes(Some("Size")), Some(1e6));
    assert_eq!(bytes(Some("Length")), None);
    let chain = replayed(&Case::Chain.trace(&PARAMETERS[1]).bytes);
    assert_eq!(waits(&chain, &Options::default()).facts.messages.list()[0].bytes(), None);
}

#[test]
fn a_window_clips() {
    let parameters = Parameters { ranks: 4, work: 1000, late: 1000, transfer: 100 };
    let trace = replayed(&Case::Barrier.trace(&parameters).bytes);
    let waits = waits(&trace, &Options::default());
    // Rank 0 waits from 1 to 4 ms, rank 1 from 2 ms, and rank 2 from 3 ms. In the window, they wait
    // 1, 0.5 and 0 ms.
    let window = (0.0015, 0.0025);
    let rows = waits.by_waiter(window).into_iter();
    assert!(rows.map(|it| (it.0, micros(it.1.seconds.to_f64()))).eq([(0, 1000), (1, 500)]));
    let [cost] = waits.costs(window)[..] else { panic!("expected one cause") };
    assert_eq!((cost.whom, micros(cost.direct.to_f64()), micros(cost.delay)), (3, 1500, 1500));
    let path = CriticalPath::new(&waits).expect("there are states");
    assert_eq!(path.length(window), Seconds::between(window.0, window.1));
    assert!(waits.by_kind((0.0, 0.001)).is_empty());
}

#[test]
fn the_root_is_given_or_estimated() {
    let parameters = Parameters { ranks: 5, work: 1000, late: 1000, transfer: 100 };
    let trace = replayed(&Case::OneToN.trace(&parameters).bytes);
    let rooted = |root: Option<&str>| {
        let containers = trace.containers();
        let root = root.map(|name| {
            containers
                .ids()
                .find(|id| containers.name(*id).text == name.as_bytes())
                .expect("a rank")
        });
        let options = Options { grouping: Grouping { level: None, root }, ..Options::default() };
        let waits = waits(&trace, &options);
        let series = &waits.facts.collectives.series[0];
        (series.root, series.assumed, waits.iter().count())
    };
    assert_eq!(rooted(None), (Some(2), true, 2));
    assert_eq!(rooted(Some("rank-1")), (Some(1), false, 1));
    assert_eq!(rooted(Some("rank-0")), (Some(0), false, 0));
}

/// Returns a trace of barriers, each given as rank, node, start and end.
fn nodes(barriers: &[(&str, &str, u32, u32)]) -> Trace {
    operations("MPI_Barrier", barriers)
}

/// Returns a trace of collectives with any value. A rank may take part in several.
pub(crate) fn operations(value: &str, all: &[(&str, &str, u32, u32)]) -> Trace {
    replayed(operations_text(value, all).as_bytes())
}

#[test]
fn roots_may_rotate() {
    // The root enters four seconds after the others. They leave one second later.
    let all: Vec<_> = (0..12)
        .map(|at| {
            let (operation, member) = (at / 3, at % 3);
            let (rank, begin) = (["a", "b", "c"][member as usize], 10 * operation);
            let is_root = member == (operation + 1) % 3;
            let (enter, leave) = if is_root { (5, 5) } else { (1, 6) };
            (rank, "n0", begin + enter, begin + leave)
        })
        .collect();
    let trace = operations("MPI_Bcast", &all);
    let waits = waits(&trace, &Options::default());
    let series = &waits.facts.collectives.series[0];
    assert_eq!((series.root, series.turn, series.assumed), (Some(1), 1, true));
    assert_eq!([0, 1, 2, 3].map(|instance| series.root_of(instance)), [1, 2, 0, 1].map(Some));
    let found = waiting(&waits);
    let operation = |wait: &Waiting| wait.from as usize / 10_000_000;
    assert_eq!(found.len(), 8);
    assert!(found.iter().all(|wait| wait.whom == (operation(wait) + 1) % 3), "{found:?}");
}

#[test]
fn groups_are_all_containers_or_share_an_ancestor_of_a_type() {
    let trace =
        nodes(&[("a", "n0", 1, 9), ("b", "n0", 2, 9), ("c", "n1", 4, 9), ("d", "n1", 8, 9)]);
    let level = |name: &str| {
        let level = trace.types().find(name.as_bytes());
        let grouping = Grouping { level: Some(level.expect("a type")), root: None };
        let options = Options { grouping, ..Options::default() };
        waiting(&waits(&trace, &options)).iter().map(|w| (w.waiter, w.whom)).collect::<Vec<_>>()
    };
    let all = waits(&trace, &Options::default());
    assert_eq!(all.facts.collectives.level, Level::All);
    let pairs: Vec<_> = waiting(&all).iter().map(|wait| (wait.waiter, wait.whom)).collect();
    assert_eq!(pairs, [(0, 3), (1, 3), (2, 3)]);
    assert_eq!(level("N"), [(0, 1), (2, 3)]);
    assert_eq!(level("0"), [(0, 3), (1, 3), (2, 3)]);
    assert!(level("R").is_empty());
}

#[test]
fn groups_are_smaller_if_only_those_agree() {
    let groups = |all: &[(&str, &str, u32, u32)]| {
        let trace = nodes(all);
        let collectives = &waits(&trace, &Options::default()).facts.collectives;
        (collectives.level, collectives.groups.clone())
    };
    let by_node = (Level::Depth(1), vec![vec![0, 1], vec![2, 3]]);
    // Nodes with one and two barriers.
    let uneven = [
        ("a", "n0", 1, 9),
        ("b", "n0", 2, 9),
        ("c", "n1", 1, 3),
        ("d", "n1", 2, 3),
        ("c", "n1", 4, 9),
        ("d", "n1", 8, 9),
    ];
    assert_eq!(groups(&uneven), by_node);
    // Barriers of one node end before those of the other begin.
    let apart = [("a", "n0", 1, 3), ("b", "n0", 2, 3), ("c", "n1", 4, 9), ("d", "n1", 8, 9)];
    assert_eq!(groups(&apart), by_node);
    // One container on each node: no smaller group is useful.
    let alone = [("a", "n0", 1, 3), ("b", "n1", 2, 3), ("b", "n1", 4, 5)];
    assert_eq!(groups(&alone), (Level::All, vec![vec![0, 1]]));
}

#[test]
fn groups_are_divided_if_times_contradict_them() {
    // Ranks a and b leave before c and d enter.
    let one = [("a", 1, 3), ("b", 3, 3), ("c", 5, 9), ("d", 9, 9)];
    let all = |at: u32| one.map(|(rank, enter, leave)| (rank, "n0", at + enter, at + leave));
    let trace = nodes(&(0..10).flat_map(|at| all(10 * at)).collect::<Vec<_>>());
    let waits = waits(&trace, &Options::default());
    let mut pairs: Vec<_> = waiting(&waits).iter().map(|wait| (wait.waiter, wait.whom)).collect();
    pairs.dedup();
    assert_eq!(pairs, [(0, 1), (2, 3)]);
    assert!(waits.facts.collectives.series.iter().all(|series| series.is_part));
}

#[test]
fn uneven_operations_are_reported_and_not_analysed() {
    let trace =
        nodes(&[("a", "n0", 1, 9), ("b", "n0", 2, 9), ("a2", "n1", 1, 2), ("b2", "n1", 3, 4)]);
    assert!(waits(&trace, &Options::default()).facts.collectives.uneven.is_empty());
    let known = Case::Barrier.trace(&PARAMETERS[1]);
    let text = String::from_utf8(known.bytes).expect("text");
    let more = text.replacen(
        "12 0.000000 S r1",
        "12 0.000000 S r1 PMPI_Barrier\n13 0.000000 S r1\n12 0.000000 S r1",
        1,
    );
    let trace = replayed(more.as_bytes());
    let waits = waits(&trace, &Options::default());
    let [uneven] = waits.facts.collectives.uneven[..] else { panic!("one value") };
    assert_eq!((uneven.least, uneven.most), (1, 2));
    assert_eq!(trace.types().value_name(uneven.type_, uneven.value).text, b"PMPI_Barrier");
    assert_eq!(waits.iter().count(), 0);
}

/// SimGrid can trace the same processes as ranks and as actors.
#[test]
fn actors_of_ranks_are_passed_over() {
    let known = Case::Barrier.trace(&PARAMETERS[1]);
    let text = String::from_utf8(known.bytes).expect("text");
    let types =
        "0 A 0 ACTOR\n2 T A ACTOR_STATE\n6 0 a0 A 0 actor-0\n12 0 T a0 execute\n13 9 T a0\n";
    let trace = replayed((text + types).as_bytes());
    let classes = Classes::new(&trace, &mpi());
    let name = |id| trace.types().name(id).to_str_lossy().into_owned();
    assert_eq!(classes.chosen().map(name).collect::<Vec<_>>(), ["MPI_STATE"]);
    assert!(classes.passed_over().iter().any(|id| name(*id) == "ACTOR_STATE"));
}

#[test]
fn known_state_types_are_chosen_and_unknown_values_reported() {
    let run = datasets::passing::random(3, 200);
    let trace = replayed(&run.bytes);
    let waits = waits(&trace, &Options::default());
    let classes = waits.facts.tracks.classes();
    let name = |id| trace.types().name(id).to_str_lossy().into_owned();
    assert_eq!(classes.chosen().map(name).collect::<Vec<_>>(), ["MPI_STATE"]);
    assert_eq!(classes.passed_over().iter().map(|id| name(*id)).collect::<Vec<_>>(), ["PHASE"]);
    let unknown =
        classes.unknown().iter().map(|(type_, value)| trace.types().value_name(*type_, *value));
    assert_eq!(unknown.map(|name| name.to_string()).collect::<Vec<_>>(), ["function"]);
    assert_eq!(Map::of_trace(&trace).name(), "mpi");
}

#[test]
fn a_trace_without_states_has_no_results() {
    let trace = replayed(b"%EventDef PajeDefineContainerType 0\n% Alias string\n% Type string\n% Name string\n%EndEventDef\n0 N 0 Node\n");
    assert!(CriticalPath::new(&waits(&trace, &Options::default())).is_none());
}

#[test]
fn the_rest_of_the_time_has_names() {
    // rank a computes 1 s, then receives for 5 s; b sends after 2 s, and computes 3 s more.
    let head = "\
%EventDef PajeDefineContainerType 0\n% Name string\n% Type string\n%EndEventDef
%EventDef PajeDefineStateType 1\n% Name string\n% Type string\n%EndEventDef
%EventDef PajeDefineLinkType 2\n% Name string\n% Type string\n% StartContainerType string\n\
% EndContainerType string\n%EndEventDef
%EventDef PajeCreateContainer 3\n% Time date\n% Name string\n% Type string\n% Container string\n%EndEventDef
%EventDef PajeSetState 4\n% Time date\n% Type string\n% Container string\n% Value string\n%EndEventDef
%EventDef PajeStartLink 5\n% Time date\n% Type string\n% Container string\n% StartContainer string\n\
% Value string\n% Key string\n%EndEventDef
%EventDef PajeEndLink 6\n% Time date\n% Type string\n% Container string\n% EndContainer string\n\
% Value string\n% Key string\n%EndEventDef
0 R 0\n1 MPI_STATE R\n2 L 0 R R\n3 0 a R 0\n3 0 b R 0\n";
    let text = format!(
        "{head}4 0 MPI_STATE a computing\n4 0 MPI_STATE b computing\n4 1 MPI_STATE a MPI_Recv\n\
         4 2 MPI_STATE b MPI_Send\n5 2 L 0 b m 1\n4 2.5 MPI_STATE b computing\n6 6 L 0 a m 1\n\
         4 6 MPI_STATE a MPI_Wait\n4 7 MPI_STATE a MPI_Finalize\n4 8 MPI_STATE b MPI_Finalize\n\
         4 8 MPI_STATE a computing\n"
    );
    let trace = replayed(text.as_bytes());
    let waits = waits(&trace, &Options::default());
    let rests = |window| -> Vec<(&str, u64, f64)> {
        let rests = waits.by_rest(window).into_iter();
        rests.map(|(rest, all)| (rest.name(), all.count, all.seconds.to_f64())).collect()
    };
    // a waits from 1 to 2, until the message starts.
    let whole = [
        ("(computing)", 3, 8.5),
        ("(transfer)", 2, 4.5),
        ("(cause not recorded)", 1, 1.0),
        ("(other calls)", 1, 1.0),
    ];
    assert_eq!(rests(waits.whole()), whole);
    assert_eq!(rests((0.0, 3.0)), [("(computing)", 3, 3.5), ("(transfer)", 2, 1.5)]);
    let all = waits.efficiency(waits.whole()).expect("they compute");
    // a computes 1 s and b 7.5 s of 8 s.
    assert_eq!(
        (all.parallel, all.load_balance, all.communication),
        (8.5 / 16.0, 4.25 / 7.5, 7.5 / 8.0)
    );
    assert!((all.parallel - all.load_balance * all.communication).abs() < 1e-12);
}
