//! Tests of runs with known hazards.

use std::fs;
use std::path::Path;

use datasets::passing::Hazard;
use testkit::assert_recorded;

use crate::cli::{csv, run, text};

fn findings(case: Hazard, words: &[&str]) -> (i32, String) {
    findings_of(&case.trace(), words)
}

fn findings_of(trace: &[u8], words: &[&str]) -> (i32, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("it.trace");
    fs::write(&path, trace).expect("writable");
    let output = run(&[words, &["--no-warnings", path.to_str().expect("text")]].concat());
    assert_eq!(text(&output.stderr), "");
    (output.status.code().expect("it ends"), text(&output.stdout))
}

fn columns(case: Hazard, words: &[&str], names: &[&str]) -> Vec<Vec<String>> {
    let (_, table) = findings(case, &[words, &["--format=csv"]].concat());
    csv(&table, names)
}

fn stage(case: Hazard, words: &[&str], stage: &str) -> (String, String) {
    let names = ["stage", "orders", "deliveries"];
    let words = [&["orders", "--count"], words].concat();
    let rows = columns(case, &words, &names);
    let row = rows.iter().find(|row| row[0] == stage).expect("the stage");
    (row[1].clone(), row[2].clone())
}

#[test]
fn a_merge_sort_on_four_ranks_has_one_race() {
    let names = ["container", "first_from", "second_from"];
    let rows = columns(Hazard::MergeSort, &["races"], &names);
    assert_eq!(rows, [["rank-0", "rank-2", "rank-1"]]);
    assert_eq!(findings(Hazard::MergeSort, &["races"]).0, 1);
}

#[test]
fn requests_and_replies_do_not_race() {
    let expected = (0, "no races\n".to_owned());
    assert_eq!(findings(Hazard::RequestReply(9), &["races"]), expected);
    assert_eq!(findings(Hazard::RequestReply(9), &["orders"]), (0, "no other orders\n".to_owned()));
}

#[test]
fn each_two_messages_of_a_gather_race() {
    for n in [2_usize, 3, 17, 60] {
        let (status, table) = findings(Hazard::Gather(n), &["races", "--limit=5"]);
        let races = n * (n - 1) / 2;
        let count = if races == 1770 { "1,770".to_owned() } else { races.to_string() };
        let sum = format!("{count} race{} in 1 container", if races == 1 { "" } else { "s" });
        let last = table.lines().last().expect("a sum");
        assert!(status == 1 && last.starts_with(&sum), "{last}");
        assert_eq!(table.matches("race: ").count(), races.min(5));
    }
}

/// The source gives 6.5·10⁵ for three iterations.
#[test]
fn orders_of_an_exchange_between_three_ranks() {
    for (iterations, orders) in [(1, "60"), (2, "6268"), (3, "653916")] {
        assert_eq!(stage(Hazard::Exchange(iterations), &[], "events").0, orders);
    }
}

/// Numbers from Schaeli's Table 4.10.
#[test]
fn orders_of_a_merge() {
    for (n, deliveries, states) in
        [(4, "96", "32"), (6, "4320", "192"), (8, "322560", "1024"), (10, "36288000", "5120")]
    {
        assert_eq!(stage(Hazard::Gather(n), &[], "containers").1, deliveries);
        assert_eq!(stage(Hazard::Gather(n), &[], "states").1, states);
    }
    let (_, table) = findings(Hazard::Gather(20), &["orders", "--count", "--limit=1000"]);
    assert!(table.contains("over the limit"), "{table}");
}

/// Runs of Schaeli's figures 4.12b and 4.16, reconstructed from the text.
#[test]
fn messages_that_only_read_can_be_put_in_order() {
    let one = ["--in=rank-1", "--channel=value"];
    assert_eq!(stage(Hazard::Borders, &one, "containers").0, "168");
    let reads = [&one[..], &["--reads=read *"]].concat();
    // Before the borders, the messages have one order. Afterwards, they have 20 orders.
    let (_, table) = findings(Hazard::Borders, &[&["orders", "--count"], &reads[..]].concat());
    assert!(table.contains("\ngroups            3           7               22"), "{table}");
    let rows = columns(Hazard::Borders, &[&["orders"], &reads[..]].concat(), &["group", "order"]);
    assert_eq!((rows.len(), rows[99].clone()), (5 * 20, vec!["1".into(), "20".into()]));
    // Expression 4.1 gives one order per message. Expression 4.2 gives fewer orders than there are
    // pairs.
    let late = columns(Hazard::Borders, &[&["orders", "--late"], &reads[..]].concat(), &["order"]);
    assert_eq!((late.len(), late[24][0].as_str()), (25, "5"));
    let pairs =
        columns(Hazard::Borders, &[&["orders", "--pairs"], &reads[..]].concat(), &["order"]);
    let count: usize = pairs[pairs.len() - 1][0].parse().expect("a number");
    assert!((5..5 * 4).contains(&count), "{count}");
}

/// The exchange between neighbours of Schaeli's §4.2, reconstructed. The numbers are those of
/// Tables 4.1 and 4.11.
///
/// They are the deliveries in all orders of the subgroups, and in the graphs of their states. The
/// source counts a message at a cut in the group before the cut. Here it is a separate group, which
/// adds one delivery to each order of all other groups except one.
#[test]
fn orders_of_an_exchange_between_neighbours() {
    for (threads, decomposed, combined) in
        [(2, 860, 142), (4, 1932, 326), (6, 12_616, 774), (8, 729_140, 2566)]
    {
        let case = Hazard::Neighbours { threads };
        let words = ["orders", "--count", "--message-driven", "--reads=read *", "--channel=value"];
        let names = ["stage", "parts", "orders", "deliveries"];
        let rows = columns(case, &[&words[..], &["--limit=1000"]].concat(), &names);
        let row = |stage: &str| -> [u64; 3] {
            let row = rows.iter().find(|row| row[0] == stage).expect("the stage");
            [1, 2, 3].map(|at| row[at].parse().expect("a number"))
        };
        let [parts, orders, deliveries] = row("groups");
        assert_eq!(deliveries + orders - parts, decomposed, "{threads} threads");
        assert_eq!(row("states")[2], combined, "{threads} threads");
    }
}

