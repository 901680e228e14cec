//! The records of OTF2, as data: decoding, printing and mapping follow from these tables.
//!
//! A line gives the number of a record, its name (with `!` if no length precedes its field), and its
//! fields in the order of the file, each as `Label:type`. `=` precedes the value of a field that older
//! libraries did not write. `*` is the identifier that a record defines. A type is a number, an
//! enumeration, a kind of reference, or a list (`[size of its count;type of its items]`).

use std::sync::LazyLock;

use crate::enumerations::{self, Enumeration};

/// Kinds of definitions that others refer to. The first 15 are those of mapping tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Reference {
    String,
    Attribute,
    Location,
    Region,
    Group,
    Metric,
    Comm,
    Parameter,
    RmaWin,
    SourceCodeLocation,
    CallingContext,
    InterruptGenerator,
    IoFile,
    IoHandle,
    LocationGroup,
    SystemTreeNode,
    Callsite,
    Callpath,
    MetricMember,
    CartDimension,
    CartTopology,
    IoParadigm,
}

impl Reference {
    /// Number of kinds that mapping tables can replace.
    pub(crate) const MAPPED: usize = 15;

    const ALL: [(&str, Reference); 22] = [
        ("String", Reference::String),
        ("Attribute", Reference::Attribute),
        ("Location", Reference::Location),
        ("Region", Reference::Region),
        ("Group", Reference::Group),
        ("Metric", Reference::Metric),
        ("Comm", Reference::Comm),
        ("Parameter", Reference::Parameter),
        ("RmaWin", Reference::RmaWin),
        ("SourceCodeLocation", Reference::SourceCodeLocation),
        ("CallingContext", Reference::CallingContext),
        ("InterruptGenerator", Reference::InterruptGenerator),
        ("IoFile", Reference::IoFile),
        ("IoHandle", Reference::IoHandle),
        ("LocationGroup", Reference::LocationGroup),
        ("SystemTreeNode", Reference::SystemTreeNode),
        ("Callsite", Reference::Callsite),
        ("Callpath", Reference::Callpath),
        ("MetricMember", Reference::MetricMember),
        ("CartDimension", Reference::CartDimension),
        ("CartTopology", Reference::CartTopology),
        ("IoParadigm", Reference::IoParadigm),
    ];

    fn named(name: &str) -> Option<Reference> {
        Reference::ALL.iter().find(|(known, _)| *known == name).map(|(_, it)| *it)
    }

    /// Returns the kind of definition that a value of an attribute refers to, by its type.
    #[must_use]
    pub fn of_type(type_: u8) -> Option<Reference> {
        let (_, found) =
            Reference::ALL[..Reference::MAPPED].get(usize::from(type_).checked_sub(11)?)?;
        Some(*found)
    }
}

/// Type of a field.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Type {
    /// A byte.
    Byte,
    /// A compressed integer of 32 bits.
    Word,
    /// A compressed integer of 64 bits.
    Long,
    /// A compressed integer of 64 bits with a sign.
    Signed,
    /// A time, in eight bytes.
    Time,
    /// A number with a fraction, in eight bytes.
    Double,
    /// Bytes up to a zero.
    Text,
    /// A byte for the type of a value, and the value.
    Value,
    /// One of the values of an enumeration, in a byte.
    One(&'static Enumeration),
    /// Flags, in a compressed integer of 32 bits.
    Flags(&'static Enumeration),
    /// The identifier of a definition.
    Reference(Reference),
    /// A rank in the communicator of the record.
    Rank,
    /// A rank in the communicator of the record, or one of the special roots.
    Root,
    /// A list, whose count is a byte or a compressed integer.
    List {
        /// Whether the count is a byte.
        short: bool,
        /// Type of its items.
        item: Item,
    },
}

/// Type of the items of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Item {
    /// A compressed integer of 32 bits.
    Word,
    /// A compressed integer of 64 bits.
    Long,
    /// The identifier of a definition.
    Reference(Reference),
    /// A type and 64 bits.
    Typed,
    /// A byte and a value.
    Property,
}

/// A field of a record.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Label, with `_` for blanks.
    pub label: &'static str,
    /// Type.
    pub type_: Type,
    /// Value if the record ends before it.
    pub default: Option<u64>,
}

/// A record.
#[derive(Debug)]
pub struct Record {
    /// Number in the file.
    pub kind: u8,
    /// Name.
    pub name: &'static str,
    /// Whether no length precedes its only field.
    pub bare: bool,
    /// Fields in the order of the file.
    pub fields: Vec<Field>,
    /// Number of the field with the communicator or the window that ranks belong to, and its kind.
    pub(crate) comm: Option<(usize, Reference)>,
}

impl Record {
    /// Returns the kind of definitions that the record adds to.
    #[must_use]
    pub fn defines(&self) -> Option<Reference> {
        let first = self.fields.first().filter(|field| field.label == "*");
        first.and_then(|field| match field.type_ {
            Type::Reference(reference) => Some(reference),
            _ => None,
        })
    }

