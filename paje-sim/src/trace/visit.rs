//! The one way for every exporter to see a trace: in output order, as slices of columns.
//!
//! Output order is PajeNG's: a stack starts with the root; the top container comes next, then,
//! through the child types of its type in byte order of their identifiers, the objects of each lane
//! in lane order, while the containers in it go on the stack in byte order of their identifiers (and
//! so come off it in reverse).

use std::fmt;
use std::ops::Range;

use paje_parser::TypeNature;

use crate::memory::{Arena, Chunk, EventChunk, KeyPlace, LinkChunk, StateChunk, VariableChunk};
use crate::names::ids::{ContainerId, LaneId, TypeId, ValueId};
use crate::names::text::Name;
use crate::trace::Trace;
use crate::trace::annotations::UserDefined;
use crate::trace::finished::FinishedRows;
pub use crate::trace::order::NameOrder;

/// One step of a walk through a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A container; its lanes follow.
    Container(ContainerId),
    /// A type (not of containers) of the container before: its lane comes here, if it has one.
    Type(ContainerId, TypeId),
}

impl Trace {
    /// Goes through the trace in output order.
    pub fn walk(&self, order: NameOrder) -> Walk<'_> {
        let mut children = vec![Vec::new(); self.types().len()];
        for id in self.types().ids().skip(1) {
            children[self.types().parent(id).index()].push(id);
        }
        for list in &mut children {
            order.sort(list, |id| (0, self.types().identifier(id)));
        }
        let mut ranks = vec![0; self.types().len()];
        for list in &children {
            for (rank, id) in list.iter().enumerate() {
                ranks[id.index()] = rank as u32;
            }
        }
        let stack = vec![ContainerId::ROOT];
        Walk { trace: self, order, children, ranks, stack, current: None, among: None }
    }

    /// Shows every container and every lane to the visitor, in output order.
    ///
    /// # Errors
    /// The visitor's first.
    pub fn visit<V: Visitor>(&self, order: NameOrder, visitor: &mut V) -> Result<(), V::Error> {
        for step in self.walk(order) {
            match step {
                Step::Container(id) => visitor.container(self, id)?,
                Step::Type(container, type_) => {
                    if let Some(lane) = self.lane(container, type_) {
                        lane.visit(visitor)?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// An iterator over a trace in output order.
#[derive(Debug)]
pub struct Walk<'t> {
    trace: &'t Trace,
    order: NameOrder,
    /// The child types of each type, sorted; and the place of each type among its siblings.
    children: Vec<Vec<TypeId>>,
    ranks: Vec<u32>,
    stack: Vec<ContainerId>,
    /// The container at hand, and how many of its type's child types are behind.
    current: Option<(ContainerId, usize)>,
    /// The containers that are walked through, if not all are.
    among: Option<Vec<bool>>,
}

impl Walk<'_> {
    /// Walks only through these containers.
    pub(crate) fn among(self, containers: Vec<bool>) -> Self {
        Walk { among: Some(containers), ..self }
    }

    fn push_children(&mut self, id: ContainerId) {
        let first = self.stack.len();
        let containers = self.trace.containers();
        let among = self.among.as_deref();
        let walked = |id: &ContainerId| among.is_none_or(|among| among[id.index()]);
        self.stack.extend(containers.children(id).filter(walked));
        let ranks = &self.ranks;
        let order = self.order;
        order.sort(&mut self.stack[first..], |child| {
            (ranks[containers.type_of(child).index()], containers.identifier(child))
        });
    }
}

impl Iterator for Walk<'_> {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        if let Some((container, behind)) = self.current {
            let types = &self.children[self.trace.containers().type_of(container).index()];
            let nature = |id: &TypeId| self.trace.types().nature(*id);
            let mut ahead = types.iter().enumerate().skip(behind);
            if let Some((at, id)) = ahead.find(|(_, id)| nature(id) != TypeNature::Container) {
                self.current = Some((container, at + 1));
                return Some(Step::Type(container, *id));
            }
        }
        let container = self.stack.pop()?;
        self.push_children(container);
        self.current = Some((container, 0));
        Some(Step::Container(container))
    }
}

/// Sees a trace in output order. Each lane comes as one or more slices of its columns, in lane order. What a visitor
/// has no method for, it passes over.
pub trait Visitor {
    /// What can go wrong while looking.
    type Error;

    /// A container; its lanes follow.
    ///
    /// # Errors
    /// The visitor's own.
    fn container(&mut self, trace: &Trace, id: ContainerId) -> Result<(), Self::Error> {
        let _ = (trace, id);
        Ok(())
    }

    /// States of a lane, in order of opening.
    ///
    /// # Errors
    /// The visitor's own.
    fn states(&mut self, lane: LaneView<'_>, states: States<'_>) -> Result<(), Self::Error> {
        let _ = (lane, states);
        Ok(())
    }

    /// Values of a variable, in order of time.
    ///
    /// # Errors
    /// The visitor's own.
    fn variables(
        &mut self,
        lane: LaneView<'_>,
        variables: Variables<'_>,
    ) -> Result<(), Self::Error> {
        let _ = (lane, variables);
        Ok(())
    }

