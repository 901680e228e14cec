//! What happens in the lanes: the objects of one type in one container.

use paje_parser::{EntityOp, Field, FieldName, TypeNature};
use paje_problems::{Named, Problem, WarningKind};

use super::Disorder;
use super::findings::{Findings, Group};
use super::links::LinkLane;
use super::model::{Checked, Map, Model, Stop};
use super::source::{Place, Source};

/// All lanes by their numbers.
#[derive(Debug, Default)]
pub(crate) struct Lanes {
    pub(crate) list: Vec<Lane>,
    by_owner: Map<(u32, u32), u32>,
    /// What is not in time order.
    pub(crate) disorder: Disorder,
    pub(crate) states: u64,
    pub(crate) variables: u64,
    pub(crate) events: u64,
    pub(crate) links: u64,
}

#[derive(Debug)]
pub(crate) struct Lane {
    pub(crate) container: u32,
    pub(crate) type_: u32,
    disordered: bool,
    /// No event may be earlier, in seconds: the start or, if it is later, the end of the last row
    /// in the order of opening (for links: of completion). Minus infinity while there is none.
    pub(crate) last: f64,
    pub(crate) kind: LaneKind,
}

#[derive(Debug)]
pub(crate) enum LaneKind {
    States {
        /// Those that are open, innermost last.
        stack: Vec<OpenState>,
        /// How many were ever opened.
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
    /// Its number among the rows of the lane.
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

    /// Notes that an event of a lane is not in time order.
    fn disorder(&mut self, id: u32) {
        let lane = &mut self.list[id as usize];
        self.disorder.lanes += u64::from(!std::mem::replace(&mut lane.disordered, true));
        self.disorder.events += 1;
    }
}

impl Model {
    /// The type and the container of an event that needs a type of this nature.
    #[inline]
    pub(crate) fn owner(
        &mut self,
        type_: Field<'_>,
        container: Field<'_>,
        expected: TypeNature,
        source: &Source<'_>,
        findings: &mut Findings,
    ) -> Checked<(u32, u32)> {
        let id = self.find_type(type_, FieldName::Type, source, findings)?;
        let found = self.types.get(id).nature;
        if found != expected {
            let type_ = self.types.named(id);
            let problem = Problem::WrongNature { type_, expected, found, event: None };
            let group = Group::ids("wrong-nature", id, expected as u32);
            return Err(Stop::at(FieldName::Type, problem).once(group));
        }
        self.types.get_mut(id).used = true;
        let container = self.find_container(container, FieldName::Container, source, findings)?;
        if self.types.get(id).parent != self.containers.type_of(container) {
            return Err(self.not_child(id, container));
        }
        self.remember(id, container);
        Ok((id, container))
    }

    /// The lane of an event, or `None` with a warning if its container was destroyed.
    #[inline]
    pub(crate) fn lane(
        &mut self,
        (type_, container): (u32, u32),
        nature: TypeNature,
        source: &Source<'_>,
        findings: &mut Findings,
    ) -> Option<u32> {
        if self.containers.is_ignored(container, source.here.file) {
            source.warn_as_replay(FieldName::Container, WarningKind::AfterDestroy, findings);
            return None;
        }
        let (lane, new) = self.lanes.find(container, type_, nature);
        if new && nature == TypeNature::Link {
            self.containers.get_mut(container).links.push(lane);
        }
        Some(lane)
    }

    /// PajeNewEvent, PajeSetState … PajeSubVariable.
    #[allow(clippy::too_many_arguments)] // They are the event's fields.
    pub(crate) fn entity(
        &mut self,
        op: EntityOp,
        time: f64,
        type_: Field<'_>,
        container: Field<'_>,
        value: Option<Field<'_>>,
        source: &Source<'_>,
        findings: &mut Findings,
    ) -> Checked<()> {
        let owner = self.owner(type_, container, op.nature(), source, findings)?;
        if let Some(value) = value
            && matches!(op, EntityOp::Event | EntityOp::SetState | EntityOp::PushState)
        {
            self.types.value(owner.0, value, source, findings);
        }
        let Some(id) = self.lane(owner, op.nature(), source, findings) else {
            return Ok(());
        };
        let lane = &mut self.lanes.list[id as usize];
        if time < lane.last {
            return Err(self.too_early(time, id));
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
                        self.lanes.states += 1;
                    }
                    EntityOp::PopState => {
                        stack.pop();
                    }
                    _ => stack.clear(),
                }
                if op == EntityOp::PopState && empty {
                    return Err(self.pop_on_empty(id));
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
                    return Err(self.variable_unset(id));
                }
                *set = true;
                // A change at the time of the last one replaces it.
                let opened = time > lane.last;
                lane.last = time;
                self.lanes.variables += u64::from(opened);
                opened
            }
            _ => {
                lane.last = time;
                self.lanes.events += 1;
                true
            }
        };
        self.types.get_mut(owner.0).objects += u64::from(opened);
        self.containers.get_mut(owner.1).last_event = Some(time);
        Ok(())
    }

    /// An event is earlier than what its lane holds.
    #[cold]
    pub(crate) fn too_early(&mut self, time: f64, id: u32) -> Box<Stop> {
        self.lanes.disorder(id);
        let (container, type_) = self.lane_names(id);
        let last = self.lanes.list[id as usize].last;
        let problem = Problem::NotTimeOrdered { time, last, container, type_ };
        let group = Group::ids("not-time-ordered", id, 0);
        Stop::at(FieldName::Time, problem).once(group)
    }

    #[cold]
    fn pop_on_empty(&self, id: u32) -> Box<Stop> {
        let (container, type_) = self.lane_names(id);
        let problem = Problem::PopOnEmpty { container, type_ };
        Stop::at(FieldName::Container, problem).once(Group::ids("pop-on-empty", id, 0))
    }

    #[cold]
    fn variable_unset(&self, id: u32) -> Box<Stop> {
        let (container, type_) = self.lane_names(id);
        Stop::at(FieldName::Container, Problem::VariableUnset { container, type_ })
    }

    fn lane_names(&self, id: u32) -> (Named, Named) {
        let lane = &self.lanes.list[id as usize];
        (self.containers.named(lane.container), self.types.named(lane.type_))
    }
}
