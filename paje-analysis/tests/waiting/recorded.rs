//! Traces that record communicators, roots and requests.

use paje_analysis::waits::{Kind, Options};
use paje_sim::Trace;

use crate::{micros, replayed, waits};

/// Returns a trace of ranks `a` to `d`, each with these lines: time in seconds, and what happens.
fn trace(lines: &str) -> Trace {
    let mut text = datasets::definitions([
        ("0", "DefineContainerType", "Alias Type Name"),
        ("1", "DefineEventType", "Alias Type Name"),
        ("2", "DefineStateType", "Alias Type Name"),
        ("3", "DefineLinkType", "Alias Type StartContainerType EndContainerType Name"),
        ("6", "CreateContainer", "Time:date Alias Type Container Name"),
        ("11", "NewEvent", "Time:date Type Container Value Fields"),
        ("12", "PushState", "Time:date Type Container Value"),
        ("13", "PopState", "Time:date Type Container"),
        ("14", "NewEvent", "Time:date Type Container Value Communicator Root"),
        ("22", "StartLink", "Time:date Type Container StartContainer Value Key Request:int"),
        ("23", "EndLink", "Time:date Type Container EndContainer Value Key Request:int"),
    ]);
    text += "0 P 0 Process\n0 R P Rank\n1 E R Event\n2 S R MPI_STATE\n3 L 0 R R Message\n";
    for rank in ["a", "b", "c", "d"] {
        text += &format!("6 0 p{rank} P 0 p{rank}\n6 0 {rank} R p{rank} {rank}\n");
    }
    text += lines;
    replayed(text.as_bytes())
}

/// Returns a call, and the event of the collective operation in it.
fn call(rank: &str, enter: u32, leave: u32, value: &str, communicator: &str, root: &str) -> String {
    format!(
        "12 {enter} S {rank} {value}\n\
         11 {leave} E {rank} MpiCollectiveEnd \"Operation=X; Communicator={communicator}; Root={root}; Sent=4\"\n\
         13 {leave} S {rank}\n"
    )
}

/// Returns waiting rank, awaited rank, kind, start and end of each wait. Times are in seconds.
fn found(trace: &Trace) -> Vec<(String, String, Kind, u64, u64)> {
    let waits = waits(trace, &Options::default());
    let second = |time: f64| micros(time) / 1_000_000;
    let all = waits.iter().map(|it| {
        let names = [it.waiter, it.whom].map(|track| waits.name(track).into_owned());
        let [waiter, whom] = names;
        (waiter, whom, it.kind, second(it.from), second(it.until))
    });
    all.collect()
}

fn wait(names: [&str; 2], kind: Kind, from: u64, until: u64) -> (String, String, Kind, u64, u64) {
    (names[0].into(), names[1].into(), kind, from, until)
}

#[test]
fn communicators_and_roots_are_those_of_the_trace() {
    // Two communicators, whose operations alternate in `a` and `b`. The root `d` enters last, but
    // `c` leaves last, so that it would be taken for the root.
    let lines = [
        call("a", 1, 3, "MPI_Allreduce", "left", "NONE"),
        call("b", 2, 3, "MPI_Allreduce", "left", "NONE"),
        call("c", 5, 9, "MPI_Allreduce", "right", "NONE"),
        call("d", 8, 9, "MPI_Allreduce", "right", "NONE"),
        call("c", 10, 14, "MPI_Bcast", "right", "1 (d)"),
        call("d", 12, 13, "MPI_Bcast", "right", "1 (d)"),
        call("a", 10, 14, "MPI_Bcast", "left", "a"),
        call("b", 11, 14, "MPI_Bcast", "left", "a"),
    ];
    let trace = trace(&lines.concat());
    assert_eq!(
        found(&trace),
        [
            wait(["a", "b"], Kind::NxN, 1, 2),
            wait(["c", "d"], Kind::NxN, 5, 8),
            wait(["c", "d"], Kind::LateBroadcast, 10, 12),
        ]
    );
}

#[test]
fn fields_may_be_fields_of_their_own() {
    let call = |rank: &str, enter: u32| {
        format!(
            "12 {enter} S {rank} MPI_Bcast\n14 9 E {rank} MpiCollectiveEnd world b\n13 9 S {rank}\n"
        )
    };
    let trace = trace(&(call("a", 1) + &call("b", 4) + &call("c", 6)));
    assert_eq!(found(&trace), [wait(["a", "b"], Kind::LateBroadcast, 1, 4)]);
}

#[test]
fn a_nonblocking_send_waits_in_the_call_that_completes_it() {
    let lines = "\
        12 1 S a MPI_Isend\n22 1 L 0 a world k 7\n13 2 S a\n\
        12 3 S a MPI_Wait\n11 8 E a MpiIsendComplete \"Request=7\"\n13 8 S a\n\
        12 2 S b MPI_Irecv\n11 2 E b MpiIrecvRequest \"Request=5\"\n13 2 S b\n\
        12 6 S b MPI_Recv\n23 8 L 0 b world k 9\n13 8 S b\n";
    // The receive is not that of request 5, so it is posted at 6.
    assert_eq!(found(&trace(lines)), [wait(["a", "b"], Kind::LateReceiver, 3, 6)]);
    // With this request, the receive is posted at 2, before the sender waits.
    let posted = lines.replace("world k 9", "world k 5");
    assert_eq!(found(&trace(&posted)), []);
}

#[test]
fn clocks_that_contradict_the_order_of_events_are_brought_together() {
    // The clock of `b` is 100 s late: `b` enters the barrier 3 s after `a`.
    let lines = [
        call("a", 101, 105, "MPI_Barrier", "world", "NONE"),
        call("b", 4, 5, "MPI_Barrier", "world", "NONE"),
        call("a", 112, 113, "MPI_Barrier", "world", "NONE"),
        call("b", 12, 13, "MPI_Barrier", "world", "NONE"),
    ];
    let trace = trace(&lines.concat());
    let waits = waits(&trace, &Options::default());
    assert_eq!(waits.facts.shift, 100.0);
    assert_eq!(found(&trace), [wait(["a", "b"], Kind::Barrier, 101, 104)]);
}

#[test]
fn delays_belong_to_the_call_paths_that_took_longer() {
    let lines = [
        "12 0 S a main\n12 0 S b main\n12 1 S b work\n13 5 S b\n".into(),
        call("a", 2, 7, "MPI_Barrier", "world", "NONE"),
        call("b", 6, 7, "MPI_Barrier", "world", "NONE"),
    ];
    let trace = trace(&lines.concat());
    let waits = waits(&trace, &Options::default());
    let (paths, rows) = waits.by_path(waits.whole());
    let rows = rows.iter().map(|row| {
        let seconds = row.total.seconds.to_f64();
        (waits.name(row.track).into_owned(), paths.name(&waits, row.path), seconds, row.delay)
    });
    // `b` is as long in `main` as `a`, so that only its work is the cause.
    assert_eq!(
        rows.collect::<Vec<_>>(),
        [
            ("a".into(), "main/MPI_Barrier".into(), 4.0, 0.0),
            ("b".into(), "main/work".into(), 0.0, 4.0)
        ]
    );
}
