//! The events of the format, and lines decoded to them.

mod kind;
mod nature;

use crate::color::Color;
use crate::definition::EventDef;
use crate::error::{Fault, FaultKind};
use crate::number;
use crate::token::{Field, Span};
use FieldName as F;
pub use kind::{EventKind, FieldName};
pub use nature::{EntityOp, LinkEnd, TypeNature};

/// An event line: its definition and the positions of its words.
#[derive(Clone, Copy, Debug)]
pub struct RawEvent<'a> {
    def: &'a EventDef,
    text: &'a [u8],
    words: &'a [Span],
}

impl<'a> RawEvent<'a> {
    /// Creates the event with these `words` of `text`. The first word is the event number.
    ///
    /// # Errors
    /// Fails if a required word is missing.
    pub fn new(def: &'a EventDef, text: &'a [u8], words: &'a [Span]) -> Result<Self, Fault> {
        if words.len() < def.needed_words() {
            let at = words.last().map_or(0, |w| w.end);
            return Err(Fault {
                at,
                kind: FaultKind::MissingField(def.first_missing(words.len())),
            });
        }
        Ok(RawEvent { def, text, words })
    }

    /// Returns the definition of the line's event number.
    #[must_use]
    pub const fn def(&self) -> &'a EventDef {
        self.def
    }

    /// Returns how many more words the line has than its definition. A negative number means fewer
    /// words.
    #[must_use]
    pub fn surplus(&self) -> isize {
        self.words.len() as isize - 1 - self.def.fields().len() as isize
    }

    /// Returns a standard field, if the definition has it.
    #[must_use]
    pub fn field(&self, name: FieldName) -> Option<Field<'a>> {
        self.span(name).map(|span| span.of(self.text))
    }

    /// Returns the position of a standard field in the line.
    #[must_use]
    pub fn span(&self, name: FieldName) -> Option<Span> {
        self.words.get(self.def.word_of(name)?).copied()
    }

    /// Returns the user-defined fields in definition order. Each has its name, and its text if the
    /// line contains the field.
    pub fn extras(&self) -> impl Iterator<Item = (&'a str, Option<Field<'a>>)> + use<'a> {
        let RawEvent { def, text, words } = *self;
        def.extras().map(move |(name, word)| (name, words.get(word).map(|span| span.of(text))))
    }

    /// Decodes the line to a typed event.
    ///
    /// # Errors
    /// Fails if a time or a colour is malformed.
    pub fn decode(&self) -> Result<Event<'a>, Fault> {
        use EventKind as E;
        use FieldName as F;
        Ok(match self.def.kind() {
            E::DefineContainerType => self.define_type(TypeNature::Container)?,
            E::DefineEventType => self.define_type(TypeNature::Event)?,
            E::DefineStateType => self.define_type(TypeNature::State)?,
            E::DefineVariableType => self.define_type(TypeNature::Variable)?,
            E::DefineLinkType => Event::DefineLinkType {
                name: self.required(F::Name)?,
                alias: self.alias(),
                parent: self.required(F::Type)?,
                start: self.required(F::StartContainerType)?,
                end: self.required(F::EndContainerType)?,
            },
            E::DefineEntityValue => Event::DefineValue {
                name: self.required(F::Name)?,
                alias: self.alias(),
                type_: self.required(F::Type)?,
                color: self.color()?,
            },
            E::CreateContainer => Event::CreateContainer {
                time: self.time()?,
                name: self.required(F::Name)?,
                alias: self.alias(),
                type_: self.required(F::Type)?,
                parent: self.required(F::Container)?,
                file: self.field(F::Filename),
            },
            E::DestroyContainer => Event::DestroyContainer {
                time: self.time()?,
                type_: self.required(F::Type)?,
                name: self.required(F::Name)?,
            },
            E::NewEvent => self.entity(EntityOp::Event)?,
            E::SetState => self.entity(EntityOp::SetState)?,
            E::PushState => self.entity(EntityOp::PushState)?,
            E::PopState => self.entity(EntityOp::PopState)?,
            E::ResetState => self.entity(EntityOp::ResetState)?,
            E::SetVariable => self.entity(EntityOp::SetVariable)?,
            E::AddVariable => self.entity(EntityOp::AddVariable)?,
            E::SubVariable => self.entity(EntityOp::SubVariable)?,
            E::StartLink => self.link(LinkEnd::Start, F::StartContainer)?,
            E::EndLink => self.link(LinkEnd::End, F::EndContainer)?,
            E::TraceFile => Event::TraceFile {
                container: self.required(F::Container)?,
                type_: self.required(F::Type)?,
                file: self.required(F::Filename)?,
            },
        })
    }

    fn define_type(&self, nature: TypeNature) -> Result<Event<'a>, Fault> {
        if nature == TypeNature::Variable {
            self.color()?;
        }
        Ok(Event::DefineType {
            nature,
            name: self.required(F::Name)?,
            alias: self.alias(),
            parent: self.required(F::Type)?,
        })
    }

    fn entity(&self, op: EntityOp) -> Result<Event<'a>, Fault> {
        Ok(Event::Entity {
            op,
            time: self.time()?,
            type_: self.required(F::Type)?,
            container: self.required(F::Container)?,
            value: self.field(F::Value),
        })
    }

    fn link(&self, end: LinkEnd, at: FieldName) -> Result<Event<'a>, Fault> {
        Ok(Event::Link {
            end,
            time: self.time()?,
            type_: self.required(F::Type)?,
            container: self.required(F::Container)?,
            value: self.required(F::Value)?,
            at: self.required(at)?,
            key: self.required(F::Key)?,
        })
    }

    /// Returns the time in seconds, correctly rounded.
    ///
    /// # Errors
    /// Fails if there is no time, or if the time is not a finite number.
    pub fn time(&self) -> Result<f64, Fault> {
        let span = self.span(F::Time).ok_or(self.missing(F::Time))?;
        number::parse_time(span.of(self.text).bare())
            .ok_or(Fault { at: span.start, kind: FaultKind::BadTime })
    }

    fn alias(&self) -> Option<Field<'a>> {
        self.field(F::Alias).filter(|alias| !alias.bare().is_empty())
    }

    fn color(&self) -> Result<Option<Color>, Fault> {
        let Some(span) = self.span(F::Color) else {
            return Ok(None);
        };
        let color = Color::parse(span.of(self.text).bare())
            .ok_or(Fault { at: span.start, kind: FaultKind::BadColor })?;
        Ok(Some(color))
    }

    fn required(&self, name: FieldName) -> Result<Field<'a>, Fault> {
        self.field(name).ok_or(self.missing(name))
    }

    fn missing(&self, name: FieldName) -> Fault {
        Fault { at: self.words.last().map_or(0, |w| w.end), kind: FaultKind::MissingField(name) }
    }
}

