//! Tables and their columns.

use std::str::FromStr;
use std::sync::Arc;

use arrow_schema::{DataType, Field};
use paje_sim::TypeNature;

/// One of a trace's tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)] // The other variants are named after Pajé's natures.
pub enum Table {
    Container,
    State,
    Variable,
    Event,
    Link,
    /// Types and their values.
    TypeHierarchy,
    /// Containers and the types of their contents.
    EntityHierarchy,
}

impl Table {
    /// All tables.
    pub const ALL: [Table; 7] = [
        Table::Container,
        Table::State,
        Table::Variable,
        Table::Event,
        Table::Link,
        Table::TypeHierarchy,
        Table::EntityHierarchy,
    ];

    /// Returns the table's file name without extension.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Table::Container => "container",
            Table::State => "state",
            Table::Variable => "variable",
            Table::Event => "event",
            Table::Link => "link",
            Table::TypeHierarchy => "type_hierarchy",
            Table::EntityHierarchy => "entity_hierarchy",
        }
    }

    /// Returns the nature of the table's rows, or `None` for hierarchies.
    #[must_use]
    pub const fn nature(self) -> Option<TypeNature> {
        match self {
            Table::Container => Some(TypeNature::Container),
            Table::State => Some(TypeNature::State),
            Table::Variable => Some(TypeNature::Variable),
            Table::Event => Some(TypeNature::Event),
            Table::Link => Some(TypeNature::Link),
            Table::TypeHierarchy | Table::EntityHierarchy => None,
        }
    }

    /// Returns the columns without user-defined fields. Their names are those in the header lines
    /// of `pj_dump -h`.
    pub(crate) const fn columns(self) -> &'static [Column] {
        use Column::*;
        match self {
            Table::Container => &[Parent, Type, Start, End, Name],
            Table::State => &[Container, Type, Start, End, Imbrication, Value],
            Table::Variable => &[Container, Type, Start, End, Number],
            Table::Event => &[Container, Type, Time, Value],
            Table::Link => &[Container, Type, Start, End, Value, StartContainer, EndContainer, Key],
            Table::TypeHierarchy => &[Parent, Name, Nature],
            Table::EntityHierarchy => &[Parent, Name, Type, Nature],
        }
    }
}

impl FromStr for Table {
    type Err = UnknownTable;

    fn from_str(name: &str) -> Result<Self, UnknownTable> {
        Table::ALL.into_iter().find(|table| table.name() == name).ok_or(UnknownTable)
    }
}

/// Error for a name that no table has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownTable;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    Container,
    Parent,
    Name,
    StartContainer,
    EndContainer,
    Type,
    Nature,
    Start,
    End,
    Time,
    Imbrication,
    Value,
    Number,
    Key,
}

impl Column {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Column::Container => "Container",
            Column::Parent => "Parent",
            Column::Name => "Name",
            Column::StartContainer => "StartContainer",
            Column::EndContainer => "EndContainer",
            Column::Type => "Type",
            Column::Nature => "Nature",
            Column::Start => "Start",
            Column::End => "End",
            Column::Time => "Time",
            Column::Imbrication => "Imbrication",
            Column::Value | Column::Number => "Value",
            Column::Key => "Key",
        }
    }

    pub(crate) fn field(self) -> Field {
        let data_type = match self {
            Column::Start | Column::End | Column::Time | Column::Number => DataType::Float64,
            Column::Imbrication => DataType::Int32,
            Column::Key => DataType::Utf8,
            _ => dictionary(),
        };
        Field::new(self.name(), data_type, false)
    }
}

/// Returns the type of name columns. Codes are signed, as pandas requires.
fn dictionary() -> DataType {
    DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
}

pub(crate) fn fields(table: Table) -> Vec<Arc<Field>> {
    table.columns().iter().map(|column| Arc::new(column.field())).collect()
}
