//! Valid steps of a random trace: single events and definitions.

use super::schema::{Field, Kind};
use super::trace::Writer;
use super::world::{Nature, OpenLink, ROOT};

/// Maximum number of types. Like the maximum number of containers, it is low, so that lanes have
/// several events.
const MAX_TYPES: usize = 24;
const MAX_CONTAINERS: usize = 30;

impl Writer {
    pub(super) fn begin(&mut self) {
        self.define_type(Nature::Container, ROOT);
        self.create(1);
        for _ in 0..self.rng.between(2, 10) {
            self.step_type();
        }
        for _ in 0..self.rng.between(1, 5) {
            self.step_create();
        }
    }

    pub(super) fn step(&mut self) {
        match self.rng.below(100) {
            0..3 => self.step_type(),
            3..7 => self.step_value(),
            7..12 => self.step_create(),
            12..14 => self.step_destroy(),
            14..55 => self.step_state(),
            55..70 => self.step_variable(),
            70..80 => self.step_event(),
            _ => self.step_link(),
        }
    }

    fn step_type(&mut self) {
        if self.world.types.len() >= MAX_TYPES {
            return;
        }
        let mut containers = self.world.of_nature(Nature::Container);
        containers.push(ROOT);
        let parent = self.rng.pick(&containers);
        let nature = match self.rng.below(10) {
            0 | 1 if self.world.depth(parent) < 3 => Nature::Container,
            0..5 => Nature::State,
            5 | 6 => Nature::Variable,
            7 => Nature::Event,
            _ => Nature::Link,
        };
        self.define_type(nature, parent);
    }

    fn step_value(&mut self) {
        let kind = self.rng.index(self.world.types.len());
        if self.world.types[kind].nature.has_values() {
            self.define_value(kind);
        }
    }

    fn step_create(&mut self) {
        let kinds = self.world.of_nature(Nature::Container);
        if self.world.containers.len() < MAX_CONTAINERS {
            let kind = self.rng.pick(&kinds);
            self.create(kind);
        }
    }

    /// Destroys a container, perhaps for a second time. The time is not earlier than any time below
    /// the container. The container has no open links, unless links may stay open.
    fn step_destroy(&mut self) {
        if self.world.containers.len() < 3 {
            return;
        }
        let target = self.rng.between(1, self.world.containers.len() as u64 - 1) as usize;
        let below = self.world.subtree(target);
        let destroyed = self.world.containers[target].destroyed;
        let open = self.world.open_links.iter().any(|link| below.contains(&link.container));
        if !destroyed && open && !self.leave_links {
            return;
        }
        let latest = below.iter().map(|&container| self.world.containers[container].latest).max();
        let ticks = self.moment(latest.unwrap_or(0));
        let container = &self.world.containers[target];
        let (id, kind) = (container.id.clone(), self.world.types[container.kind].id.clone());
        self.timed(Kind::Destroy, ticks, &[(Field::Name, &id), (Field::Type, &kind)]);
        if destroyed {
            return;
        }
        for container in below {
            self.world.stamp(container, ticks);
            self.world.containers[container].destroyed = true;
        }
        let parent = self.world.containers[target].parent;
        self.world.stamp(parent, ticks);
        let gone: Vec<bool> =
            self.world.containers.iter().map(|container| container.destroyed).collect();
        self.world.open_links.retain(|link| !gone[link.container]);
    }

    pub(super) fn lane_event(
        &mut self,
        event: Kind,
        container: usize,
        kind: usize,
        ticks: u64,
        value: Option<&str>,
    ) {
        let ids = [self.world.types[kind].id.clone(), self.world.containers[container].id.clone()];
        let mut fill = vec![(Field::Type, ids[0].as_str()), (Field::Container, &ids[1])];
        fill.extend(value.map(|value| (Field::Value, value)));
        self.timed(event, ticks, &fill);
    }

    fn step_state(&mut self) {
        let Some((container, kind)) =
            self.world.pick_lane(Nature::State, self.present, &mut self.rng)
        else {
            return;
        };
        let destroyed = self.world.containers[container].destroyed;
        let (floor, depth) =
            (self.world.lane(container, kind).last, self.world.lane(container, kind).depth);
        let ticks = self.moment(floor);
        let event = match self.rng.below(10) {
            0 | 1 => Kind::SetState,
            2..6 if depth < 40 => Kind::PushState,
            2..9 if depth > 0 || destroyed => Kind::PopState,
            9 => Kind::ResetState,
            _ => Kind::PushState,
        };
        let value = matches!(event, Kind::SetState | Kind::PushState).then(|| self.value(kind));
        self.lane_event(event, container, kind, ticks, value.as_deref());
        if destroyed {
            return;
        }
        let lane = self.world.lane(container, kind);
        lane.depth = match event {
            Kind::SetState => 1,
            Kind::PushState => depth + 1,
            Kind::PopState => depth - 1,
            _ => 0,
        };
        self.world.touch(container, kind, ticks);
    }

