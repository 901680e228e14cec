//! Replays the events of a strand in one block, by the nature of its lane.

use std::ops::Range;

use memchr::memchr_iter;
use paje_parser::{FieldName, LinkEnd, TypeNature};

use super::completion::Completion;
use super::repeated_destructions::RepeatedDestructions;
use super::symbol_map::SymbolMap;
use crate::lanes::events::EventLane;
use crate::lanes::links::{HalfLink, KeyInFile, LinkStrand, Opened, WrittenKey};
use crate::lanes::refusal::{Checked, Refused};
use crate::lanes::states::StateLane;
use crate::lanes::variables::VariableLane;
use crate::problems::found::{Where, key_place, place};
use paje_decode::decode::block::DecodedBlock;
use paje_decode::decode::decoded::{LaneEvent, LinkEvent, Op};
use paje_model::memory::{LineNumber, Small, StateRoom, Store, VariableRoom, Width, Written};
use paje_model::model::{Model, UNKNOWN};
use paje_model::names::ids::{LaneId, ValueId};
use paje_model::names::prefetch::prefetch;
use paje_model::names::selection::Natures;

pub struct Slice<'a> {
    pub(crate) block: &'a DecodedBlock,
    pub(crate) maps: &'a SymbolMap,
    pub(crate) cuts: &'a RepeatedDestructions,
    pub(crate) model: &'a Model,
    /// Byte range of the trace. Events whose lines begin outside of it are skipped.
    pub(crate) bytes: Range<u64>,
    /// Whether the replay continues after refused events.
    pub(crate) recovers: bool,
    pub(crate) shard: u8,
    /// Whether the block is no longer in the nearest caches.
    pub(crate) is_far: bool,
}

#[inline(never)]
pub(super) fn states(
    lane: &mut StateLane,
    events: &[LaneEvent],
    slice: &Slice<'_>,
    mut to: Written<'_>,
) -> Checked {
    let mut i = 0;
    while i < events.len() {
        if !lane.is_flat() {
            let (rest, values) = (&events[i..], &slice.maps.values[..]);
            i += match to.rows.last().0.width {
                Width::Byte => states_in::<u8>(lane, rest, values, &mut to),
                Width::Narrow => states_in::<u16>(lane, rest, values, &mut to),
                Width::Wide => 0,
            };
        }
        let Some(event) = events.get(i) else { break };
        begin_event(event, slice, to.store);
        let value = || slice.maps.values[event.argument as usize];
        lane.check_order(event.time).map_err(|why| (i, why))?;
        match event.op() {
            Op::SetState => lane.set(&mut to, event.time, value()),
            Op::PushState => lane.push(&mut to, event.time, value()),
            Op::PopState => {
                lane.pop(&mut to, event.time).map_err(|why| (i, why))?;
            }
            _ => lane.close_all(&mut to, event.time),
        }
        i += 1;
    }
    Ok(())
}

/// Replays events into the last chunk until an event does not fit. Returns the number of replayed events.
#[inline(never)]
fn states_in<N: Small>(
    lane: &mut StateLane,
    events: &[LaneEvent],
    values: &[ValueId],
    to: &mut Written<'_>,
) -> usize {
    let Some(mut room) = StateRoom::<N>::of(to.rows, to.store) else { return 0 };
    let go = |event: &LaneEvent| {
        let time = event.time;
        if lane.check_order(time).is_err() {
            return false;
        }
        if event.is(Op::PopState) {
            return lane.pop_in(&mut room, time);
        }
        let Some(value) = values.get(event.argument as usize).copied() else { return false };
        match event.is(Op::PushState) {
            true => lane.push_in(&mut room, time, value),
            false => event.is(Op::SetState) && lane.set_in(&mut room, time, value),
        }
    };
    going(events, go)
}

#[inline(never)]
pub(super) fn variables(
    lane: &mut VariableLane,
    events: &[LaneEvent],
    slice: &Slice<'_>,
    mut to: Written<'_>,
) -> Checked {
    let mut i = 0;
    while i < events.len() {
        if let Some(mut room) = VariableRoom::of(to.rows, to.store) {
            let go = |event: &LaneEvent| {
                let (time, number) = (event.time, f64::from_bits(event.argument));
                lane.check_order(time).is_ok()
                    && match event.op() {
                        Op::AddVariable => lane.add_in(&mut room, time, number),
                        Op::SubVariable => lane.add_in(&mut room, time, -number),
                        _ => lane.set_in(&mut room, time, number),
                    }
            };
            i += going(&events[i..], go);
        }
        let Some(event) = events.get(i) else { break };
        begin_event(event, slice, to.store);
        let number = f64::from_bits(event.argument);
        let set = lane.check_order(event.time).and_then(|()| match event.op() {
            Op::AddVariable => lane.add(&mut to, event.time, number),
            Op::SubVariable => lane.add(&mut to, event.time, -number),
            _ => {
                lane.set(&mut to, event.time, number);
                Ok(())
            }
        });
        set.map_err(|why| (i, why))?;
        i += 1;
    }
    Ok(())
}

#[inline(always)]
fn going(events: &[LaneEvent], mut go: impl FnMut(&LaneEvent) -> bool) -> usize {
    events.iter().position(|event| !go(event)).unwrap_or(events.len())
}

