//! Writes a window of time as a trace (`--start`, `--end`).
//!
//! Rows that overlap the window are cut to it and written as new events. At the start of the
//! window, open states are pushed and variables are set. Lines are in time order, unless a lane
//! requires another order, or a container was created after its parent's destruction ([`order`]).

mod order;
mod rows;
mod text;

use std::io::{self, Write};

use paje_sim::{ContainerId, TimeRange, Trace, TypeId, ValueId};

use order::{Kind, Orders, Place};
use rows::Rows;

/// Clamps a time to the window, without negative zero.
const fn cut(window: TimeRange, time: f64) -> f64 {
    time.max(window.from).min(window.to) + 0.0
}

/// Writes the window of a trace. If `single` is true, the values of variables stay the same when
/// they are read in single precision.
pub(crate) fn write(
    trace: &Trace,
    window: TimeRange,
    single: bool,
    out: &mut dyn Write,
) -> io::Result<bool> {
    let mut sheet = Sheet::new(trace, window, single);
    for lane in trace.lanes() {
        let mut rows = Rows::new(&mut sheet, lane);
        let Ok(()) = lane.visit(&mut rows);
        rows.finish();
        trace.relieve();
    }
    sheet.create();
    if sheet.disordered {
        return Ok(false);
    }
    sheet.write(out).map(|()| true)
}

#[derive(Clone, Copy, Debug)]
struct Line {
    place: Place,
    kind: Kind,
    start: usize,
    end: usize,
}

struct Sheet<'a> {
    trace: &'a Trace,
    window: TimeRange,
    single: bool,
    orders: Orders,
    lines: Vec<Line>,
    text: Vec<u8>,
    /// For each container that is needed, the place of the first line that needs it.
    needed: Vec<Option<Place>>,
    /// For each type and value, whether the value occurs.
    values: Vec<Vec<bool>>,
    /// Whether some line would have to come both before and after another one.
    disordered: bool,
}

impl<'a> Sheet<'a> {
    fn new(trace: &'a Trace, window: TimeRange, single: bool) -> Self {
        let types = trace.types();
        Sheet {
            trace,
            window,
            single,
            orders: Orders::new(trace, window),
            lines: Vec::new(),
            text: Vec::new(),
            needed: vec![None; trace.containers().len()],
            values: types.ids().map(|type_| vec![false; types.value_count(type_)]).collect(),
            disordered: false,
        }
    }

    /// Adds a line, whose text `write` appends. The line is placed at its time, but no earlier than
    /// `after`. Returns its place in the order.
    fn line(
        &mut self,
        container: ContainerId,
        time: f64,
        after: Place,
        write: impl FnOnce(&mut Vec<u8>, &Trace),
    ) -> Place {
        let place = self.orders.of(container, time).max(after);
        self.disordered |= place > self.orders.last(container);
        self.need(container, place);
        self.push(place, Kind::Event, write);
        place
    }

    fn push(&mut self, place: Place, kind: Kind, write: impl FnOnce(&mut Vec<u8>, &Trace)) {
        let start = self.text.len();
        write(&mut self.text, self.trace);
        self.text.push(b'\n');
        self.lines.push(Line { place, kind, start, end: self.text.len() });
    }

    fn need(&mut self, container: ContainerId, place: Place) {
        let needed = &mut self.needed[container.index()];
        *needed = Some(needed.map_or(place, |known| known.min(place)));
    }

    fn use_value(&mut self, type_: TypeId, value: ValueId) {
        self.values[type_.index()][value.index()] = true;
    }

    fn create(&mut self) {
        let containers = self.trace.containers();
        for id in containers.ids().skip(1) {
            if self.window.overlaps(containers.start(id), containers.end(id)) {
                let start = cut(self.window, containers.start(id));
                self.need(id, self.orders.of(id, start));
            }
        }
        // A container is created after its parent.
        for id in containers.ids().skip(1).collect::<Vec<_>>().into_iter().rev() {
            if let Some(place) = self.needed[id.index()] {
                let start = self.orders.of(id, cut(self.window, containers.start(id)));
                self.need(id, start);
                self.need(containers.parent(id), place.min(start));
            }
        }
        for id in containers.ids().skip(1) {
            let Some(needed) = self.needed[id.index()] else { continue };
            let place = needed.max(self.orders.first(id));
            let start = cut(self.window, containers.start(id));
            self.push(place, Kind::Creation, |text, trace| text::create(text, trace, id, start));
            self.destroy(id);
        }
        self.destroy(ContainerId::ROOT);
    }

    fn destroy(&mut self, id: ContainerId) {
        let containers = self.trace.containers();
        let (end, own) = (self.orders.end(id), containers.destruction(id));
        if let (Some(place), Some((byte, true))) = (end, own) {
            let end = cut(self.window, containers.end(id));
            let kind = Kind::Destruction(byte.0);
            self.push(place, kind, |text, trace| text::destroy(text, trace, id, end));
        }
    }

    fn write(mut self, out: &mut dyn Write) -> io::Result<()> {
        let mut head = Vec::new();
        text::head(&mut head, self.trace, &self.values);
        out.write_all(&head)?;
        // Lines at the same place stay in the order in which they were added.
        self.lines.sort_by_key(|line| (line.place, line.kind));
        for line in &self.lines {
            out.write_all(&self.text[line.start..line.end])?;
        }
        let mut tail = Vec::new();
        text::end(&mut tail, self.trace, self.trace.end().min(self.window.to) + 0.0);
        out.write_all(&tail)
    }
}
