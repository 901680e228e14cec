//! Lists the lanes that have states anywhere in a trace. Programs that read only a part of the
//! trace need the list, because the part may not contain all of these lanes.

use paje_sim::{ContainerId, Trace, TypeId};

use crate::bytes::Left;

/// Name of the summary.
pub const LANES: &str = "lanes";

/// Maximum size of the list in bytes. A larger list is not stored.
const MOST: usize = 1 << 24;

/// Lanes with states.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lanes {
    /// For each type, a bitmap of containers. The lowest bit of the first byte is the first
    /// container.
    types: Vec<(TypeId, Vec<u8>)>,
}

impl Lanes {
    pub(crate) fn of(
        trace: &Trace,
        lanes: impl Iterator<Item = (ContainerId, TypeId)>,
    ) -> Option<Lanes> {
        let len = trace.containers().len().div_ceil(8);
        let mut types: Vec<(TypeId, Vec<u8>)> = Vec::new();
        for (container, type_) in lanes {
            let place = match types.binary_search_by_key(&type_, |(type_, _)| *type_) {
                Ok(place) => place,
                Err(_) if (types.len() + 1) * (len + 16) > MOST => return None,
                Err(place) => {
                    types.insert(place, (type_, vec![0; len]));
                    place
                }
            };
            types[place].1[container.index() / 8] |= 1 << (container.index() % 8);
        }
        Some(Lanes { types })
    }

    /// Returns the container and the type of each lane, ordered by type.
    pub fn iter(&self) -> impl Iterator<Item = (ContainerId, TypeId)> {
        self.types.iter().flat_map(|(type_, bits)| {
            let bytes = (0..).step_by(8).zip(bits).filter(|(_, byte)| **byte != 0);
            let set = bytes.flat_map(|(first, byte)| {
                (0..8).filter(move |bit| byte >> bit & 1 == 1).map(move |bit| first + bit)
            });
            set.map(|container| (ContainerId(container), *type_))
        })
    }

    /// Encodes the lanes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for (type_, bits) in &self.types {
            out.extend_from_slice(&(type_.index() as u64).to_le_bytes());
            out.extend_from_slice(&(bits.len() as u64).to_le_bytes());
            out.extend_from_slice(bits);
        }
        out
    }

    /// Decodes lanes.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Option<Lanes> {
        let (mut left, mut types) = (Left(bytes), Vec::new());
        while !left.0.is_empty() {
            let type_ = TypeId(u32::try_from(left.number()?).ok()?);
            let len = usize::try_from(left.number()?).ok()?;
            types.push((type_, left.0.split_off(..len)?.to_vec()));
        }
        Some(Lanes { types })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_survive_encoding_and_decoding() {
        let (one, other) = (vec![1, 0, 0x82], vec![0, 0x10, 0]);
        let lanes = Lanes { types: vec![(TypeId(2), one), (TypeId(7), other)] };
        let (two, seven) = (TypeId(2), TypeId(7));
        let all = [(0, two), (17, two), (23, two), (12, seven)];
        assert!(lanes.iter().eq(all.map(|(container, type_)| (ContainerId(container), type_))));
        let bytes = lanes.to_bytes();
        assert_eq!(Lanes::parse(&bytes), Some(lanes));
        for len in 0..bytes.len() {
            assert_eq!(Lanes::parse(&bytes[..len]).is_some(), [0, 19].contains(&len), "{len}");
        }
    }
}