    /// Returns the number of a field.
    #[must_use]
    pub fn field(&self, label: &str) -> Option<usize> {
        self.fields.iter().position(|field| field.label == label)
    }
}

/// Records of one kind of file, by number.
#[derive(Debug)]
pub struct Records(Vec<Option<Record>>);

impl Records {
    fn new(lines: &'static str) -> Self {
        let mut records: Vec<Option<Record>> = Vec::new();
        records.resize_with(256, || None);
        for line in lines.lines() {
            let mut words = line.split_whitespace();
            let (Some(kinds), Some(name)) = (words.next(), words.next()) else { continue };
            let fields: Option<Vec<Field>> = words.map(field).collect();
            let kind = kinds.parse().ok();
            if let (Some(kind), Some(fields)) = (kind, fields) {
                let bare = name.ends_with('!');
                let name = name.trim_end_matches('!');
                let comm = fields.iter().enumerate().find_map(|(at, field)| match field.type_ {
                    Type::Reference(it @ (Reference::Comm | Reference::RmaWin)) => Some((at, it)),
                    _ => None,
                });
                records[usize::from(kind)] = Some(Record { kind, name, bare, fields, comm });
            }
        }
        Records(records)
    }

    /// Returns the record of a number, if there is one.
    #[must_use]
    #[inline]
    pub fn get(&self, kind: u8) -> Option<&Record> {
        self.0[usize::from(kind)].as_ref()
    }

    /// Iterates over all records.
    pub fn iter(&self) -> impl Iterator<Item = &Record> {
        self.0.iter().flatten()
    }
}

fn field(word: &'static str) -> Option<Field> {
    let (label, type_) = word.split_once(':')?;
    let (type_, default) = match type_.split_once('=') {
        None => (type_, None),
        Some((type_, "undefined")) => (type_, Some(u64::MAX)),
        Some((type_, default)) => (type_, Some(default.parse().ok()?)),
    };
    let type_ = match type_ {
        "u8" => Type::Byte,
        "u32" => Type::Word,
        "u64" => Type::Long,
        "s64" => Type::Signed,
        "time" => Type::Time,
        "f64" => Type::Double,
        "text" => Type::Text,
        "value" => Type::Value,
        "rank" => Type::Rank,
        "root" => Type::Root,
        list if list.starts_with('[') => {
            let (count, item) = list.trim_matches(['[', ']']).split_once(';')?;
            let item = match item {
                "u32" => Item::Word,
                "u64" => Item::Long,
                "typed" => Item::Typed,
                "property" => Item::Property,
                name => Item::Reference(Reference::named(name)?),
            };
            Type::List { short: count == "u8", item }
        }
        name => match (enumerations::named(name), Reference::named(name)) {
            (Some(names), _) if names.flags => Type::Flags(names),
            (Some(names), _) => Type::One(names),
            (None, reference) => Type::Reference(reference?),
        },
    };
    Some(Field { label, type_, default })
}

/// Records of event files.
pub static EVENTS: LazyLock<Records> =
    LazyLock::new(|| Records::new(include_str!("table/events.txt")));

/// Records of the file of global definitions.
pub static DEFINITIONS: LazyLock<Records> =
    LazyLock::new(|| Records::new(include_str!("table/definitions.txt")));

/// Records of the file of markers.
pub static MARKERS: LazyLock<Records> = LazyLock::new(|| {
    Records::new(
        "5 MarkerDefinition Marker:u32 Group:text Category:text Severity:u8
        6 Marker Time:u64 Duration:u64 Marker:u32 Scope:u8 Place:u64 Text:text",
    )
});

/// Records of the files of local definitions that are read. The others are skipped.
pub static LOCAL: LazyLock<Records> =
    LazyLock::new(|| Records::new("6 ClockOffset Time:time Offset:s64 Deviation:f64"));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_a_record() {
        let kinds = |records: &Records| records.iter().map(|it| it.kind).collect::<Vec<_>>();
        assert_eq!(kinds(&EVENTS), (10..=92).collect::<Vec<_>>());
        let definitions = (5..=43).filter(|kind| *kind != 9);
        assert_eq!(kinds(&DEFINITIONS), definitions.collect::<Vec<_>>());
        assert_eq!((kinds(&MARKERS), kinds(&LOCAL)), (vec![5, 6], vec![6]));
    }

    #[test]
    fn no_record_has_more_fields_than_are_kept() {
        for record in [&*EVENTS, &*DEFINITIONS, &*MARKERS, &*LOCAL].iter().flat_map(|it| it.iter())
        {
            assert!(record.fields.len() <= crate::record::FIELDS, "{}", record.name);
            assert!(!record.bare || record.fields.len() == 1, "{}", record.name);
            let is_list = |field: &&Field| matches!(field.type_, Type::List { .. });
            assert!(record.fields.iter().filter(is_list).count() <= 1, "{}", record.name);
        }
    }
}
