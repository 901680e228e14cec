//! Whether a key that may have been used before was.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Suspect;
use crate::engine::symbols::hash_bytes;

/// The first suspect, by the byte of its event, whose key another link of the lane had before.
///
/// `keys` are the keys of all links of the lane, without quotes; `key_of` gives a suspect's.
pub(crate) fn first_reused<'k, 's>(
    suspects: &[&'s Suspect],
    key_of: impl Fn(&Suspect) -> &'k [u8],
    keys: impl Iterator<Item = &'k [u8]>,
) -> Option<&'s Suspect> {
    if suspects.is_empty() {
        return None;
    }
    // How many links and how many suspects have each suspected key.
    let mut counts: FxHashMap<&[u8], (u32, u32)> = FxHashMap::default();
    let hashes: FxHashSet<u64> = suspects.iter().map(|suspect| suspect.hash).collect();
    for suspect in suspects {
        counts.entry(key_of(suspect)).or_default().1 += 1;
    }
    for key in keys.filter(|key| hashes.contains(&hash_bytes(key))) {
        if let Some((links, _)) = counts.get_mut(key) {
            *links += 1;
        }
    }
    // All links of a key but the first are suspects; the first may be one by mistake.
    let mut in_order = suspects.to_vec();
    in_order.sort_unstable_by_key(|suspect| suspect.at);
    let mut first_met: FxHashSet<&[u8]> = FxHashSet::default();
    in_order.into_iter().find(|suspect| {
        let key = key_of(suspect);
        let (links, suspects) = counts.get(key).copied().unwrap_or_default();
        suspects < links || !first_met.insert(key)
    })
}
