//! Writes faulty values and event definitions.

use super::super::schema::{Definition, Field, Kind};
use super::super::trace::Writer;
use super::super::world::Nature;
use super::NOBODY;
use crate::invalid::Fault;

impl Writer {
    pub(super) fn bad_value(&mut self, fault: Fault) -> Option<()> {
        let mut definition = self.definition(Kind::EntityValue);
        let wanted = |nature: Nature| nature.has_values() == (fault != Fault::ValueOfVariableType);
        let kinds: Vec<usize> = (1..self.world.types.len())
            .filter(|&kind| wanted(self.world.types[kind].nature))
            .collect();
        if kinds.is_empty() {
            return None;
        }
        let kind = self.rng.pick(&kinds);
        let mut id = String::from(NOBODY);
        let mut color = "1 0 0";
        match fault {
            Fault::ValueDefinedTwice => {
                if self.world.types[kind].values.is_empty() {
                    self.define_value(kind);
                    definition = self.definition(Kind::EntityValue);
                }
                let values = &self.world.types[kind].values;
                id = values[self.rng.index(values.len())].clone();
            }
            Fault::BadColor => {
                color = self.rng.pick(&[
                    "1 0",
                    "0.5",
                    "zork",
                    "1 0 0 0 0",
                    "12345",
                    "1,0",
                    "#ff0000",
                    "ghijkl",
                ]);
                if !definition.fields.contains(&Field::Color) {
                    definition.fields.truncate(18);
                    definition.fields.push(Field::Color);
                    definition.number = String::from("-77");
                    self.definition_lines(&definition);
                }
            }
            _ => {}
        }
        let (kind, name) = (self.type_id(kind), if definition.has_alias() { "again" } else { &id });
        self.event(
            &definition,
            &[
                (Field::Alias, &id),
                (Field::Name, name),
                (Field::Type, &kind),
                (Field::Color, color),
            ],
        );
        Some(())
    }

    pub(super) fn bad_definition(&mut self, fault: Fault) -> Option<()> {
        let kind = self.rng.pick(&Kind::ALL);
        let mut definition = Definition::random(kind, String::from("-78"), false, &mut self.rng);
        let (paper, rng) = (&mut self.paper, &mut self.rng);
        match fault {
            Fault::UnknownEventNumber => {
                paper.line(&["-79", "1", "a", "b", "c"].map(String::from), rng);
            }
            Fault::RedefinedEventNumber => {
                definition.number = self.definition(kind).number;
                self.definition_lines(&definition);
            }
            Fault::MissingObligatoryField => {
                let missing = &kind.obligatory()[rng.index(kind.obligatory().len())];
                definition.fields.retain(|field| field != missing);
                self.definition_lines(&definition);
            }
            Fault::UnknownFieldType => {
                paper.header(&["EventDef", kind.name(), "-78"], rng);
                let unknown =
                    rng.pick(&["strung", "Date", "int32", "bool", "string\"", "st\"ring"]);
                paper.header(&["Time", unknown], rng);
                paper.header(&["EndEventDef"], rng);
            }
            Fault::FieldDefinedTwice => {
                // PajeNG compares the names and types of standard fields only.
                paper.header(&["EventDef", kind.name(), "-78"], rng);
                paper.header(&["Type", "string"], rng);
                paper.header(&["Name", "string"], rng);
                paper.header(&["Type", "string"], rng);
                paper.header(&["EndEventDef"], rng);
            }
            Fault::UnknownEventName => {
                let unknown = rng.pick(&["PajeFoo", "SetState", "pajeSetState", "PajePushStates"]);
                paper.header(&["EventDef", unknown, "-78"], rng);
                paper.header(&["EndEventDef"], rng);
            }
            _ => {
                let stray: &[&str] = rng.pick(&[
                    &["Time", "date"] as &[&str],
                    &["EndEventDef"],
                    &["12", "1.0", "S"],
                ]);
                paper.header(stray, rng);
            }
        }
        Some(())
    }
}
