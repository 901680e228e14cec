//! Rows of all natures, in PajeNG's order and in the order of time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::iter::Peekable;

use paje_parser::TypeNature;

use crate::trace::Trace;
use crate::trace::container_view::Container;
use crate::trace::lane::Lane;
use crate::trace::order::NameOrder;
use crate::trace::rows::{Event, Link, State, Variable};
use crate::trace::selected::Selected;
use crate::trace::walk::Step;
use paje_model::names::ids::{ContainerId, TypeId};

/// A row of a trace.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)] // The natures are the format's own.
pub enum Row<'t> {
    Container(Container<'t>),
    State(State<'t>),
    Variable(Variable<'t>),
    Event(Event<'t>),
    Link(Link<'t>),
}

impl<'t> Row<'t> {
    /// Returns the start, in the [unit of the trace](Trace::time_scale). For an event, this is its time.
    #[must_use]
    pub fn start(&self) -> f64 {
        match self {
            Row::Container(container) => container.start(),
            Row::State(state) => state.start,
            Row::Variable(variable) => variable.start,
            Row::Event(event) => event.time,
            Row::Link(link) => link.start,
        }
    }

    /// Returns the end, in the [unit of the trace](Trace::time_scale). For an event, this is its time.
    #[must_use]
    pub fn end(&self) -> f64 {
        match self {
            Row::Container(container) => container.end(),
            Row::State(state) => state.end,
            Row::Variable(variable) => variable.end,
            Row::Event(event) => event.time,
            Row::Link(link) => link.end,
        }
    }

    /// Returns the container of a container's row.
    #[must_use]
    pub const fn as_container(&self) -> Option<Container<'t>> {
        if let Row::Container(container) = self { Some(*container) } else { None }
    }

    /// Returns the state, if the row is one.
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../datasets/examples/mpi.trace");
    /// # let trace = paje_sim::Trace::open(path)?;
    /// let states = trace.rows_by_time().filter_map(|row| row.as_state());
    /// assert_eq!(states.count() as u64, trace.counts().states);
    /// # Ok::<(), paje_sim::Error>(())
    /// ```
    #[must_use]
    pub const fn as_state(&self) -> Option<State<'t>> {
        if let Row::State(state) = self { Some(*state) } else { None }
    }

    /// Returns the value of a variable, if the row is one.
    #[must_use]
    pub const fn as_variable(&self) -> Option<Variable<'t>> {
        if let Row::Variable(variable) = self { Some(*variable) } else { None }
    }

    /// Returns the event, if the row is one.
    #[must_use]
    pub const fn as_event(&self) -> Option<Event<'t>> {
        if let Row::Event(event) = self { Some(*event) } else { None }
    }

    /// Returns the link, if the row is one.
    #[must_use]
    pub const fn as_link(&self) -> Option<Link<'t>> {
        if let Row::Link(link) = self { Some(*link) } else { None }
    }

    /// Returns the lane of the row. The row of a container has none.
    #[must_use]
    pub const fn lane(&self) -> Option<Lane<'t>> {
        match self {
            Row::Container(_) => None,
            Row::State(State { lane, .. })
            | Row::Variable(Variable { lane, .. })
            | Row::Event(Event { lane, .. })
            | Row::Link(Link { lane, .. }) => Some(*lane),
        }
    }

    /// Returns the type of the row.
    #[must_use]
    pub fn type_id(&self) -> TypeId {
        match (self, self.lane()) {
            (Row::Container(container), _) => container.type_id(),
            (_, lane) => lane.map_or(TypeId::ROOT, Lane::type_id),
        }
    }
}

impl Selected {
    /// Returns whether a row is wanted. In contrast to [`Selected::wants_lane`], the time window applies.
    #[must_use]
    pub fn wants(&self, row: &Row<'_>) -> bool {
        match row {
            Row::Container(container) => self.wants_container(container.id()),
            row => {
                row.lane().is_some_and(|lane| self.wants_lane(lane))
                    && self.window().overlaps(row.start(), row.end())
            }
        }
    }
}

impl<'t> Lane<'t> {
    /// Returns the lane's rows, in the order of the lane.
    pub fn rows(self) -> impl Iterator<Item = Row<'t>> + use<'t> {
        let states = self.states().map(Row::State);
        let variables = self.variables().map(Row::Variable);
        // Only one of these is not empty.
        let others = self.events().map(Row::Event).chain(self.links().map(Row::Link));
        states.chain(variables).chain(others)
    }
}

