use paje_model::names::ids::LaneId;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StrandPlace {
    pub(crate) shard: u32,
    pub local: u32,
}

#[derive(Debug, Default)]
pub(super) struct StrandPlaces {
    /// For each lane, the place of its only strand, or [`SEVERAL`] and the index of its first place in `several`.
    lanes: Vec<StrandPlace>,
    several: Vec<StrandPlace>,
}

/// Stands for the shard of a lane that does not have exactly one strand.
const SEVERAL: u32 = u32::MAX;

impl StrandPlaces {
    pub(super) fn len(&self) -> usize {
        self.lanes.len()
    }

    pub(super) fn push(&mut self, places: &[StrandPlace]) {
        match places {
            [place] => self.lanes.push(*place),
            _ => {
                let local = self.several.len() as u32;
                self.lanes.push(StrandPlace { shard: SEVERAL, local });
                self.several.extend_from_slice(places);
                // Marks the end of the lane's places.
                self.several.push(StrandPlace { shard: SEVERAL, local });
            }
        }
    }

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
