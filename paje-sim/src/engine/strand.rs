//! The replay of lanes, each by itself, block after block.

use paje_parser::{FieldName, LinkEnd, TypeNature};
use splitter::Block;

use super::decode::{Decoded, LaneEvent, Op};
use super::resolve::Maps;
use crate::error::{Place, Problem};
use crate::events::EventLane;
use crate::ids::{ContainerId, LaneId, TypeId, ValueId};
use crate::links::{HalfLink, LinkLane, Suspect, bare_key};
use crate::model::{Ending, Failed, Model};
use crate::options::Options;
use crate::states::StateLane;
use crate::store::Store;
use crate::variables::VariableLane;

/// Why a lane refuses an event. Small; the sentence is made when it is the first problem of all.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Refused {
    /// Not in time order: the lane is already at this time.
    Earlier(f64),
    EmptyStack,
    Unset,
    KeyRepeated,
    /// The link's other end has this value.
    ValuesDiffer(ValueId),
}

/// The objects of one lane, and what is open in it.
#[derive(Debug)]
pub(crate) struct LaneReplay {
    pub(crate) objects: Objects,
    /// The byte and the time of the last event.
    last: Option<(u64, f64)>,
    /// The options' `no_imbrication` applies. It does not in the root container: PajeNG 1.3.6
    /// behaviour.
    flat: bool,
}

/// A lane by the nature of its type.
#[derive(Debug)]
pub(crate) enum Objects {
    State(StateLane),
    Variable(VariableLane),
    Event(EventLane),
    Link(Box<LinkLane>),
}

/// What replaying a block's slice of a lane needs to know.
pub(crate) struct Slice<'a> {
    pub(crate) block: &'a Block,
    pub(crate) decoded: &'a Decoded,
    pub(crate) maps: &'a Maps,
    /// The byte of the event that ended the container, `u64::MAX` while it lives.
    pub(crate) ended_at: u64,
    /// Events whose line begins here or later in the block are not replayed.
    pub(crate) limit: u32,
}

/// An event that a lane refused.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RefusedEvent {
    pub(crate) event: LaneEvent,
    pub(crate) why: Refused,
}

impl LaneReplay {
    fn new(nature: TypeNature, flat: bool) -> Self {
        let objects = match nature {
            TypeNature::State | TypeNature::Container => Objects::State(StateLane::default()),
            TypeNature::Variable => Objects::Variable(VariableLane::default()),
            TypeNature::Event => Objects::Event(EventLane::default()),
            TypeNature::Link => Objects::Link(Box::default()),
        };
        LaneReplay { objects, last: None, flat }
    }

    /// Replays a block's events of this lane; `ignored` gets the lines of those that came after the
    /// container's end.
    ///
    /// # Errors
    /// The first event that the lane refuses.
    pub(crate) fn replay(
        &mut self,
        events: &[LaneEvent],
        slice: &Slice<'_>,
        store: &mut Store,
        ignored: &mut Vec<u32>,
    ) -> Result<(), RefusedEvent> {
        let base = slice.block.start().0;
        if let Objects::Link(lane) = &self.objects {
            let links = &slice.decoded.links;
            lane.expect(events.iter().map(|event| links[event.argument as usize].key_hash));
        }
        let mut last = None;
        let mut result = Ok(());
        for event in events {
            if event.at >= slice.limit {
                break;
            }
            let byte = base + u64::from(event.at);
            if byte > slice.ended_at {
                ignored.push(event.at);
                continue;
            }
            if let Err(why) = self.event(event, byte, slice, store) {
                result = Err(RefusedEvent { event: *event, why });
                break;
            }
            last = Some((byte, event.time));
        }
        self.last = last.or(self.last);
        result
    }

    #[inline]
    fn event(
        &mut self,
        event: &LaneEvent,
        byte: u64,
        slice: &Slice<'_>,
        store: &mut Store,
    ) -> Result<(), Refused> {
        let extra = keep_extras(event, slice, store);
        let value = || slice.maps.values[event.argument as usize];
        match &mut self.objects {
            Objects::State(lane) => {
                lane.check_order(event.time)?;
                let flat = self.flat;
                match event.op() {
                    Op::SetState => lane.set(store, event.time, value(), extra),
                    Op::PushState => lane.push(store, event.time, value(), extra, flat),
                    Op::PopState => lane.pop(store, event.time, extra, flat)?,
                    _ => lane.close_all(store, event.time),
                }
            }
            Objects::Variable(lane) => {
                lane.check_order(event.time)?;
                let number = f64::from_bits(event.argument);
                match event.op() {
                    Op::AddVariable => lane.add(store, event.time, number, extra)?,
                    Op::SubVariable => lane.add(store, event.time, -number, extra)?,
                    _ => lane.set(store, event.time, number, extra),
                }
            }
            Objects::Event(lane) => lane.add(store, event.time, value(), extra)?,
            Objects::Link(lane) => {
                let link = &slice.decoded.links[event.argument as usize];
                let half = HalfLink {
                    end: if event.op() == Op::StartLink { LinkEnd::Start } else { LinkEnd::End },
                    time: event.time,
                    value: slice.maps.values[link.value as usize],
                    container: slice.maps.link_ends[link.end as usize],
                    extra,
                };
                let raw_key = link.raw_key.of(slice.block.padded()).raw();
                lane.add(store, half, raw_key, link.key_hash, byte)?;
            }
        }
        Ok(())
    }

    /// The byte and the time of the lane's last event.
    pub(crate) const fn last(&self) -> Option<(u64, f64)> {
        self.last
    }

