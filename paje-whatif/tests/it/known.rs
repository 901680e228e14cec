//! Tests of runs whose times after a change are known.

use paje_sim::{Options, TimeUnit, Trace};
use paje_whatif::fit::Table;
use paje_whatif::hypothesis::{Changes, Hypothesis};
use paje_whatif::{EagerStart, Facts, Graph, Progress, Retimed, Settings};

use crate::{mpi, replayed};

/// Rank, value, and times of entering and leaving in seconds.
pub(crate) type State = (usize, &'static str, f64, f64);
/// Sending rank, receiving rank, start and end in seconds, and bytes.
pub(crate) type Link = (usize, usize, f64, f64, u64);

/// Builds a trace. The states of a rank must not overlap.
pub(crate) fn trace(states: &[State], links: &[Link]) -> Trace {
    replayed(text(states, links).as_bytes())
}

pub(crate) fn text(states: &[State], links: &[Link]) -> String {
    let ranks = states.iter().map(|state| state.0 + 1).max().expect("there are states");
    let mut text = testkit::ranks_head(&["Size"]);
    (0..ranks).for_each(|rank| text += &format!("3 0 r{rank} R 0 rank-{rank}\n"));
    // Lines with equal times are ordered as ends of links, then states, then starts of links.
    let mut lines: Vec<(f64, usize, String)> = Vec::new();
    for (rank, value, enter, exit) in states {
        let push = format!("4 {enter:?} S r{rank} {value}\n");
        let pop = format!("5 {exit:?} S r{rank}\n");
        if enter == exit {
            lines.push((*enter, 1, push + &pop));
        } else {
            lines.push((*enter, 1, push));
            lines.push((*exit, 0, pop));
        }
    }
    for (key, (from, to, start, end, bytes)) in links.iter().enumerate() {
        lines.push((*start, 2, format!("6 {start:?} L 0 PTP r{from} k{key} {bytes}\n")));
        lines.push((*end, 3, format!("7 {end:?} L 0 PTP r{to} k{key}\n")));
    }
    lines.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    text.extend(lines.into_iter().map(|line| line.2));
    text
}

pub(crate) fn settings() -> Settings {
    let mut settings = Settings::new(mpi());
    settings.eager_start = Some(EagerStart::Sent);
    settings
}

pub(crate) fn retimed(
    trace: &Trace,
    settings: &Settings,
    hypotheses: &[(&str, &str)],
) -> Result<Retimed, String> {
    let hypotheses: Result<Vec<Hypothesis>, String> =
        hypotheses.iter().map(|(kind, text)| Hypothesis::parse(kind, text)).collect();
    let hypotheses = hypotheses?;
    let changes = Changes { hypotheses: &hypotheses, network: None, random: None };
    let facts = Facts::new(trace, &settings.map, &settings.reading);
    let graph = Graph::of(facts, settings, changes.eager());
    let applied = changes.apply(&graph)?;
    graph.retime(&applied.plan, true, false).map_err(|cycle| cycle.to_string())
}

fn ends(trace: &Trace, hypotheses: &[(&str, &str)]) -> Vec<f64> {
    retimed(trace, &settings(), hypotheses).expect("the run ends").finish
}

pub(crate) fn close(found: &[f64], expected: &[f64]) {
    let is_close = found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9);
    assert!(found.len() == expected.len() && is_close, "{found:?} {expected:?}");
}

/// Regression test: tags were read in the order of links, but messages are ordered by receiver.
#[test]
fn messages_are_cut_by_the_tags_in_their_keys() {
    let states = [
        (0, "MPI_Send", 0.0, 0.0),
        (0, "MPI_Recv", 0.0, 2.0),
        (0, "computing", 2.0, 3.0),
        (1, "MPI_Recv", 0.0, 1.0),
        (1, "MPI_Send", 1.0, 1.0),
    ];
    let text = text(&states, &[(0, 1, 0.0, 1.0, 8), (1, 0, 1.0, 2.0, 8)]);
    let text =
        "#SimGrid\n".to_owned() + &text.replace(" k0", " 1_2_7_0").replace(" k1", " 2_1_8_1");
    let trace = replayed(text.as_bytes());
    let ends = |condition| {
        ends(&trace, &[("cut-messages", condition), ("scale", "state=computing,factor=2")])
    };
    // Rank 1 no longer waits for the first message, or rank 0 no longer waits for the second.
    close(&ends("tag == 7"), &[3.0, 0.0]);
    close(&ends("tag == 8"), &[2.0, 1.0]);
    close(&ends("tag == 9"), &[4.0, 1.0]);
}

