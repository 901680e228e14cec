//! Encodes containers as lines.

use paje_sim::{ContainerId, EventFields, TimeRange, Trace};

use super::aliases::Aliases;
use super::definitions::Line;
use super::lines::{put_fields, put_words};
use super::numbers::put_float;
use super::order::{EncodedLines, SortKey, Span};
use super::{Times, parents_first, put_name};

/// Earliest time of a container's lines, and their phase at that time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lifetime {
    pub(super) created: f64,
    phase: u32,
}

impl Lifetime {
    /// Moves the earliest lines to this time and phase, if they are earlier.
    fn begin_after(&mut self, time: f64, phase: u32) {
        if time > self.created {
            *self = Lifetime { created: time, phase };
        } else if time == self.created {
            self.phase = self.phase.max(phase);
        }
    }

    pub(super) const fn phase_at(self, time: f64) -> u32 {
        if time > self.created { 0 } else { self.phase }
    }
}

const CREATION: u32 = 0;
pub(super) const ROW: u32 = 1;
const DESTRUCTION: u32 = 2;
const PHASES: u32 = 3;

pub(super) struct Source<'t, T> {
    pub(super) trace: &'t Trace,
    pub(super) aliases: &'t Aliases,
    pub(super) window: TimeRange,
    pub(super) times: &'t T,
    /// Whether values of variables are single-precision numbers or sums of them.
    pub(super) is_single: bool,
    /// Whether links have keys that earlier links had. Then the two lines of a link stay together.
    pub(super) reuses_keys: bool,
    pub(super) lifetimes: Vec<Lifetime>,
}

impl<'t, T: Times> Source<'t, T> {
    /// Encodes the creation and destruction of the needed containers.
    pub(super) fn containers(&mut self, needed: &[bool]) -> EncodedLines {
        self.lifetimes = vec![Lifetime::default(); self.trace.containers().len()];
        self.lifetimes[0].created = f64::NEG_INFINITY;
        let mut written = EncodedLines::default();
        // In a recovered trace, a container may have a smaller number than its parent.
        let all = self.trace.containers();
        let parent = |id: usize| [all.parent(ContainerId(id as u32)).index()];
        for (rank, id) in (0..).zip(parents_first(all.len(), parent)) {
            if needed[id] {
                self.add_container(ContainerId(id as u32), rank, &mut written);
            }
        }
        written.sort();
        written
    }

    fn add_container(&mut self, id: ContainerId, rank: u32, written: &mut EncodedLines) {
        if id != ContainerId::ROOT {
            self.lifetimes[id.index()] = self.lifetime(id);
            self.create(id, rank, written);
        }
        let all = self.trace.containers();
        if all.is_destroyed(id) {
            // Children are destroyed before their parent.
            let (lifetime, rank) = (self.lifetimes[id.index()], u32::MAX - rank);
            let end = self.times.container(self.trace, id).1;
            let time = lifetime.created.max(end);
            let key = SortKey::new(time, lifetime.phase_at(time) + DESTRUCTION, rank);
            let def = written.used.id(Line::Destroy, None);
            if let Some(out) = written.begin(key, def, &Span::default()) {
                put_float(end, out);
                let type_ = self.aliases.type_(all.type_of(id));
                put_words(&[type_, self.aliases.container(id)], out);
                out.push(b'\n');
            }
        }
    }

    fn lifetime(&self, id: ContainerId) -> Lifetime {
        let all = self.trace.containers();
        let parent = all.parent(id);
        let (start, end) = self.times.container(self.trace, id);
        let end_of = |id| self.times.container(self.trace, id).1;
        let mut lifetime = self.lifetimes[parent.index()];
        if all.is_destroyed(parent) && end > end_of(parent) {
            // Without this, the container would be destroyed together with an ancestor.
            let mut above = parent;
            loop {
                if all.is_destroyed(above) && end > end_of(above) {
                    let time = end_of(above);
                    let phase = self.lifetimes[above.index()].phase_at(time);
                    lifetime.begin_after(time, phase + PHASES);
                }
                if above == ContainerId::ROOT {
                    break;
                }
                above = all.parent(above);
            }
        }
        lifetime.begin_after(start, 0);
        lifetime
    }

    fn create(&self, id: ContainerId, rank: u32, written: &mut EncodedLines) {
        let (all, lifetime) = (self.trace.containers(), self.lifetimes[id.index()]);
        let fields = self.trace.container_event(id);
        let def = written.used.id(Line::Create, fields.map(EventFields::def));
        let key = SortKey::new(lifetime.created, lifetime.phase + CREATION, rank);
        if let Some(out) = written.begin(key, def, &Span::default()) {
            put_float(self.times.container(self.trace, id).0, out);
            let words = [
                self.aliases.container(id),
                self.aliases.type_(all.type_of(id)),
                self.aliases.container(all.parent(id)),
            ];
            put_words(&words, out);
            put_name(all.name(id), out);
            if let Some(fields) = fields {
                put_fields(self.trace, fields, out);
            }
            out.push(b'\n');
        }
    }
}
