use paje_parser::{FieldName, LinkEnd, TypeNature};
use paje_workers::{Workers, exclusive};

use super::Lanes;
use crate::lanes::links::bare_key;
use crate::replay::places::StrandPlace;
use crate::replay::shard::{MANY, Shard};
use crate::replay::strand::Objects;
use paje_model::model::{Ending, Failed, Model};
use paje_model::names::error::Problem;
use paje_model::names::ids::{ContainerId, LaneId, ValueId};
use paje_model::names::options::Options;
use paje_model::names::prefetch::prefetch;

/// Start or end of a link that lacks the other one.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkHalf {
    /// Whether the link ends here. Otherwise, it starts here.
    pub is_end: bool,
    /// Byte offset of the event.
    pub(crate) at: u64,
    /// Lane of the link.
    pub lane: LaneId,
    /// Time in seconds.
    pub time: f64,
    /// Value of the link.
    pub value: ValueId,
    /// Container in which the link starts or ends.
    pub container: ContainerId,
    /// Key, without quotes.
    pub key: Vec<u8>,
    /// Index of the event's definition and its user-defined fields as written, each followed by a
    /// newline, if they are kept.
    pub fields: Option<(u32, Vec<u8>)>,
}

impl Lanes {
    /// Ends the lanes of a container. After ending some containers, call [`Lanes::close_ended`].
    ///
    /// # Errors
    /// The container ends before its last event, or with incomplete links.
    pub fn end_container(
        &mut self,
        model: &Model,
        options: &Options,
        ending: &Ending,
    ) -> Result<(), Failed> {
        let Ending { container, time, .. } = *ending;
        if let Some((failed, _)) = self.ends_too_early(model, ending) {
            return Err(failed);
        }
        // The lanes end in the order in which they were opened, so that the first error is always the same.
        let mut lanes = std::mem::take(&mut self.ending);
        lanes.clear();
        lanes.extend(model.lanes_of(container));
        for lane in lanes.iter().rev().copied() {
            if !options.ignore_incomplete_links
                && model.nature(lane) == TypeNature::Link
                && let Some((keys, count)) = self.open_links(lane)
            {
                let container = model.containers.named(container);
                return Err((FieldName::Name, Problem::OpenLinks { container, keys, count }));
            }
            if options.keep_link_halves {
                self.keep_link_halves(lane);
            }
            for place in self.places.of(lane) {
                exclusive(&mut self.shards[place.shard as usize]).close(place.local, time);
            }
        }
        self.ending = lanes;
        Ok(())
    }

    /// If there are many lanes, prefetches the memory that [`Lanes::end_container`] reads for these containers.
    pub fn expect_endings(&mut self, model: &Model, containers: impl Iterator<Item = ContainerId>) {
        if self.places.len() < MANY {
            return;
        }
        let last = containers.filter_map(|container| model.containers.last_lane(container));
        let last: Vec<LaneId> = last.collect();
        prefetch(last.iter().map(|lane| model.lanes[lane.index()].type_.0));
        let lanes =
            last.iter().flat_map(|last| model.lanes_of(model.lanes[last.index()].container));
        let places: Vec<StrandPlace> =
            lanes.flat_map(|lane| self.places.of(lane)).copied().collect();
        let shards = &mut self.shards;
        prefetch(places.into_iter().map(|StrandPlace { shard, local }| {
            exclusive(&mut shards[shard as usize]).strands[local as usize].prefetch()
        }));
    }

    /// Closes the strands of ended containers, shard by shard. The rows of these strands may only be read afterwards.
    pub fn close_ended(&mut self, workers: &Workers) {
        let shards = self.shards.iter_mut().map(exclusive);
        let ended: usize = shards.map(|shard| shard.closing.len()).sum();
        if ended < MANY {
            self.shards.iter_mut().for_each(|shard| exclusive(shard).close_ended());
            return;
        }
        workers.share_out(self.shards.len(), |_, number| {
            if let Ok(mut shard) = self.shards[number].lock() {
                shard.close_ended();
            }
        });
    }

    /// If a container ends before its last event, returns the problem and the latest time of the container's lanes.
    pub fn ends_too_early(&mut self, model: &Model, ending: &Ending) -> Option<(Failed, f64)> {
        let Ending { container, time, named, .. } = *ending;
        let last = self.last_of(model, container).filter(|last| named && time < *last)?;
        let mut latest = last;
        for lane in model.lanes_of(container) {
            for place in self.places.of(lane) {
                let shard = exclusive(&mut self.shards[place.shard as usize]);
                latest = latest.max(shard.strands[place.local as usize].latest(&shard.output));
            }
        }
        let container = model.containers.named(container);
        Some(((FieldName::Time, Problem::DestroyedTooEarly { container, time, last }), latest))
    }

