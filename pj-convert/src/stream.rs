//! Converts a trace portion by portion.

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use paje_sim::{
    LaneView, NameOrder, Portion, Selected, Selection, Step, TimeUnit, Trace, TypeNature,
};
use paje_workers::{Workers, in_order};

use crate::clock::Losses;
use crate::encoder::{Encoder, Track};
use crate::lanes::{LaneState, LaneWriter};
use crate::links::LinkQueue;

/// Size of a portion of the trace in bytes. Memory use is proportional to it.
pub(crate) const PORTION: u64 = 8 << 20;

const ROWS: u64 = 4096;

/// Typical number of bytes of a converted row.
const ROW: usize = 48;

pub(crate) struct Stream<'w, E, W> {
    encoder: E,
    order: NameOrder,
    selected: Selected,
    workers: &'w Workers,
    out: W,
    lanes: Vec<LaneState>,
    links: LinkQueue,
    /// Unit of the trace's times, known from the first portion on.
    unit: Option<TimeUnit>,
    buffer: Vec<u8>,
    is_empty: bool,
    losses: Losses,
    error: Option<io::Error>,
}

#[derive(Default)]
struct Task<'t> {
    lanes: Vec<(LaneView<'t>, Track, LaneState)>,
    rows: u64,
    losses: Losses,
}

impl<'w, E: Encoder, W: Write + Send> Stream<'w, E, W> {
    pub(crate) fn new(
        mut encoder: E,
        order: NameOrder,
        selection: &Selection,
        workers: &'w Workers,
        mut out: W,
    ) -> Self {
        let mut buffer = Vec::new();
        encoder.head(&mut buffer);
        let error = out.write_all(&buffer).err();
        buffer.clear();
        Stream {
            encoder,
            order,
            selected: Selected::new(selection),
            workers,
            out,
            lanes: Vec::new(),
            links: LinkQueue::default(),
            unit: None,
            buffer,
            is_empty: true,
            losses: Losses::default(),
            error,
        }
    }

    /// Writes a portion. Breaks if writing fails.
    pub(crate) fn show(&mut self, portion: &Portion<'_>) -> ControlFlow<()> {
        self.show_steps(portion.trace(), portion.walk(self.order))
    }

    pub(crate) fn show_all(&mut self, trace: &Trace) -> ControlFlow<()> {
        self.show_steps(trace, trace.walk(self.order))
    }