    fn step_variable(&mut self) {
        let Some((container, kind)) =
            self.world.pick_lane(Nature::Variable, self.present, &mut self.rng)
        else {
            return;
        };
        let destroyed = self.world.containers[container].destroyed;
        let (floor, set) =
            (self.world.lane(container, kind).last, self.world.lane(container, kind).set);
        let ticks = self.moment(floor);
        let event = match self.rng.below(4) {
            1 if set || destroyed => Kind::AddVariable,
            2 if set || destroyed => Kind::SubVariable,
            _ => Kind::SetVariable,
        };
        let value = self.number();
        self.lane_event(event, container, kind, ticks, Some(&value));
        if !destroyed {
            self.world.lane(container, kind).set = true;
            self.world.touch(container, kind, ticks);
        }
    }

    /// Returns a variable's value that is finite in single precision and read completely by
    /// `strtof`.
    fn number(&mut self) -> String {
        let rng = &mut self.rng;
        let sign = rng.pick(&["", "", "", "-"]);
        let number = rng.below(100_000_000);
        match rng.below(8) {
            0 => format!("{sign}{}", number % 100),
            1 => format!("{sign}{number}"),
            2 => format!("{sign}{}.{:06}", number / 7919, number % 1_000_000),
            3 => format!("{sign}{}.{:09}", number % 4, number),
            4 => format!(
                "{sign}{}.{:013}e{:+03}",
                number % 10,
                number,
                rng.between(0, 30) as i64 - 15
            ),
            5 => format!("{sign}.{number}"),
            6 => format!("{sign}0x{number:x}.8p-{}", rng.below(10)),
            _ => format!("{sign}16777{:03}", number % 1000),
        }
    }

    fn step_event(&mut self) {
        let Some((container, kind)) =
            self.world.pick_lane(Nature::Event, self.present, &mut self.rng)
        else {
            return;
        };
        let floor = self.world.lane(container, kind).last;
        let ticks = self.moment(floor);
        let value = self.value(kind);
        self.lane_event(Kind::NewEvent, container, kind, ticks, Some(&value));
        self.wrote_event = true;
        if !self.world.containers[container].destroyed {
            self.world.touch(container, kind, ticks);
        }
    }

    fn step_link(&mut self) {
        if !self.world.open_links.is_empty() && self.rng.percent(55) {
            let open = self.rng.index(self.world.open_links.len());
            self.complete_link(open);
            return;
        }
        let Some((container, kind)) =
            self.world.pick_lane(Nature::Link, self.present, &mut self.rng)
        else {
            return;
        };
        let started = self.rng.percent(70);
        let ends = self.world.types[kind].ends;
        if self.world.containers_of(ends.0).is_empty()
            || self.world.containers_of(ends.1).is_empty()
        {
            return;
        }
        let key = format!("{}{}", self.rng.pick(&["k", "1_2_-3_", "", "key "]), self.rng.below(30));
        if !self.world.lane(container, kind).used_keys.insert(key.clone()) {
            return;
        }
        let (value, ticks) =
            (self.value(kind), self.moment(self.world.containers[container].earliest));
        let link = OpenLink { container, kind, key, value, ticks, started };
        self.write_link_end(&link, started, ticks);
        if !self.world.containers[container].destroyed {
            self.world.stamp(container, ticks);
            self.world.open_links.push(link);
        }
    }

    /// Completes the open link at `index`, if there is a container for its other end.
    pub(super) fn complete_link(&mut self, index: usize) -> bool {
        let link = self.world.open_links[index].clone();
        let floor = self.world.lane(link.container, link.kind).last;
        let ticks = self.moment(floor);
        if !self.write_link_end(&link, !link.started, ticks) {
            return false;
        }
        self.world.open_links.swap_remove(index);
        // The next link must not be completed before either end of this link.
        self.world.touch(link.container, link.kind, ticks.max(link.ticks));
        true
    }

    /// Writes an end of a link. Returns `false` if no container has the required type.
    pub(super) fn write_link_end(&mut self, link: &OpenLink, start: bool, ticks: u64) -> bool {
        let ends = self.world.types[link.kind].ends;
        let candidates = self.world.containers_of(if start { ends.0 } else { ends.1 });
        if candidates.is_empty() {
            return false;
        }
        let end = self.world.containers[self.rng.pick(&candidates)].id.clone();
        let ids = [
            self.world.types[link.kind].id.clone(),
            self.world.containers[link.container].id.clone(),
        ];
        let (event, field) = if start {
            (Kind::StartLink, Field::StartContainer)
        } else {
            (Kind::EndLink, Field::EndContainer)
        };
        let fill = [
            (Field::Type, ids[0].as_str()),
            (Field::Container, &ids[1]),
            (Field::Value, &link.value),
            (Field::Key, &link.key),
            (field, &end),
        ];
        self.timed(event, ticks, &fill);
        true
    }

    /// Completes open links, then writes a last event with the latest time.
    pub(super) fn end(&mut self) {
        if !self.leave_links {
            while !self.world.open_links.is_empty() && self.complete_link(0) {}
        }
        self.clock.tick(&mut self.rng);
        self.present = true;
        for _ in 0..8 {
            let before = self.paper.bytes.len();
            match self.rng.below(4) {
                0 => self.step_state(),
                1 => self.step_variable(),
                2 => self.step_event(),
                _ => {}
            }
            if self.paper.bytes.len() > before {
                return;
            }
        }
        self.create(1);
    }
}
