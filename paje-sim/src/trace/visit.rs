//! A trace in output order as slices of columns, for exporters.

use std::ops::Range;

use paje_parser::TypeNature;

use crate::trace::Trace;
use crate::trace::annotations::Annotations;
use crate::trace::lane::Lane;
use crate::trace::order::NameOrder;
use crate::trace::walk::Step;
use paje_model::memory::finished::FinishedRows;
use paje_model::memory::{EventChunk, KeyPlace, LinkChunk, StateChunk};
use paje_model::names::ids::{ContainerId, ValueId};

/// Largest number of objects in a chunk that is widened on the stack. With many lanes, most chunks are small, and an
/// allocation for each chunk would take longer than the widening.
const FEW: usize = 16;

impl Trace {
    /// Shows every container and every lane to the visitor, in output order.
    ///
    /// # Errors
    /// The first error of the visitor.
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

/// Receives a trace in output order. Each lane comes as one or more slices of its columns, in lane order. All states
/// and links have an end. The default methods ignore the objects.
///
/// If the trace is shown while it is read (`TraceReader::visit`), this order holds within each portion.
pub trait Visitor {
    /// Error that ends the visit.
    type Error;

    /// Receives a container: first the root, then the others. The container's lanes follow. While the trace is read,
    /// containers come when they end, so earlier portions may have shown rows of them.
    ///
    /// # Errors
    /// Any error of the visitor. It ends the visit.
    fn container(&mut self, trace: &Trace, id: ContainerId) -> Result<(), Self::Error> {
        let _ = (trace, id);
        Ok(())
    }

    /// Receives states of a lane, in order of opening.
    ///
    /// # Errors
    /// Any error of the visitor. It ends the visit.
    fn states(&mut self, lane: Lane<'_>, states: States<'_>) -> Result<(), Self::Error> {
        let _ = (lane, states);
        Ok(())
    }

    /// Receives values of a variable, in order of time.
    ///
    /// # Errors
    /// Any error of the visitor. It ends the visit.
    fn variables(&mut self, lane: Lane<'_>, variables: Variables<'_>) -> Result<(), Self::Error> {
        let _ = (lane, variables);
        Ok(())
    }

    /// Receives events of a lane, in order of time.
    ///
    /// # Errors
    /// Any error of the visitor. It ends the visit.
    fn events(&mut self, lane: Lane<'_>, events: Events<'_>) -> Result<(), Self::Error> {
        let _ = (lane, events);
        Ok(())
    }

    /// Receives links of a lane, in order of completion.
    ///
    /// # Errors
    /// Any error of the visitor. It ends the visit.
    fn links(&mut self, lane: Lane<'_>, links: Links<'_>) -> Result<(), Self::Error> {
        let _ = (lane, links);
        Ok(())
    }
}

impl<'t> Lane<'t> {
    /// Shows the lane's objects to the visitor, slice by slice.
    ///
    /// # Errors
    /// The first error of the visitor.
    pub fn visit<V: Visitor>(self, visitor: &mut V) -> Result<(), V::Error> {
        self.visit_chunks(0..usize::MAX, visitor)
    }

    /// Returns the number of objects of each chunk from chunk `first` on. A chunk is shown as one slice, so several
    /// workers can each show different chunks.
    #[doc(hidden)]
    pub fn chunks_from(self, first: usize) -> impl Iterator<Item = usize> + use<'t> {
        self.trace.rows.rows(self.id).chunks_from(self.arena(), first).map(|chunk| chunk.count())
    }

    /// If the lane has exactly one chunk, returns its number of objects. This is faster than [`Lane::chunks_from`].
    #[must_use]
    #[inline]
    #[doc(hidden)]
    pub fn only_chunk(self) -> Option<usize> {
        self.trace.rows.rows(self.id).only().map(|chunk| chunk.count())
    }