    fn show_steps(&mut self, trace: &Trace, steps: impl Iterator<Item = Step>) -> ControlFlow<()> {
        if self.error.is_some() {
            return ControlFlow::Break(());
        }
        if let Err(error) = self.write(trace, steps) {
            self.error = Some(error);
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    fn write(&mut self, trace: &Trace, steps: impl Iterator<Item = Step>) -> io::Result<()> {
        self.selected.extend(trace);
        let unit = self.unit_of(trace)?;
        self.encoder.define(trace, &self.selected, &mut self.buffer);
        let window = self.selected.window();
        let mut tasks: Vec<Mutex<Task<'_>>> = Vec::new();
        let mut task = Task::default();
        for step in steps {
            let Step::Type(container, type_) = step else { continue };
            if !self.selected.wants_step(step) {
                continue;
            }
            let Some(lane) = trace.lane(container, type_) else { continue };
            if lane.is_empty() {
                continue;
            }
            if lane.nature() == TypeNature::Link {
                self.links.add(lane, window);
                continue;
            }
            let track = self.track(trace, lane, unit);
            let state = std::mem::take(&mut self.lanes[lane.id().index()]);
            task.rows += lane.len();
            task.lanes.push((lane, track, state));
            if task.rows >= ROWS {
                tasks.push(Mutex::new(std::mem::take(&mut task)));
            }
        }
        tasks.push(Mutex::new(task));
        self.write_buffer()?;
        let (encoder, out, is_empty) = (&self.encoder, &mut self.out, &mut self.is_empty);
        let write = |number: usize| {
            let mut task = tasks[number].lock().unwrap_or_else(PoisonError::into_inner);
            Ok(task.write(encoder, window))
        };
        // The text of a task is written while workers encode other tasks.
        in_order(self.workers, tasks.len(), write, |_, text| {
            write_text::<E>(out, is_empty, &text)
        })?;
        let most = self.links.share();
        for task in tasks {
            let task = task.into_inner().unwrap_or_else(PoisonError::into_inner);
            self.losses.add(&task.losses);
            for (lane, _, mut state) in task.lanes {
                state.covered.keep(most);
                self.lanes[lane.id().index()] = state;
            }
        }
        self.write_links(trace, false)
    }

    /// Returns the unit of the trace's times.
    ///
    /// # Errors
    /// The types that show who wrote the trace were defined after its first rows.
    fn unit_of(&mut self, trace: &Trace) -> io::Result<TimeUnit> {
        let scale = trace.time_scale();
        if *self.unit.get_or_insert(scale.unit()) != scale.unit() {
            let unit = scale.unit().symbol();
            let why = format!("{scale}, but only a late line shows it; use --time-unit {unit}");
            return Err(io::Error::other(why));
        }
        Ok(scale.unit())
    }

    fn track(&mut self, trace: &Trace, lane: LaneView<'_>, unit: TimeUnit) -> Track {
        let index = lane.id().index();
        if self.lanes.len() <= index {
            self.lanes.resize_with(index + 1, || LaneState::new(unit));
        }
        if let Some(track) = self.lanes[index].track {
            return track;
        }
        let (container, type_) = (lane.container(), lane.type_id());
        let number = self.encoder.track(trace, container, type_, &mut self.buffer);
        let track = Track { container, type_, number };
        self.lanes[index].track = Some(track);
        if lane.nature() == TypeNature::State {
            self.links.add_holder(container, index);
        }
        track
    }

    fn write_links(&mut self, trace: &Trace, at_end: bool) -> io::Result<()> {
        let when = (self.unit_of(trace)?, at_end);
        let (lanes, workers) = (&self.lanes, self.workers);
        let ready = self.links.take(&self.encoder, lanes, when, workers, &mut self.losses);
        for (container, type_) in ready.iter().flat_map(|links| &links.missing) {
            self.encoder.track(trace, *container, *type_, &mut self.buffer);
        }
        self.write_buffer()?;
        let (encoder, out, is_empty) = (&self.encoder, &mut self.out, &mut self.is_empty);
        let write = |number: usize| {
            let mut text = Vec::with_capacity(ready[number].len() * ROW * 2);
            ready[number].write(encoder, &mut text);
            Ok(text)
        };
        in_order(workers, ready.len(), write, |_, text| write_text::<E>(out, is_empty, &text))
    }

    fn write_buffer(&mut self) -> io::Result<()> {
        write_text::<E>(&mut self.out, &mut self.is_empty, &self.buffer)?;
        self.buffer.clear();
        Ok(())
    }

    pub(crate) fn finish(mut self, trace: &Trace) -> io::Result<(W, Losses)> {
        self.write_links(trace, true)?;
        self.encoder.finish(&mut self.buffer);
        self.out.write_all(&self.buffer)?;
        Ok((self.out, self.losses))
    }

    pub(crate) fn take_error(&mut self) -> Option<io::Error> {
        self.error.take()
    }
}

/// Writes text. Leaves out the leading separator of the first text.
fn write_text<E: Encoder>(
    out: &mut impl Write,
    is_empty: &mut bool,
    text: &[u8],
) -> io::Result<()> {
    if text.is_empty() {
        return Ok(());
    }
    let skipped = if *is_empty { E::SEPARATOR.len() } else { 0 };
    *is_empty = false;
    out.write_all(&text[skipped..])
}

impl Task<'_> {
    fn write<E: Encoder>(&mut self, encoder: &E, window: paje_sim::TimeRange) -> Vec<u8> {
        let mut writer =
            LaneWriter::new(encoder, window, Vec::with_capacity(self.rows as usize * ROW));
        for (lane, track, state) in &mut self.lanes {
            *state = writer.write(*lane, *track, std::mem::take(state));
        }
        self.losses = writer.losses;
        writer.into_output()
    }
}
