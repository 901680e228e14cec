//! Tasks that StarPU writes as two states.

use paje_parser::{EventDef, EventKind};
use paje_sim::Trace;

/// Returns whether the trace may have tasks as two states. StarPU first sets the state of a task without fields, and then,
/// at the same time, once more with fields such as `JobId`. The first of the two has no length and is not counted.
pub(super) fn is_twofold(trace: &Trace) -> bool {
    let has_job = |def: &EventDef| def.extras().any(|(field, _)| field == "JobId");
    trace.defs().iter().any(|def| def.kind() == EventKind::SetState && has_job(def))
}
