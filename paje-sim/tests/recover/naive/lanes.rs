//! Finds the lane of an event, and applies the event to the lane.

use paje_parser::number::parse_f64;
use paje_parser::{EntityOp, LinkEnd, TypeNature};

use super::{Half, Lane, Naive, Skip, Text};

impl Naive {
    pub(super) fn lane(
        &mut self,
        container: &[u8],
        type_name: &[u8],
        nature: TypeNature,
        time: f64,
    ) -> Result<(usize, usize), Skip> {
        let key = (container.to_vec(), type_name.to_vec(), nature);
        if let Some(why) = self.doomed.get(&key) {
            return Err(why);
        }
        let doom = |naive: &mut Naive, why| {
            naive.doomed.insert(key.clone(), why);
            Err(why)
        };
        let known = self.containers_by.get(container).copied();
        let type_ = match (self.types_by.get(type_name), known) {
            (Some(type_), _) => *type_,
            (None, None) => return doom(self, "unknown-type"),
            (None, Some(known)) => {
                self.here("unknown-type", "created");
                let parent = self.containers[known].type_;
                self.add_type(type_name, type_name, nature, parent, None)
            }
        };
        if self.types[type_].nature != nature {
            return doom(self, "wrong-nature");
        }
        let of = self.types[type_].parent;
        let container = match known {
            Some(known) => known,
            None if of == 0 => return doom(self, "unknown-container"),
            None => {
                self.here("unknown-container", "created");
                self.add_container(container, container, of, 0, time, true);
                self.containers.len() - 1
            }
        };
        if self.containers[container].type_ != of {
            return doom(self, "not-child-type");
        }
        self.lanes
            .entry((container, type_))
            .or_insert_with(|| Lane { latest: f64::NEG_INFINITY, ..Lane::default() });
        Ok((container, type_))
    }

    pub(super) fn link_end(
        &mut self,
        type_name: &[u8],
        name: &[u8],
        end: LinkEnd,
        time: f64,
    ) -> Option<usize> {
        let key = (type_name.to_vec(), end, name.to_vec());
        if self.nowhere.contains(&key) {
            return None;
        }
        let type_ = self.types_by.get(type_name).map(|type_| &self.types[*type_]);
        let asked = type_.and_then(|type_| type_.ends);
        let asked = asked.map(|(start, last)| if end == LinkEnd::Start { start } else { last });
        let known = self.containers_by.get(name).copied().filter(|_| type_.is_some());
        if let Some(known) = known {
            if asked.is_some_and(|asked| asked != self.containers[known].type_) {
                self.here("wrong-link-end", "kept");
            }
            return Some(known);
        }
        let is_link = type_.filter(|type_| type_.nature == TypeNature::Link);
        match asked.or(is_link.map(|type_| type_.parent)).filter(|of| *of != 0) {
            Some(of) => {
                self.here("unknown-container", "created");
                self.add_container(name, name, of, 0, time, true);
                Some(self.containers.len() - 1)
            }
            None => {
                self.nowhere.insert(key);
                None
            }
        }
    }

    pub(super) fn use_value(&mut self, type_name: &[u8], value: &[u8]) {
        match self.types_by.get(type_name) {
            Some(type_) => {
                let values = &mut self.types[*type_].values;
                values.entry(value.to_vec()).or_insert_with(|| value.to_vec());
            }
            None => self.awaited.entry(type_name.to_vec()).or_default().push(value.to_vec()),
        }
    }

    pub(super) fn apply(
        &mut self,
        key: (usize, usize),
        op: EntityOp,
        time: f64,
        value: Text,
    ) -> Result<(), Skip> {
        if self.containers[key.0].end.is_some() {
            return Ok(());
        }
        let line = self.line;
        let Some(lane) = self.lanes.get_mut(&key) else { return Ok(()) };
        let mut unset = false;
        match op.nature() {
            TypeNature::State => {
                if let Some((start, end, ..)) = lane.states.last()
                    && (time < *start || end.is_some_and(|end| time < end))
                {
                    return Err("not-time-ordered");
                }
                let closed = match op {
                    EntityOp::PushState => 0,
                    EntityOp::PopState if lane.stack.is_empty() => return Err("pop-on-empty"),
                    EntityOp::PopState => 1,
                    _ => lane.stack.len(),
                };
                for row in lane.stack.split_off(lane.stack.len() - closed) {
                    lane.states[row].1 = Some(time);
                }
                if matches!(op, EntityOp::SetState | EntityOp::PushState) {
                    let below = lane.stack.last().map(|row| lane.states[*row].2);
                    lane.stack.push(lane.states.len());
                    lane.states.push((time, None, below.map_or(0, |level| level + 1), value));
                }
            }
            TypeNature::Variable => {
                let number = parse_f64(&value).unwrap_or_default();
                let last = lane.variable.last().copied();
                if last.is_some_and(|(start, _)| time < start) {
                    return Err("not-time-ordered");
                }
                unset = last.is_none() && op != EntityOp::SetVariable;
                let before = last.map_or(0.0, |(_, value)| value);
                let number = match op {
                    EntityOp::SetVariable => number,
                    EntityOp::AddVariable if unset => number,
                    EntityOp::AddVariable => before + number,
                    _ if unset => -number,
                    _ => before - number,
                };
                match lane.variable.last_mut() {
                    Some((start, value)) if *start == time => *value = number,
                    _ => lane.variable.push((time, number)),
                }
            }
            _ => {
                if lane.events.last().is_some_and(|(last, _)| time < *last) {
                    return Err("not-time-ordered");
                }
                lane.events.push((time, value));
            }
        }
        lane.last = Some((line, time));
        lane.latest = lane.latest.max(time);
        if unset {
            self.here("variable-unset", "kept");
        }
        Ok(())
    }

    pub(super) fn link(
        &mut self,
        key: (usize, usize),
        half: Half,
        link: &[u8],
    ) -> Result<(), Skip> {
        let (line, time) = (self.line, half.time);
        let Some(lane) = self.lanes.get_mut(&key) else { return Ok(()) };
        let mut told = Vec::new();
        match lane.open.iter().position(|(open, _)| open == link) {
            Some(at) if lane.open[at].1.end == half.end => return Err("key-repeated"),
            Some(at) => {
                let (_, first) = lane.open.remove(at);
                if first.value != half.value {
                    told.push("link-values-differ");
                }
                let half = Half { value: first.value.clone(), ..half };
                let (start, end) =
                    if half.end == LinkEnd::Start { (half, first) } else { (first, half) };
                if let Some((from, to, _)) = lane.links.last()
                    && (time < from.time || time < to.time)
                {
                    told.push("not-time-ordered");
                }
                lane.links.push((start, end, link.to_vec()));
            }
            None => {
                if !lane.keys.insert(link.to_vec()) {
                    told.push("key-reused");
                }
                lane.open.push((link.to_vec(), half));
            }
        }
        lane.last = Some((line, time));
        lane.latest = lane.latest.max(time);
        told.into_iter().for_each(|code| self.here(code, "kept"));
        Ok(())
    }
}
