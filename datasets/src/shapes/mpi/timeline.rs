//! Collects lines that are generated process by process, and writes them in order of time.

use std::io;
use std::mem;
use std::ops::Range;

use crate::sink::Sink;

/// Lines that are kept until no line with an earlier time can follow.
#[derive(Debug, Default)]
pub(super) struct Timeline {
    text: Vec<u8>,
    places: Vec<Place>,
}

#[derive(Debug)]
struct Place {
    time: u64,
    bytes: Range<usize>,
}

pub(super) struct Lines<'a> {
    sink: Sink<'a>,
    places: &'a mut Vec<Place>,
    /// Number of bytes in the timeline before these lines.
    before: usize,
}

impl Timeline {
    pub(super) fn add(&mut self, lines: impl FnOnce(&mut Lines<'_>)) {
        let before = self.text.len();
        let mut new = Lines { sink: Sink::new(&mut self.text), places: &mut self.places, before };
        lines(&mut new);
        new.sink.finish().expect("writing to memory does not fail");
    }

    pub(super) fn bytes(&self) -> u64 {
        self.text.len() as u64
    }

    /// Writes the lines with times before `until`, sorted by time. The sort is stable.
    pub(super) fn write(&mut self, sink: &mut Sink<'_>, until: u64) -> io::Result<()> {
        self.places.sort_by_key(|place| place.time);
        let ready = self.places.partition_point(|place| place.time < until);
        for place in self.places.drain(..ready) {
            sink.lines(&self.text[place.bytes])?;
        }
        let text = mem::take(&mut self.text);
        for place in &mut self.places {
            let start = self.text.len();
            self.text.extend_from_slice(&text[place.bytes.clone()]);
            place.bytes = start..self.text.len();
        }
        Ok(())
    }
}

impl<'a> Lines<'a> {
    /// Writes a line: the event's number and `time`, then `fields`.
    pub(super) fn line(
        &mut self,
        event: u32,
        time: u64,
        fields: impl for<'s> FnOnce(&'s mut Sink<'a>) -> &'s mut Sink<'a>,
    ) {
        let start = self.end();
        let line = fields(self.sink.event(event).micros(time));
        line.end().expect("writing to memory does not fail");
        self.places.push(Place { time, bytes: start..self.end() });
    }

    /// Returns the number of bytes in the timeline, including these lines.
    pub(super) fn bytes(&self) -> u64 {
        self.end() as u64
    }

    fn end(&self) -> usize {
        self.before + self.sink.written() as usize
    }
}

#[cfg(test)]
mod tests {
    use super::Timeline;
    use crate::sink::Sink;

    #[test]
    fn lines_are_written_in_order_of_time() {
        let mut out = Vec::new();
        let mut sink = Sink::new(&mut out);
        let mut timeline = Timeline::default();
        let add = |timeline: &mut Timeline, times: [u64; 3]| {
            timeline.add(|lines| {
                for (time, number) in times.into_iter().zip(1..) {
                    lines.line(number, time, |sink| sink.num(7));
                }
            });
        };
        add(&mut timeline, [3, 9, 2]);
        assert_eq!(timeline.bytes(), 3 * 13);
        timeline.write(&mut sink, 3).unwrap();
        add(&mut timeline, [8, 3, 4]);
        timeline.write(&mut sink, 9).unwrap();
        timeline.write(&mut sink, u64::MAX).unwrap();
        assert_eq!(timeline.bytes(), 0);
        sink.finish().unwrap();
        let expected = ["3 2", "1 3", "2 3", "3 4", "1 8", "2 9"];
        let lines: Vec<String> = expected
            .iter()
            .filter_map(|line| line.split_once(' '))
            .map(|(event, micros)| format!("{event} 0.00000{micros} 7\n"))
            .collect();
        assert_eq!(String::from_utf8(out).unwrap(), lines.concat());
    }
}
