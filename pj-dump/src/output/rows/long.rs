//! Slow path: rows of any length, with any numbers and precision.

use paje_decimal::{fixed_room, put_fixed};
use paje_parser::Field;
use paje_sim::{Annotations, Events, Links, Name, States, Variables};

use super::RowFormatter;
use crate::output::names::Texts;
use crate::output::printed::{PADDING, Printed, Text};

impl RowFormatter<'_> {
    #[inline(never)]
    pub(super) fn state(
        &mut self,
        states: &States<'_>,
        i: usize,
        values: Texts<'_>,
        levels: &Printed,
    ) {
        let (start, end) = (states.start[i], states.end[i]);
        // Within a portion, a state without an end is still open.
        if end.is_nan() || !self.style.wants(start, end) {
            return;
        }
        let mut room = std::mem::take(&mut self.text);
        let value = values.get(states.value[i].index(), &mut room);
        self.print_extras(&states.user_defined, i);
        self.begin_row(4, value.len);
        self.put_span(start, end);
        match levels.text(states.imbrication[i] as usize) {
            Some(level) => self.put(level),
            None => self.put_number(f64::from(states.imbrication[i])),
        }
        self.put(value);
        self.end_row();
        self.text = room;
    }

    #[inline(never)]
    pub(super) fn variable(&mut self, all: &Variables<'_>, i: usize) {
        let (start, end) = (all.start[i], all.end(i));
        if !self.style.wants(start, end) {
            return;
        }
        self.print_extras(&all.user_defined, i);
        self.begin_row(4, 0);
        self.put_span(start, end);
        self.at = put_fixed(&mut self.buffer, self.at, all.value[i], self.style.precision);
        self.end_row();
    }

    #[inline(never)]
    pub(super) fn event(&mut self, events: &Events<'_>, i: usize, values: Texts<'_>) {
        let time = events.time[i];
        if !self.style.wants(time, time) {
            return;
        }
        let mut room = std::mem::take(&mut self.text);
        let value = values.get(events.value[i].index(), &mut room);
        self.print_extras(&events.user_defined, i);
        self.begin_row(1, value.len);
        self.put_number(time);
        self.put(value);
        self.end_row();
        self.text = room;
    }

    #[inline(never)]
    pub(super) fn link(
        &mut self,
        links: &Links<'_>,
        i: usize,
        values: Texts<'_>,
        containers: Texts<'_>,
        key: &mut Vec<u8>,
    ) {
        let (start, end) = (links.start[i], links.end[i]);
        if !self.style.wants(start, end) {
            return;
        }
        key.clear();
        self.style.quotes.write(Name::from(Field::new(links.raw_key(i))), key);
        self.print_extras(&links.user_defined, i);
        let (mut rooms, from) = (<[Vec<u8>; 3]>::default(), links.from[i].index());
        let [of_value, of_from, of_to] = &mut rooms;
        let texts = [
            values.get(links.value[i].index(), of_value),
            containers.get(from, of_from),
            containers.get(links.to[i].index(), of_to),
        ];
        let len: usize = texts.iter().map(|text| text.len + 2).sum();
        self.begin_row(3, len + key.len());
        self.put_span(start, end);
        for text in texts {
            self.put(text);
            self.buffer[self.at..self.at + 2].copy_from_slice(b", ");
            self.at += 2;
        }
        self.put(Text::new(key));
        self.end_row();
    }

    #[inline(always)]
    fn put_span(&mut self, start: f64, end: f64) {
        self.put_number(start);
        self.put_number(end);
        self.put_number(end - start);
    }

    /// Puts a number and the separator. A call instead of inlining would take a third of the time
    /// that the digits take.
    #[inline(always)]
    fn put_number(&mut self, value: f64) {
        let end = put_fixed(&mut self.buffer, self.at, value, self.style.precision);
        self.buffer[end..end + 2].copy_from_slice(b", ");
        self.at = end + 2;
    }

    #[inline(always)]
    fn print_extras(&mut self, fields: &Annotations<'_>, i: usize) {
        self.extras.clear();
        if fields.is_kept() {
            self.print_kept(fields, i);
        }
    }

    #[inline(never)]
    fn print_kept(&mut self, fields: &Annotations<'_>, i: usize) {
        for (_, raw) in fields.of(i) {
            self.extras.extend_from_slice(b", ");
            self.style.quotes.write(Name::from(Field::new(raw)), &mut self.extras);
        }
    }

    #[inline(always)]
    fn end_row(&mut self) {
        if !self.extras.is_empty() {
            self.at = Text::new(&self.extras).put(&mut self.buffer, self.at);
        }
        self.buffer[self.at] = b'\n';
        self.at += 1;
        self.rows += 1;
    }

    /// Makes room for a row with this many numbers and bytes of text, and puts its prefix.
    #[inline(always)]
    fn begin_row(&mut self, numbers: usize, text: usize) {
        let number = fixed_room(self.style.precision) + 2;
        self.reserve(self.prefix_len + numbers * number + text + self.extras.len() + 2 * PADDING);
        let prefix = Text { padded: &self.prefix, len: self.prefix_len };
        self.at = prefix.put(&mut self.buffer, self.at);
    }
}
