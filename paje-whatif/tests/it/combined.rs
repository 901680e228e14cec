//! Tests of calls that send and receive, for which SMPI writes links with wrong keys.

use paje_sim::{Options, Trace};
use paje_whatif::Graph;

use crate::known::{close, retimed, settings, text};

/// Three ranks compute for 1, 2 and 3 s, and then send to the next rank. A message takes half a
/// second. The keys are given for the start and the end of each message.
fn shift(numbers: [&str; 6]) -> Trace {
    let mut states = Vec::new();
    let ends = [3.5, 2.5, 3.5];
    for (rank, end) in ends.into_iter().enumerate() {
        let begin = (rank + 1) as f64;
        states.push((rank, "computing", 0.0, begin));
        states.push((rank, "PMPI_Sendrecv", begin, end));
    }
    let links = [(0, 1, 1.0, 2.5, 8), (1, 2, 2.0, 3.5, 16), (2, 0, 3.0, 3.5, 32)];
    let mut text = text(&states, &links);
    for (key, both) in numbers.chunks(2).enumerate() {
        // The first one is the start.
        text = text.replacen(&format!(" k{key} "), &format!(" {} ", both[0]), 1);
        text = text.replacen(&format!(" k{key}\n"), &format!(" {}\n", both[1]), 1);
    }
    let mut options = Options::default();
    (options.user_defined, options.ignore_incomplete_links) = (true, true);
    options.keep_link_halves = true;
    Trace::read(format!("#SimGrid\n{text}").as_bytes(), &options).expect("a trace")
}

#[test]
fn links_with_wrong_keys_are_paired_by_rank_and_order() {
    // The sender is a number from 1, and its receiver a rank from 0; at the end, it is the other
    // way round.
    let trace = shift(["1_1_7_1", "0_2_7_1", "2_2_7_2", "1_3_7_2", "3_0_7_3", "2_1_7_3"]);
    let graph = Graph::new(&trace, &settings());
    assert_eq!((trace.counts().links, graph.messages().combined, graph.messages().open), (0, 3, 0));
    let all = graph.messages().list().iter();
    let found: Vec<_> = all.map(|it| (it.from, it.to, it.bytes(), it.start, it.end)).collect();
    assert_eq!(
        found,
        [(2, 0, Some(32.0), 3.0, 3.5), (0, 1, Some(8.0), 1.0, 2.5), (1, 2, Some(16.0), 2.0, 3.5)]
    );
    let ends = |hypothesis| {
        retimed(&trace, &settings(), &[("scale", hypothesis)]).expect("the run ends").finish
    };
    // Ranks 0 and 2 wait for the ranks before them.
    close(&ends("state=computing,container=rank-2,factor=2"), &[6.5, 2.5, 6.0]);
    close(&ends("state=computing,container=rank-1,factor=2"), &[3.5, 4.0, 5.5]);
}

#[test]
fn links_that_do_not_match_stay_as_they_are() {
    let trace = shift(["1_1_7_1", "0_2_7_1", "2_2_7_2", "1_3_7_2", "3_0_7_3", "1_1_7_3"]);
    let graph = Graph::new(&trace, &settings());
    assert_eq!((graph.messages().combined, graph.messages().open), (0, 3));
}
