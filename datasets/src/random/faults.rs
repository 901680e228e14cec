//! Adds a fault to a random trace, if the state of the replay allows it.

mod definitions;
mod links;

use super::schema::{Field, Kind};
use super::trace::Writer;
use super::world::{Nature, ROOT};
use crate::invalid::Fault;

const NOBODY: &str = "no-such-thing";

impl Writer {
    /// Writes `fault` now. If the fault is not possible here, returns `None` and writes nothing
    /// invalid.
    pub(super) fn inject(&mut self, fault: Fault) -> Option<()> {
        match fault {
            Fault::UnknownType
            | Fault::UnknownContainer
            | Fault::WrongNature
            | Fault::ForeignType => self.misplaced(fault),
            Fault::DuplicateType | Fault::ReservedType => self.second_type(fault),
            Fault::DuplicateContainer | Fault::ReservedContainer | Fault::ForeignContainer => {
                self.second_container(fault)
            }
            Fault::PopOnEmptyStack => {
                let (container, kind) = self.world.pick_lane(Nature::State, true, &mut self.rng)?;
                let lane = self.world.lane(container, kind);
                let (depth, floor) = (lane.depth, lane.last);
                if depth > 0 {
                    return None;
                }
                let ticks = self.moment(floor);
                self.lane_event(Kind::PopState, container, kind, ticks, Some("unused"));
                Some(())
            }
            Fault::AddBeforeSet => {
                let (container, kind) =
                    self.world.pick_lane(Nature::Variable, true, &mut self.rng)?;
                if self.world.lane(container, kind).set {
                    return None;
                }
                let event = self.rng.pick(&[Kind::AddVariable, Kind::SubVariable]);
                let ticks = self.moment(0);
                self.lane_event(event, container, kind, ticks, Some("1.5"));
                Some(())
            }
            Fault::StateOutOfOrder => self.out_of_order(Nature::State),
            Fault::VariableOutOfOrder => self.out_of_order(Nature::Variable),
            Fault::EventOutOfOrder => self.out_of_order(Nature::Event),
            Fault::ForeignLinkEnd
            | Fault::LinkOutOfOrder
            | Fault::LinkKeyReused
            | Fault::LinkValuesDiffer => self.bad_link(fault),
            Fault::OpenLinkAtEnd | Fault::OpenLinkAtDestroy => self.open_link(fault),
            Fault::DestroyedEarly | Fault::DestroyedAsOtherType => self.bad_destroy(fault),
            Fault::ValueDefinedTwice | Fault::ValueOfVariableType | Fault::BadColor => {
                self.bad_value(fault)
            }
            Fault::UnknownEventNumber
            | Fault::RedefinedEventNumber
            | Fault::MissingObligatoryField
            | Fault::UnknownFieldType
            | Fault::FieldDefinedTwice
            | Fault::UnknownEventName
            | Fault::StrayPercent => self.bad_definition(fault),
            // The rules exclude these faults, because PajeNG accepts them or aborts.
            Fault::TwoStarts
            | Fault::TwoEnds
            | Fault::MissingField
            | Fault::BadTime
            | Fault::BadVariableValue
            | Fault::EmptyFile
            | Fault::TruncatedDefinition => None,
        }
    }

    fn type_id(&self, kind: usize) -> String {
        self.world.types[kind].id.clone()
    }

    fn container_id(&self, container: usize) -> String {
        self.world.containers[container].id.clone()
    }

    /// Returns an event that can only be invalid because of its type or container.
    fn opener(nature: Nature) -> Kind {
        match nature {
            Nature::State => Kind::PushState,
            Nature::Variable => Kind::SetVariable,
            _ => Kind::NewEvent,
        }
    }

    fn misplaced(&mut self, fault: Fault) -> Option<()> {
        let nature = self.rng.pick(&[Nature::State, Nature::Variable, Nature::Event]);
        let (container, kind) = self.world.pick_lane(nature, true, &mut self.rng)?;
        let (mut type_id, mut container_id) = (self.type_id(kind), self.container_id(container));
        let mut event = Self::opener(nature);
        match fault {
            Fault::UnknownType => type_id = String::from(NOBODY),
            Fault::UnknownContainer => container_id = String::from(NOBODY),
            Fault::WrongNature => {
                event = Self::opener(if nature == Nature::State {
                    Nature::Variable
                } else {
                    Nature::State
                })
            }
            _ => {
                let home = self.world.types[kind].parent;
                let containers = &self.world.containers;
                let strangers: Vec<usize> = (0..containers.len())
                    .filter(|&other| containers[other].kind != home && !containers[other].destroyed)
                    .collect();
                if strangers.is_empty() {
                    return None;
                }
                let stranger = self.rng.pick(&strangers);
                container_id = self.container_id(stranger);
            }
        }
        let floor = self.world.lane(container, kind).last;
        let ticks = self.moment(floor);
        self.timed(
            event,
            ticks,
            &[(Field::Type, &type_id), (Field::Container, &container_id), (Field::Value, "7")],
        );
        Some(())
    }

    fn second_type(&mut self, fault: Fault) -> Option<()> {
        let event = self.rng.pick(&[
            Kind::ContainerType,
            Kind::StateType,
            Kind::VariableType,
            Kind::EventType,
            Kind::LinkType,
        ]);
        let definition = self.definition(event);
        let taken = self.rng.between(1, self.world.types.len() as u64 - 1) as usize;
        let id = if fault == Fault::ReservedType { String::from("0") } else { self.type_id(taken) };
        let parent = self.type_id(1);
        let name = if definition.has_alias() { "again" } else { &id };
        let fill = [
            (Field::Alias, id.as_str()),
            (Field::Name, name),
            (Field::Type, &parent),
            (Field::StartContainerType, &parent),
            (Field::EndContainerType, &parent),
        ];
        self.event(&definition, &fill);
        Some(())
    }

    fn second_container(&mut self, fault: Fault) -> Option<()> {
        let (mut id, mut kind, mut parent) = (String::from("0"), 1, ROOT);
        match fault {
            Fault::DuplicateContainer => {
                let taken = self.rng.between(1, self.world.containers.len() as u64 - 1) as usize;
                (id, kind, parent) = (
                    self.container_id(taken),
                    self.world.containers[taken].kind,
                    self.world.containers[taken].parent,
                );
            }
            Fault::ForeignContainer => {
                kind = self.rng.pick(&self.world.of_nature(Nature::Container));
                parent = self.rng.index(self.world.containers.len());
                if self.world.containers[parent].kind == self.world.types[kind].parent {
                    return None;
                }
                id = String::from(NOBODY);
            }
            _ => {}
        }
        let definition = self.definition(Kind::Create);
        let (kind, parent, ticks) = (self.type_id(kind), self.container_id(parent), self.moment(0));
        let name = if definition.has_alias() { "again" } else { &id };
        let fill = [
            (Field::Alias, id.as_str()),
            (Field::Name, name),
            (Field::Type, &kind),
            (Field::Container, &parent),
        ];
        self.timed_by(&definition, ticks, &fill);
        Some(())
    }

    /// Writes two events of the same lane. The second event has half the time of the first event.
    fn out_of_order(&mut self, nature: Nature) -> Option<()> {
        let (container, kind) = self.world.pick_lane(nature, true, &mut self.rng)?;
        self.clock.tick(&mut self.rng);
        let event = Self::opener(nature);
        let later = self.clock.now;
        self.lane_event(event, container, kind, later, Some("1"));
        self.lane_event(event, container, kind, later / 2, Some("2"));
        Some(())
    }
}
