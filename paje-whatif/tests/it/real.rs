//! Tests of runs in which every call takes some time, as in real runs.

use paje_whatif::Graph;

use crate::known::{close, retimed, settings, trace};

#[test]
fn a_call_that_finds_its_message_does_not_measure_it() {
    // Both transfers take 10 ms. The second message has arrived long before its receive, which
    // takes a millisecond.
    let trace = trace(
        &[
            (0, "computing", 0.0, 1.0),
            (0, "MPI_Send", 1.0, 1.0),
            (0, "computing", 1.0, 2.0),
            (0, "MPI_Send", 2.0, 2.0),
            (1, "MPI_Recv", 0.0, 1.01),
            (1, "computing", 1.01, 3.0),
            (1, "MPI_Recv", 3.0, 3.001),
        ],
        &[(0, 1, 1.0, 1.01, 1000), (0, 1, 2.0, 3.001, 1000)],
    );
    let graph = Graph::new(&trace, &settings());
    close(&graph.transfers().iter().map(|it| it.seconds).collect::<Vec<_>>(), &[0.01; 2]);
    assert_eq!((graph.assumed().measured, graph.assumed().estimated), (1, 1));
    let fast = [("scale", "state=computing,container=rank-1,factor=0")];
    close(&retimed(&trace, &settings(), &fast).expect("it ends").finish, &[2.0, 2.011]);
}
