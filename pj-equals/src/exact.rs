//! Exact comparison of the rows of two traces.
//!
//! Types and containers are matched by name (`pairs`). Then each lane of the first trace is
//! compared with its counterpart, in output order. Rows are compared by their index in the lane, so
//! all rows after a missing one differ.

use std::ops::ControlFlow;

use paje_sim::{ContainerId, NameOrder, Step, Trace, TypeId, TypeNature};

pub use crate::difference::Differences;
use crate::difference::{Difference, LaneRow};
use crate::pairs::Pairs;
use crate::rows::{LaneRows, Row};
pub use crate::rules::{Rules, What};
pub use crate::values::Case;
use crate::values::{AllValues, SameValues, by_name};
pub use paje_sim::TimeRange;

/// Counts all differences of two traces. The first `most` can be [printed](Differences::write).
#[must_use]
pub fn compare(traces: [&Trace; 2], rules: &Rules, most: usize) -> Differences {
    let mut comparison = Comparison::new(traces, rules, Some(most));
    let ControlFlow::Continue(()) = comparison.all() else { return comparison.found };
    comparison.found
}

/// Returns whether there is no difference. Stops at the first one.
#[must_use]
pub fn are_equal(traces: [&Trace; 2], rules: &Rules) -> bool {
    Comparison::new(traces, rules, None).all().is_continue()
}

