//! Writes the definitions of an archive.

use std::io;

use super::{Chunked, Payload, RECORD, types};
use crate::definitions::definition;
use crate::record::UNDEFINED;

/// Values of enumerations.
mod value {
    pub(super) const PROCESS: u8 = 1;
    pub(super) const MPI: u8 = 4;
    pub(super) const FUNCTION: u8 = 1;
    pub(super) const USER: u8 = 1;
    pub(super) const COMM_LOCATIONS: [u8; 2] = [6, 4];
    pub(super) const COMM_GROUP: [u8; 2] = [4, 5];
    pub(super) const OTHER_METRIC: u8 = 0;
    pub(super) const ABSOLUTE_NEXT: u8 = 0x31;
    pub(super) const DECIMAL: u8 = 1;
    pub(super) const ASYNCHRONOUS: u8 = 2;
    pub(super) const STRING: u8 = 0;
}

/// Writes the definitions of an archive. Names are identifiers of strings, and the first definition
/// of a kind has the identifier 0.
#[derive(Debug)]
pub struct DefinitionWriter(pub(super) Chunked);

impl DefinitionWriter {
    fn add(&mut self, kind: u8, fill: impl FnOnce(&mut Payload)) -> io::Result<()> {
        fill(&mut self.0.payload);
        self.0.make_room(RECORD + self.0.payload.0.len())?;
        self.0.push(kind, false);
        Ok(())
    }

    /// Writes the ticks per second, the tick of time 0, and the last tick.
    pub fn clock(&mut self, resolution: u64, start: u64, end: u64) -> io::Result<()> {
        let length = end.saturating_sub(start);
        self.add(definition::CLOCK_PROPERTIES, |it| {
            it.long(resolution).long(start).long(length).long(UNDEFINED);
        })
    }

    /// Writes a string.
    pub fn string(&mut self, id: u32, text: &[u8]) -> io::Result<()> {
        self.add(definition::STRING, |it| {
            it.word(id.into()).text(text);
        })
    }

    /// Writes a node of the system tree.
    pub fn node(&mut self, id: u32, name: u32, class: u32, parent: Option<u32>) -> io::Result<()> {
        self.add(definition::SYSTEM_TREE_NODE, |it| {
            let parent = parent.map_or(UNDEFINED, u64::from);
            it.word(id.into()).word(name.into()).word(class.into()).word(parent);
        })
    }

    /// Writes a property of a node whose value is a tick.
    pub fn tick(&mut self, node: u32, name: u32, tick: u64) -> io::Result<()> {
        self.add(definition::SYSTEM_TREE_NODE_PROPERTY, |it| {
            it.word(node.into()).word(name.into()).word(UNDEFINED).byte(types::UINT64).long(tick);
        })
    }

    /// Writes a property of a node whose value is a communicator.
    pub fn links(&mut self, node: u32, name: u32, comm: u32) -> io::Result<()> {
        self.add(definition::SYSTEM_TREE_NODE_PROPERTY, |it| {
            let comm = comm.into();
            it.word(node.into()).word(name.into()).word(UNDEFINED).byte(types::COMM).word(comm);
        })
    }

    /// Writes a process in a node of the system tree.
    pub fn process(&mut self, id: u32, name: u32, node: u32) -> io::Result<()> {
        self.add(definition::LOCATION_GROUP, |it| {
            it.word(id.into()).word(name.into()).byte(value::PROCESS).word(node.into());
            it.word(UNDEFINED);
        })
    }

    /// Writes a location in a process.
    pub fn location(
        &mut self,
        id: u64,
        name: u32,
        kind: LocationKind,
        events: u64,
        process: u32,
    ) -> io::Result<()> {
        self.add(definition::LOCATION, |it| {
            it.long(id).word(name.into()).byte(kind as u8).long(events).word(process.into());
        })
    }

    /// Writes a region. `is_mpi` says whether it is a function of MPI.
    pub fn region(&mut self, id: u32, name: u32, is_mpi: bool) -> io::Result<()> {
        let paradigm = if is_mpi { value::MPI } else { value::USER };
        self.add(definition::REGION, |it| {
            it.word(id.into()).word(name.into()).word(UNDEFINED).byte(0).word(UNDEFINED);
            it.word(0).word(0).word(name.into());
            it.byte(value::FUNCTION).byte(paradigm).word(0);
        })
    }

    /// Writes a metric member, and a class with the same identifier that consists of it.
    pub fn metric(&mut self, id: u32, name: u32, none: u32) -> io::Result<()> {
        self.add(definition::METRIC_MEMBER, |it| {
            it.word(id.into()).word(name.into()).word(none.into()).byte(value::OTHER_METRIC);
            it.byte(value::ABSOLUTE_NEXT).byte(types::DOUBLE).byte(value::DECIMAL);
            it.long(0).word(none.into());
        })?;
        self.add(definition::METRIC_CLASS, |it| {
            it.word(id.into()).byte(1).word(id.into()).byte(value::ASYNCHRONOUS).byte(0);
        })
    }

    /// Writes a parameter whose values are strings.
    pub fn parameter(&mut self, id: u32, name: u32) -> io::Result<()> {
        self.add(definition::PARAMETER, |it| {
            it.word(id.into()).word(name.into()).byte(value::STRING);
        })
    }

    /// Writes the locations of all ranks as group 0, and the group of all ranks as group 1.
    pub fn ranks(&mut self, name: u32, locations: &[u64]) -> io::Result<()> {
        let all: Vec<u64> = (0..locations.len() as u64).collect();
        let groups = [(value::COMM_LOCATIONS, locations), (value::COMM_GROUP, &all)];
        for (id, ([old, type_], members)) in (0..).zip(groups) {
            self.add(definition::GROUP, |it| {
                it.word(id).word(name.into()).byte(old).word(members.len() as u64);
                members.iter().for_each(|member| {
                    it.long(*member);
                });
                it.byte(type_).byte(value::MPI).word(0);
            })?;
        }
        Ok(())
    }

    /// Writes a communicator of [all ranks](Self::ranks).
    pub fn communicator(&mut self, id: u32, name: u32, parent: Option<u32>) -> io::Result<()> {
        self.add(definition::COMM, |it| {
            let parent = parent.map_or(UNDEFINED, u64::from);
            it.word(id.into()).word(name.into()).word(1).word(parent).word(0);
        })
    }
}

/// Kind of a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum LocationKind {
    Thread = 1,
    Metric = 3,
}
