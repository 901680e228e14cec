//! Places of the strands of lanes.

use paje_model::names::ids::LaneId;

/// Place of a strand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StrandPlace {
    pub(crate) shard: u32,
    /// Its number in the shard.
    pub local: u32,
}

/// The places of all strands.
#[derive(Debug, Default)]
pub(super) struct StrandPlaces {
    /// Of each lane, the place of its only strand; or [`SEVERAL`], and the first of its places among
    /// those of all such lanes.
    lanes: Vec<StrandPlace>,
    several: Vec<StrandPlace>,
}

/// In place of a shard: the lane has several strands, or none.
const SEVERAL: u32 = u32::MAX;

impl StrandPlaces {
    /// Of how many lanes.
    pub(super) fn len(&self) -> usize {
        self.lanes.len()
    }

    /// The places of the next lane.
    pub(super) fn push(&mut self, places: &[StrandPlace]) {
        match places {
            [place] => self.lanes.push(*place),
            _ => {
                let local = self.several.len() as u32;
                self.lanes.push(StrandPlace { shard: SEVERAL, local });
                self.several.extend_from_slice(places);
                // Where they end.
                self.several.push(StrandPlace { shard: SEVERAL, local });
            }
        }
    }

    /// The places of a lane.
    pub(super) fn of(&self, lane: LaneId) -> &[StrandPlace] {
        let place = &self.lanes[lane.index()];
        if place.shard != SEVERAL {
            return std::slice::from_ref(place);
        }
        let places = &self.several[place.local as usize..];
        let end = places.iter().position(|place| place.shard == SEVERAL);
        &places[..end.unwrap_or(places.len())]
    }
}
