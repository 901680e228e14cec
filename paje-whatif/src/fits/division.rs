//! Divides the ranks of a collective if no schedule among all of them explains its times.

use std::sync::Arc;

use paje_comm::{Facts, Group, divisions};

use super::{CollectiveModel, GOOD, MUCH_BETTER};
use crate::graph::Graph;

/// Number of divisions whose schedules are fitted.
const MOST_DIVISIONS: usize = 6;

/// Returns the facts of a simulated run with other groups, if their schedules explain the times of a collective much better
/// than those among all ranks. The times of collectives with a root may allow that all ranks took part, even if only some did:
/// ranks that leave late, or wait for a rank that is always late, look like ranks that take their time.
pub(crate) fn divided<'t>(graph: &Graph<'t>) -> Option<Facts<'t>> {
    let mut facts = graph.facts();
    let may_divide = |group: &Group| group.is_assumed && !group.is_part;
    if !facts.is_simulated() || !graph.run.groups.list.iter().any(may_divide) {
        return None;
    }
    let mut is_divided = false;
    for (group, model) in graph.run.groups.list.iter().zip(graph.shapes()) {
        if !may_divide(group) || model.is_given || model.error() <= GOOD {
            continue;
        }
        let others = divisions(&facts, group).take(MOST_DIVISIONS);
        let others = others.map(|(collectives, groups)| {
            let models = graph.shapes_of(&groups.list);
            let error = |(group, model): (&Group, &CollectiveModel)| {
                f64::from(group.members()) * model.error()
            };
            (groups.list.iter().zip(&models).map(error).sum::<f64>(), collectives)
        });
        let best = others.min_by(|a, b| a.0.total_cmp(&b.0));
        let limit = MUCH_BETTER * f64::from(group.members()) * model.error();
        if let Some((_, collectives)) = best.filter(|(error, _)| *error < limit) {
            facts.collectives = Arc::new(collectives);
            is_divided = true;
        }
    }
    is_divided.then_some(facts)
}