impl Trace {
    /// Returns all rows in PajeNG's output order.
    pub fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.walk(NameOrder::Bare).flat_map(|step| {
            let (container, lane) = match step {
                Step::Container(ContainerId::ROOT) => (None, None),
                Step::Container(id) => (Some(Row::Container(self.container_view(id))), None),
                Step::Type(container, type_) => (None, self.lane(container, type_)),
            };
            container.into_iter().chain(lane.into_iter().flat_map(Lane::rows))
        })
    }

    /// Returns all rows in the order of their starts. Rows with the same start are in the order of [`Trace::lanes`],
    /// containers first.
    ///
    /// This merges all lanes, and takes some hundred bytes for each lane. Links are in order of completion in their
    /// lanes, so they are sorted before, which takes some hundred bytes for each link.
    #[must_use]
    pub fn rows_by_time(&self) -> RowsByTime<'_> {
        let mut containers: Vec<ContainerId> = self.containers().ids().skip(1).collect();
        let start = |id: &ContainerId| self.containers().start(*id);
        containers.sort_by(|one, other| start(one).total_cmp(&start(other)));
        let containers = containers.into_iter().map(|id| Row::Container(self.container_view(id)));
        let mut sources: Vec<Source<'_>> = vec![Box::new(containers)];
        for lane in self.lanes().filter(|lane| !lane.is_empty()) {
            if lane.nature() == TypeNature::Link {
                let mut links: Vec<Link<'_>> = lane.links().collect();
                links.sort_by(|one, other| one.start.total_cmp(&other.start));
                sources.push(Box::new(links.into_iter().map(Row::Link)));
            } else {
                sources.push(Box::new(lane.rows()));
            }
        }
        let mut sources: Vec<_> = sources.into_iter().map(Iterator::peekable).collect();
        let next = sources.iter_mut().enumerate();
        let next = next.filter_map(|(source, rows)| Some(Reverse((order(rows.peek()?), source))));
        RowsByTime { next: next.collect(), sources }
    }

    /// Returns the rows of several traces in the order of their starts in seconds, each with the place of its trace in
    /// `traces`. Rows of one trace are in the order of [`rows_by_time`](Self::rows_by_time). Rows of different traces
    /// with the same start are in the order of `traces`.
    ///
    /// Clocks are not aligned. The order means something only if the traces share a clock, or if all of them begin
    /// at 0. The time for a row is proportional to the number of traces.
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../datasets/examples/mpi.trace");
    /// # use paje_sim::Trace;
    /// let (before, after) = (Trace::open(path)?, Trace::open(path)?);
    /// for (run, row) in Trace::merge_by_time([&before, &after]) {
    ///     println!("{} of run {run}", row.start());
    /// }
    /// # Ok::<(), paje_sim::Error>(())
    /// ```
    pub fn merge_by_time<'t>(
        traces: impl IntoIterator<Item = &'t Trace>,
    ) -> impl Iterator<Item = (usize, Row<'t>)> {
        let rows = traces.into_iter().map(|trace| (trace, trace.rows_by_time().peekable()));
        let mut rows: Vec<_> = rows.collect();
        std::iter::from_fn(move || {
            let starts = rows.iter_mut().enumerate().filter_map(|(place, (trace, rows))| {
                Some((place, trace.seconds(rows.peek()?.start())))
            });
            // Of equal starts, this is the first.
            let (place, _) = starts.min_by(|one, other| one.1.total_cmp(&other.1))?;
            Some((place, rows[place].1.next()?))
        })
    }
}

type Source<'t> = Box<dyn Iterator<Item = Row<'t>> + Send + Sync + 't>;

/// Rows of a trace in the order of their starts. See [`Trace::rows_by_time`].
pub struct RowsByTime<'t> {
    /// Order of the next row of each source that has more rows, and the source.
    next: BinaryHeap<Reverse<(i64, usize)>>,
    sources: Vec<Peekable<Source<'t>>>,
}

impl std::fmt::Debug for RowsByTime<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RowsByTime").field("next", &self.next.peek()).finish_non_exhaustive()
    }
}

impl<'t> Iterator for RowsByTime<'t> {
    type Item = Row<'t>;

    fn next(&mut self) -> Option<Row<'t>> {
        let mut first = self.next.peek_mut()?;
        let rows = &mut self.sources[first.0.1];
        let row = rows.next();
        match rows.peek() {
            Some(next) => first.0.0 = order(next),
            None => {
                PeekMut::pop(first);
            }
        }
        row
    }
}

/// Returns a number that orders rows by their starts, like [`f64::total_cmp`].
fn order(row: &Row<'_>) -> i64 {
    let bits = row.start().to_bits() as i64;
    bits ^ (((bits >> 63) as u64) >> 1) as i64
}
