//! Tests of ranks that share hosts.

use paje_sim::Trace;
use paje_whatif::fit::Table;
use paje_whatif::hypothesis::{Changes, Hypothesis};
use paje_whatif::{Facts, Graph, Hosts};

use crate::known::{State, close, settings, text};
use crate::replayed;

/// Times of a message of 1000 bytes: a second.
const TABLE: &str = "[[message]]\nbytes = 1000\nlatency = 0.0\ntransfer = 1.0\n";

/// Ranks 0 and 1 send to ranks 2 and 3, one after the other. Rank 0 then sends to rank 1.
fn run(local: f64) -> String {
    let states: [State; 9] = [
        (0, "computing", 0.0, 1.0),
        (0, "MPI_Send", 1.0, 1.0),
        (0, "computing", 1.0, 4.0),
        (0, "MPI_Send", 4.0, 4.0),
        (1, "computing", 0.0, 3.0),
        (1, "MPI_Send", 3.0, 3.0),
        (1, "MPI_Recv", 3.0, 4.0 + local),
        (2, "MPI_Recv", 0.0, 2.0),
        (3, "MPI_Recv", 0.0, 4.0),
    ];
    text(&states, &[(0, 2, 1.0, 2.0, 1000), (1, 3, 3.0, 4.0, 1000), (0, 1, 4.0, 4.0 + local, 1000)])
}

/// Returns the ends of all ranks in a changed run.
fn ends(trace: &Trace, file: Option<&str>, hypothesis: (&str, &str)) -> Vec<f64> {
    let mut settings = settings();
    settings.table = Some(Table::parse(TABLE).expect("a table"));
    let mut facts = Facts::new(trace, &settings.map, &settings.reading);
    if let Some(file) = file {
        facts.hosts = Hosts::given(file, facts.tracks.list().len()).expect("a host file");
    }
    let graph = Graph::of(facts, &settings, None);
    let hypotheses = [Hypothesis::parse(hypothesis.0, hypothesis.1).expect("a hypothesis")];
    let changes = Changes { hypotheses: &hypotheses, network: None, random: None };
    let applied = changes.apply(&graph).expect("it fits");
    graph.retime(&applied.plan, false, false).expect("it ends").finish
}

/// Rank 1 sends at the same time as rank 0.
const TOGETHER: (&str, &str) =
    ("scale", "state=computing,container=rank-1,factor=0.3333333333333333");

#[test]
fn ranks_of_a_host_share_its_links() {
    let trace = replayed(run(0.1).as_bytes());
    close(&ends(&trace, None, TOGETHER), &[4.0, 4.1, 2.0, 2.0]);
    let both = ends(&trace, Some("a:2\nb:2"), TOGETHER);
    close(&both, &[4.0, 4.1, 3.0, 3.0]);
    // A Pajé trace may say the same.
    let mut nested = run(0.1).replace("0 R 0 RANK\n", "0 H 0 Host\n0 R H RANK\n");
    for (rank, host) in [(0, "a"), (1, "a"), (2, "b"), (3, "b")] {
        let create = if rank % 2 == 0 { format!("3 0 {host} H 0 {host}\n") } else { String::new() };
        let line = format!("3 0 r{rank} R 0 rank-{rank}\n");
        nested = nested.replace(&line, &format!("{create}3 0 r{rank} R {host} rank-{rank}\n"));
    }
    close(&ends(&replayed(nested.as_bytes()), None, TOGETHER), &both);
}

#[test]
fn a_network_changes_local_messages_only_if_they_use_it() {
    let slow = ("net", "bandwidth=x0.5");
    // Fast messages of the host do not use the network.
    close(&ends(&replayed(run(0.1).as_bytes()), Some("a:2\nb:2"), slow), &[4.0, 4.1, 3.0, 5.0]);
    // These do, as they take as long as others. The last two messages share the link out of the host.
    close(&ends(&replayed(run(1.0).as_bytes()), Some("a:2\nb:2"), slow), &[4.0, 7.0, 3.0, 6.0]);
}

#[test]
fn the_network_shows_that_local_messages_do_not_use_its_links() {
    // Rank 0 sends to ranks 1 and 3. Rank 1 waits for rank 2, too, so no upper bound shows that the
    // message within its host is fast. But the message to rank 3 does not share a link.
    let states: [State; 9] = [
        (0, "MPI_Isend", 0.0, 0.0),
        (0, "MPI_Isend", 0.0, 0.0),
        (1, "MPI_Irecv", 0.0, 0.0),
        (1, "MPI_Irecv", 0.0, 0.0),
        (1, "MPI_Waitall", 0.0, 1.5),
        (2, "computing", 0.0, 0.5),
        (2, "MPI_Send", 0.5, 0.5),
        (2, "computing", 0.5, 1.0),
        (3, "MPI_Recv", 0.0, 1.0),
    ];
    let links = [(0, 1, 0.0, 1.5, 1000), (0, 3, 0.0, 1.0, 1000), (2, 1, 0.5, 1.5, 1000)];
    let trace = replayed(format!("# SimGrid\n{}", text(&states, &links)).as_bytes());
    let mut settings = settings();
    settings.table = Some(Table::parse(TABLE).expect("a table"));
    let mut facts = Facts::new(&trace, &settings.map, &settings.reading);
    facts.hosts = Hosts::given("a:2\nb:2", 4).expect("a host file");
    let graph = Graph::of(facts, &settings, None);
    assert!(graph.is_local(0, 1));
    assert_eq!(graph.assumed().is_local_linked, Some(false));
}
