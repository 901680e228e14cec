use paje_parser::error::shown_path;
use paje_parser::{Event, FieldName, LinkEnd, TypeNature};
use paje_sim::error::Problem;

use super::containers::Containers;
use super::files::Files;
use super::findings::Group;
use super::lanes::{LaneKind, Lanes};
use super::links::OpenLink;
use super::source::Source;
use super::stop::{Checked, Stop};
use super::things::Things;
use crate::finding::Caution;

impl Lanes {
    pub(crate) fn link(
        &mut self,
        event: &Event<'_>,
        things: &mut Things,
        source: &mut Source<'_>,
    ) -> Checked<()> {
        let Event::Link { end, time, type_, container, value, at, key } = *event else {
            return Ok(());
        };
        let owner = things.owner(type_, container, TypeNature::Link, source)?;
        let field = match end {
            LinkEnd::Start => FieldName::StartContainer,
            LinkEnd::End => FieldName::EndContainer,
        };
        let place = things.containers.named_by(at, field, source)?;
        let ends = things.types.get(owner.0).ends;
        let expected = if end == LinkEnd::Start { ends.0 } else { ends.1 };
        let found = things.containers.type_of(place);
        if expected != found {
            let problem = Problem::WrongLinkEnd {
                end,
                container: things.containers.named(place),
                expected: things.types.named(expected),
                found: things.types.named(found),
            };
            let group = Group::ids("wrong-link-end", owner.0, found << 1 | end as u32);
            return Err(Stop::at(field, problem).once(group));
        }
        let value = things.types.value(owner.0, value, source);
        let lane = self.lane(owner, TypeNature::Link, &mut things.containers, source);
        let Some(id) = lane else {
            return Ok(());
        };
        let lane = &mut self.list[id as usize];
        let LaneKind::Links(links) = &mut lane.kind else {
            return Ok(());
        };
        let Some(entry) = links.keys.get_mut(key.bare()) else {
            let open = OpenLink { end, time, value, place: source.place(FieldName::Key) };
            links.keys.insert(key.bare().into(), Some(Box::new(open)));
            links.open += 1;
            things.containers.get_mut(owner.1).last_event = Some(time);
            return Ok(());
        };
        let Some(other) = entry else {
            let key = key.bare().to_vec();
            let group = Group::ids("key-reused", id, 0);
            return Err(Stop::at(FieldName::Key, Problem::KeyReused { key }).once(group));
        };
        if other.end == end {
            let key = key.bare().to_vec();
            let group = Group::ids("key-repeated", id, end as u32);
            return Err(Stop::at(FieldName::Key, Problem::KeyRepeated { key, end }).once(group));
        }
        // The link is complete, even if there is a problem.
        let (other_value, other_time) = (other.value, other.time);
        *entry = None;
        links.open -= 1;
        if value != other_value {
            let values = &things.types.get(owner.0).values;
            let [value, other] = [value, other_value].map(|value| values[value as usize].named());
            let problem = Problem::LinkValuesDiffer { key: key.bare().to_vec(), value, other };
            let group = Group::ids("link-values-differ", id, 0);
            return Err(Stop::at(FieldName::Value, problem).once(group));
        }
        self.complete(id, time, other_time, things)?;
        let (start, stop) = match end {
            LinkEnd::Start => (time, other_time),
            LinkEnd::End => (other_time, time),
        };
        if stop < start {
            let caution = Caution::ReversedLink { key: key.bare().to_vec(), start, end: stop };
            let group = Group::ids("reversed-link", owner.0, 0);
            source.warn(FieldName::Time, caution, group);
        }
        Ok(())
    }

    /// Completes a link. Its second end is at `time`, and its first end is at `other`.
    fn complete(&mut self, id: u32, time: f64, other: f64, things: &mut Things) -> Checked<()> {
        let lane = &mut self.list[id as usize];
        if time < lane.last {
            return Err(self.too_early(time, id, things));
        }
        lane.last = time.max(other);
        self.links += 1;
        things.types.get_mut(lane.type_).objects += 1;
        things.containers.get_mut(lane.container).last_event = Some(time);
        Ok(())
    }

    /// Removes the open links of a container. Returns a problem for each affected lane, in the
    /// order in which the first open links were opened, with a note for a message about `file`.
    pub(crate) fn open_links(
        &mut self,
        container: u32,
        file: u32,
        containers: &Containers,
        files: &Files,
    ) -> Vec<(Problem, String)> {
        let mut problems = Vec::new();
        for id in &containers.get(container).links {
            let LaneKind::Links(links) = &mut self.list[*id as usize].kind else {
                continue;
            };
            let links = std::mem::take(&mut **links);
            if links.open == 0 || self.ignores_open_links {
                continue;
            }
            let all = links.keys.into_iter();
            let mut open: Vec<_> = all.filter_map(|(key, link)| Some((link?.place, key))).collect();
            open.sort_unstable();
            let first = open.first().map_or_else(String::new, |(place, _)| {
                let line = place.position.line;
                let path = shown_path(&files.read[place.file as usize].path);
                if place.file == file { format!("{line}") } else { format!("{line} of {path}") }
            });
            let keys = open.iter().take(Problem::LISTED);
            let problem = Problem::OpenLinks {
                container: containers.named(container),
                keys: keys.map(|(_, key)| key.to_vec()).collect(),
                count: open.len() as u64,
            };
            problems.push((problem, format!("the first of them is in line {first}")));
        }
        problems
    }
}
