//! Links of a block that tells which of its ends belong to which of its beginnings.

use paje_parser::LinkEnd;

use super::completion::Completion;
use super::slice::{Slice, going, half_link, written_key};
use crate::decode::block::DecodedBlock;
use crate::decode::decoded::{LaneEvent, Op};
use crate::lanes::links::{HalfLink, LinkStrand, Opened, PairNumber, PairRoom, Pairs};
use crate::lanes::refusal::{Checked, Refused};
use crate::memory::Store;
use crate::model::UNKNOWN;
use crate::names::ids::LaneId;

/// Replays events of a lane's strand, of which no user-defined fields are kept.
#[inline(never)]
pub(super) fn link_pairs(
    (strand, lane): (&mut LinkStrand, LaneId),
    events: &[LaneEvent],
    slice: &Slice<'_>,
    store: &mut Store,
    (opened, pairs, completed): (&mut Vec<Opened>, &mut Pairs, &mut Vec<Completion>),
) -> Checked {
    let DecodedBlock { text, decoded, .. } = slice.block;
    pairs.begin(decoded.links.len());
    let begins = events.iter().filter(|event| event.is(Op::StartLink));
    let hashes = begins.map(|event| decoded.links[event.argument as usize].key_hash);
    strand.touch(slice.is_far, hashes);
    let (mut i, padded) = (0, slice.block.bytes());
    let mut refused = Ok(());
    while i < events.len() {
        if let Some(keys) = store.keys.room()
            && let Some(room) = strand.room(pairs, (keys, slice.shard))
        {
            i += in_room(room, lane, &events[i..], slice, completed);
        }
        let Some(event) = events.get(i) else { break };
        let (half, key) = half_link(event, slice, padded, 0);
        let at = text.start().0 + u64::from(event.at);
        let added = match half.container {
            UNKNOWN => Err(Refused::Nowhere(half.end)),
            _ => {
                let keys = (&mut *store, slice.shard);
                let time = half.time;
                let complete = |link| completed.push(Completion { at, lane, time, link });
                strand.add_pair(keys, half, key, at, (&mut *pairs, &mut *opened), complete)
            }
        };
        if let Err(why) = added {
            refused = Err((i, why));
            break;
        }
        i += 1;
    }
    strand.leave_open(pairs);
    refused
}

/// Number of events up to the first that cannot go the short way.
#[inline(never)]
fn in_room(
    mut room: PairRoom<'_>,
    lane: LaneId,
    events: &[LaneEvent],
    slice: &Slice<'_>,
    completed: &mut Vec<Completion>,
) -> usize {
    let DecodedBlock { text, decoded, .. } = slice.block;
    let (padded, base) = (slice.block.bytes(), text.start().0);
    // As slices, whose places and lengths stay where they are.
    let links = &decoded.links[..];
    let (values, ends) = (&slice.maps.values[..], &slice.maps.link_ends[..]);
    going(events, |event| {
        let Some(link) = links.get(event.argument as usize) else { return false };
        let (value, container) = (values.get(link.value as usize), ends.get(link.end as usize));
        let (Some(&value), Some(&container)) = (value, container) else { return false };
        if container == UNKNOWN {
            return false;
        }
        let at = base + u64::from(event.at);
        let half = |end| HalfLink { end, time: event.time, value, container, extra: 0 };
        if event.is(Op::StartLink) {
            let number = PairNumber(event.argument as u32);
            return room.begin(half(LinkEnd::Start), number, written_key(link, links, padded), at);
        }
        let key = || written_key(link, links, padded);
        let Some(link) = room.end(link.pair, half(LinkEnd::End), key) else { return false };
        completed.push(Completion { at, lane, time: event.time, link });
        true
    })
}
