use paje_parser::columns::ColumnLine;

use super::Decoder;
use super::decoded::{Decoded, LaneEvent};
use crate::decode::decoded::StrandSymbol;
use crate::decode::steps::{EventTemplate, Steps, Varies};

#[derive(Debug, Default)]
pub(super) struct Grouping {
    /// Strand and event of each line, indexed by the line's ordinal. Entries beyond the current lines are stale.
    pub(super) unsorted: Vec<(StrandSymbol, LaneEvent)>,
    /// Number of events in the current block, by strand. All are zero between blocks.
    counts: Vec<u32>,
    /// Strands of the block and their numbers of events, before they are grouped by shard.
    met: Vec<(StrandSymbol, u32)>,
}

impl Decoder {
    #[inline(never)]
    pub(super) fn group_by_strand(&mut self, decoded: &mut Decoded) {
        // Lines after an invalid line have no event, and neither have lines without a lane.
        let lines = std::mem::take(&mut self.waiting.lines) as usize;
        self.decoded += lines as u64;
        if self.symbols.unique_values {
            // Each batch has listed its items in file order.
            decoded.ordered.sort_by_key(|(line, _)| *line);
        }
        if self.config.follows {
            self.list_lines(lines, decoded);
        }
        let unsorted = std::mem::take(&mut self.grouping.unsorted);
        self.count(unsorted[..lines].iter().map(|(strand, _)| (*strand, 1)));
        self.grouping.unsorted = unsorted;
        let count = self.group_by_shard(decoded);
        let events = &mut decoded.events;
        if events.len() < count {
            // Growing the old buffer would copy contents that are not needed, so make a new one.
            *events = vec![LaneEvent::NONE; count + count / 8];
        }
        let Grouping { unsorted, counts, .. } = &mut self.grouping;
        let (counts, events) = (&mut counts[..], &mut events[..count]);
        let mut last_time = decoded.last_time;
        for (strand, event) in &unsorted[..lines] {
            let Some(place) = counts.get_mut(*strand as usize) else { continue };
            let to = &mut events[*place as usize];
            *to = *event;
            *place += 1;
            if to.time > last_time {
                last_time = to.time;
            }
        }
        decoded.last_time = last_time;
        for (strand, _) in &decoded.strands {
            counts[*strand as usize] = 0;
        }
    }

    /// Turns lines into events, divides their times by `power`, and groups them by strand in file order.
    #[inline(never)]
    pub(super) fn spread(
        &mut self,
        lines: &[ColumnLine],
        power: f64,
        steps: &Steps,
        decoded: &mut Decoded,
    ) {
        self.decoded += lines.len() as u64;
        let (templates, arguments) = (&steps.templates[..], &steps.arguments[..]);
        self.count(templates.iter().map(|template| (template.strand, template.count)));
        let count = self.group_by_shard(decoded);
        let events = &mut decoded.events;
        if events.len() < count {
            *events = vec![LaneEvent::NONE; count + count / 8];
        }
        let (places, events) = (&mut self.grouping.counts[..], &mut events[..count]);
        let (mut last_time, mut arguments) = (decoded.last_time, arguments.iter());
        for line in lines {
            let Some(EventTemplate { strand, tail, argument, varies, .. }) =
                templates.get(line.step as usize)
            else {
                continue;
            };
            let Some(place) = places.get_mut(*strand as usize) else { continue };
            let Some(to) = events.get_mut(*place as usize) else { continue };
            *place += 1;
            let (mut time, mut argument) = (line.time as f64 / power, *argument);
            match varies {
                Varies::Time => {}
                Varies::TimeAndArgument => argument = arguments.next().copied().unwrap_or(argument),
                Varies::ExactTime => time = f64::from_bits(line.time as u64),
            }
            *to = LaneEvent { time, argument, at: line.start, tail: *tail };
            if time > last_time {
                last_time = time;
            }
        }
        decoded.last_time = last_time;
        for (strand, _) in &decoded.strands {
            self.grouping.counts[*strand as usize] = 0;
        }
    }

    /// Counts the events of each strand and lists new strands. Lines without an event have no valid strand.
    #[inline(always)]
    fn count(&mut self, strands: impl Iterator<Item = (StrandSymbol, u32)>) {
        let Grouping { counts, met, .. } = &mut self.grouping;
        counts.resize(self.known.shards.len(), 0);
        met.clear();
        // The borrowed slice keeps the pointer and the length in registers.
        let counts = &mut counts[..];
        for (strand, more) in strands {
            let Some(count) = counts.get_mut(strand as usize) else { continue };
            if *count == 0 && more > 0 {
                met.push((strand, 0));
            }
            *count += more;
        }
    }

    /// Groups the strands by shard. Afterwards `counts` holds the position of the first event of each strand. Returns
    /// the number of events.
    fn group_by_shard(&mut self, decoded: &mut Decoded) -> usize {
        let Decoded { strands, shards, .. } = decoded;
        shards.clear();
        shards.resize(self.known.partitioning.shards as usize + 1, (0, 0));
        for (strand, count) in &mut self.grouping.met {
            *count = self.grouping.counts[*strand as usize];
            let shard = &mut shards[self.known.shards[*strand as usize] as usize + 1];
            shard.0 += 1;
            shard.1 += *count;
        }
        let mut before = (0, 0);
        for shard in shards.iter_mut() {
            before = (before.0 + shard.0, before.1 + shard.1);
            *shard = before;
        }
        strands.resize(self.grouping.met.len(), (0, 0));
        for (strand, count) in &self.grouping.met {
            // The entry starts as the count before the shard. It grows to the count before the next shard.
            let shard = &mut shards[self.known.shards[*strand as usize] as usize];
            strands[shard.0 as usize] = (*strand, *count);
            self.grouping.counts[*strand as usize] = shard.1;
            shard.0 += 1;
            shard.1 += count;
        }
        shards.rotate_right(1);
        if let Some(first) = shards.first_mut() {
            *first = (0, 0);
        }
        before.1 as usize
    }
}