    /// Events of a lane, in order of time.
    ///
    /// # Errors
    /// The visitor's own.
    fn events(&mut self, lane: LaneView<'_>, events: Events<'_>) -> Result<(), Self::Error> {
        let _ = (lane, events);
        Ok(())
    }

    /// Links of a lane, in order of completion.
    ///
    /// # Errors
    /// The visitor's own.
    fn links(&mut self, lane: LaneView<'_>, links: Links<'_>) -> Result<(), Self::Error> {
        let _ = (lane, links);
        Ok(())
    }
}

/// One lane of a trace.
#[derive(Clone, Copy)]
pub struct LaneView<'t> {
    trace: &'t Trace,
    id: LaneId,
}

impl fmt::Debug for LaneView<'_> {
    /// Without the trace, which may be long.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LaneView").field(&self.id.0).finish()
    }
}

impl<'t> LaneView<'t> {
    pub(crate) const fn new(trace: &'t Trace, id: LaneId) -> Self {
        LaneView { trace, id }
    }

    /// The lane's number.
    #[must_use]
    pub const fn id(self) -> LaneId {
        self.id
    }

    /// The trace that it belongs to.
    #[must_use]
    pub const fn trace(self) -> &'t Trace {
        self.trace
    }

    /// The container that the objects are in.
    #[must_use]
    pub fn container(self) -> ContainerId {
        self.trace.model.lanes[self.id.index()].container
    }

    /// The type that the objects are of.
    #[must_use]
    pub fn type_id(self) -> TypeId {
        self.trace.model.lanes[self.id.index()].type_
    }

    /// The nature of that type.
    #[must_use]
    pub fn nature(self) -> TypeNature {
        self.trace.nature(self.id)
    }

    /// The name of the container that the objects are in.
    #[must_use]
    pub fn container_name(self) -> Name<'t> {
        self.trace.containers().name(self.container())
    }

    /// The name of the type that the objects are of.
    #[must_use]
    pub fn type_name(self) -> Name<'t> {
        self.trace.types().name(self.type_id())
    }

    /// How many objects the lane has.
    #[must_use]
    pub fn len(self) -> u64 {
        self.trace.rows.rows(self.id).len()
    }

    /// Whether the lane has no objects: its events were all ignored.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// When an object started, in seconds.
    ///
    /// # Panics
    /// The lane has no object `row`, counted from 0.
    #[must_use]
    pub fn start(self, row: u64) -> f64 {
        assert!(row < self.len(), "the lane has {} objects", self.len());
        // There is such a row, and start or time is every chunk's first column.
        let found = self.trace.rows.rows(self.id).find(row);
        found.map_or(0.0, |(chunk, index)| {
            f64::from_bits(self.arena().words(chunk.place, 0, chunk.count())[index])
        })
    }

    /// Where the lane's objects are.
    pub(crate) fn arena(self) -> &'t Arena {
        self.trace.rows.arena(self.id)
    }

    /// Until when a variable has the last value of a chunk; `next` is the chunk behind it.
    pub(crate) fn last_end(self, next: Option<&Chunk>) -> f64 {
        let current = || self.trace.rows.open_variables.get(&self.id).copied();
        let next = next.map(|next| f64::from_bits(self.arena().get(next.place)));
        let end = next.or_else(current);
        end.unwrap_or_else(|| self.trace.containers().end(self.container()))
    }

    /// The name of one of the type's values.
    #[must_use]
    pub fn value_name(self, value: ValueId) -> Name<'t> {
        self.trace.types().value_name(self.type_id(), value)
    }

    /// Shows the lane's objects to the visitor, slice by slice.
    ///
    /// # Errors
    /// The visitor's first.
    pub fn visit<V: Visitor>(self, visitor: &mut V) -> Result<(), V::Error> {
        self.visit_chunks(0..usize::MAX, visitor)
    }

    /// How many objects each of the lane's chunks holds, from chunk `first` on. A chunk is shown as one
    /// slice; several of them can be looked at side by side.
    pub fn chunks_from(self, first: usize) -> impl Iterator<Item = usize> + use<'t> {
        self.trace.rows.rows(self.id).chunks_from(first).map(|chunk| chunk.count())
    }

    /// Shows the objects of some of the lane's chunks to the visitor; chunks that the lane does not
    /// have are none.
    ///
    /// # Errors
    /// The visitor's first.
    pub fn visit_chunks<V: Visitor>(
        self,
        range: Range<usize>,
        visitor: &mut V,
    ) -> Result<(), V::Error> {
        let finished = &self.trace.rows;
        let (rows, extras) = (finished.rows(self.id), finished.extras(self.id));
        let arena = self.arena();
        // Of most lanes where lanes are many, a few objects: clearing more room would take most of the time.
        let counts = rows.chunks_from(range.start).take(range.len()).map(|chunk| chunk.count());
        let most = counts.max().unwrap_or(0);
        let mut rooms = vec![0; 3 * most];
        let (first, rest) = rooms.split_at_mut(most);
        let (second, third) = rest.split_at_mut(most);
        let mut chunks = rows.chunks_from(range.start).peekable();
        for _ in range {
            let Some(chunk) = chunks.next() else { break };
            self.trace.relieve_now_and_then(chunk.count());
            let (place, size, count) = (chunk.place, chunk.size(), chunk.count());
            let floats = |column| bytemuck::cast_slice(arena.words(place, column, count));
            let user_defined =
                |column| UserDefined::new(self.trace, extras, || arena.words(place, column, count));
            match self.nature() {
                TypeNature::State | TypeNature::Container => {
                    let column = StateChunk::value(&chunk);
                    let value = arena.small(place, column, chunk.width, count, first);
                    let column = StateChunk::imbrication(&chunk);
                    let imbrication = arena.small(place, column, chunk.width, count, second);
                    let states = States {
                        start: floats(0),
                        end: floats(size),
                        value: bytemuck::cast_slice(value),
                        imbrication,
                        user_defined: user_defined(StateChunk::extras(&chunk)),
                    };
                    visitor.states(self, states)?;
                }
                TypeNature::Variable => {
                    let variables = Variables {
                        start: floats(0),
                        value: floats(size),
                        last_end: self.last_end(chunks.peek()),
                        user_defined: user_defined(VariableChunk::extras(&chunk)),
                    };
                    visitor.variables(self, variables)?;
                }
                TypeNature::Event => {
                    let column = EventChunk::value(&chunk);
                    let value = arena.small(place, column, chunk.width, count, first);
                    let events = Events {
                        time: floats(0),
                        value: bytemuck::cast_slice(value),
                        user_defined: user_defined(EventChunk::extras(&chunk)),
                    };
                    visitor.events(self, events)?;
                }
                TypeNature::Link => {
                    let small = |column, room| {
                        let column = LinkChunk::small(&chunk, column);
                        arena.small(place, column, chunk.width, count, room)
                    };
                    let (value, from, to) = (small(0, first), small(1, second), small(2, third));
                    let keys = arena.words(place, LinkChunk::key(&chunk), count);
                    let links = Links {
                        start: floats(0),
                        end: floats(size),
                        value: bytemuck::cast_slice(value),
                        from: bytemuck::cast_slice(from),
                        to: bytemuck::cast_slice(to),
                        finished,
                        keys,
                        user_defined: user_defined(LinkChunk::extras(&chunk)).of_links(keys),
                    };
                    visitor.links(self, links)?;
                }
            }
        }
        Ok(())
    }
}