    /// Shows the objects of some of the lane's chunks to the visitor. Chunks that do not exist are skipped.
    ///
    /// # Errors
    /// The first error of the visitor.
    #[doc(hidden)]
    pub fn visit_chunks<V: Visitor>(
        self,
        range: Range<usize>,
        visitor: &mut V,
    ) -> Result<(), V::Error> {
        let finished = &self.trace.rows;
        let rows = finished.rows(self.id);
        let arena = self.arena();
        // If there are many lanes, most of them have only a few objects, and clearing a larger buffer would take most
        // of the time.
        let most = rows.only().map(|chunk| chunk.count()).unwrap_or_else(|| {
            let counts = rows.chunks_from(arena, range.start).take(range.len());
            counts.map(|chunk| chunk.count()).max().unwrap_or(0)
        });
        let (mut few, mut many) = ([0; 3 * FEW], Vec::new());
        let rooms = match most {
            ..=FEW => &mut few[..3 * most],
            _ => {
                many.resize(3 * most, 0);
                &mut many[..]
            }
        };
        let (first, rest) = rooms.split_at_mut(most);
        let (second, third) = rest.split_at_mut(most);
        let mut chunks = rows.chunks_from(arena, range.start).peekable();
        for _ in range {
            let Some(chunk) = chunks.next() else { break };
            self.trace.relieve_now_and_then(chunk.count());
            let (place, size, count) = (chunk.place, chunk.size(), chunk.count());
            let floats = |column| bytemuck::cast_slice(arena.words(place, column, count));
            let user_defined = self.annotations(&chunk);
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
                        user_defined,
                    };
                    visitor.states(self, states)?;
                }
                TypeNature::Variable => {
                    let variables = Variables {
                        start: floats(0),
                        value: floats(size),
                        last_end: self.last_end(chunks.peek()),
                        user_defined,
                    };
                    visitor.variables(self, variables)?;
                }
                TypeNature::Event => {
                    let column = EventChunk::value(&chunk);
                    let value = arena.small(place, column, chunk.width, count, first);
                    let events = Events {
                        time: floats(0),
                        value: bytemuck::cast_slice(value),
                        user_defined,
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
                        user_defined,
                    };
                    visitor.links(self, links)?;
                }
            }
        }
        Ok(())
    }
}

/// States of a lane. All slices have the same length, and times are in the [unit of the trace](Trace::time_scale).
#[derive(Clone, Copy, Debug)]
pub struct States<'t> {
    /// Time at which each state was set or pushed.
    pub start: &'t [f64],
    /// Time at which each state was popped or replaced, or its container ended.
    pub end: &'t [f64],
    /// Value of each state.
    pub value: &'t [ValueId],
    /// Number of states below each state on the stack.
    pub imbrication: &'t [u32],
    /// User-defined fields of the events that opened and closed each state.
    pub user_defined: Annotations<'t>,
}

impl States<'_> {
    /// Returns some of the states.
    #[must_use]
    pub(crate) fn slice(&self, range: Range<usize>) -> Self {
        States {
            start: &self.start[range.clone()],
            end: &self.end[range.clone()],
            value: &self.value[range.clone()],
            imbrication: &self.imbrication[range.clone()],
            user_defined: self.user_defined.slice(range),
        }
    }
}

/// Values of a variable. The slices have the same length, and times are in the [unit of the trace](Trace::time_scale).
#[derive(Clone, Copy, Debug)]
pub struct Variables<'t> {
    /// Start of each value. Each value lasts until the next value starts.
    pub start: &'t [f64],
    /// The values.
    pub value: &'t [f64],
    /// End of the slice's last value.
    pub last_end: f64,
    /// User-defined fields of the events that set the values.
    pub user_defined: Annotations<'t>,
}

impl Variables<'_> {
    /// Returns the end of value `i` of the slice.
    #[must_use]
    #[inline]
    pub fn end(&self, i: usize) -> f64 {
        self.start.get(i + 1).copied().unwrap_or(self.last_end)
    }
}

/// Events of a lane. The slices have the same length, and times are in the [unit of the trace](Trace::time_scale).
#[derive(Clone, Copy, Debug)]
pub struct Events<'t> {
    /// Time of each event.
    pub time: &'t [f64],
    /// Value of each event.
    pub value: &'t [ValueId],
    /// User-defined fields of the events.
    pub user_defined: Annotations<'t>,
}

/// Links of a lane. All slices have the same length, and times are in the [unit of the trace](Trace::time_scale).
#[derive(Clone, Copy, Debug)]
pub struct Links<'t> {
    /// Start of each link.
    pub start: &'t [f64],
    /// End of each link. It can be earlier than the start.
    pub end: &'t [f64],
    /// Value of each link.
    pub value: &'t [ValueId],
    /// Container at the start of each link.
    pub from: &'t [ContainerId],
    /// Container at the end of each link.
    pub to: &'t [ContainerId],
    finished: &'t FinishedRows,
    keys: &'t [u64],
    /// User-defined fields of the events that started and ended the links.
    pub user_defined: Annotations<'t>,
}

impl<'t> Links<'t> {
    /// Returns the key of link `i` of the slice, as written in the link's first event in the file.
    #[must_use]
    #[inline(always)]
    pub fn raw_key(&self, i: usize) -> &'t [u8] {
        self.finished.key(KeyPlace::from_word(self.keys[i]))
    }
}
