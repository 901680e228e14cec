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

use std::io::{self, BufWriter, Write};

use paje_sim::{LaneView, Name, Row, Step, Trace, TypeNature, ValueId};

use super::Style;
use super::printed::Printed;
use paje_decimal::write_fixed;

/// Writes a line for each interval between the kept times of a trace, with the lanes of types named
/// `type_name`.
pub fn write(trace: &Trace, type_name: &[u8], style: Style, out: impl Write) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 16, out);
    let lane = |step| match step {
        Step::Type(container, type_) if trace.types().name(type_).text == type_name => {
            trace.lane(container, type_).filter(|lane| !lane.is_empty())
        }
        _ => None,
    };
    let lanes = trace.walk(style.quotes.order()).filter_map(lane);
    let mut lanes: Vec<Lane> = lanes.map(|lane| Lane::new(lane, style)).collect();
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
    fn new(view: LaneView<'_>, Style { quotes, precision, .. }: Style) -> Self {
        let (types, type_) = (view.trace().types(), view.type_id());
        let mut prefix = b",".to_vec();
        quotes.write(view.container_name(), &mut prefix);
        prefix.push(b'/');
        quotes.write(view.type_name(), &mut prefix);
        prefix.push(b'/');
        let mut texts = Printed::default();
        for value in 0..types.value_count(type_) as u32 {
            texts.push(quotes, types.value_name(type_, ValueId(value)));
        }
        let (mut since, mut value) = (Vec::new(), Vec::new());
        for row in view.rows() {
            since.push(if let Row::Link(_) = row {
                row.start().max(row.end())
            } else {
                row.start()
            });
            value.push(match row {
                Row::State(row) => row.value.0,
                Row::Event(row) => row.value.0,
                Row::Link(row) => row.value.0,
                Row::Variable(row) => {
                    let mut text = Vec::new();
                    write_fixed(&mut text, row.value, precision);
                    texts.push(quotes, Name::bare(&text));
                    texts.len() as u32 - 1
                }
                Row::Container(_) => continue,
            });
        }
        let at_once = view.nature() == TypeNature::Link;
        Lane { prefix, at_once, since, value, texts, begun: 0 }
    }

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
