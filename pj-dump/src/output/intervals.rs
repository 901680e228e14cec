//! Intervals of `-p`: the values of a type's lanes between consecutive times of the trace.
//!
//! ```text
//! START,END,DURATION[,CONTAINER/TYPE/VALUE]…
//! ```
//!
//! For traces in time order, the output follows these rules, found by running PajeNG 1.3.6:
//! - Each event that is later than all previous events ends an interval. The first interval begins
//!   at 0. Events without effect, or ignored after their container's destruction, count too. Some
//!   of these times are in no row, so the replay keeps all times
//!   ([`keep_times`](paje_sim::Options::keep_times)).
//! - A lane shows its last row that started before the interval, even if the row has ended. Without
//!   such a row, the lane shows its first row, if it starts before the end of the interval. A lane
//!   of links shows the last link that was complete when the interval began.
//! - Lanes are in the order of the dump. Types are selected by name, not by alias.
//!
//! PajeNG prints while it reads, so its output depends on the order of the file. The output of this
//! program does not depend on it, and every time of the trace counts.

use std::convert::Infallible;
use std::io::{self, BufWriter, Write};

use paje_sim::{
    ContainerId, Events, LaneView, Links, Name, States, Trace, TypeNature, Variables, Visitor,
};

use super::Style;
use super::printed::Printed;
use paje_decimal::write_fixed;

/// Writes a line for each interval between the kept times of a trace, with the lanes of types named
/// `type_name`.
pub fn write(trace: &Trace, type_name: &[u8], style: Style, out: impl Write) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 16, out);
    let mut lanes = Lanes { type_name, style, list: Vec::new() };
    match trace.visit(style.quotes.order(), &mut lanes) {
        Ok(()) => {}
        Err(impossible) => match impossible {},
    }
    let mut lanes = lanes.list;
    let mut line = Vec::new();
    let mut times = trace.times_of_lines().to_vec();
    // The times always include 0.
    let zero = times.partition_point(|time| *time < 0.0);
    if times.get(zero) != Some(&0.0) {
        times.insert(zero, 0.0);
    }
    for interval in times.windows(2) {
        let (from, to) = (interval[0], interval[1]);
        line.clear();
        for (i, number) in [from, to, to - from].into_iter().enumerate() {
            if i > 0 {
                line.push(b',');
            }
            write_fixed(&mut line, number, style.precision);
        }
        for lane in &mut lanes {
            lane.write(from, to, &mut line);
        }
        line.push(b'\n');
        out.write_all(&line)?;
    }
    out.flush()
}

struct Lane {
    id: paje_sim::LaneId,
    prefix: Vec<u8>,
    /// Whether a row that begins together with the interval counts. Links do.
    at_once: bool,
    /// Start of each row in seconds. For a link, the time at which it was complete.
    since: Vec<f64>,
    value: Vec<u32>,
    texts: Printed,
    begun: usize,
}

impl Lane {
    fn write(&mut self, from: f64, to: f64, line: &mut Vec<u8>) {
        let counts = |since: f64| if self.at_once { since <= from } else { since < from };
        while self.since.get(self.begun).is_some_and(|since| counts(*since)) {
            self.begun += 1;
        }
        let first = !self.at_once && self.since.first().is_some_and(|since| *since < to);
        let row = match self.begun.checked_sub(1) {
            Some(row) => row,
            None if first => 0,
            None => return,
        };
        line.extend_from_slice(&self.prefix);
        line.extend_from_slice(self.texts.get(self.value[row] as usize).bytes());
    }
}

struct Lanes<'a> {
    type_name: &'a [u8],
    style: Style,
    list: Vec<Lane>,
}

impl Lanes<'_> {
    fn lane(&mut self, view: LaneView<'_>) -> Option<&mut Lane> {
        let (types, quotes) = (view.trace().types(), self.style.quotes);
        let type_ = view.type_id();
        if types.name(type_).text != self.type_name {
            return None;
        }
        if self.list.last().is_none_or(|lane| lane.id != view.id()) {
            let mut prefix = b",".to_vec();
            quotes.write(view.trace().containers().name(view.container()), &mut prefix);
            prefix.push(b'/');
            quotes.write(types.name(type_), &mut prefix);
            prefix.push(b'/');
            let mut texts = Printed::default();
            for value in 0..types.value_count(type_) as u32 {
                texts.push(quotes, types.value_name(type_, paje_sim::ValueId(value)));
            }
            self.list.push(Lane {
                id: view.id(),
                prefix,
                at_once: view.nature() == TypeNature::Link,
                since: Vec::new(),
                value: Vec::new(),
                texts,
                begun: 0,
            });
        }
        self.list.last_mut()
    }
}

impl Visitor for Lanes<'_> {
    type Error = Infallible;

    fn container(&mut self, _: &Trace, _: ContainerId) -> Result<(), Infallible> {
        Ok(())
    }

    fn states(&mut self, lane: LaneView<'_>, states: States<'_>) -> Result<(), Infallible> {
        if let Some(lane) = self.lane(lane) {
            lane.since.extend_from_slice(states.start);
            lane.value.extend(states.value.iter().map(|value| value.0));
        }
        Ok(())
    }

    fn variables(&mut self, lane: LaneView<'_>, all: Variables<'_>) -> Result<(), Infallible> {
        let (quotes, precision) = (self.style.quotes, self.style.precision);
        if let Some(lane) = self.lane(lane) {
            let mut text = Vec::new();
            for (start, value) in all.start.iter().zip(all.value) {
                text.clear();
                write_fixed(&mut text, *value, precision);
                lane.since.push(*start);
                lane.value.push(lane.texts.len() as u32);
                lane.texts.push(quotes, Name::bare(&text));
            }
        }
        Ok(())
    }

    fn events(&mut self, lane: LaneView<'_>, events: Events<'_>) -> Result<(), Infallible> {
        if let Some(lane) = self.lane(lane) {
            lane.since.extend_from_slice(events.time);
            lane.value.extend(events.value.iter().map(|value| value.0));
        }
        Ok(())
    }

    fn links(&mut self, lane: LaneView<'_>, links: Links<'_>) -> Result<(), Infallible> {
        if let Some(lane) = self.lane(lane) {
            lane.since
                .extend(links.start.iter().zip(links.end).map(|(start, end)| start.max(*end)));
            lane.value.extend(links.value.iter().map(|value| value.0));
        }
        Ok(())
    }
}
