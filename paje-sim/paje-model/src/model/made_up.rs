//! Objects of a damaged trace that no line defines. The replay makes them up.
//!
//! A name that was once found to be undefined stays undefined: decoders read the name in different lines, and all of
//! them must get the same result.

use paje_parser::{FieldName, LinkEnd, Span, TypeNature};

use crate::model::containers::NewContainer;
use crate::model::types::NewType;
use crate::model::{Failed, Model, has_values};
use crate::names::error::Problem;
use crate::names::hash::{TextMap, TextSet};
use crate::names::ids::{ContainerId, LaneId, TypeId, ValueId};
use crate::names::recovered::Remedy;
use crate::names::text::Name;

/// Stands for an unknown container at a link's end.
pub const UNKNOWN: ContainerId = ContainerId(u32::MAX);

/// Names of a damaged trace that are known to be undefined.
#[derive(Clone, Debug, Default)]
pub struct MadeUp {
    /// Lanes, by the names of the container and the type, and by the nature that their events imply.
    lanes: TextMap<(Vec<u8>, Vec<u8>, TypeNature), Failed>,
    /// Containers at the ends of links, by the names of the type and the container.
    link_ends: TextSet<(Vec<u8>, LinkEnd, Vec<u8>)>,
    /// By the name of the type: values that were used before the type was known, in file order.
    awaited: TextMap<Vec<u8>, Vec<AwaitedValue>>,
}

#[derive(Clone, Debug)]
pub struct AwaitedValue {
    raw: Vec<u8>,
    hash: u64,
}

impl AwaitedValue {
    pub fn new(name: Name<'_>, hash: u64) -> Self {
        let mut raw = Vec::new();
        name.write_raw(&mut raw);
        AwaitedValue { raw, hash }
    }
}

impl Model {
    /// Returns the type and the parent of a new container. The type may be made up.
    pub(super) fn mended_place(
        &mut self,
        type_name: &[u8],
        parent_name: &[u8],
        mended: &mut Vec<(Failed, Remedy)>,
    ) -> Result<(TypeId, ContainerId), Failed> {
        let type_ = match self.container_type(type_name, FieldName::Type) {
            Err(failed @ (_, Problem::UnknownType { .. })) => Err(failed),
            known => Ok(known?),
        };
        if let Ok(TypeId::ROOT) = type_ {
            return self.place_of(type_name, parent_name);
        }
        let parent = self.container(parent_name, FieldName::Container);
        let parent = parent.unwrap_or_else(|failed| {
            mended.push((failed, Remedy::Kept));
            ContainerId::ROOT
        });
        let parent_type = self.containers.type_of(parent);
        let type_ = match type_ {
            Ok(type_) => type_,
            Err(failed) => {
                mended.push((failed, Remedy::Created));
                self.make_up_type(type_name, TypeNature::Container, parent_type)
            }
        };
        if self.types.parent(type_) != parent_type && mended.is_empty() {
            mended.push(((FieldName::Type, self.not_child(type_, parent)), Remedy::Kept));
        }
        Ok((type_, parent))
    }

    /// If the new container was made up before, completes it. Returns whether a container was completed.
    pub(super) fn adopts(
        &mut self,
        known: ContainerId,
        name: Name<'_>,
        alias: Option<Name<'_>>,
        type_: TypeId,
        parent: ContainerId,
    ) -> bool {
        let (time, defined_in) = (self.containers.start(known), self.file.number);
        self.containers.is_made_up(known)
            && self.containers.type_of(known) == type_
            && self
                .containers
                .adopt(known, &NewContainer { name, alias, type_, parent, time, defined_in })
    }

    fn make_up_type(&mut self, name: &[u8], nature: TypeNature, parent: TypeId) -> TypeId {
        let (name, defined_in) = (Name::bare(name), self.file.number);
        self.types.insert(NewType { name, alias: None, nature, parent, ends: None, defined_in })
    }