/// Hypotheses have seconds, whatever the unit of the trace's times.
#[test]
fn times_of_hypotheses_are_converted_to_the_unit_of_the_trace() {
    let states = [
        (0, "computing", 0.0, 3.0),
        (0, "MPI_Send", 3.0, 3.0),
        (1, "computing", 0.0, 1.0),
        (1, "MPI_Recv", 1.0, 3.5),
        (1, "computing", 3.5, 4.5),
    ];
    let text = text(&states, &[(0, 1, 3.0, 3.5, 1_000_000)]);
    let mut options = Options::default();
    (options.user_defined, options.time_unit) = (true, Some(TimeUnit::Milliseconds));
    let trace = Trace::read(text.as_bytes(), &options).expect("a trace");
    close(&ends(&trace, &[("net", "latency=1ms,bandwidth=1GB/s")]), &[3.0, 6.0]);
    close(&ends(&trace, &[("scale", "state=computing,factor=2,min-gap=2ms")]), &[6.0, 7.5]);
    let mut settings = settings();
    let table = Table::parse("[[message]]\nbytes = 1e6\nlatency = 0.2e-3\ntransfer = 0.3e-3\n");
    settings.table = Some(table.expect("a table").in_unit_of(trace.time_scale()));
    let found = retimed(&trace, &settings, &[("net", "latency=x2")]).expect("the run ends");
    close(&found.finish, &[3.0, 4.7]);
}

/// Rank 0 computes for 3 s and sends. Rank 1 computes for 1 s, and receives a message 0.5 s after
/// that.
fn late_sender() -> Trace {
    trace(
        &[
            (0, "computing", 0.0, 3.0),
            (0, "MPI_Send", 3.0, 3.0),
            (1, "computing", 0.0, 1.0),
            (1, "MPI_Recv", 1.0, 3.5),
            (1, "computing", 3.5, 4.5),
        ],
        &[(0, 1, 3.0, 3.5, 1_000_000)],
    )
}

#[test]
fn latency_and_bandwidth_determine_the_time() {
    // The example of Schaeli, Performance prediction and race detection (2009).
    let trace = trace(
        &[(0, "MPI_Send", 0.0, 0.0), (1, "MPI_Recv", 0.0, 0.5)],
        &[(0, 1, 0.0, 0.5, 1_000_000)],
    );
    close(&ends(&trace, &[("net", "latency=100e-6,bandwidth=10e6")]), &[0.0, 0.1001]);
}

#[test]
fn a_sent_message_can_end_a_call() {
    // Builds a ring of rendezvous that take a second each. Rank 1 receives its message when both
    // sides are ready. It waits for rank 2, which comes last.
    let call = |rank, enter| {
        [
            (rank, "computing", 0.0, enter),
            (rank, "MPI_Irecv", enter, enter),
            (rank, "MPI_Isend", enter, enter),
            (rank, "MPI_Waitall", enter, 4.0),
        ]
    };
    let states = [call(0, 1.0), call(1, 2.0), call(2, 3.0)].concat();
    let links = [(0, 1, 1.0, 4.0, 100_000), (1, 2, 2.0, 4.0, 100_000), (2, 0, 3.0, 4.0, 100_000)];
    let trace = trace(&states, &links);
    let mut settings = settings();
    settings.reading.eager = Some(65_536);
    let graph = Graph::new(&trace, &settings);
    close(&graph.transfers().iter().map(|it| it.seconds).collect::<Vec<_>>(), &[1.0; 3]);
    let half = [("scale", "state=computing,factor=0.5")];
    close(&retimed(&trace, &settings, &half).expect("it ends").finish, &[2.5; 3]);
}

/// Rank 0 sends a message before rank 1 computes for 10 s, and another one after 20 s. A transfer
/// takes a second. The wait for the first message takes `seconds`.
fn early_message(seconds: f64) -> Trace {
    let done = 10.0 + seconds;
    trace(
        &[
            (0, "MPI_Isend", 0.0, 0.0),
            (0, "computing", 0.0, 20.0),
            (0, "MPI_Send", 20.0, 20.0),
            (1, "MPI_Irecv", 0.0, 0.0),
            (1, "computing", 0.0, 10.0),
            (1, "MPI_Wait", 10.0, done),
            (1, "MPI_Recv", done, 21.0),
        ],
        &[(0, 1, 0.0, done, 1000), (0, 1, 20.0, 21.0, 1000)],
    )
}

