//! Times that a re-timing tells.

use crate::plan::Plan;

/// When everything happens in a changed run.
#[derive(Clone, Debug, Default)]
pub struct Retimed {
    /// Whether every time is as recorded.
    pub(crate) is_unchanged: bool,
    /// By track, when its first state is entered, in seconds.
    pub begin: Vec<f64>,
    /// By track, when its last state is left, in seconds.
    pub finish: Vec<f64>,
    /// By track and state, when it is entered; empty if it was not asked for.
    pub start: Vec<Vec<f64>>,
    /// By track and state, when it is left; likewise.
    pub end: Vec<Vec<f64>>,
    /// By message, by how much its start shifts; likewise.
    pub sent: Vec<f64>,
    /// By message, by how much its end shifts; likewise.
    pub received: Vec<f64>,
}

impl Retimed {
    /// Whether everything happens as it was recorded, and nothing is cut.
    #[must_use]
    pub fn is_recorded(&self, plan: &Plan) -> bool {
        self.is_unchanged && plan.cut_states.is_empty() && plan.cut_messages.is_empty()
    }

    /// From when the first state is entered until the last one is left, in seconds.
    #[must_use]
    pub fn makespan(&self) -> f64 {
        let begin = self.begin.iter().copied().fold(f64::INFINITY, f64::min);
        let end = self.finish.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        (end - begin).max(0.0)
    }
}
