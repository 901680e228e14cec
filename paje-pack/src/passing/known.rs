//! The loop over lines of steps that need no text, which are almost all: by itself, so that all that it needs is at hand.

use super::{ColumnReader, Contents, Form, StepLines};
use crate::columns::{ColumnLine, Content, Lines};
use crate::fields::unzigzag;
use crate::grid::Grid;
use crate::lines::Line;
use crate::numbers::Numbers;
use crate::out::Out;
use crate::table::Group;
use crate::times::TimesIn;
use crate::untell::LineReader;

impl ColumnReader<'_, '_> {
    /// Reads lines up to the first that is of another step, or has a time that is spelt otherwise. Returns how many there were; none if
    /// there is something about one that only its text tells.
    pub(super) fn known_lines(&mut self, out: &mut Out, lines: &mut Lines) -> Option<usize> {
        let is_of_times = self.is_of_times;
        let ColumnReader { reader, steps, grid, passed, .. } = self;
        let LineReader { sides, lines: order, times, values, keys, .. } = reader;
        let (read, lanes, actions) = order.parts();
        let (lane_places, actions) = actions.parts();
        let contents = Contents { sides, values, keys, passed };
        let known = Known { steps, grid, lane_places, times, contents, read, is_of_times };
        match (lanes, actions) {
            (Numbers::Small(lanes), Numbers::Small(actions)) => {
                known.lines(lanes, actions, out, lines)
            }
            (Numbers::Small(lanes), Numbers::Any(actions)) => {
                known.lines(lanes, actions, out, lines)
            }
            (Numbers::Any(lanes), Numbers::Small(actions)) => {
                known.lines(lanes, actions, out, lines)
            }
            (Numbers::Any(lanes), Numbers::Any(actions)) => known.lines(lanes, actions, out, lines),
        }
    }
}

/// All that lines of steps that need no text are read with.
struct Known<'c, 'a> {
    steps: &'c mut [StepLines],
    grid: &'c Grid,
    lane_places: &'c mut [Group],
    times: &'c mut TimesIn,
    contents: Contents<'c, 'a>,
    /// Number of lines that have been read.
    read: &'c mut usize,
    is_of_times: bool,
}

impl Known<'_, '_> {
    /// Reads them, by what tells the lanes of all lines, and the actions of those of each lane.
    fn lines<L: Copy + Into<u64>, A: Copy + Into<u64>>(
        self,
        lanes: &[L],
        actions: &[A],
        out: &mut Out,
        lines: &mut Lines,
    ) -> Option<usize> {
        let Known { steps, grid, lane_places, times, mut contents, read, is_of_times } = self;
        let TimesIn { from_lane, last, text, table, lengths, spelling, .. } = times;
        *text = None;
        let (time_places, times) = table.wide_parts();
        let lane_lasts = &mut last.lanes[..];
        let (from, from_lane, mut last_time) = (*read, *from_lane, last.line);
        let (mut range, mut len) = (lengths.0.clone(), lengths.1);
        let mut place = from;
        while let Some(lane_told) = lanes.get(place) {
            let lane_told: u64 = (*lane_told).into();
            let lane = (lane_told as usize).wrapping_sub(1);
            let Some(lane_place) = lane_places.get_mut(lane) else { break };
            let Some(action_told) = actions.get(lane_place.next()) else { break };
            let action_told: u64 = (*action_told).into();
            let step = grid.get(lane_told, action_told);
            let Some(all) = steps.get_mut(step as usize) else { break };
            let action = action_told as usize - 1;
            let Some(time_place) = time_places.get_mut(action) else { break };
            let Some(told) = times.get(time_place.next()).filter(|told| **told > 0) else { break };
            let Some(lane_last) = lane_lasts.get_mut(lane) else { break };
            let base = if from_lane { *lane_last } else { last_time };
            let time = base.wrapping_add(unzigzag(*told - 1));
            if time < range.start || time >= range.end {
                (range, len) = spelling.lengths(time)?;
            }
            (*lane_last, last_time) = (time, time);
            lane_place.pass();
            time_place.pass();
            place += 1;
            let line = Line { lane: lane as u32, action: action as u32 };
            put((line, step, all), (time, len), is_of_times, &mut contents, out, lines)?;
        }
        last.line = last_time;
        (*lengths, *read) = ((range, len), place);
        Some(place - from)
    }
}

/// Puts a line of a step to the others, at this time, whose text has so many bytes.
#[inline(always)]
pub(super) fn put(
    (line, step, all): (Line, u32, &mut StepLines),
    (time, len): (i64, usize),
    is_of_times: bool,
    contents: &mut Contents<'_, '_>,
    out: &mut Out,
    lines: &mut Lines,
) -> Option<()> {
    let StepLines { form, bytes, behind, count, from, to } = all;
    let start = out.len() as u32;
    if *form == Form::Times {
        *count += 1;
        out.pass(*bytes as usize + len);
        lines.lines.push(ColumnLine { time, start, step });
        return Some(());
    }
    if *form == Form::Nothing && (is_of_times || from == to) {
        out.pass(*bytes as usize + len);
        lines.leave_out(time);
        return Some(());
    }
    let mut content = Content { line: lines.lines.len() as u32, step, ..Content::default() };
    contents.pass(line, len, *from as usize..*to as usize, out, &mut content)?;
    out.pass(behind.0 as usize + len * behind.1 as usize);
    if *form == Form::Nothing {
        lines.leave_out(time);
        return Some(());
    }
    *count += 1;
    lines.lines.push(ColumnLine { time, start, step });
    if *form == Form::Contents {
        lines.contents.push(content);
    }
    Some(())
}
