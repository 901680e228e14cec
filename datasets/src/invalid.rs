//! Generates small traces with exactly one fault. Also returns the line where the fault must be
//! reported.
//!
//! Every program must accept the trace without the faulty line. If the fault concerns the whole
//! file, undoing the change in its description makes the trace valid. The seed determines where the
//! fault is, and which of several forms it has.

mod base;
mod plant;

use crate::named::named;

pub use plant::{InvalidTrace, trace};

named! {
    /// A kind of fault.
    #[non_exhaustive]
    pub Fault {
        /// An event of a type that was never defined.
        UnknownType "unknown-type",
        /// An event in a container that was never created.
        UnknownContainer "unknown-container",
        /// A type with the identifier of another type.
        DuplicateType "duplicate-type",
        /// A container with the identifier of another container.
        DuplicateContainer "duplicate-container",
        /// A type of the wrong nature, such as a state event with a variable type.
        WrongNature "wrong-nature",
        /// An event in a container whose type is not the parent of the event's type.
        ForeignType "foreign-type",
        /// A container created in a container whose type is not the parent of its type.
        ForeignContainer "foreign-container",
        /// A link end in a container of the wrong type.
        ForeignLinkEnd "foreign-link-end",
        /// A container with the identifier `0`, which is the root.
        ReservedContainer "reserved-container",
        /// A type with the identifier `0`, which is the root type.
        ReservedType "reserved-type",
        /// A pop where no state is open.
        PopOnEmptyStack "pop-on-empty-stack",
        /// A state event that is earlier than the previous event of its lane.
        StateOutOfOrder "state-out-of-order",
        /// A variable event that is earlier than the previous event of its lane.
        VariableOutOfOrder "variable-out-of-order",
        /// A point event that is earlier than the previous event of its lane.
        EventOutOfOrder "event-out-of-order",
        /// A link that is completed earlier than the previous link of its lane.
        LinkOutOfOrder "link-out-of-order",
        /// An addition to or subtraction from a variable without a value.
        AddBeforeSet "add-before-set",
        /// A key used again after its link is complete.
        LinkKeyReused "link-key-reused",
        /// A link whose ends have different values.
        LinkValuesDiffer "link-values-differ",
        /// A key started twice. PajeNG makes a link with a `NULL` end.
        TwoStarts "two-starts",
        /// A key ended twice before its start. PajeNG makes a link with a `NULL` end.
        TwoEnds "two-ends",
        /// A link that is still open at the end of the trace.
        OpenLinkAtEnd "open-link-at-end",
        /// A link that is still open when its container is destroyed.
        OpenLinkAtDestroy "open-link-at-destroy",
        /// A container destroyed before its last event.
        DestroyedEarly "destroyed-early",
        /// A container destroyed with another type than it was created with.
        DestroyedAsOtherType "destroyed-as-other-type",
        /// An event line without an obligatory field. PajeNG aborts.
        MissingField "missing-field",
        /// An event line whose number has no definition.
        UnknownEventNumber "unknown-event-number",
        /// An event number defined twice.
        RedefinedEventNumber "redefined-event-number",
        /// A definition without an obligatory field, reported where the definition ends.
        MissingObligatoryField "missing-obligatory-field",
        /// A field with an unknown type.
        UnknownFieldType "unknown-field-type",
        /// A standard field that occurs twice in a definition, with the same type.
        FieldDefinedTwice "field-defined-twice",
        /// A definition of an event that does not exist.
        UnknownEventName "unknown-event-name",
        /// A `%` line outside a definition that does not start one.
        StrayPercent "stray-percent",
        /// A time that is not a number. PajeNG accepts it.
        BadTime "bad-time",
        /// A variable's value that is not a number. PajeNG reads 0.
        BadVariableValue "bad-variable-value",
        /// A colour that is neither three or four numbers nor six hexadecimal digits.
        BadColor "bad-color",
        /// A value that is already defined or used.
        ValueDefinedTwice "value-defined-twice",
        /// A value defined for a variable or container type.
        ValueOfVariableType "value-of-variable-type",
        /// An empty file. PajeNG accepts it.
        EmptyFile "empty-file",
        /// A file that ends within a definition. PajeNG accepts it.
        TruncatedDefinition "truncated-definition",
    }
}

impl Fault {
    /// Returns whether PajeNG 1.3.6 reports the fault with exit status 1. Otherwise it accepts it
    /// or aborts.
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
