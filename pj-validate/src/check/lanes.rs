use paje_parser::{EntityOp, Event, FieldName, TypeNature};
use paje_sim::error::{Named, Problem, WarningKind};

use super::containers::Containers;
use super::findings::Group;
use super::links::LinkLane;
use super::place::Place;
use super::source::Source;
use super::stop::{Checked, Map, Stop};
use super::things::Things;

/// Events out of time order. Sorting the trace by time with a stable sort would fix them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Disorder {
    /// Number of events that are earlier than the last event of their lane. Each of their lines is
    /// an error (`not-time-ordered`).
    pub events: u64,
    /// Number of lanes with such events.
    pub lanes: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Lanes {
    pub(crate) list: Vec<Lane>,
    by_owner: Map<(u32, u32), u32>,
    pub(crate) disorder: Disorder,
    pub(crate) states: u64,
    pub(crate) variables: u64,
    pub(crate) events: u64,
    pub(crate) links: u64,
    pub(crate) ignores_open_links: bool,
}

#[derive(Debug)]
pub(crate) struct Lane {
    pub(crate) container: u32,
    pub(crate) type_: u32,
    disordered: bool,
    /// Earliest valid time of the next event in seconds, which is the start or the end of the last
    /// row, whichever is later. Rows are in the order of opening, and links in the order of
    /// completion. If there are no rows, the time is minus infinity.
    pub(crate) last: f64,
    pub(crate) kind: LaneKind,
}

#[derive(Debug)]
pub(crate) enum LaneKind {
    States {
        /// Open states, innermost last.
        stack: Vec<OpenState>,
        rows: u64,
    },
    Variable {
        set: bool,
    },
    Events,
    Links(Box<LinkLane>),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenState {
    row: u64,
    pub(crate) place: Place,
}

impl LaneKind {
    fn new(nature: TypeNature) -> Self {
        match nature {
            TypeNature::State => LaneKind::States { stack: Vec::new(), rows: 0 },
            TypeNature::Variable => LaneKind::Variable { set: false },
            TypeNature::Link => LaneKind::Links(Box::default()),
            TypeNature::Event | TypeNature::Container => LaneKind::Events,
        }
    }
}

impl Lanes {
    pub(crate) fn new(ignores_open_links: bool) -> Self {
        Lanes { ignores_open_links, ..Lanes::default() }
    }

    fn find(&mut self, container: u32, type_: u32, nature: TypeNature) -> (u32, bool) {
        let new = self.list.len() as u32;
        let id = *self.by_owner.entry((container, type_)).or_insert(new);
        if id == new {
            self.list.push(Lane {
                container,
                type_,
                disordered: false,
                last: f64::NEG_INFINITY,
                kind: LaneKind::new(nature),
            });
        }
        (id, id == new)
    }

    fn note_disorder(&mut self, id: u32) {
        let lane = &mut self.list[id as usize];
        self.disorder.lanes += u64::from(!std::mem::replace(&mut lane.disordered, true));
        self.disorder.events += 1;
    }

    /// Returns the lane of an event. If its container was destroyed, warns and returns `None`.
    #[inline]
    pub(crate) fn lane(
        &mut self,
        (type_, container): (u32, u32),
        nature: TypeNature,
        containers: &mut Containers,
        source: &mut Source<'_>,
    ) -> Option<u32> {
        if containers.is_ignored(container, source.here.file) {
            source.warn_as_replay(FieldName::Container, WarningKind::AfterDestroy);
            return None;
        }
        let (lane, new) = self.find(container, type_, nature);
        if new && nature == TypeNature::Link {
            containers.get_mut(container).links.push(lane);
        }
        Some(lane)
    }

    pub(crate) fn entity(
        &mut self,
        event: &Event<'_>,
        things: &mut Things,
        source: &mut Source<'_>,
    ) -> Checked<()> {
        let Event::Entity { op, time, type_, container, value } = *event else {
            return Ok(());
        };
        let owner = things.owner(type_, container, op.nature(), source)?;
        if let Some(value) = value
            && matches!(op, EntityOp::Event | EntityOp::SetState | EntityOp::PushState)
        {
            things.types.value(owner.0, value, source);
        }
        let lane = self.lane(owner, op.nature(), &mut things.containers, source);
        let Some(id) = lane else {
            return Ok(());
        };
        let lane = &mut self.list[id as usize];
        if time < lane.last {
            return Err(self.too_early(time, id, things));
        }
        let opened = match (&mut lane.kind, op) {
            (LaneKind::States { stack, rows }, _) => {
                let empty = stack.is_empty();
                let top_is_last = stack.last().is_some_and(|top| top.row + 1 == *rows);
                match op {
                    EntityOp::SetState | EntityOp::PushState => {
                        if op == EntityOp::SetState {
                            stack.clear();
                        }
                        let place = source.here.place(0);
                        stack.push(OpenState { row: *rows, place });
                        *rows += 1;
                        self.states += 1;
                    }
                    EntityOp::PopState => {
                        stack.pop();
                    }
                    _ => stack.clear(),
                }
                if op == EntityOp::PopState && empty {
                    return Err(self.pop_on_empty(id, things));
                }
                let opened = matches!(op, EntityOp::SetState | EntityOp::PushState);
                if opened || top_is_last {
                    lane.last = time;
                }
                opened
            }
            (LaneKind::Variable { set }, _) => {
                if !*set && op != EntityOp::SetVariable {
                    *set = true;
                    lane.last = time;
                    return Err(self.variable_unset(id, things));
                }
                *set = true;
                // A second change at the same time replaces the first.
                let opened = time > lane.last;
                lane.last = time;
                self.variables += u64::from(opened);
                opened
            }
            _ => {
                lane.last = time;
                self.events += 1;
                true
            }
        };
        things.types.get_mut(owner.0).objects += u64::from(opened);
        things.containers.get_mut(owner.1).last_event = Some(time);
        Ok(())
    }

    #[cold]
    pub(crate) fn too_early(&mut self, time: f64, id: u32, things: &Things) -> Box<Stop> {
        self.note_disorder(id);
        let (container, type_) = self.names(id, things);
        let last = self.list[id as usize].last;
        let problem = Problem::NotTimeOrdered { time, last, container, type_ };
        let group = Group::ids("not-time-ordered", id, 0);
        Stop::at(FieldName::Time, problem).once(group)
    }

    #[cold]
    fn pop_on_empty(&self, id: u32, things: &Things) -> Box<Stop> {
        let (container, type_) = self.names(id, things);
        let problem = Problem::PopOnEmpty { container, type_ };
        Stop::at(FieldName::Container, problem).once(Group::ids("pop-on-empty", id, 0))
    }

    #[cold]
    fn variable_unset(&self, id: u32, things: &Things) -> Box<Stop> {
        let (container, type_) = self.names(id, things);
        Stop::at(FieldName::Container, Problem::VariableUnset { container, type_ })
    }

    fn names(&self, id: u32, things: &Things) -> (Named, Named) {
        let lane = &self.list[id as usize];
        (things.containers.named(lane.container), things.types.named(lane.type_))
    }
}
