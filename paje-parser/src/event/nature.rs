//! The natures of types, and what events do to what is of them.

/// Kind of things that a type describes, and so of the events that its entities take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TypeNature {
    /// Containers.
    Container,
    /// Intervals with a value, which may nest.
    State,
    /// Numbers that change in time.
    Variable,
    /// Points in time with a value.
    Event,
    /// Intervals from one container to another.
    Link,
}

impl TypeNature {
    /// The word for it in rows and messages: `Container`, `State`, …
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            TypeNature::Container => "Container",
            TypeNature::State => "State",
            TypeNature::Variable => "Variable",
            TypeNature::Event => "Event",
            TypeNature::Link => "Link",
        }
    }
}

/// Operation of an event on the lane (container and type) that it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // The names are the format's own.
pub enum EntityOp {
    Event,
    SetState,
    PushState,
    PopState,
    ResetState,
    SetVariable,
    AddVariable,
    SubVariable,
}

impl EntityOp {
    /// The nature that the type must have.
    #[must_use]
    pub const fn nature(self) -> TypeNature {
        match self {
            EntityOp::Event => TypeNature::Event,
            EntityOp::SetState
            | EntityOp::PushState
            | EntityOp::PopState
            | EntityOp::ResetState => TypeNature::State,
            EntityOp::SetVariable | EntityOp::AddVariable | EntityOp::SubVariable => {
                TypeNature::Variable
            }
        }
    }
}

/// End of a link that an event gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LinkEnd {
    /// PajeStartLink
    Start,
    /// PajeEndLink
    End,
}