/// Schaeli's Tables 4.1 and 4.4 give 5.6·10¹⁶ deliveries for all orders, 1237 in the whole graph,
/// and 843 after §4.5.1. The notifications of that program cannot be reconstructed. Therefore, the
/// numbers below come from this program, for a run with the same subgroups.
#[test]
fn graph_of_an_exchange_between_neighbours() {
    let case = Hazard::Neighbours { threads: 2 };
    let words = ["--message-driven", "--reads=read *", "--channel=value"];
    let deliveries = |options: &[&str], name| stage(case, &[&words[..], options].concat(), name).1;
    assert_eq!(deliveries(&[], "messages"), "128672044300800");
    assert_eq!(deliveries(&[], "graph"), "958");
    assert_eq!(deliveries(&[], "persistent"), "536");
    assert_eq!(deliveries(&["--routed"], "persistent"), "838");
}

/// Without `--message-driven`, the order within each container is kept.
#[test]
fn message_driven_programs_need_the_option() {
    let case = Hazard::Neighbours { threads: 2 };
    let rows = columns(case, &["orders", "--count", "--channel=value"], &["stage", "orders"]);
    let driven = columns(
        case,
        &["orders", "--count", "--channel=value", "--message-driven"],
        &["stage", "orders"],
    );
    assert_ne!(rows, driven);
}

#[test]
fn sends_in_a_circle_may_deadlock() {
    let rows = columns(Hazard::Circle, &["deadlock"], &["kind", "members"]);
    assert_eq!(rows, [["potential", "rank-0 rank-1 rank-2"]]);
    let (status, text) = findings(Hazard::Circle, &["deadlock"]);
    assert!(status == 1 && text.contains("rank-0 -> rank-1 -> rank-2 -> rank-0"), "{text}");
    assert_eq!(findings(Hazard::Circle, &["deadlock", "--blocking=PMPI_Recv"]).0, 0);
    for harmless in [Hazard::PostedCircle, Hazard::Exchange(3), Hazard::MergeSort] {
        let expected = (0, "no deadlocks\n".to_owned());
        assert_eq!(findings(harmless, &["deadlock"]), expected, "{harmless:?}");
    }
}

/// Some traces have the messages that a library sends within collectives.
#[test]
fn messages_within_a_collective_do_not_deadlock() {
    let trace = text(&Hazard::Circle.trace()).replace("PMPI_Send", "PMPI_Allreduce");
    let expected = (0, "no deadlocks\n".to_owned());
    assert_eq!(findings_of(trace.as_bytes(), &["deadlock"]), expected);
    let blocking = ["deadlock", "--blocking=PMPI_Allreduce"];
    assert_eq!(findings_of(trace.as_bytes(), &blocking).0, 1);
}

/// Run of Schaeli's Figure 5.20.
#[test]
fn the_barrier_of_the_detector_is_needed() {
    let names = ["verdict", "taken_from", "other_from"];
    let case = Hazard::Notify { synchronous: true };
    assert_eq!(columns(case, &["barriers"], &names), [["needed", "rank-1", "rank-0"]]);
    assert_eq!(findings(case, &["barriers"]).0, 0);
    let case = Hazard::Notify { synchronous: false };
    assert_eq!(columns(case, &["barriers"], &names), [["can go", "", ""]]);
    assert_eq!(findings(case, &["barriers"]).0, 1);
}

#[test]
fn the_barrier_of_a_merge_sort_is_needed() {
    let names = ["verdict", "taken_from", "other_from"];
    let rows = columns(Hazard::MergeSort, &["barriers"], &names);
    assert_eq!(rows, [["needed", "rank-0", "rank-3"]]);
}

#[test]
fn examples_are_up_to_date() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../datasets/examples/hazards");
    for (name, case) in [
        ("merge-sort", Hazard::MergeSort),
        ("borders", Hazard::Borders),
        ("circle", Hazard::Circle),
        ("detector", Hazard::Notify { synchronous: true }),
    ] {
        let trace = text(&case.trace());
        assert_recorded(&trace, &folder.join(format!("{name}.trace")));
    }
}

/// Regression test: the links that SMPI writes twice count once, but their channels were counted
/// twice, so that messages got the channels of others.
#[test]
fn messages_of_links_that_are_written_twice_keep_their_channels() {
    let mut trace = format!("#SimGrid\n{}", testkit::ranks_head(&[]));
    (0..3).for_each(|rank| trace += &format!("3 0 r{rank} R 0 rank-{rank}\n"));
    for rank in [1, 2] {
        trace += &format!("4 0 S r{rank} MPI_Isend\n5 0 S r{rank}\n");
        (0..2).for_each(|copy| trace += &format!("6 0 L 0 PTP r{rank} k{rank}{copy}\n"));
    }
    for rank in [1, 2] {
        trace += &format!("4 {rank} S r0 MPI_Recv\n");
        (0..2).for_each(|copy| trace += &format!("7 {rank} L 0 PTP r0 k{rank}{copy}\n"));
        trace += &format!("5 {rank} S r0\n");
    }
    let (_, table) = findings_of(trace.as_bytes(), &["races", "--format=csv"]);
    assert_eq!(csv(&table, &["first_from", "second_from"]), [["rank-1", "rank-2"]]);
}
