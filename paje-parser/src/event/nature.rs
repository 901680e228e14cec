//! Natures of types, and operations of events.

/// Kind of the objects of a type: containers, states, variables, events or links.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TypeNature {
    /// Containers.
    Container,
    /// Intervals with a value, which may nest.
    State,
    /// Numbers that change over time.
    Variable,
    /// Points in time with a value.
    Event,
    /// Intervals that start in one container and end in another.
    Link,
}

impl TypeNature {
    /// Returns the name in rows and messages, such as `State`.
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

/// Operation of an event on a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // The names are those of the format.
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
    /// Returns the nature of the types that the operation applies to.
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

/// End of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LinkEnd {
    /// PajeStartLink
    Start,
    /// PajeEndLink
    End,
}