#[test]
fn waits_show_whether_messages_travel_only_in_calls() {
    for (seconds, progress, end) in [(0.0, Progress::Async, 21.0), (1.0, Progress::Calls, 22.0)] {
        let trace = early_message(seconds);
        let settings = Settings { eager_start: None, ..settings() };
        let graph = Graph::new(&trace, &settings);
        assert_eq!(graph.assumed().progress, progress, "{seconds}");
        // Rank 1 computes for twice as long, and rank 0 does not.
        let twice = [("scale", "state=computing,container=rank-1,factor=2")];
        let run = retimed(&trace, &settings, &twice).expect("it ends");
        close(&run.finish, &[20.0, end]);
        let wait = run.end[1][2] - run.start[1][2];
        close(&[wait], &[seconds]);
    }
}

#[test]
fn a_call_that_waits_for_one_message_waits_for_no_other() {
    // The first wait of rank 0 is for the small message, the second one for its own large message.
    let trace = trace(
        &[
            (0, "MPI_Isend", 0.0, 0.0),
            (0, "MPI_Irecv", 0.0, 0.0),
            (0, "computing", 0.0, 2.0),
            (0, "MPI_Wait", 2.0, 2.0),
            (0, "computing", 2.0, 4.0),
            (0, "MPI_Wait", 4.0, 4.0),
            (1, "MPI_Send", 0.0, 0.0),
            (1, "computing", 0.0, 0.5),
            (1, "MPI_Recv", 0.5, 1.5),
        ],
        &[(0, 1, 0.0, 1.5, 100_000), (1, 0, 0.0, 2.0, 1000)],
    );
    let mut settings = settings();
    settings.reading.eager = Some(65_536);
    let later = [("scale", "state=computing,container=rank-1,factor=6")];
    close(&retimed(&trace, &settings, &later).expect("it ends").finish, &[4.0, 4.0]);
}

#[test]
fn simultaneous_messages_do_not_bias_the_eager_start() {
    // Rank 0 receives a message of one second from each of three ranks, and then answers all of
    // them at once.
    let mut states = vec![(0, "computing", 0.0, 5.0)];
    let mut links = Vec::new();
    for rank in 1..4 {
        let (at, end) = (rank as f64, 4.0 + rank as f64);
        states.extend([(0, "MPI_Recv", end, end + 1.0), (rank, "computing", 0.0, 1.0)]);
        states.extend([(rank, "MPI_Send", 1.0, 1.0), (rank, "MPI_Recv", 1.0, 11.0)]);
        links.extend([(rank, 0, 1.0, at + 5.0, 1000), (0, rank, 8.0, 11.0, 1000)]);
    }
    states.extend([(0, "MPI_Send", 8.0, 8.0); 3]);
    // A late message to a waiting receiver.
    states.extend([(0, "MPI_Recv", 8.0, 13.0), (1, "computing", 11.0, 12.0)]);
    states.push((1, "MPI_Send", 12.0, 12.0));
    links.push((1, 0, 12.0, 13.0, 1000));
    let settings = Settings { eager_start: None, ..settings() };
    let trace = trace(&states, &links);
    let graph = Graph::new(&trace, &settings);
    assert_eq!(graph.assumed().votes, Some((0, 3)));
    assert_eq!(graph.assumed().start, EagerStart::Posted);
}

#[test]
fn simultaneous_messages_share_a_link() {
    // Two ranks send a megabyte each to the same rank.
    let trace = trace(
        &[
            (0, "MPI_Send", 0.0, 0.0),
            (1, "MPI_Send", 0.0, 0.0),
            (2, "MPI_Irecv", 0.0, 0.0),
            (2, "MPI_Irecv", 0.0, 0.0),
            (2, "MPI_Waitall", 0.0, 1.0),
        ],
        &[(0, 2, 0.0, 1.0, 1_000_000), (1, 2, 0.0, 1.0, 1_000_000)],
    );
    close(&ends(&trace, &[("net", "latency=0,bandwidth=10e6")]), &[0.0, 0.0, 0.2]);
    close(&ends(&trace, &[("net", "latency=0,bandwidth=10e6,sharing=none")]), &[0.0, 0.0, 0.1]);
}

#[test]
fn waiting_follows_from_the_changes() {
    let trace = late_sender();
    // The sender is as fast as the receiver. As before, the transfer takes half a second.
    close(&ends(&trace, &[("scale", "state=computing,container=rank-0,factor=0.5")]), &[1.5, 3.0]);
    close(&ends(&trace, &[("scale", "state=computing,factor=2")]), &[6.0, 8.5]);
    close(&ends(&trace, &[("scale", "state=computing,container=rank-0,factor=0")]), &[0.0, 2.0]);
    close(&ends(&trace, &[("cpu", "factor=0.5")]), &[1.5, 2.5]);
    close(&ends(&trace, &[("cpu", "container=rank-1,factor=2")]), &[3.0, 5.5]);
}