    /// The container ends at `time`.
    ///
    /// # Errors
    /// Links lack an end, and this is not to be ignored.
    pub(crate) fn close(
        &mut self,
        store: &mut Store,
        time: f64,
        options: &Options,
    ) -> Result<(), OpenLinks> {
        match &mut self.objects {
            Objects::State(lane) => lane.close_all(store, time),
            Objects::Variable(lane) => lane.close(store),
            Objects::Event(_) => {}
            Objects::Link(lane) => {
                let count = lane.open_count();
                if count > 0 && !options.ignore_incomplete_links {
                    let keys = lane.open_keys(store, Problem::LISTED);
                    return Err(OpenLinks { keys, count });
                }
                lane.close();
            }
        }
        Ok(())
    }
}

/// Links that lack an end.
pub(crate) struct OpenLinks {
    keys: Vec<Vec<u8>>,
    count: u64,
}

#[inline]
fn keep_extras(event: &LaneEvent, slice: &Slice<'_>, store: &mut Store) -> u32 {
    let Some(index) = (event.extra() as usize).checked_sub(1) else {
        return 0;
    };
    let Some(extras) = &mut store.extras else {
        return 0;
    };
    let (def, start, end) = slice.decoded.extras[index];
    extras.push(def, &slice.decoded.extra_text[start as usize..end as usize])
}

/// The replays of all lanes of a worker.
#[derive(Debug)]
pub(crate) struct Lanes {
    pub(crate) store: Store,
    pub(crate) replays: Vec<LaneReplay>,
}

impl Lanes {
    pub(crate) fn new(options: &Options) -> Self {
        Lanes { store: Store::new(options.user_defined), replays: Vec::new() }
    }

    /// Makes a replay for each lane that has none yet.
    pub(crate) fn extend(&mut self, model: &Model, options: &Options) {
        let new = &model.lanes[self.replays.len()..];
        self.replays.extend(new.iter().map(|lane| {
            let flat = options.no_imbrication && lane.container != ContainerId::ROOT;
            LaneReplay::new(lane.nature, flat)
        }));
    }

    /// The links of a lane that are suspects and have no place yet: their numbers among the suspects,
    /// and the bytes where their lines begin.
    pub(crate) fn new_suspects(&self, lane: LaneId) -> impl Iterator<Item = (usize, u64)> + '_ {
        let suspects = match &self.replays[lane.index()].objects {
            Objects::Link(links) => &links.suspects[..],
            _ => &[],
        };
        let new = suspects.iter().enumerate().rev();
        new.take_while(|(_, suspect)| suspect.place.is_none()).map(|(i, suspect)| (i, suspect.at))
    }

    pub(crate) fn place_suspect(&mut self, lane: LaneId, i: usize, place: Place) {
        if let Objects::Link(links) = &mut self.replays[lane.index()].objects {
            links.suspects[i].place = Some(place);
        }
    }

    /// The first link of a lane whose key was used before, and the key.
    pub(crate) fn reused(&self, lane: LaneId) -> Option<(&Suspect, Vec<u8>)> {
        match &self.replays.get(lane.index())?.objects {
            Objects::Link(links) => links.reused(&self.store),
            _ => None,
        }
    }

    /// Ends the lanes of a container that ended.
    ///
    /// # Errors
    /// The container ends before its last event, or with incomplete links.
    pub(crate) fn end_container(
        &mut self,
        model: &Model,
        options: &Options,
        ending: &Ending,
    ) -> Result<(), Failed> {
        let Ending { container, time, named, .. } = *ending;
        let name = || model.containers.identifier(container).text.to_vec();
        let replays = &mut self.replays;
        let lasts = model.lanes_of(container).filter_map(|lane| replays[lane.index()].last());
        if named
            && let Some((_, last)) = lasts.max_by_key(|(byte, _)| *byte)
            && time < last
        {
            let container = name();
            return Err((FieldName::Time, Problem::DestroyedTooEarly { container, time, last }));
        }
        // Opened first, ended first: a rule, so that which error comes first is one too.
        let mut lanes: Vec<LaneId> = model.lanes_of(container).collect();
        lanes.reverse();
        for lane in lanes {
            let closed = self.replays[lane.index()].close(&mut self.store, time, options);
            closed.map_err(|OpenLinks { keys, count }| {
                let container = name();
                (FieldName::Name, Problem::OpenLinks { container, keys, count })
            })?;
        }
        Ok(())
    }
}

/// The sentence for an event that a lane refused.
pub(crate) fn explain(
    refused: &RefusedEvent,
    model: &Model,
    container: ContainerId,
    type_: TypeId,
    slice: &Slice<'_>,
) -> Failed {
    let container_name = || model.containers.identifier(container).text.to_vec();
    let type_name = || model.types.identifier(type_).text.to_vec();
    let event = &refused.event;
    let link = || &slice.decoded.links[event.argument as usize];
    let key = || bare_key(link().raw_key.of(slice.block.padded()).raw()).to_vec();
    match refused.why {
        Refused::Earlier(last) => {
            let time = event.time;
            (FieldName::Time, Problem::NotTimeOrdered { time, last })
        }
        Refused::EmptyStack => {
            let (container, type_) = (container_name(), type_name());
            (FieldName::Container, Problem::PopOnEmpty { container, type_ })
        }
        Refused::Unset => {
            let (container, type_) = (container_name(), type_name());
            (FieldName::Container, Problem::VariableUnset { container, type_ })
        }
        Refused::KeyRepeated => {
            let end = if event.op() == Op::StartLink { LinkEnd::Start } else { LinkEnd::End };
            (FieldName::Key, Problem::KeyRepeated { key: key(), end })
        }
        Refused::ValuesDiffer(other) => {
            let value = slice.maps.values[link().value as usize];
            let text = |value| model.types.value_identifier(type_, value).text.to_vec();
            let (value, other) = (text(value), text(other));
            (FieldName::Value, Problem::LinkValuesDiffer { key: key(), value, other })
        }
    }
}
