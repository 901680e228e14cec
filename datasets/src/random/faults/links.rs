//! Writes faulty links and destructions.

use super::super::schema::{Field, Kind};
use super::super::trace::Writer;
use super::super::world::{Nature, OpenLink, ROOT};
use crate::invalid::Fault;

impl Writer {
    fn new_link(&mut self) -> Option<OpenLink> {
        let (container, kind) = self.world.pick_lane(Nature::Link, true, &mut self.rng)?;
        let ends = self.world.types[kind].ends;
        if self.world.containers_of(ends.0).is_empty()
            || self.world.containers_of(ends.1).is_empty()
        {
            return None;
        }
        self.clock.tick(&mut self.rng);
        let started = self.rng.percent(50);
        Some(OpenLink {
            container,
            kind,
            key: format!("f{}", self.count()),
            value: String::from("bad"),
            ticks: self.clock.now,
            started,
        })
    }

    pub(super) fn bad_link(&mut self, fault: Fault) -> Option<()> {
        let mut link = self.new_link()?;
        let now = self.clock.now;
        if fault == Fault::ForeignLinkEnd {
            let ends = self.world.types[link.kind].ends;
            let wanted = if link.started { ends.0 } else { ends.1 };
            let stranger = (0..self.world.containers.len())
                .find(|&other| self.world.containers[other].kind != wanted)?;
            let (event, field) = if link.started {
                (Kind::StartLink, Field::StartContainer)
            } else {
                (Kind::EndLink, Field::EndContainer)
            };
            let ids = [
                self.type_id(link.kind),
                self.container_id(link.container),
                self.container_id(stranger),
            ];
            let fill = [
                (Field::Type, ids[0].as_str()),
                (Field::Container, &ids[1]),
                (Field::Value, "bad"),
                (Field::Key, &link.key),
                (field, &ids[2]),
            ];
            self.timed(event, now, &fill);
            return Some(());
        }
        self.write_link_end(&link, link.started, now);
        if fault == Fault::LinkValuesDiffer {
            link.value = String::from("worse");
        }
        self.write_link_end(&link, !link.started, now);
        match fault {
            Fault::LinkKeyReused => {
                let start = self.rng.percent(50);
                self.write_link_end(&link, start, now);
            }
            Fault::LinkOutOfOrder => {
                link.key = String::from("late");
                self.write_link_end(&link, link.started, now / 2);
                self.write_link_end(&link, !link.started, now / 2);
            }
            _ => {}
        }
        Some(())
    }

    pub(super) fn open_link(&mut self, fault: Fault) -> Option<()> {
        if self.leave_links {
            return None;
        }
        let link = self.new_link()?;
        if (fault == Fault::OpenLinkAtDestroy) == (link.container == ROOT) {
            return None;
        }
        let now = self.clock.now;
        self.write_link_end(&link, link.started, now);
        if fault == Fault::OpenLinkAtDestroy {
            let latest = self
                .world
                .subtree(link.container)
                .iter()
                .map(|&child| self.world.containers[child].latest)
                .max();
            self.destroy(link.container, latest.unwrap_or(now).max(now), None);
        }
        Some(())
    }

    fn destroy(&mut self, container: usize, ticks: u64, kind: Option<usize>) {
        let kind = self.type_id(kind.unwrap_or(self.world.containers[container].kind));
        let id = self.container_id(container);
        self.timed(Kind::Destroy, ticks, &[(Field::Name, &id), (Field::Type, &kind)]);
    }

    pub(super) fn bad_destroy(&mut self, fault: Fault) -> Option<()> {
        let nature = self.rng.pick(&[Nature::State, Nature::Variable, Nature::Event]);
        let (container, kind) = self.world.pick_lane(nature, true, &mut self.rng)?;
        let own = self.world.containers[container].kind;
        if container == ROOT {
            return None;
        }
        self.clock.tick(&mut self.rng);
        let now = self.clock.now;
        if fault == Fault::DestroyedAsOtherType {
            let other =
                self.world.of_nature(Nature::Container).into_iter().find(|&other| other != own)?;
            self.destroy(container, now, Some(other));
        } else {
            self.lane_event(Self::opener(nature), container, kind, now, Some("1"));
            self.destroy(container, now / 2, None);
        }
        Some(())
    }
}