#[test]
fn parts_up_to_the_minimum_gap_are_kept() {
    let trace = late_sender();
    close(&ends(&trace, &[("scale", "state=computing,factor=0,min-gap=2")]), &[0.0, 2.0]);
}

#[test]
fn removed_states_take_no_time() {
    let trace = late_sender();
    close(&ends(&trace, &[("cut-messages", "size > 10")]), &[3.0, 2.0]);
    close(&ends(&trace, &[("cut-messages", "size == 0")]), &[3.0, 4.5]);
    close(&ends(&trace, &[("cut-messages", "from == rank-0 && to != rank-0")]), &[3.0, 2.0]);
    // Removing the send also removes the receive.
    close(&ends(&trace, &[("cut", "state=MPI_Send")]), &[3.0, 2.0]);
    close(&ends(&trace, &[("cut", "state=computing")]), &[0.0, 0.5]);
}

#[test]
fn all_balancing_modes_work() {
    let trace = trace(
        &[
            (0, "computing", 0.0, 1.0),
            (0, "computing", 1.0, 4.0),
            (1, "computing", 0.0, 2.0),
            (1, "computing", 2.0, 6.0),
        ],
        &[],
    );
    let phases = |mode: &str| {
        let run =
            retimed(&trace, &settings(), &[("balance", &format!("state=computing,mode={mode}"))]);
        let run = run.expect("the run ends");
        let of = |track: usize| run.end[track].iter().zip(&run.start[track]).map(|(e, s)| e - s);
        of(0).chain(of(1)).collect::<Vec<f64>>()
    };
    close(&phases("global-instance"), &[1.5, 3.5, 1.5, 3.5]);
    close(&phases("process-local"), &[2.0, 2.0, 3.0, 3.0]);
    close(&phases("global"), &[2.5; 4]);
    close(&phases("scaled"), &[1.25, 3.75, 5.0 / 3.0, 10.0 / 3.0]);
}

#[test]
fn no_rank_leaves_a_barrier_before_the_last_rank_enters() {
    let trace = trace(
        &[
            (0, "computing", 0.0, 1.0),
            (0, "MPI_Barrier", 1.0, 3.1),
            (1, "computing", 0.0, 3.0),
            (1, "MPI_Barrier", 3.0, 3.1),
        ],
        &[],
    );
    close(&ends(&trace, &[("scale", "state=computing,container=rank-1,factor=0.5")]), &[1.6, 1.6]);
    close(&ends(&trace, &[("scale", "state=computing,container=rank-0,factor=4")]), &[4.1, 4.1]);
    // The collective is removed for all members.
    close(&ends(&trace, &[("cut", "state=MPI_Barrier,container=rank-0")]), &[1.0, 3.0]);
}

#[test]
fn a_rendezvous_delays_both_sides() {
    let trace = trace(
        &[
            (0, "computing", 0.0, 1.0),
            (0, "MPI_Send", 1.0, 2.5),
            (1, "computing", 0.0, 2.0),
            (1, "MPI_Recv", 2.0, 2.5),
        ],
        &[(0, 1, 1.0, 2.5, 100)],
    );
    close(&ends(&trace, &[("scale", "state=computing,container=rank-1,factor=0.25")]), &[1.5, 1.5]);
    close(&ends(&trace, &[("scale", "state=computing,container=rank-1,factor=2")]), &[4.5, 4.5]);
}

#[test]
fn two_rendezvous_sends_to_each_other_deadlock() {
    let trace = trace(
        &[
            (0, "MPI_Send", 0.0, 0.1),
            (0, "MPI_Recv", 0.1, 0.2),
            (1, "MPI_Send", 0.0, 0.1),
            (1, "MPI_Recv", 0.1, 0.2),
        ],
        &[(0, 1, 0.0, 0.2, 100), (1, 0, 0.0, 0.2, 100)],
    );
    close(&ends(&trace, &[("net", "eager=101")]), &[0.2, 0.2]);
    let cycle =
        retimed(&trace, &settings(), &[("net", "eager=100")]).expect_err("the run never ends");
    assert_eq!(
        cycle,
        "rank-0 in MPI_Send waits until rank-1 receives its message, at 0.000000000 s of the recorded run; \
         rank-1 in MPI_Send waits until rank-0 receives its message, at 0.000000000 s of the recorded run"
    );
}

