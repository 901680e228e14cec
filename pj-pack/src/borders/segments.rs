//! Segments, and the rows that cross the boundaries between them.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use paje_pack::Border;

use crate::pack::BufferPool;

/// The line that opens a row. Its text is copied when its segment ends.
#[derive(Clone, Debug)]
pub(super) struct Opener {
    pub(super) start: u64,
    pub(super) text: Option<Arc<[u8]>>,
}

impl Opener {
    pub(super) const fn new(start: u64) -> Self {
        Opener { start, text: None }
    }
}

/// Returns the line that begins at byte `start` of a text, without its newline.
pub(super) fn line_at(text: &[u8], start: usize) -> &[u8] {
    let line = text.get(start..).unwrap_or_default();
    &line[..memchr::memchr(b'\n', line).unwrap_or(line.len())]
}

#[derive(Debug)]
pub(super) struct Segments {
    starts: Vec<u64>,
    pub(super) end: u64,
    /// Index of the segment that contains the current lines.
    pub(super) current: usize,
    current_start: u64,
    texts: VecDeque<Arc<Vec<u8>>>,
    pool: BufferPool,
    pub(super) times: Vec<(f64, f64)>,
    pub(super) borders: Vec<Border>,
    /// Only the borders after each `step` segments have lines.
    pub(super) step: usize,
    /// Number of lines of all borders together.
    pub(super) lines: usize,
    ends_within_line: bool,
    /// Whether any segment except the last one ends within a line.
    pub(super) cuts_a_line: bool,
}

impl Segments {
    pub(super) fn new(pool: BufferPool) -> Self {
        Segments {
            starts: Vec::new(),
            end: 0,
            current: 0,
            current_start: 0,
            texts: VecDeque::new(),
            pool,
            times: Vec::new(),
            borders: Vec::new(),
            step: 1,
            lines: 0,
            ends_within_line: false,
            cuts_a_line: false,
        }
    }

    pub(super) fn add(&mut self, text: &Arc<Vec<u8>>) {
        self.cuts_a_line |= self.ends_within_line;
        self.ends_within_line = !text.ends_with(b"\n");
        if !self.starts.is_empty() {
            self.borders.push(Border::default());
        }
        self.starts.push(self.end);
        self.end += text.len() as u64;
        self.times.push((f64::INFINITY, f64::NEG_INFINITY));
        self.texts.push_back(Arc::clone(text));
    }

    pub(super) fn has_current(&self) -> bool {
        !self.texts.is_empty()
    }

    pub(super) fn current_end(&self) -> u64 {
        self.starts.get(self.current + 1).copied().unwrap_or(self.end)
    }

    pub(super) fn end_current(&mut self) {
        if let Some(text) = self.texts.pop_front() {
            self.pool.put(text);
            self.current_start = self.current_end();
            self.current += 1;
        }
    }

    /// Returns the text that begins with a line. The line is in the current segment, or has been
    /// copied.
    #[inline]
    pub(super) fn line_from<'a>(&'a self, opener: &'a Opener) -> &'a [u8] {
        if let Some(text) = &opener.text {
            return text;
        }
        let within = opener.start.wrapping_sub(self.current_start) as usize;
        self.texts.front().and_then(|text| text.get(within..)).unwrap_or_default()
    }

    /// Copies the text of a line if it is in the current segment. Lines of previous segments have
    /// already been copied.
    pub(super) fn keep(&self, opener: &mut Opener) {
        if opener.text.is_none() {
            opener.text = Some(line_at(self.line_from(opener), 0).into());
        }
    }

    /// Adds the times of some lines of the current segment, given the earliest and the latest time.
    #[inline]
    pub(super) fn add_times(&mut self, earliest: f64, latest: f64) {
        self.add_times_of(self.current, earliest, latest);
    }

    /// Adds the time of a line, which can be in any segment.
    pub(super) fn add_time_at(&mut self, line: u64, time: f64) {
        self.add_times_of(self.of(line), time, time);
    }

    fn add_times_of(&mut self, segment: usize, earliest: f64, latest: f64) {
        if let Some((first, last)) = self.times.get_mut(segment) {
            (*first, *last) = (first.min(earliest), last.max(latest));
        }
    }

    fn of(&self, line: u64) -> usize {
        match line >= self.current_start && line < self.current_end() {
            true => self.current,
            false => self.starts.partition_point(|start| *start <= line).saturating_sub(1),
        }
    }

    fn between(&self, first: u64, last: u64) -> Range<usize> {
        self.of(first)..self.of(last)
    }

    /// Adds a row that is closed by a line of the current segment.
    #[inline]
    pub(super) fn close(&mut self, opener: &Opener, line: u64) {
        if opener.start < self.current_start {
            self.end(opener, line);
            self.add_closer(opener, line);
        }
    }

    /// Adds a row that ends at a line that is part of all windows.
    pub(super) fn end(&mut self, opener: &Opener, line: u64) {
        let borders = self.between(opener.start, line);
        if let Some(text) = &opener.text {
            self.add_to(borders, |border| border.openers.push((opener.start, Arc::clone(text))));
        }
    }

    /// Adds a line to all borders between it and the current segment.
    pub(super) fn end_here(&mut self, opener: &Opener) {
        self.end(opener, self.current_start);
    }

    /// Adds a line of the current segment as the end of a row.
    #[inline]
    pub(super) fn add_closer(&mut self, opener: &Opener, line: u64) {
        if opener.start < self.current_start {
            let borders = self.between(opener.start, line);
            let closer: Arc<[u8]> = line_at(self.line_from(&Opener::new(line)), 0).into();
            self.add_to(borders, |border| border.closers.push((line, Arc::clone(&closer))));
        }
    }

    fn add_to(&mut self, borders: Range<usize>, mut add: impl FnMut(&mut Border)) {
        let lacking = self.step - 1 - borders.start % self.step;
        for border in self.borders[borders].iter_mut().skip(lacking).step_by(self.step) {
            add(border);
            self.lines += 1;
        }
    }

    /// Removes every other border until at most this number of lines is left.
    pub(super) fn thin_to(&mut self, most: usize) {
        while self.lines > most && self.step <= self.borders.len() {
            self.step *= 2;
            let dropped = (1..).zip(&mut self.borders).filter(|(it, _)| it % self.step != 0);
            dropped.for_each(|(_, border)| *border = Border::default());
            let lines = |border: &Border| border.openers.len() + border.closers.len();
            self.lines = self.borders.iter().map(lines).sum();
        }
    }
}
