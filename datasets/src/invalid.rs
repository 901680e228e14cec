//! Small traces with exactly one fault, each with the line at which it must be reported.
//!
//! A trace of [`trace`] is valid but for its fault: take the faulty line away (or, for a fault of the whole
//! file, what the fault's description says), and every replayer must accept it. Where the fault stands, and which of several
//! forms it has, depends on the seed.

mod base;
mod plant;

use crate::named::named;

pub use plant::{InvalidTrace, trace};

named! {
    /// A kind of invalidity.
    #[non_exhaustive]
    pub Fault {
        /// An event of a type that was never defined.
        UnknownType "unknown-type",
        /// An event in a container that was never created.
        UnknownContainer "unknown-container",
        /// A type whose identifier another type has.
        DuplicateType "duplicate-type",
        /// A container whose identifier another container has.
        DuplicateContainer "duplicate-container",
        /// A type of another nature than the event needs: a state event with a variable type.
        WrongNature "wrong-nature",
        /// An event in a container whose type is not the parent of the event's type.
        ForeignType "foreign-type",
        /// A container created in one whose type is not the parent of its type.
        ForeignContainer "foreign-container",
        /// A link end in a container of another type than the link type asks for.
        ForeignLinkEnd "foreign-link-end",
        /// A container identified by `0`, which is the root.
        ReservedContainer "reserved-container",
        /// A type identified by `0`, which is the root type.
        ReservedType "reserved-type",
        /// A pop where no state is open.
        PopOnEmptyStack "pop-on-empty-stack",
        /// A state event earlier than the one before it in its lane.
        StateOutOfOrder "state-out-of-order",
        /// A variable event earlier than the one before it in its lane.
        VariableOutOfOrder "variable-out-of-order",
        /// An event earlier than the one before it in its lane.
        EventOutOfOrder "event-out-of-order",
        /// A link completed earlier than the one before it in its lane.
        LinkOutOfOrder "link-out-of-order",
        /// An addition to, or subtraction from, a variable without a value.
        AddBeforeSet "add-before-set",
        /// A key used again after its link was complete.
        LinkKeyReused "link-key-reused",
        /// The two ends of a link differ in their value.
        LinkValuesDiffer "link-values-differ",
        /// A key started twice. PajeNG makes a link with a `NULL` end of it.
        TwoStarts "two-starts",
        /// A key ended twice before it was started. PajeNG makes a link with a `NULL` end of it.
        TwoEnds "two-ends",
        /// A link that is still open at the end of the trace.
        OpenLinkAtEnd "open-link-at-end",
        /// A link that is still open when the container that holds it is destroyed.
        OpenLinkAtDestroy "open-link-at-destroy",
        /// A container destroyed before its last event.
        DestroyedEarly "destroyed-early",
        /// A container destroyed under another type than it was created with.
        DestroyedAsOtherType "destroyed-as-other-type",
        /// An event line that lacks an obligatory field. PajeNG aborts.
        MissingField "missing-field",
        /// An event line whose number has no definition.
        UnknownEventNumber "unknown-event-number",
        /// An event number defined twice.
        RedefinedEventNumber "redefined-event-number",
        /// A definition that lacks an obligatory field. Reported where the definition ends.
        MissingObligatoryField "missing-obligatory-field",
        /// A field declared with a type that does not exist.
        UnknownFieldType "unknown-field-type",
        /// A known field that occurs twice in a definition, with one declared type.
        FieldDefinedTwice "field-defined-twice",
        /// A definition of an event that does not exist.
        UnknownEventName "unknown-event-name",
        /// A line that starts with `%` outside a definition and does not start one.
        StrayPercent "stray-percent",
        /// A time that is not a number. PajeNG takes it.
        BadTime "bad-time",
        /// A variable's value that is not a number. PajeNG takes it for 0.
        BadVariableValue "bad-variable-value",
        /// A colour that is neither three or four numbers nor six hexadecimal digits.
        BadColor "bad-color",
        /// A value defined that exists already, by definition or by use.
        ValueDefinedTwice "value-defined-twice",
        /// A value defined for a variable or container type, which have none.
        ValueOfVariableType "value-of-variable-type",
        /// A file without a byte. PajeNG takes it.
        EmptyFile "empty-file",
        /// A file that ends within a definition. PajeNG takes it.
        TruncatedDefinition "truncated-definition",
    }
}

impl Fault {
    /// Returns whether PajeNG 1.3.6 reports the fault, with exit status 1. It accepts the others, or aborts.
    pub fn is_reported_by_pajeng(self) -> bool {
        !matches!(
            self,
            Self::TwoStarts
                | Self::TwoEnds
                | Self::MissingField
                | Self::BadTime
                | Self::BadVariableValue
                | Self::EmptyFile
                | Self::TruncatedDefinition
        )
    }
}
