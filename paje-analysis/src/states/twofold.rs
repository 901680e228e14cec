//! Tasks that StarPU writes as two states.

use paje_parser::{EventDef, EventKind};
use paje_sim::Trace;

use crate::nesting::{Nested, Part};

/// Returns whether the trace may have tasks as two states. StarPU first sets the state of a task without fields, and then,
/// at the same time, once more with fields such as `JobId`. The first of the two has no length and is not counted.
pub(super) fn is_twofold(trace: &Trace) -> bool {
    let has_job = |def: &EventDef| def.extras().any(|(field, _)| field == "JobId");
    trace.defs().iter().any(|def| def.kind() == EventKind::SetState && has_job(def))
}

/// The last state of a lane and its time, if it is not counted yet, because StarPU may write it again.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Held(pub(super) Option<(Nested, Option<Part>)>);

impl Held {
    /// Counts a state, or holds it until the next one. First counts the held state, unless this
    /// state repeats it. A held state has no length, so `add` gets no parent for it.
    #[inline]
    pub(super) fn see<'n>(
        &mut self,
        is_twofold: bool,
        (state, part, parent): (&Nested, Option<Part>, Option<&'n Nested>),
        mut add: impl FnMut(&Nested, Option<Part>, Option<&'n Nested>),
    ) {
        if let Some((first, part)) = self.0.take_if(|(first, _)| !state.is_inside(first))
            && !state.repeats(&first)
        {
            add(&first, part, None);
        }
        if is_twofold && state.start == state.end {
            self.0 = Some((*state, part));
        } else {
            add(state, part, parent);
        }
    }
}