/// States of a lane. All slices have one length; times are in seconds.
#[derive(Clone, Copy, Debug)]
pub struct States<'t> {
    /// When each was set or pushed.
    pub start: &'t [f64],
    /// When each was popped or replaced, or its container ended. Not a number in a portion (see
    /// [`Trace::read_in_portions`]) for a state that is still open: it is not of this portion.
    pub end: &'t [f64],
    /// The value, of the lane's type.
    pub value: &'t [ValueId],
    /// How many states were below it on the stack.
    pub imbrication: &'t [u32],
    /// The user-defined fields of the events that opened and closed it.
    pub user_defined: UserDefined<'t>,
}

/// Values of a variable. The slices have one length; times are in seconds.
#[derive(Clone, Copy, Debug)]
pub struct Variables<'t> {
    /// Since when the variable has each value; it has it until the next one's start.
    pub start: &'t [f64],
    /// The value.
    pub value: &'t [f64],
    /// Until when the variable has the slice's last value.
    pub last_end: f64,
    /// The user-defined fields of the events that set it.
    pub user_defined: UserDefined<'t>,
}

impl Variables<'_> {
    /// Until when the variable has value `i` of the slice.
    #[must_use]
    pub fn end(&self, i: usize) -> f64 {
        self.start.get(i + 1).copied().unwrap_or(self.last_end)
    }
}

/// Events of a lane. The slices have one length; times are in seconds.
#[derive(Clone, Copy, Debug)]
pub struct Events<'t> {
    /// When each happened.
    pub time: &'t [f64],
    /// The value, of the lane's type.
    pub value: &'t [ValueId],
    /// The events' user-defined fields.
    pub user_defined: UserDefined<'t>,
}

/// Links of a lane. All slices have one length; times are in seconds.
#[derive(Clone, Copy, Debug)]
pub struct Links<'t> {
    /// When each started.
    pub start: &'t [f64],
    /// When each ended; this can be before its start.
    pub end: &'t [f64],
    /// The value, of the lane's type.
    pub value: &'t [ValueId],
    /// The container at its start.
    pub from: &'t [ContainerId],
    /// The container at its end.
    pub to: &'t [ContainerId],
    finished: &'t FinishedRows,
    keys: &'t [u64],
    /// The user-defined fields of the start and of the end.
    pub user_defined: UserDefined<'t>,
}

impl<'t> Links<'t> {
    /// The key of link `i` of the slice, as its first event in the file wrote it.
    #[must_use]
    pub fn raw_key(&self, i: usize) -> &'t [u8] {
        self.finished.key(KeyPlace::from_word(self.keys[i]))
    }
}