#[inline(never)]
pub(super) fn points(
    lane: &mut EventLane,
    events: &[LaneEvent],
    slice: &Slice<'_>,
    mut to: Written<'_>,
) -> Checked {
    for (i, event) in events.iter().enumerate() {
        begin_event(event, slice, to.store);
        let value = slice.maps.values[event.argument as usize];
        lane.add(&mut to, event.time, value).map_err(|why| (i, why))?;
    }
    Ok(())
}

#[inline(never)]
pub(super) fn links(
    strand: &mut LinkStrand,
    lane: LaneId,
    events: &[LaneEvent],
    slice: &Slice<'_>,
    store: &mut Store,
    opened: &mut Vec<Opened>,
    completed: &mut Vec<Completion>,
) -> Checked {
    let replayed = add_links(strand, lane, events, slice, store, opened, completed);
    strand.remember(slice.is_far, opened, key_locator(slice.block));
    replayed
}

/// Returns a function that finds the key of a line in its file. It must be called in file order.
fn key_locator(block: &DecodedBlock) -> impl FnMut(u64) -> KeyInFile + '_ {
    let (mut counted, mut lines) = (0, block.lines_before + 1);
    move |at| {
        let line = (at - block.text.start().0) as usize;
        if let Some(later) = block.text.later(line as u32) {
            return (key_place(block, line as u32), Some(later));
        }
        lines += memchr_iter(b'\n', &block.text.text()[counted..line]).count() as u64;
        counted = line;
        (place(block, line as u32, Where::Field(FieldName::Key), lines), None)
    }
}

#[inline(always)]
fn add_links(
    strand: &mut LinkStrand,
    lane: LaneId,
    events: &[LaneEvent],
    slice: &Slice<'_>,
    store: &mut Store,
    opened: &mut Vec<Opened>,
    completed: &mut Vec<Completion>,
) -> Checked {
    let decoded = &slice.block.decoded;
    let padded = slice.block.bytes();
    if slice.is_far {
        // The strand's links are scattered over the block, so they are prefetched together.
        let links = events.iter().map(|event| &decoded.links[event.argument as usize]);
        prefetch(links.map(LinkEvent::look));
    }
    let keeps = strand.is_wanted() && store.extras.is_some();
    let half_of = |event: &LaneEvent, extra| {
        let (half, key) = half_link(event, slice, padded, extra);
        if half.container == UNKNOWN {
            return Err(Refused::Nowhere(half.end));
        }
        Ok((half, key))
    };
    let mut complete = |half: HalfLink, link| {
        completed.push(Completion { at: half.at, lane, time: half.time, link });
    };
    let mut i = 0;
    while i < events.len() {
        if !keeps && let Some(mut room) = store.keys.room() {
            for event in &events[i..] {
                let added = half_of(event, 0).and_then(|(half, key)| {
                    let completed = |link| complete(half, link);
                    strand.add(&mut room, slice.shard, half, key, opened, completed)
                });
                if !added.map_err(|why| (i, why))? {
                    break;
                }
                i += 1;
            }
        }
        let Some(event) = events.get(i) else { break };
        let extra = match keeps {
            true => {
                begin_event(event, slice, store);
                store.extra()
            }
            false => 0,
        };
        let added = half_of(event, extra).and_then(|(half, key)| {
            strand.add(store, slice.shard, half, key, opened, |link| complete(half, link))
        });
        added.map_err(|why| (i, why))?;
        i += 1;
    }
    Ok(())
}

#[inline(always)]
pub(super) fn half_link<'s>(
    event: &LaneEvent,
    slice: &Slice<'s>,
    padded: &'s [u8],
    extra: u32,
) -> (HalfLink, WrittenKey<'s>) {
    let DecodedBlock { text, decoded, .. } = slice.block;
    let link = &decoded.links[event.argument as usize];
    let half = HalfLink {
        end: if event.op() == Op::StartLink { LinkEnd::Start } else { LinkEnd::End },
        at: text.start().0 + u64::from(event.at),
        time: event.time,
        value: slice.maps.values[link.value as usize],
        container: slice.maps.link_ends[link.end as usize],
        extra,
    };
    let key = WrittenKey { padded, raw: link.raw_key, short: &link.key, hash: link.key_hash };
    (half, key)
}

#[inline(always)]
fn keeps_line(op: Op, kept: Natures) -> bool {
    match op {
        // An object keeps the line of its first event.
        Op::PopState | Op::ResetState => false,
        Op::SetState | Op::PushState => kept.contains(TypeNature::State),
        Op::SetVariable | Op::AddVariable | Op::SubVariable => kept.contains(TypeNature::Variable),
        Op::Event => kept.contains(TypeNature::Event),
        // The event for a link's end may come before that for its start.
        Op::StartLink | Op::EndLink => kept.contains(TypeNature::Link),
    }
}

#[inline(always)]
pub(super) fn begin_event(event: &LaneEvent, slice: &Slice<'_>, store: &mut Store) {
    let Some(extras) = &mut store.extras else { return };
    let keeps = extras.keeps();
    let line = if keeps.lines { slice.block.line_of(event.at) } else { LineNumber::default() };
    let extra = match (event.extra() as usize).checked_sub(1) {
        None if keeps.lines && keeps_line(event.op(), keeps.lines_of) => extras.push_line(line),
        None => 0,
        Some(index) => {
            let decoded = &slice.block.decoded;
            let (def, start, end) = decoded.extras[index];
            extras.push(def, &decoded.extra_text[start as usize..end as usize], line)
        }
    };
    store.begin_event(extra);
}
