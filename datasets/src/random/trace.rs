//! Writes a random trace event by event, and keeps the state of its replay.

use super::schema::{Definition, Field, Kind};
use super::spelling::Paper;
use super::times::Clock;
use super::world::{Nature, ROOT, World, name};
use crate::rng::Rng;

#[derive(Debug)]
pub(super) struct Writer {
    pub(super) rng: Rng,
    pub(super) paper: Paper,
    pub(super) clock: Clock,
    pub(super) world: World,
    pub(super) definitions: Vec<Definition>,
    /// Whether links may stay open. The trace is then replayed with `-z`.
    pub(super) leave_links: bool,
    /// Whether all following times must equal the latest time. The rule for the last line requires
    /// this.
    pub(super) present: bool,
    pub(super) wrote_event: bool,
    counter: u64,
}

pub(super) type Fill<'a> = &'a [(Field, &'a str)];

impl Writer {
    pub(super) fn new(mut rng: Rng, events: u64, old_names: bool, leave_links: bool) -> Self {
        let paper = Paper::random(&mut rng);
        let clock = Clock::random(events, &mut rng);
        let definitions = define(old_names, &mut rng);
        Self {
            rng,
            paper,
            clock,
            world: World::new(),
            definitions,
            leave_links,
            present: false,
            wrote_event: false,
            counter: 0,
        }
    }

    /// Writes some definitions now. The other definitions follow before their first use.
    pub(super) fn header(&mut self) {
        let early = self.rng.pick(&[0, 70, 100, 100]);
        for index in 0..self.definitions.len() {
            if self.rng.percent(early) {
                self.write_definition(index);
            }
        }
    }

    fn write_definition(&mut self, index: usize) {
        let definition = self.definitions[index].clone();
        self.definitions[index].written = true;
        self.definition_lines(&definition);
    }

    pub(super) fn definition_lines(&mut self, definition: &Definition) -> u64 {
        let (paper, rng) = (&mut self.paper, &mut self.rng);
        let first = paper.header(&["EventDef", definition.kind.name(), &definition.number], rng);
        for field in &definition.fields {
            let declared = field.declared(rng);
            paper.header(&[field.spelling(definition.kind, definition.old_names), declared], rng);
        }
        paper.header(&["EndEventDef"], rng);
        first
    }

    /// Returns a definition of `kind`. Writes the definition first if necessary.
    pub(super) fn definition(&mut self, kind: Kind) -> Definition {
        let known: Vec<usize> = (0..self.definitions.len())
            .filter(|&index| self.definitions[index].kind == kind)
            .collect();
        let index = self.rng.pick(&known);
        if !self.definitions[index].written {
            self.write_definition(index);
        }
        self.definitions[index].clone()
    }

    /// Writes an event. Fields that are not in `fill` get a meaningless text.
    pub(super) fn event(&mut self, definition: &Definition, fill: Fill<'_>) -> u64 {
        let mut words = vec![definition.number.clone()];
        for field in &definition.fields {
            let text =
                fill.iter().find(|(name, _)| name == field).map(|(_, text)| (*text).to_owned());
            words.push(text.unwrap_or_else(|| filler(field, &mut self.rng)));
        }
        self.paper.line(&words, &mut self.rng)
    }

    pub(super) fn timed(&mut self, kind: Kind, ticks: u64, fill: Fill<'_>) -> u64 {
        let definition = self.definition(kind);
        self.timed_by(&definition, ticks, fill)
    }

    pub(super) fn timed_by(&mut self, definition: &Definition, ticks: u64, fill: Fill<'_>) -> u64 {
        let time = self.clock.spell(ticks, &mut self.rng);
        let mut all = vec![(Field::Time, time.as_str())];
        all.extend_from_slice(fill);
        self.event(definition, &all)
    }

    /// Returns a time that is not earlier than `floor`. May advance the clock.
    pub(super) fn moment(&mut self, floor: u64) -> u64 {
        if !self.present {
            self.clock.advance(&mut self.rng);
            if self.rng.percent(25) {
                return self.rng.between(floor.min(self.clock.now), self.clock.now);
            }
        }
        self.clock.now
    }

    pub(super) fn count(&mut self) -> u64 {
        self.counter += 1;
        self.counter
    }

    pub(super) fn define_type(&mut self, nature: Nature, parent: usize) {
        let kind = match nature {
            Nature::Container => Kind::ContainerType,
            Nature::State => Kind::StateType,
            Nature::Variable => Kind::VariableType,
            Nature::Event => Kind::EventType,
            Nature::Link => Kind::LinkType,
        };
        let definition = self.definition(kind);
        let id = self.world.fresh_type_id(&mut self.rng);
        let name = if definition.has_alias() { name(&mut self.rng) } else { id.clone() };
        let mut containers = self.world.of_nature(Nature::Container);
        containers.push(ROOT);
        let ends = (self.rng.pick(&containers), self.rng.pick(&containers));
        let ids = [parent, ends.0, ends.1].map(|index| self.world.types[index].id.clone());
        let fill = [
            (Field::Alias, id.as_str()),
            (Field::Name, &name),
            (Field::Type, &ids[0]),
            (Field::StartContainerType, &ids[1]),
            (Field::EndContainerType, &ids[2]),
        ];
        self.event(&definition, &fill);
        self.world.types.push(super::world::Type {
            id,
            name,
            nature,
            parent,
            ends,
            values: Vec::new(),
        });
    }

    pub(super) fn create(&mut self, kind: usize) -> bool {
        let parents = self.world.containers_of(self.world.types[kind].parent);
        if parents.is_empty() {
            return false;
        }
        let parent = self.rng.pick(&parents);
        let ticks = self.moment(self.world.containers[parent].earliest);
        let definition = self.definition(Kind::Create);
        let id = self.world.fresh_container_id(&mut self.rng);
        let label = if definition.has_alias() { name(&mut self.rng) } else { id.clone() };
        let ids = [self.world.types[kind].id.clone(), self.world.containers[parent].id.clone()];
        let fill = [
            (Field::Alias, id.as_str()),
            (Field::Name, &label),
            (Field::Type, &ids[0]),
            (Field::Container, &ids[1]),
        ];
        self.timed_by(&definition, ticks, &fill);
        let earliest = if self.rng.percent(10) { self.rng.below(ticks + 1) } else { ticks };
        self.world.stamp(parent, ticks);
        self.world.containers.push(super::world::Container {
            id,
            kind,
            parent,
            destroyed: false,
            latest: ticks,
            earliest,
        });
        true
    }

    pub(super) fn define_value(&mut self, kind: usize) {
        let definition = self.definition(Kind::EntityValue);
        let number = self.count();
        let id = format!("{}{number}", self.rng.pick(&["v", "value ", "_"]));
        let mut label = if definition.has_alias() { name(&mut self.rng) } else { id.clone() };
        if self.world.types[kind].values.contains(&label) {
            label = format!("name of {number}");
        }
        let kind_id = self.world.types[kind].id.clone();
        self.event(
            &definition,
            &[(Field::Alias, &id), (Field::Name, &label), (Field::Type, &kind_id)],
        );
        self.world.types[kind].values.push(id);
    }

    /// Returns a value for an event of type `kind`. The value may be new.
    pub(super) fn value(&mut self, kind: usize) -> String {
        let known = &self.world.types[kind].values;
        if !known.is_empty() && self.rng.percent(85) {
            return known[self.rng.index(known.len())].clone();
        }
        let text = if self.rng.percent(50) {
            name(&mut self.rng)
        } else {
            format!("new {}", self.count())
        };
        if !self.world.types[kind].values.contains(&text) {
            self.world.types[kind].values.push(text.clone());
        }
        text
    }
}

fn define(old_names: bool, rng: &mut Rng) -> Vec<Definition> {
    let mut definitions: Vec<Definition> = Vec::new();
    let plain = rng.percent(50);
    for (index, kind) in Kind::ALL.into_iter().enumerate() {
        let variants = if rng.percent(30) { 3 } else { 1 };
        for variant in 0..variants {
            let mut number = if plain && variant == 0 {
                index.to_string()
            } else {
                (20 + rng.below(9_999)).to_string()
            };
            if !plain && rng.percent(5) {
                number.insert(0, '-');
            }
            if definitions.iter().all(|known| known.number != number) {
                definitions.push(Definition::random(kind, number, old_names, rng));
            }
        }
    }
    // If a number is chosen twice, a kind may have no definition. It then gets a larger number.
    for (index, kind) in Kind::ALL.into_iter().enumerate() {
        if definitions.iter().all(|known| known.kind != kind) {
            definitions.push(Definition::random(
                kind,
                (100_000 + index).to_string(),
                old_names,
                rng,
            ));
        }
    }
    rng.shuffle(&mut definitions);
    definitions
}

fn filler(field: &Field, rng: &mut Rng) -> String {
    match field {
        Field::Color => rng
            .pick(&[
                "1 0 0",
                "0.5 .25 0 1",
                "1,0,0",
                "1, 0.5, 0",
                ".9 .1 .0",
                "ff00aa",
                "FFFFFF",
                "012345",
                "0,0,1,0.5",
            ])
            .to_owned(),
        Field::Line => rng.below(2000).to_string(),
        Field::File => String::from("src/main file.c"),
        _ => match rng.below(4) {
            0 => rng.below(1_000_000).to_string(),
            1 => format!("M{}x{}", rng.below(99), rng.below(99)),
            2 => rng.pick(&["NA", "-1_-1", "a b", "0x3f", "1e-5", "unknown"]).to_owned(),
            _ => name(rng),
        },
    }
}