    /// Returns the lane of an event. Makes up the lane and its container if necessary. They then begin at the event's
    /// `time`, if the event has a time.
    ///
    /// # Errors The lane does not exist and is never created.
    pub fn mended_lane(
        &mut self,
        container: &[u8],
        type_: &[u8],
        nature: TypeNature,
        time: impl Fn() -> Option<f64>,
        mended: &mut Vec<(Failed, Remedy)>,
    ) -> Result<LaneId, Failed> {
        let key = (container.to_vec(), type_.to_vec(), nature);
        if let Some(failed) = self.made_up.as_ref().and_then(|known| known.lanes.get(&key)) {
            return Err(failed.clone());
        }
        loop {
            let failed = match self.lane(container, type_, nature) {
                Ok(lane) => return Ok(lane),
                Err(failed) => failed,
            };
            let made = match &failed.1 {
                Problem::UnknownType { .. } => self.containers.find(container).map(|container| {
                    let parent = self.containers.type_of(container);
                    self.make_up_type(type_, nature, parent);
                }),
                Problem::UnknownContainer { .. } => self.types.find(type_).and_then(|type_| {
                    let of = self.types.parent(type_);
                    self.make_up_container(container, of, time())
                }),
                _ => None,
            };
            if made.is_none() {
                if let Some(known) = &mut self.made_up {
                    known.lanes.insert(key, failed.clone());
                }
                return Err(failed);
            }
            mended.push((failed, Remedy::Created));
        }
    }

    fn make_up_container(&mut self, name: &[u8], type_: TypeId, time: Option<f64>) -> Option<()> {
        // The root is unique and known.
        if type_ == TypeId::ROOT {
            return None;
        }
        self.containers.make_up(name, type_, time?, self.file.number);
        Some(())
    }

    /// Returns the container at an end of a link, and the problem with that end. The container may be made up.
    pub fn mended_end(
        &mut self,
        type_name: &[u8],
        name: &[u8],
        end: LinkEnd,
        time: impl Fn() -> Option<f64>,
    ) -> (ContainerId, Option<(Failed, Remedy)>) {
        let key = (type_name.to_vec(), end, name.to_vec());
        if self.made_up.as_ref().is_some_and(|known| known.link_ends.contains(&key)) {
            return (UNKNOWN, None);
        }
        let failed = match self.link_end(type_name, name, end) {
            Ok(container) => return (container, None),
            Err(failed) => failed,
        };
        if let Some(container) = self.containers.find(name)
            && matches!(failed.1, Problem::WrongLinkEnd { .. })
        {
            return (container, Some((failed, Remedy::Kept)));
        }
        let made = self.types.find(type_name).and_then(|type_| {
            let ends = self.types.link_ends(type_);
            let of = ends.map(|(start, last)| if end == LinkEnd::Start { start } else { last });
            let is_link = self.types.nature(type_) == TypeNature::Link;
            let of = of.or_else(|| is_link.then(|| self.types.parent(type_)));
            self.make_up_container(name, of?, time())?;
            self.containers.find(name)
        });
        if made.is_none()
            && let Some(known) = &mut self.made_up
        {
            known.link_ends.insert(key);
        }
        made.map_or((UNKNOWN, None), |made| (made, Some((failed, Remedy::Created))))
    }

    pub fn await_value(&mut self, type_name: &[u8], value: AwaitedValue) {
        if let Some(known) = &mut self.made_up {
            known.awaited.entry(type_name.to_vec()).or_default().push(value);
        }
    }

    pub fn awaited_value(&mut self, type_: TypeId, value: &AwaitedValue) -> ValueId {
        let whole = Span { start: 0, end: value.raw.len() as u32 };
        self.value(type_, whole.of(&value.raw[..]).into(), value.hash)
    }

    pub fn settle_awaited(&mut self) {
        let Some(known) = &mut self.made_up else { return };
        if known.awaited.is_empty() {
            return;
        }
        let types = &self.types;
        let ready: Vec<_> =
            known.awaited.extract_if(|name, _| types.find(name).is_some()).collect();
        for (type_name, values) in ready {
            let Some(type_) = self.types.find(&type_name) else { continue };
            if !has_values(self.types.nature(type_)) {
                continue;
            }
            for value in &values {
                self.awaited_value(type_, value);
            }
        }
    }
}
