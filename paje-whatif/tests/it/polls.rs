//! Tests of runs with loops of `MPI_Test`.

use paje_sim::{Options, Trace};
use paje_whatif::Graph;

use crate::known::{State, close, retimed, settings, text, trace};

const RANK_0: &str = "state=computing,container=rank-0";

/// Rank 1 tests for a message of rank 0, which computes until `sent`. The tests have these begins
/// and ends. The rank computes between them.
fn tests(sent: f64, tests: &[(f64, f64)]) -> Vec<State> {
    let mut states = vec![(0, "computing", 0.0, sent), (0, "MPI_Isend", sent, sent)];
    let mut last = 0.0;
    states.push((1, "MPI_Irecv", 0.0, 0.0));
    for (begin, end) in tests {
        if *begin > last {
            states.push((1, "computing", last, *begin));
        }
        states.push((1, "MPI_Test", *begin, *end));
        last = *end;
    }
    states
}

#[test]
fn the_number_of_tests_changes() {
    let every: Vec<(f64, f64)> =
        (2..8).map(|half| (0.5 * f64::from(half), 0.5 * f64::from(half) + 0.2)).collect();
    let trace = trace(&tests(3.0, &every), &[(0, 1, 3.0, 3.7, 1000)]);
    let ends = |hypotheses: &[(&str, &str)]| {
        retimed(&trace, &settings(), hypotheses).expect("it ends").finish
    };
    // The test that ended at 3.2 failed, so the message took 0.2 s to 0.7 s.
    let graph = Graph::new(&trace, &settings());
    close(&[graph.transfers()[0].seconds], &[0.45]);
    let (half, twice) = (format!("{RANK_0},factor=0.5"), format!("{RANK_0},factor=2"));
    close(&ends(&[("scale", &half)]), &[1.5, 2.2]);
    close(&ends(&[("scale", &twice)]), &[6.0, 6.7]);
    close(&ends(&[("scale", "state=computing,factor=0.5")]), &[1.5, 2.1]);
    close(&ends(&[("scale", "state=computing,container=rank-1,factor=0")]), &[3.0, 3.6]);
    close(&ends(&[("cut-messages", "size > 0")]), &[3.0, 1.2]);
    // Skipped tests take no time.
    let run = retimed(&trace, &settings(), &[("scale", &half)]).expect("it ends");
    let tests = run.start[1].iter().zip(&run.end[1]).map(|(start, end)| end - start);
    close(&tests.collect::<Vec<_>>()[2..8], &[0.2, 0.3, 0.2, 0.3, 0.2, 0.0]);
}

/// Reads a trace of SMPI in which the links lack an end.
fn simulated(states: &[State]) -> Trace {
    let text = text(states, &[(0, 1, 1.0, 1.0, 1000)]).replace(" k0 ", " 1_2_0_1 ");
    // Rank 1 also sends, so that its number is known.
    let more = "6 9.0 L 0 PTP r1 2_1_0_1 1000\n";
    let lines = text.lines().filter(|line| !line.starts_with("7 "));
    let text: String = lines.map(|line| format!("{line}\n")).collect();
    let mut options = Options::default();
    (options.user_defined, options.ignore_incomplete_links) = (true, true);
    options.keep_link_halves = true;
    Trace::read(format!("#SimGrid\n{text}{more}").as_bytes(), &options).expect("a trace")
}

#[test]
fn tests_of_smpi_take_longer_after_failed_tests() {
    let list = [(0.0, 0.1), (0.2, 0.4), (0.5, 0.8), (0.9, 1.3)];
    let trace = simulated(&tests(1.0, &list));
    let graph = Graph::new(&trace, &settings());
    assert_eq!((graph.messages().tested, graph.run().polls.len()), (1, 1));
    close(&[graph.transfers()[0].seconds], &[0.15]);
    let twice = format!("{RANK_0},factor=2");
    close(
        &retimed(&trace, &settings(), &[("scale", &twice)]).expect("it ends").finish,
        &[2.0, 2.6],
    );
}

#[test]
fn links_do_not_end_in_another_number_of_loops() {
    let mut states = tests(1.0, &[(0.0, 0.1), (0.2, 1.3)]);
    states.extend([(1, "MPI_Barrier", 1.3, 1.3), (1, "MPI_Test", 1.3, 1.4)]);
    states.push((0, "MPI_Barrier", 1.3, 1.3));
    let trace = simulated(&states);
    assert_eq!(Graph::new(&trace, &settings()).messages().tested, 0);
    assert_eq!(trace.link_starts().count(), 2);
}

#[test]
fn tests_that_never_succeed_are_a_cycle() {
    // Rank 0 sends to rank 1 after it has received from rank 2, and rank 2 sends after rank 1 has
    // sent. If all sends are a rendezvous, rank 2 waits for rank 1, which tests.
    let list = [(0.0, 0.1), (0.2, 0.4), (0.5, 0.8), (0.9, 1.3)];
    let mut states = tests(1.0, &list);
    states.insert(1, (0, "MPI_Recv", 1.0, 1.0));
    states.push((1, "MPI_Recv", 1.3, 1.3));
    states.extend([(2, "MPI_Send", 0.0, 0.0), (2, "computing", 0.0, 0.5)]);
    states.push((2, "MPI_Send", 0.5, 0.5));
    let links = [(0, 1, 1.0, 1.3, 100), (2, 1, 0.0, 1.3, 1000), (2, 0, 0.5, 1.0, 1000)];
    let trace = crate::replayed(format!("#SimGrid\n{}", text(&states, &links)).as_bytes());
    close(
        &retimed(&trace, &settings(), &[("net", "eager=1001")]).expect("it ends").finish,
        &[1.0, 1.3, 0.5],
    );
    let cycle = retimed(&trace, &settings(), &[("net", "eager=1000")]).expect_err("it never ends");
    assert!(cycle.contains("rank-1 in MPI_Test waits for a message from rank-0"), "{cycle}");
}
