//! Loops in which a rank tests for messages until they have arrived.

use rustc_hash::FxHashMap;

use crate::acts::{Act, Acts, StateAct};
use crate::classes::Class;
use crate::facts::Facts;
use crate::received::{NONE, Received, values_that};
use crate::tracks::Tracks;

/// A loop of tests. Only the last test completed the messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Poll {
    /// The states of the tests, in order.
    pub tests: Vec<u32>,
    /// The messages that the loop waits for.
    pub messages: Vec<u32>,
}

/// Returns which of a rank's values are calls that test for certain requests, such as `MPI_Test`
/// and `MPI_Testall`.
pub(crate) fn tests(tracks: &Tracks<'_>, at: usize) -> Vec<bool> {
    values_that(tracks, &tracks.list()[at], |class, name| {
        class == Class::Wait && (name.ends_with(b"_test") || name.ends_with(b"_testall"))
    })
}

/// Returns the tests of a rank. Tests between which the rank does not communicate are in one list.
pub(crate) fn runs(tracks: &Tracks<'_>, at: usize) -> Vec<Vec<u32>> {
    let track = &tracks.list()[at];
    let classes = tracks.classes().of_type(track.type_);
    let is_test = tests(tracks, at);
    let mut runs: Vec<Vec<u32>> = Vec::new();
    if !is_test.contains(&true) {
        return runs;
    }
    let mut is_same = false;
    for (state, value) in (0..).zip(&track.value) {
        match runs.last_mut() {
            Some(run) if is_test[value.index()] && is_same => run.push(state),
            _ if is_test[value.index()] => runs.push(vec![state]),
            _ => {}
        }
        is_same = is_test[value.index()] || is_same && !classes[value.index()].communicates();
    }
    runs
}

/// Finds the loops of tests, and adds the tests to the acts.
pub(crate) fn add_polls(
    facts: &Facts<'_>,
    acts: &mut [Acts],
    all: &mut [Vec<Received>],
) -> Vec<Poll> {
    let mut polls: Vec<Poll> = Vec::new();
    for (at, received) in all.iter_mut().enumerate() {
        let is_test = tests(&facts.tracks, at);
        if !is_test.contains(&true) {
            continue;
        }
        let values = &facts.tracks.list()[at].value;
        let mut completed: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for it in received.iter_mut().filter(|it| it.is_used && it.recv != NONE) {
            it.is_tested = is_test[values[it.recv as usize].index()];
            if it.is_tested {
                completed.entry(it.recv).or_default().push(it.message);
            }
        }
        for run in runs(&facts.tracks, at) {
            let mut tests = Vec::new();
            for test in run {
                tests.push(test);
                let Some(messages) = completed.remove(&test) else { continue };
                let number = polls.len() as u32;
                let act = |test: &u32| StateAct::new(*test, Act::Test(number));
                acts[at].closing.extend(tests.iter().map(act));
                polls.push(Poll { tests: std::mem::take(&mut tests), messages });
            }
        }
    }
    polls
}