/// An event with its fields, borrowed from the line.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
#[allow(missing_docs)] // Fields have the format's names. Times are in seconds.
pub enum Event<'a> {
    /// PajeDefineContainerType, PajeDefineStateType, PajeDefineEventType or PajeDefineVariableType.
    /// `parent` is a container type.
    DefineType { nature: TypeNature, name: Field<'a>, alias: Option<Field<'a>>, parent: Field<'a> },
    /// PajeDefineLinkType. `start` and `end` are the types of the containers at the link's ends.
    DefineLinkType {
        name: Field<'a>,
        alias: Option<Field<'a>>,
        parent: Field<'a>,
        start: Field<'a>,
        end: Field<'a>,
    },
    /// PajeDefineEntityValue
    DefineValue {
        name: Field<'a>,
        alias: Option<Field<'a>>,
        type_: Field<'a>,
        color: Option<Color>,
    },
    /// PajeCreateContainer. `file` is the file with the container's events, if any.
    CreateContainer {
        time: f64,
        name: Field<'a>,
        alias: Option<Field<'a>>,
        type_: Field<'a>,
        parent: Field<'a>,
        file: Option<Field<'a>>,
    },
    /// PajeDestroyContainer
    DestroyContainer { time: f64, type_: Field<'a>, name: Field<'a> },
    /// PajeNewEvent, PajeSetState, … or PajeSubVariable. Pops and resets have no value.
    Entity {
        op: EntityOp,
        time: f64,
        type_: Field<'a>,
        container: Field<'a>,
        value: Option<Field<'a>>,
    },
    /// PajeStartLink or PajeEndLink. `container` is the common ancestor of both ends, `at` the
    /// container of this end.
    Link {
        end: LinkEnd,
        time: f64,
        type_: Field<'a>,
        container: Field<'a>,
        value: Field<'a>,
        at: Field<'a>,
        key: Field<'a>,
    },
    /// PajeTraceFile
    TraceFile { container: Field<'a>, type_: Field<'a>, file: Field<'a> },
}

impl Event<'_> {
    /// Returns the time in seconds, if the event has one.
    #[must_use]
    pub const fn time(&self) -> Option<f64> {
        match self {
            Event::CreateContainer { time, .. }
            | Event::DestroyContainer { time, .. }
            | Event::Entity { time, .. }
            | Event::Link { time, .. } => Some(*time),
            Event::DefineType { .. }
            | Event::DefineLinkType { .. }
            | Event::DefineValue { .. }
            | Event::TraceFile { .. } => None,
        }
    }
}
