//! Tests of groups of ranks that are found by the times of their collectives.

use paje_analysis::waits::Options;

use crate::known::operations;
use crate::waits;

const RANKS: [&str; 5] = ["a", "b", "c", "d", "e"];

#[test]
fn groups_may_alternate() {
    // First the rows a, b and c, d meet, then the columns a, c and b, d. The first pair leaves before the second
    // one enters.
    let all = (0..20_u32).flat_map(|at| {
        let order = if at % 2 == 0 { [0, 1, 2, 3] } else { [0, 2, 1, 3] };
        let times = [(1, 3), (3, 3), (5, 9), (9, 9)];
        order.into_iter().zip(times).map(move |(rank, (enter, leave))| {
            (RANKS[rank], "n0", 10 * at + enter, 10 * at + leave)
        })
    });
    let trace = operations("MPI_Barrier", &all.collect::<Vec<_>>());
    let waits = waits(&trace, &Options::default());
    let series = &waits.facts.collectives.series;
    let members: Vec<_> = series.iter().map(|it| (it.tracks.clone(), it.len())).collect();
    let expected = [[0, 1], [2, 3], [0, 2], [1, 3]].map(|pair| (pair.to_vec(), 10));
    assert_eq!(members, expected);
    assert!(series.iter().all(|it| it.is_part));
}

#[test]
fn roots_may_move_by_several_members() {
    // The root enters first, and the others leave at once.
    let all = (0..10_u32).flat_map(|at| {
        (0..5).map(move |member| {
            let root = (1 + 2 * at) % 5;
            let time = 10 * at + if member == root { 0 } else { 1 + member };
            (RANKS[member as usize], "n0", time, time)
        })
    });
    let trace = operations("MPI_Bcast", &all.collect::<Vec<_>>());
    let waits = waits(&trace, &Options::default());
    let [series] = &waits.facts.collectives.series[..] else { panic!("one group") };
    assert_eq!((series.root, series.turn, series.is_part), (Some(1), 2, false));
    assert_eq!([0, 1, 2, 3].map(|at| series.root_of(at)), [1, 3, 0, 2].map(Some));
}

#[test]
fn a_single_rank_does_not_wait_for_itself() {
    // Ranks a and b leave before c enters. No division into more than one rank each explains that c stays.
    let all = (0..20_u32).flat_map(|at| {
        let times = [(1, 3), (2, 3), (5, 9)];
        (0..3).map(move |rank: usize| {
            (RANKS[rank], "n0", 10 * at + times[rank].0, 10 * at + times[rank].1)
        })
    });
    let trace = operations("MPI_Barrier", &all.collect::<Vec<_>>());
    let waits = waits(&trace, &Options::default());
    let [series] = &waits.facts.collectives.series[..] else { panic!("one group") };
    assert!(!series.is_part);
}
