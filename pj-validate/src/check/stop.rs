//! Why an event is skipped: the words in which all that replays events speaks.

use std::collections::HashMap;
use std::hash::Hash;

use foldhash::fast::RandomState;
use paje_parser::FieldName;
use paje_sim::error::Problem;

use super::findings::{Group, Told};

pub(crate) type Map<K, V> = HashMap<K, V, RandomState>;

/// An empty map.
pub(crate) fn map<K: Eq + Hash, V>() -> Map<K, V> {
    Map::default()
}

/// Why an event was skipped. Boxed, so that what is rare costs little where all is well.
#[derive(Debug)]
pub(crate) enum Stop {
    Problem(Trouble),
    /// Something that the event names could not be made; `of` tells why.
    Consequence {
        of: Told,
        spoils: Option<Spoils>,
    },
}

/// A problem with an event.
#[derive(Debug)]
pub(crate) struct Trouble {
    pub(crate) problem: Problem,
    /// The field that it is about.
    pub(crate) field: FieldName,
    pub(crate) group: Option<Group>,
    /// Type or container that could not be made because of it.
    pub(crate) spoils: Option<Spoils>,
}

/// Type or container that an event was to make, by its identifier.
#[derive(Clone, Debug)]
pub(crate) enum Spoils {
    Type(Vec<u8>),
    Container(Vec<u8>),
}

pub(crate) type Checked<T> = Result<T, Box<Stop>>;

impl Stop {
    pub(crate) fn at(field: FieldName, problem: Problem) -> Box<Self> {
        Box::new(Stop::Problem(Trouble { problem, field, group: None, spoils: None }))
    }

    /// The same, told once for the group.
    pub(crate) fn once(mut self: Box<Self>, group: Group) -> Box<Self> {
        if let Stop::Problem(trouble) = &mut *self {
            trouble.group = Some(group);
        }
        self
    }

    /// The same, and something could not be made because of it.
    pub(crate) fn spoiling(mut self: Box<Self>, what: Spoils) -> Box<Self> {
        match &mut *self {
            Stop::Problem(trouble) => trouble.spoils = Some(what),
            Stop::Consequence { spoils, .. } => *spoils = Some(what),
        }
        self
    }
}