struct Comparison<'t, 'r> {
    traces: [&'t Trace; 2],
    rules: &'r Rules,
    pairs: Pairs,
    values: AllValues<'t>,
    rows: [LaneRows<'t>; 2],
    found: Differences,
    /// Number of differences to keep, or `None` to stop at the first one.
    most: Option<usize>,
}

impl<'t, 'r> Comparison<'t, 'r> {
    fn new(traces: [&'t Trace; 2], rules: &'r Rules, most: Option<usize>) -> Self {
        Comparison {
            traces,
            rules,
            pairs: Pairs::new(traces, rules.case),
            values: AllValues::new(traces, by_name, rules.case),
            rows: rules.windows.map(LaneRows::new),
            found: Differences::default(),
            most,
        }
    }

    fn all(&mut self) -> ControlFlow<()> {
        let [a, b] = self.traces;
        self.types(0)?;
        self.types(1)?;
        for step in a.walk(NameOrder::Bare) {
            match step {
                Step::Container(id) => self.container(id)?,
                Step::Type(id, type_) => self.lane(id, type_)?,
            }
        }
        for step in b.walk(NameOrder::Bare) {
            match step {
                Step::Container(id) if self.pairs.container(1, id).is_none() => {
                    self.only_container(1, id)?;
                }
                Step::Type(id, type_) => {
                    let paired = self.pairs.container(1, id).and(self.pairs.type_(1, type_));
                    if paired.is_none() {
                        self.only_lane(1, id, type_)?;
                    }
                }
                Step::Container(_) => {}
            }
        }
        ControlFlow::Continue(())
    }

    fn is_full(&self) -> bool {
        self.most.is_some_and(|most| self.found.first.len() >= most)
    }

    fn note(&mut self, difference: impl FnOnce() -> Difference) -> ControlFlow<()> {
        let Some(most) = self.most else {
            return ControlFlow::Break(());
        };
        if self.found.first.len() < most {
            self.found.first.push(difference());
        }
        ControlFlow::Continue(())
    }

    /// Finds types that exist only on this side. For side 0, also finds link types whose ends
    /// differ.
    fn types(&mut self, side: usize) -> ControlFlow<()> {
        let types = self.traces[side].types();
        for id in types.ids() {
            let Some(other) = self.pairs.type_(side, id) else {
                self.found.types += 1;
                // Types below a missing type are not reported.
                if self.pairs.type_(side, types.parent(id)).is_some() {
                    self.note(|| Difference::Type { side, id })?;
                } else if self.most.is_none() {
                    return ControlFlow::Break(());
                }
                continue;
            };
            if side == 0 && types.nature(id) == TypeNature::Link {
                let ends = types
                    .link_ends(id)
                    .map(|(from, to)| (self.pairs.type_(0, from), self.pairs.type_(0, to)));
                let others = self.traces[1].types().link_ends(other);
                if ends != others.map(|(from, to)| (Some(from), Some(to))) {
                    self.found.types += 1;
                    self.note(|| Difference::LinkEnds([id, other]))?;
                }
            }
        }
        ControlFlow::Continue(())
    }

    fn container(&mut self, id: ContainerId) -> ControlFlow<()> {
        let Some(other) = self.pairs.container(0, id) else { return self.only_container(0, id) };
        if self.rules.what != What::Everything {
            return ControlFlow::Continue(());
        }
        let [a, b] = self.traces.map(Trace::containers);
        let same = self.rules.times(a.start(id), b.start(other))
            && self.rules.times(a.end(id), b.end(other));
        if same {
            return ControlFlow::Continue(());
        }
        self.found.containers += 1;
        self.note(|| Difference::Times([id, other]))
    }

    fn only_container(&mut self, side: usize, id: ContainerId) -> ControlFlow<()> {
        self.found.containers += 1;
        let parent = self.traces[side].containers().parent(id);
        // Containers below a missing container are not reported.
        if self.pairs.container(side, parent).is_some() {
            return self.note(|| Difference::Container { side, id });
        }
        ControlFlow::Continue(())
    }

    fn lane(&mut self, id: ContainerId, type_: TypeId) -> ControlFlow<()> {
        if self.rules.what == What::Structure {
            return ControlFlow::Continue(());
        }
        let pair = self.pairs.container(0, id).zip(self.pairs.type_(0, type_));
        let Some((other, counterpart)) = pair else { return self.only_lane(0, id, type_) };
        let (containers, types) = ([id, other], [type_, counterpart]);
        let lanes = [self.traces[0].lane(id, type_), self.traces[1].lane(other, counterpart)];
        for (rows, lane) in self.rows.iter_mut().zip(lanes) {
            rows.enter(lane);
        }
        let before = self.found.rows;
        let nature = self.traces[0].types().nature(type_);
        let keys = nature == TypeNature::Link && self.rules.keys();
        loop {
            let [a, b] = &mut self.rows;
            let count = a.ready().min(b.ready());
            if count == 0 {
                break;
            }
            let values = self.values.of(types);
            let test = Test { rules: self.rules, pairs: &self.pairs, values, nature };
            let (first, second) = (a.rows(), b.rows());
            let differ =
                |i: &usize| !test.same(&first[*i], &second[*i]) || keys && a.key(*i) != b.key(*i);
            let found = (0..count).find(differ);
            let same = found.unwrap_or(count);
            a.pass(same);
            b.pass(same);
            if found.is_some() {
                self.row(containers, types, [true, true])?;
                self.rows.iter_mut().for_each(|rows| rows.pass(1));
            }
        }
        for side in 0..2 {
            loop {
                let left = self.rows[side].ready();
                if left == 0 {
                    break;
                }
                if self.is_full() {
                    self.found.rows += left as u64;
                    self.rows[side].pass(left);
                    continue;
                }
                let mut has = [false; 2];
                has[side] = true;
                self.row(containers, types, has)?;
                self.rows[side].pass(1);
            }
        }
        self.found.lanes += u64::from(self.found.rows > before);
        ControlFlow::Continue(())
    }

    fn row(
        &mut self,
        containers: [ContainerId; 2],
        types: [TypeId; 2],
        has: [bool; 2],
    ) -> ControlFlow<()> {
        self.found.rows += 1;
        if self.is_full() {
            return ControlFlow::Continue(());
        }
        let rows = [0, 1].map(|side| {
            let rows = &self.rows[side];
            has[side].then(|| LaneRow { row: rows.rows()[0], key: rows.key(0).to_vec() })
        });
        self.note(|| Difference::Row { containers, types, rows })
    }

    /// Counts the rows of a lane whose container or type is missing in the other trace. The missing
    /// container or type has already been reported.
    fn only_lane(&mut self, side: usize, id: ContainerId, type_: TypeId) -> ControlFlow<()> {
        if self.rules.what == What::Structure || self.most.is_none() {
            return ControlFlow::Continue(());
        }
        let lane = self.traces[side].lane(id, type_);
        let count = self.rows[side].count(lane);
        self.found.lanes += u64::from(count > 0);
        self.found.rows += count;
        ControlFlow::Continue(())
    }
}

#[derive(Clone, Copy)]
struct Test<'c> {
    rules: &'c Rules,
    pairs: &'c Pairs,
    values: &'c SameValues,
    nature: TypeNature,
}

impl Test<'_> {
    #[inline]
    fn same(self, a: &Row, b: &Row) -> bool {
        let rules = self.rules;
        if rules.what == What::Everything {
            let times = rules.times(a.start, b.start) && rules.times(a.end, b.end);
            if !times || !rules.numbers(a.number, b.number) {
                return false;
            }
        }
        let end = |id| self.pairs.container(0, id);
        match self.nature {
            TypeNature::Container | TypeNature::Variable => true,
            TypeNature::Event => self.values.are_same([a.value, b.value]),
            TypeNature::State => {
                self.values.are_same([a.value, b.value]) && a.imbrication == b.imbrication
            }
            TypeNature::Link => {
                self.values.are_same([a.value, b.value])
                    && end(a.from) == Some(b.from)
                    && end(a.to) == Some(b.to)
            }
        }
    }
}
