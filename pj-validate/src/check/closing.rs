//! End of the trace: open states, unused definitions, and the summary.

use paje_sim::error::Problem;

use super::findings::Findings;
use super::lanes::{Disorder, LaneKind, OpenState};
use super::model::Model;
use crate::finding::{Caution, Thing};
use crate::summary::{ContainerSummary, Summary, TypeSummary};

impl Model {
    pub(crate) fn finish(&mut self, findings: &mut Findings) {
        self.endings.apply(&mut self.world, findings);
        for id in 0..self.world.things.containers.list.len() as u32 {
            if self.world.things.containers.get(id).end.is_some() {
                continue;
            }
            for (problem, note) in self.world.open_links(id, 0) {
                findings.at_end(problem, Some(note));
            }
        }
        self.unused_types(findings);
        self.unused_values(findings);
        self.never_closed(findings);
    }

    pub(crate) const fn disorder(&self) -> Disorder {
        self.world.lanes.disorder
    }

    pub(crate) fn unused_types(&self, findings: &mut Findings) {
        let defined = self.world.things.types.list.iter().zip(0u32..).skip(1);
        let mut unused = defined.filter(|(type_, _)| !type_.used).peekable();
        let Some(place) = unused.peek().and_then(|(first, _)| first.place) else {
            return;
        };
        let ids: Vec<u32> = unused.map(|(_, id)| id).collect();
        let listed = ids.iter().take(Problem::LISTED);
        let caution = Caution::Unused {
            thing: Thing::Type,
            type_: None,
            names: listed.map(|id| self.world.things.types.named(*id)).collect(),
            count: ids.len() as u64,
        };
        findings.afterwards(caution, Some(place.0), place.1);
    }

    pub(crate) fn unused_values(&self, findings: &mut Findings) {
        for (id, type_) in self.world.things.types.list.iter().enumerate() {
            let mut unused = type_.values.iter().filter(|value| !value.used).peekable();
            let Some(first) = unused.peek() else {
                continue;
            };
            let (place, width) = (first.place, first.identifier.len());
            let mut names = Vec::new();
            let mut count = 0;
            for value in unused {
                if names.len() < Problem::LISTED {
                    names.push(value.named());
                }
                count += 1;
            }
            let caution = Caution::Unused {
                thing: Thing::Value,
                type_: Some(self.world.things.types.named(id as u32)),
                names,
                count,
            };
            findings.afterwards(caution, place, width as u64);
        }
    }

    /// For each type, warns about states that are still open in containers that were not destroyed.
    fn never_closed(&self, findings: &mut Findings) {
        let mut open: Vec<Option<(OpenState, u32, u64)>> =
            vec![None; self.world.things.types.list.len()];
        for lane in &self.world.lanes.list {
            let LaneKind::States { stack, .. } = &lane.kind else {
                continue;
            };
            let living = self.world.things.containers.get(lane.container).end.is_none();
            let Some(first) = stack.first().filter(|_| living) else {
                continue;
            };
            let count = stack.len() as u64;
            let slot = &mut open[lane.type_ as usize];
            *slot = match *slot {
                Some((known, container, before)) if known.place < first.place => {
                    Some((known, container, before + count))
                }
                known => {
                    let before = known.map_or(0, |(_, _, before)| before);
                    Some((*first, lane.container, before + count))
                }
            };
        }
        for (type_, open) in open.iter().enumerate() {
            if let Some((first, container, count)) = open {
                let caution = Caution::NeverClosed {
                    type_: self.world.things.types.named(type_ as u32),
                    container: self.world.things.containers.named(*container),
                    count: *count,
                };
                findings.afterwards(caution, Some(first.place), 1);
            }
        }
    }

    pub(crate) fn summarise(self, summary: &mut Summary) {
        summary.times = self.times;
        summary.states = self.world.lanes.states;
        summary.variables = self.world.lanes.variables;
        summary.events = self.world.lanes.events;
        summary.links = self.world.lanes.links;
        let types = self.world.things.types.list.into_iter().map(|type_| TypeSummary {
            name: type_.name.into_vec(),
            alias: type_.alias.map(<[u8]>::into_vec),
            nature: type_.nature,
            parent: type_.parent as usize,
            objects: type_.objects,
            values: type_.values.len() as u64,
        });
        summary.types = types.collect();
        summary.values = summary.types.iter().map(|type_| type_.values).sum();
        let containers = self.world.things.containers.list.into_iter();
        let containers = containers.map(|container| ContainerSummary {
            name: container.name.into_vec(),
            alias: container.alias.map(<[u8]>::into_vec),
            type_: container.type_ as usize,
            parent: container.parent as usize,
        });
        summary.containers = containers.collect();
    }
}