#[test]
fn hypotheses_that_do_not_fit_are_refused() {
    let trace = late_sender();
    let wrong =
        |kind: &str, text: &str| retimed(&trace, &settings(), &[(kind, text)]).expect_err(text);
    assert_eq!(
        wrong("scale", "state=compute,factor=1"),
        "state=compute: the trace has no such state; did you mean 'computing'?"
    );
    assert_eq!(
        wrong("scale", "state=computing,factor=-1"),
        "factor=-1: expected a number of 0 or more"
    );
    assert!(
        wrong("balance", "state=computing,mode=globl")
            .contains("global-instance, process-local, global, scaled")
    );
    assert!(
        wrong("scale", "state=computing,factor=1,container=node-*")
            .contains("there are 'rank-0', 'rank-1'")
    );
    assert!(wrong("scale", "value=computing").contains("state, container, factor, min-gap"));
    assert!(wrong("net", "latency=x10").contains("net-table"));
    assert!(wrong("net", "bandwidth=0").contains("above 0"));
    assert!(wrong("cut-messages", "tag == 1").contains("no tags"));
    assert!(wrong("cut-messages", "size = 1").contains("size == 0"));
    assert!(wrong("cut-messages", "colour == 1").contains("size, tag, value, from, to"));
}

/// Returns the times in seconds at which the messages of three ranks to a root that comes late
/// start, given their arrivals. An earlier message comes alone and takes a second.
fn starts_to_late_root(arrivals: [f64; 3]) -> Vec<f64> {
    let mut states = vec![(0, "MPI_Reduce", 0.0, 2.0), (1, "MPI_Reduce", 1.0, 1.0)];
    let mut links = vec![(1, 0, 1.0, 2.0, 1000)];
    states.extend([(2, "MPI_Reduce", 0.0, 0.0), (3, "MPI_Reduce", 0.0, 0.0)]);
    states.push((0, "MPI_Reduce", 12.0, arrivals[2]));
    for (rank, arrival) in (1..).zip(arrivals) {
        states.push((rank, "MPI_Reduce", 10.0, 10.0));
        links.push((rank, 0, 10.0, arrival, 1000));
    }
    let trace = trace(&states, &links);
    let mut settings = settings();
    settings.eager_start = Some(EagerStart::Posted);
    let graph = Graph::new(&trace, &settings);
    graph.transfers()[1..].iter().map(|transfer| transfer.start).collect()
}

#[test]
fn a_root_receives_sequentially_or_concurrently() {
    assert_eq!(starts_to_late_root([13.0, 14.0, 15.0]), [12.0, 13.0, 14.0]);
    // The messages share a link. If they came one after the other, none of them would have enough
    // time.
    assert_eq!(starts_to_late_root([13.0, 13.2, 13.4]), [12.0, 12.0, 12.0]);
}

/// A root scatters to three ranks twice. The first time, all three ranks wait for the root and
/// share its link. The second time, they come one after the other. A message has a latency of one
/// second and uses the link for two seconds.
fn scattered() -> Trace {
    let mut states = vec![(0, "computing", 0.0, 1.0), (0, "MPI_Scatter", 1.0, 1.0)];
    states.extend([(0, "computing", 1.0, 10.0), (0, "MPI_Scatter", 10.0, 10.0)]);
    for (rank, enter) in [(1, 20.0), (2, 30.0), (3, 40.0)] {
        states.extend([(rank, "computing", 0.0, 0.5), (rank, "MPI_Scatter", 0.5, 8.0)]);
        states.push((rank, "computing", 8.0, enter));
        states.push((rank, "MPI_Scatter", enter, enter + 3.0));
    }
    trace(&states, &[])
}

#[test]
fn messages_of_a_collective_share_the_link_out_of_its_root() {
    let trace = scattered();
    let graph = Graph::new(&trace, &settings());
    let (latency, work) = graph.shapes()[0].cost();
    assert!((latency - 1.0).abs() < 1e-3 && (work - 2.0).abs() < 1e-3, "{:?}", graph.shapes()[0]);
    // Without a change, the times are identical to the last bit.
    let same = ends(&trace, &[("scale", "state=computing,factor=1")]);
    assert_eq!(same, [10.0, 23.0, 33.0, 43.0]);
    let near = |changes: &[(&str, &str)], expected: [f64; 4]| {
        let found = ends(&trace, changes);
        let is_near = found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 0.01);
        assert!(is_near, "{found:?} {expected:?}");
    };
    near(&[("scale", "state=computing,factor=0")], [0.0, 14.0, 14.0, 14.0]);
    // The first two messages come together. The third message comes when each of the first two has
    // had one of its two seconds.
    near(
        &[
            ("scale", "state=computing,container=rank-2,factor=0.5454545454545454"),
            ("scale", "state=computing,container=rank-3,factor=0.4375"),
        ],
        [10.0, 26.0, 26.0, 27.0],
    );
}
