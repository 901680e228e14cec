//! Tests of the times at which messages start and at which their senders continue.

use paje_whatif::{EagerStart, Graph, Settings};

use crate::known::{close, retimed, settings, text, trace};
use crate::replayed;

#[test]
fn a_blocking_send_waits_for_its_rendezvous() {
    // Rank 1 waits long after the message has arrived, so the link is longer than the transfer.
    let trace = trace(
        &[
            (0, "computing", 0.0, 1.0),
            (0, "MPI_Send", 1.0, 3.0),
            (1, "computing", 0.0, 2.0),
            (1, "MPI_Irecv", 2.0, 2.0),
            (1, "computing", 2.0, 4.0),
            (1, "MPI_Wait", 4.0, 4.0),
        ],
        &[(0, 1, 1.0, 4.0, 100_000)],
    );
    let mut settings = settings();
    settings.reading.eager = Some(65_536);
    let later = [("scale", "state=computing,container=rank-1,factor=2")];
    close(&retimed(&trace, &settings, &later).expect("it ends").finish, &[5.0, 8.0]);
}

#[test]
fn exact_times_of_a_simulation_show_when_messages_start() {
    // The first message takes two seconds. So does the second one, after it was posted. The third one
    // does not have to share links, and takes less.
    let states = [
        (0, "computing", 0.0, 1.0),
        (0, "MPI_Send", 1.0, 1.0),
        (0, "computing", 1.0, 4.0),
        (0, "MPI_Send", 4.0, 4.0),
        (0, "computing", 4.0, 8.0),
        (0, "MPI_Send", 8.0, 8.0),
        (1, "MPI_Recv", 0.0, 3.0),
        (1, "computing", 3.0, 5.0),
        (1, "MPI_Recv", 5.0, 7.0),
        (1, "computing", 7.0, 9.0),
        (1, "MPI_Recv", 9.0, 10.5),
    ];
    let links = [(0, 1, 1.0, 3.0, 1000), (0, 1, 4.0, 7.0, 1000), (0, 1, 8.0, 10.5, 1000)];
    let text = format!("# SimGrid\n{}", text(&states, &links));
    let settings = Settings { eager_start: None, ..settings() };
    let trace = replayed(text.as_bytes());
    let graph = Graph::new(&trace, &settings);
    assert_eq!(graph.assumed().votes, Some((0, 1)));
    assert_eq!(graph.assumed().start, EagerStart::Posted);
}
