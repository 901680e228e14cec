//! Tests calls that only post a receive at the moment at which another call completes receives.

use paje_analysis::waits::{Options, Waits};
use paje_sim::Trace;

use crate::{mpi, replayed};

/// Returns a trace of ranks a and b. The states of a are given with their start and end, and the
/// messages from b to a with their start and end.
fn received(states: &[(&str, f64, f64)], messages: &[(f64, f64)]) -> Trace {
    let mut text = crate::definitions();
    text += "0 R 0 Rank\n2 S R MPI_STATE\n4 L 0 R R L\n6 0 a R 0 a\n6 0 b R 0 b\n";
    let mut events: Vec<(f64, String)> = Vec::new();
    for (key, (start, end)) in messages.iter().enumerate() {
        let sends = format!("12 {start} S b MPI_Isend\n15 {start} L 0 m b {key}\n13 {start} S b\n");
        events.push((*start, sends));
        events.push((*end, format!("16 {end} L 0 m a {key}\n")));
    }
    for (value, start, end) in states {
        events.push((*start, format!("12 {start} S a {value}\n")));
        events.push((*end, format!("13 {end} S a\n")));
    }
    events.sort_by(|a, b| a.0.total_cmp(&b.0));
    text.extend(events.into_iter().map(|(_, lines)| lines));
    replayed(text.as_bytes())
}

/// Returns the states in which the messages end, and the seconds of waiting.
fn ends(trace: &Trace) -> (Vec<String>, f64) {
    let waits = Waits::new(trace, &mpi(), &Options::default());
    let facts = &waits.facts;
    let state = |message: &paje_analysis::messages::Message| {
        let track = &facts.tracks.list()[message.to as usize];
        let value = track.value[message.recv().expect("a state")];
        trace.types().value_name(track.type_, value).to_string()
    };
    let seconds = waits.iter().map(|wait| wait.seconds()).sum::<paje_analysis::Seconds>();
    (facts.messages.list().iter().map(state).collect(), seconds.to_f64())
}

#[test]
fn a_call_that_posts_a_receive_completes_none() {
    // The second receive is for the later message. The next ones are posted when both have arrived.
    let states = [
        ("MPI_Irecv", 0.0, 0.0),
        ("MPI_Irecv", 0.0, 0.0),
        ("MPI_Waitall", 1.0, 5.0),
        ("MPI_Irecv", 5.0, 5.0),
        ("MPI_Irecv", 5.0, 5.0),
        ("MPI_Waitall", 6.0, 8.0),
    ];
    let trace = received(&states, &[(0.5, 5.0), (4.0, 5.0), (5.5, 8.0), (7.0, 8.0)]);
    let (values, seconds) = ends(&trace);
    assert_eq!(values, ["MPI_Waitall"; 4]);
    // From 1 to 4 and from 6 to 7.
    assert_eq!(seconds, 4.0);
}

#[test]
fn messages_at_one_moment_end_in_the_calls_that_can_complete_them() {
    // Three receives are pending when two calls return. The second one waits for the third receive.
    let states = [
        ("MPI_Irecv", 0.0, 0.0),
        ("MPI_Irecv", 0.0, 0.0),
        ("MPI_Waitall", 1.0, 5.0),
        ("MPI_Irecv", 5.0, 5.0),
        ("MPI_Wait", 5.0, 5.0),
    ];
    let trace = received(&states, &[(2.0, 5.0), (3.0, 5.0), (4.0, 5.0)]);
    assert_eq!(ends(&trace).0, ["MPI_Waitall", "MPI_Waitall", "MPI_Wait"]);
}

#[test]
fn a_message_that_no_other_call_can_complete_ends_where_its_receive_is_posted() {
    let trace = received(&[("MPI_Irecv", 1.0, 2.0), ("computing", 2.0, 3.0)], &[(1.5, 2.0)]);
    assert_eq!(ends(&trace).0, ["MPI_Irecv"]);
}
