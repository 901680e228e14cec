use std::collections::HashMap;
use std::hash::Hash;

use foldhash::fast::RandomState;
use paje_parser::FieldName;
use paje_sim::error::Problem;

use super::findings::{FindingIndex, Group};

pub(crate) type Map<K, V> = HashMap<K, V, RandomState>;

pub(crate) fn map<K: Eq + Hash, V>() -> Map<K, V> {
    Map::default()
}

/// Reason why an event is skipped. It is boxed, because it is rare.
#[derive(Debug)]
pub(crate) enum Stop {
    Problem(Trouble),
    /// The event names something that could not be created because of finding `of`.
    Consequence {
        of: FindingIndex,
        spoils: Option<Spoils>,
    },
}

#[derive(Debug)]
pub(crate) struct Trouble {
    pub(crate) problem: Problem,
    pub(crate) field: FieldName,
    pub(crate) group: Option<Group>,
    pub(crate) spoils: Option<Spoils>,
}

/// Type or container that an event should have created, by identifier.
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

    /// Adds a group, so that the problem is reported only once for the group.
    pub(crate) fn once(mut self: Box<Self>, group: Group) -> Box<Self> {
        if let Stop::Problem(trouble) = &mut *self {
            trouble.group = Some(group);
        }
        self
    }

    pub(crate) fn spoiling(mut self: Box<Self>, what: Spoils) -> Box<Self> {
        match &mut *self {
            Stop::Problem(trouble) => trouble.spoils = Some(what),
            Stop::Consequence { spoils, .. } => *spoils = Some(what),
        }
        self
    }
}
