//! Rows of a lane one by one, for analyses.
//!
//! An iterator borrows the columns of the current chunk: nothing is copied or allocated for a row.
//! [`Lane::visit`] shows the same rows as slices.

use std::iter::FusedIterator;

use paje_parser::Field;
use paje_parser::number::parse_f64;

mod cursor;

use crate::trace::Trace;
use crate::trace::annotations::Annotations;
use crate::trace::container_view::Container;
use crate::trace::lane::Lane;
pub(in crate::trace) use cursor::Place;
use cursor::{Cursor, EventColumns, LinkColumns, StateColumns, VariableColumns};
use paje_model::memory::{KeyPlace, LineNumber};
use paje_model::names::ids::{ContainerId, ValueId};
use paje_model::names::text::Name;

/// A state of a container. Times are in the [unit of the trace](Trace::time_scale).
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct State<'t> {
    /// Lane of the state: its container and its type.
    pub lane: Lane<'t>,
    /// Time at which the state was set or pushed.
    pub start: f64,
    /// Time at which the state was popped or replaced, or its container ended.
    pub end: f64,
    /// Value of the lane's type.
    pub value: ValueId,
    /// Number of states below this state on the stack.
    pub imbrication: u32,
    place: Place,
}

/// A value of a variable. Times are in the [unit of the trace](Trace::time_scale).
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Variable<'t> {
    /// Lane of the variable: its container and its type.
    pub lane: Lane<'t>,
    /// Start of the value.
    pub start: f64,
    /// End of the value, which is the start of the next value or the end of the container.
    pub end: f64,
    /// The value.
    pub value: f64,
    place: Place,
}

/// An event in a container. Its time is in the [unit of the trace](Trace::time_scale).
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Event<'t> {
    /// Lane of the event: its container and its type.
    pub lane: Lane<'t>,
    /// Time of the event.
    pub time: f64,
    /// Value of the lane's type.
    pub value: ValueId,
    place: Place,
}

/// A link between two containers. Times are in the [unit of the trace](Trace::time_scale).
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Link<'t> {
    /// Lane of the link: the common container of both ends, and the link's type.
    pub lane: Lane<'t>,
    /// Start of the link.
    pub start: f64,
    /// End of the link. It can be earlier than the start.
    pub end: f64,
    /// Value of the lane's type.
    pub value: ValueId,
    /// Container at the start of the link.
    pub from: ContainerId,
    /// Container at the end of the link.
    pub to: ContainerId,
    key: KeyPlace,
    place: Place,
}

impl<'t> State<'t> {
    /// Returns the name of the state's value.
    #[must_use]
    pub fn value_name(&self) -> Name<'t> {
        self.lane.value_name(self.value)
    }
}

impl<'t> Event<'t> {
    /// Returns the name of the event's value.
    #[must_use]
    pub fn value_name(&self) -> Name<'t> {
        self.lane.value_name(self.value)
    }
}

impl<'t> Link<'t> {
    /// Returns the container at the start of the link.
    #[must_use]
    pub fn start_container(&self) -> Container<'t> {
        self.lane.trace().container_view(self.from)
    }

    /// Returns the container at the end of the link.
    #[must_use]
    pub fn end_container(&self) -> Container<'t> {
        self.lane.trace().container_view(self.to)
    }

    /// Returns the name of the link's value.
    #[must_use]
    pub fn value_name(&self) -> Name<'t> {
        self.lane.value_name(self.value)
    }

    /// Returns the key as written in the link's first event in the file.
    #[must_use]
    pub fn key(&self) -> Name<'t> {
        Field::new(self.lane.trace().rows.key(self.key)).into()
    }
}

impl<'t> Lane<'t> {
    /// Returns the lane's states in order of opening. Returns nothing if the lane's type has another nature.
    pub fn states(
        self,
    ) -> impl ExactSizeIterator<Item = State<'t>> + FusedIterator + Clone + use<'t> {
        Cursor::<StateColumns<'t>>::new(self)
    }

    /// Returns the lane's values of a variable in order of time. Returns nothing if the lane's type has another nature.
    pub fn variables(
        self,
    ) -> impl ExactSizeIterator<Item = Variable<'t>> + FusedIterator + Clone + use<'t> {
        Cursor::<VariableColumns<'t>>::new(self)
    }

    /// Returns the lane's events in order of time. Returns nothing if the lane's type has another nature.
    pub fn events(
        self,
    ) -> impl ExactSizeIterator<Item = Event<'t>> + FusedIterator + Clone + use<'t> {
        Cursor::<EventColumns<'t>>::new(self)
    }

    /// Returns the lane's links in order of completion. Returns nothing if the lane's type has another nature.
    pub fn links(
        self,
    ) -> impl ExactSizeIterator<Item = Link<'t>> + FusedIterator + Clone + use<'t> {
        Cursor::<LinkColumns<'t>>::new(self)
    }
}

impl Trace {
    /// Returns all states, lane after lane in the order of [`Trace::lanes`].
    pub fn states(&self) -> impl Iterator<Item = State<'_>> {
        self.lanes().flat_map(Lane::states)
    }

    /// Returns all values of variables, lane after lane in the order of [`Trace::lanes`].
    pub fn variables(&self) -> impl Iterator<Item = Variable<'_>> {
        self.lanes().flat_map(Lane::variables)
    }

    /// Returns all events, lane after lane in the order of [`Trace::lanes`].
    pub fn events(&self) -> impl Iterator<Item = Event<'_>> {
        self.lanes().flat_map(Lane::events)
    }

    /// Returns all links, lane after lane in the order of [`Trace::lanes`].
    pub fn links(&self) -> impl Iterator<Item = Link<'_>> {
        self.lanes().flat_map(Lane::links)
    }
}

macro_rules! lasting {
    ($($row:ident)*) => {$(
        impl $row<'_> {
            /// Returns the time from start to end in the [unit of the trace](Trace::time_scale). It is negative for a
            /// link that ends before it starts.
            #[must_use]
            pub fn duration(&self) -> f64 {
                self.end - self.start
            }

            /// Returns the [duration](Self::duration) in seconds.
            #[must_use]
            pub fn seconds(&self) -> f64 {
                self.lane.trace().seconds(self.duration())
            }
        }
    )*};
}

lasting!(State Variable Link);

macro_rules! annotated {
    ($($row:ident)*) => {$(
        impl<'t> $row<'t> {
            /// Returns the user-defined fields, each with its name and its text as written. The fields of the event
            /// that opened the object come first, then those of the event that closed it. Empty if the replay did
            /// not keep them (`TraceReader::fields`).
            pub fn fields(&self) -> impl Iterator<Item = (&'t str, &'t [u8])> + use<'t> {
                let (notes, index) = self.annotations();
                notes.of(index)
            }

            /// Returns the text of the first user-defined field of this name.
            #[must_use]
            pub fn field(&self, name: &str) -> Option<&'t [u8]> {
                self.fields().find(|(field, _)| *field == name).map(|(_, text)| text)
            }

            /// Returns the number in the user-defined field of this name, if it is one.
            #[must_use]
            pub fn number(&self, name: &str) -> Option<f64> {
                self.field(name).and_then(parse_f64)
            }

            /// Returns the line of the event that opened the object, if the replay kept lines
            /// (`TraceReader::lines`).
            #[must_use]
            pub fn line(&self) -> Option<LineNumber> {
                let (notes, index) = self.annotations();
                notes.line(index)
            }

            fn annotations(&self) -> (Annotations<'t>, usize) {
                self.lane.annotations_at(self.place)
            }
        }
    )*};
}

annotated!(State Variable Event Link);
