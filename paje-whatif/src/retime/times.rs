//! Times of a changed run.

use crate::plan::Plan;

/// Times of a changed run.
#[derive(Clone, Debug, Default)]
pub struct Retimed {
    /// Whether every time is as recorded.
    pub(crate) is_unchanged: bool,
    /// Start of the first state of each track, in seconds.
    pub begin: Vec<f64>,
    /// End of the last state of each track, in seconds.
    pub finish: Vec<f64>,
    /// Start of each state by track; empty if not requested.
    pub start: Vec<Vec<f64>>,
    /// End of each state by track; empty if not requested.
    pub end: Vec<Vec<f64>>,
    /// Shift of the start of each message; empty if not requested.
    pub sent: Vec<f64>,
    /// Shift of the end of each message; empty if not requested.
    pub received: Vec<f64>,
}

impl Retimed {
    /// Returns whether all times are as recorded and nothing is removed.
    #[must_use]
    pub fn is_recorded(&self, plan: &Plan) -> bool {
        self.is_unchanged && plan.cut_states.is_empty() && plan.cut_messages.is_empty()
    }

    /// Returns the time from the first enter to the last exit, in seconds.
    #[must_use]
    pub fn makespan(&self) -> f64 {
        let begin = self.begin.iter().copied().fold(f64::INFINITY, f64::min);
        let end = self.finish.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        (end - begin).max(0.0)
    }
}
