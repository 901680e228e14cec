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

#[test]
fn ranks_wait_between_calls_in_a_simulation() {
    // Rank 0 sends a message when its computing ends. Rank 1 waits for it before it posts a receive.
    let states = [
        (0, "PMPI_Init", 0.0, 0.0),
        (0, "computing", 0.0, 1.0),
        (0, "computing", 1.0, 2.0),
        (1, "PMPI_Init", 0.0, 0.0),
        (1, "computing", 0.0, 0.5),
        (1, "PMPI_Irecv", 1.25, 1.25),
        (1, "computing", 1.25, 2.0),
    ];
    let text = format!("# SimGrid\n{}", text(&states, &[(0, 1, 1.0, 1.25, 1000)]));
    let trace = replayed(text.as_bytes());
    let graph = Graph::new(&trace, &settings());
    let inferred = &graph.run().inferred;
    assert_eq!((inferred.used, inferred.between, inferred.unmatched), (1, 1, 0));
    for (factor, ends) in [("2", [4.0, 3.0]), ("0", [0.0, 1.25])] {
        let scale = [("scale", &*format!("state=computing,container=rank-0,factor={factor}"))];
        close(&retimed(&trace, &settings(), &scale).expect("it ends").finish, &ends);
    }
}

#[test]
fn the_shortest_bound_says_most_about_messages_that_nobody_waited_for() {
    let states = [
        (0, "MPI_Send", 0.0, 0.0),
        (0, "computing", 0.0, 1.0),
        (0, "MPI_Send", 1.0, 1.0),
        (1, "MPI_Irecv", 0.0, 0.0),
        (1, "computing", 0.0, 1.0),
        (1, "MPI_Wait", 1.0, 1.0),
        (1, "MPI_Irecv", 1.0, 1.0),
        (1, "computing", 1.0, 1.125),
        (1, "MPI_Wait", 1.125, 1.125),
    ];
    let trace = trace(&states, &[(0, 1, 0.0, 1.0, 1000), (0, 1, 1.0, 1.125, 1000)]);
    let graph = Graph::new(&trace, &settings());
    close(&graph.transfers().iter().map(|it| it.seconds).collect::<Vec<_>>(), &[0.125; 2]);
}

#[test]
fn links_that_smpi_writes_twice_count_once() {
    let states = [
        (0, "computing", 0.0, 1.0),
        (0, "MPI_Send", 1.0, 1.0),
        (0, "MPI_Send", 1.0, 1.0),
        (1, "MPI_Recv", 0.0, 1.5),
        (1, "MPI_Recv", 1.5, 2.0),
    ];
    let (first, second) = ((0, 1, 1.0, 1.5, 1000), (0, 1, 1.0, 2.0, 1000));
    for (head, expected) in [("# SimGrid", (2, 2)), ("# other", (4, 0))] {
        let text = format!("{head}\n{}", text(&states, &[first, first, second, second]));
        let trace = replayed(text.as_bytes());
        let graph = Graph::new(&trace, &settings());
        let messages = graph.messages();
        assert_eq!((messages.list().len(), messages.doubled), expected);
    }
    let text = format!("# SimGrid\n{}", text(&states, &[first, second]));
    let trace = replayed(text.as_bytes());
    assert_eq!(Graph::new(&trace, &settings()).messages().doubled, 0);
}
