//! The names of a trace, printed once.

use std::sync::OnceLock;

use paje_sim::{Trace, TypeId, ValueId};

use super::Quotes;
use super::printed::Printed;

/// The names of a trace made ready to be printed, once for all who format rows.
#[derive(Debug)]
pub(crate) struct Names {
    containers: OnceLock<Printed>,
    values: Vec<OnceLock<Printed>>,
}

impl Names {
    /// For the names of this trace; each kind is made ready when it is first needed.
    pub(crate) fn new(trace: &Trace) -> Self {
        let values = trace.types().ids().map(|_| OnceLock::new()).collect();
        Names { containers: OnceLock::new(), values }
    }

    /// Makes the names that came up since ready.
    pub(crate) fn extend(&mut self, trace: &Trace, quotes: Quotes) {
        let all = trace.containers();
        if let Some(printed) = self.containers.get_mut() {
            let new = all.ids().skip(printed.len());
            new.for_each(|id| printed.push(quotes, all.name(id)));
        }
        let types = trace.types();
        self.values.resize_with(types.len(), OnceLock::new);
        for (type_, printed) in types.ids().zip(&mut self.values) {
            let Some(printed) = printed.get_mut() else { continue };
            for value in printed.len() as u32..types.value_count(type_) as u32 {
                printed.push(quotes, types.value_name(type_, ValueId(value)));
            }
        }
    }

    pub(super) fn containers(&self, trace: &Trace, quotes: Quotes) -> &Printed {
        self.containers.get_or_init(|| {
            let all = trace.containers();
            Printed::of(quotes, all.ids().map(|id| all.name(id)))
        })
    }

    pub(super) fn values(&self, trace: &Trace, quotes: Quotes, type_: TypeId) -> &Printed {
        self.values[type_.index()].get_or_init(|| {
            let types = trace.types();
            let values = (0..types.value_count(type_) as u32).map(ValueId);
            Printed::of(quotes, values.map(|value| types.value_name(type_, value)))
        })
    }
}