    /// Drops the incomplete links of a container. Returns the problem and the number of these links.
    pub fn drop_open_links(
        &mut self,
        model: &Model,
        options: &Options,
        container: ContainerId,
    ) -> Option<(Failed, u64)> {
        let mut lanes: Vec<LaneId> = model.lanes_of(container).collect();
        lanes.reverse();
        let (mut keys, mut count) = (Vec::new(), 0);
        for lane in lanes {
            if let Some((more, open)) = self.open_links(lane) {
                keys.extend(more);
                count += open;
                if options.keep_link_halves {
                    self.keep_link_halves(lane);
                }
                for place in self.places.of(lane) {
                    let Shard { store, strands, .. } =
                        exclusive(&mut self.shards[place.shard as usize]);
                    strands[place.local as usize].close(store, f64::NAN);
                }
            }
        }
        keys.truncate(Problem::LISTED);
        let container = model.containers.named(container);
        let failed = (FieldName::Name, Problem::OpenLinks { container, keys, count });
        (count > 0 && !options.ignore_incomplete_links).then_some((failed, count))
    }

    /// Keeps the halves of a lane's incomplete links.
    #[cold]
    fn keep_link_halves(&mut self, lane: LaneId) {
        for place in self.places.of(lane) {
            let Shard { store, strands, .. } = exclusive(&mut self.shards[place.shard as usize]);
            let Objects::Link(links) = &strands[place.local as usize].objects else { continue };
            self.link_halves.extend(links.open_halves().map(|(half, key)| LinkHalf {
                is_end: half.end == LinkEnd::End,
                at: half.at,
                lane,
                time: half.time,
                value: half.value,
                container: half.container,
                key: bare_key(store.keys.get(key.place())).to_vec(),
                fields: store.extras.as_ref().and_then(|extras| {
                    extras.fields(half.extra).map(|(def, text)| (def, text.to_vec()))
                }),
            }));
        }
    }

    /// Returns the halves of all incomplete links, in file order.
    pub fn take_link_halves(&mut self) -> Vec<LinkHalf> {
        let mut halves = std::mem::take(&mut self.link_halves);
        halves.sort_unstable_by_key(|half| half.at);
        halves
    }

    pub fn open_values(&mut self, lane: LaneId) -> Vec<ValueId> {
        let places = self.places.of(lane).iter();
        let mut values = Vec::new();
        for place in places {
            let shard = exclusive(&mut self.shards[place.shard as usize]);
            let strand = &shard.strands[place.local as usize];
            if let Objects::State(lane) = &strand.objects {
                values.extend(lane.open_values(&strand.rows, &shard.store));
            }
        }
        values
    }

    /// Returns whether a key may have been reused, if only hashes are remembered. Only the `last` call is sure to cover
    /// all links.
    pub fn may_reuse_keys(&mut self, last: bool) -> bool {
        let shards = self.shards.iter_mut();
        let mut strands = shards.flat_map(|shard| exclusive(shard).strands.iter_mut());
        strands.any(|strand| match &mut strand.objects {
            Objects::Link(links) => links.may_reuse_key(last),
            _ => false,
        })
    }

    fn last_of(&mut self, model: &Model, container: ContainerId) -> Option<f64> {
        let mut last: Option<(u64, f64)> = None;
        for lane in model.lanes_of(container) {
            for place in self.places.of(lane) {
                let strand = &exclusive(&mut self.shards[place.shard as usize]).strands
                    [place.local as usize];
                if let Some(found) = strand.last()
                    && last.is_none_or(|last| found.0 > last.0)
                {
                    last = Some(found);
                }
            }
        }
        last.map(|(_, time)| time)
    }

    /// Returns the first keys of a lane's incomplete links, in file order, and the number of links.
    fn open_links(&mut self, lane: LaneId) -> Option<(Vec<Vec<u8>>, u64)> {
        let mut open: Vec<(u64, Vec<u8>)> = Vec::new();
        let mut count = 0;
        for place in self.places.of(lane) {
            let Shard { store, strands, .. } = exclusive(&mut self.shards[place.shard as usize]);
            if let Objects::Link(links) = &strands[place.local as usize].objects {
                count += links.open_count();
                let open_links = links.open().map(|(at, key)| (at, key.place()));
                let mut first: Vec<(u64, u64)> = open_links.collect();
                first.sort_unstable();
                let first = first.into_iter().take(Problem::LISTED);
                open.extend(first.map(|(at, key)| (at, bare_key(store.keys.get(key)).to_vec())));
            }
        }
        open.sort_unstable();
        let keys = open.into_iter().take(Problem::LISTED).map(|(_, key)| key).collect();
        (count > 0).then_some((keys, count))
    }
}
