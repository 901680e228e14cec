//! Equality as PajeNG defines it.
//!
//! Runs of PajeNG 1.3.6 show the following behaviour. It walks through both traces side by side, in
//! the order of identifiers, and compares objects at the same position. Two containers are equal if
//! three conditions hold. Their types have the same number of child types, of the same natures in
//! the same order. They have the same number of children, of any types, in the order of their
//! types. Their lanes have the same number of rows. Two rows are equal if their values have the
//! same alias, or the same name if they have no alias. Nothing else counts, neither names and
//! aliases of types and containers nor times, values of variables, keys, imbrication or ends of
//! links.

use paje_sim::{ContainerId, LaneView, NameOrder, Step, Trace, TypeId, TypeNature};
use rustc_hash::FxHashSet;

use crate::rows::LaneRows;
use crate::values::{AllValues, Case, by_identifier};
use paje_sim::TimeRange;

/// Returns whether PajeNG would find the traces equal in these windows. Rows at the very end of a
/// trace and rows that enclose a window count like all others, although PajeNG may lose them.
#[must_use]
pub fn are_equal(traces: [&Trace; 2], case: Case, windows: [TimeRange; 2]) -> bool {
    let values = AllValues::new(traces, by_identifier, case);
    let rows = windows.map(LaneRows::new);
    SideBySide { traces, types: TypesOf::new(traces), values, rows }.are_equal()
}

struct SideBySide<'t> {
    traces: [&'t Trace; 2],
    types: TypesOf,
    values: AllValues<'t>,
    rows: [LaneRows<'t>; 2],
}

impl<'t> SideBySide<'t> {
    /// As long as the trees are equal, both walks take the same steps.
    fn are_equal(mut self) -> bool {
        let [a, b] = self.traces;
        let mut walks = (a.walk(NameOrder::Bare), b.walk(NameOrder::Bare));
        let mut counterparts = vec![ContainerId::ROOT; a.containers().len()];
        if a.containers().len() != b.containers().len() {
            return false;
        }
        loop {
            match (walks.0.next(), walks.1.next()) {
                (None, None) => return true,
                (Some(Step::Container(one)), Some(Step::Container(other))) => {
                    let parents = (a.containers().parent(one), b.containers().parent(other));
                    let types = [a.containers().type_of(one), b.containers().type_of(other)];
                    let here = counterparts[parents.0.index()] == parents.1;
                    if !here || !self.types.are_alike(types) {
                        return false;
                    }
                    counterparts[one.index()] = other;
                }
                (Some(Step::Type(one, type_)), Some(Step::Type(other, counterpart))) => {
                    let lanes = [a.lane(one, type_), b.lane(other, counterpart)];
                    if !self.same_rows([type_, counterpart], lanes) {
                        return false;
                    }
                }
                _ => return false,
            }
        }
    }

    fn same_rows(&mut self, types: [TypeId; 2], lanes: [Option<LaneView<'t>>; 2]) -> bool {
        let [a, b] = &mut self.rows;
        if a.count(lanes[0]) != b.count(lanes[1]) {
            return false;
        }
        if self.traces[0].types().nature(types[0]) == TypeNature::Variable {
            return true;
        }
        a.enter(lanes[0]);
        b.enter(lanes[1]);
        loop {
            let count = a.ready().min(b.ready());
            if count == 0 {
                return true;
            }
            let values = self.values.of(types);
            let mut both = a.rows().iter().zip(b.rows());
            if !both.all(|(a, b)| values.are_same([a.value, b.value])) {
                return false;
            }
            a.pass(count);
            b.pass(count);
        }
    }
}

struct TypesOf {
    /// For each container type, the natures of its child types in the order of identifiers.
    natures: [Vec<Vec<TypeNature>>; 2],
    alike: FxHashSet<[TypeId; 2]>,
}

impl TypesOf {
    fn new(traces: [&Trace; 2]) -> Self {
        let natures = traces.map(|trace| {
            let types = trace.types();
            let mut children = vec![Vec::new(); types.len()];
            for id in types.ids().skip(1) {
                children[types.parent(id).index()].push(id);
            }
            let in_order = |mut list: Vec<TypeId>| {
                list.sort_by_key(|id| types.identifier(*id).text);
                list.into_iter().map(|id| types.nature(id)).collect()
            };
            children.into_iter().map(in_order).collect()
        });
        TypesOf { natures, alike: FxHashSet::default() }
    }

    /// Returns whether both container types have the same number of child types, of the same
    /// natures in the same order.
    fn are_alike(&mut self, types: [TypeId; 2]) -> bool {
        if self.alike.contains(&types) {
            return true;
        }
        let [a, b] = &self.natures;
        let same = a[types[0].index()] == b[types[1].index()];
        if same {
            self.alike.insert(types);
        }
        same
    }
}
