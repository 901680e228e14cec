//! Reads definitions line by line.

use super::grammar::{self, HeaderLine};
use super::{DefTable, EventDef, FieldDef, FieldType, OpenDef};
use crate::error::{Fault, FaultKind};
use crate::event::EventKind;

impl DefTable {
    /// Reads one `%` line. Offsets in errors count from the start of `line`.
    ///
    /// # Errors
    /// Fails if the line violates the grammar of lang-paje 1.3.1, "Event definitions", redefines an
    /// event number, or ends a definition that lacks an obligatory field.
    pub fn header_line(&mut self, line: &[u8]) -> Result<(), Fault> {
        let fault = |at, kind| Fault { at, kind };
        let percent = line.iter().position(|byte| *byte == b'%').map_or(0, |at| at as u32);
        match grammar::header_line(line) {
            Some(HeaderLine::EventDef { name, id }) => {
                if self.open.is_some() {
                    return Err(fault(percent, FaultKind::NestedDefinition));
                }
                let is_it = |kind: &EventKind| kind.name().as_bytes() == name.text;
                let kind = EventKind::ALL.into_iter().find(is_it);
                let kind = kind.ok_or(fault(name.at, FaultKind::UnknownEvent))?;
                self.put_away();
                if self.find(id.text).is_some() {
                    return Err(fault(id.at, FaultKind::RedefinedId));
                }
                self.open = Some(OpenDef { id: id.text.to_vec(), kind, fields: Vec::new() });
            }
            Some(HeaderLine::Field { name, kind }) => {
                let names = self.names;
                let open = self.open.as_mut().ok_or(fault(percent, FaultKind::ExpectedEventDef))?;
                if name.text.is_empty() {
                    return Err(fault(name.at, FaultKind::UnnamedField));
                }
                let kind = kind.ok_or(fault(name.at, FaultKind::MissingFieldType))?;
                let field_type = grammar::field_type(kind.text);
                let field_type = field_type.ok_or(fault(kind.at, FaultKind::UnknownFieldType))?;
                let known = grammar::field_name(name.text, names);
                if known.is_some() && open.fields.iter().any(|field| field.known == known) {
                    return Err(fault(name.at, FaultKind::RepeatedField));
                }
                open.fields.push(FieldDef {
                    name: String::from_utf8_lossy(name.text).into_owned(),
                    known,
                    kind: field_type,
                });
            }
            Some(HeaderLine::End) => {
                let open = self.open.take().ok_or(fault(percent, FaultKind::ExpectedEventDef))?;
                let def = EventDef::finish(open.id, open.kind, open.fields);
                let def = def.map_err(|kind| fault(percent, kind))?;
                self.insert(def);
            }
            None => return Err(fault(percent, FaultKind::ExpectedEventDef)),
        }
        Ok(())
    }

    /// Reads one `%` line and recovers from faults. A field of unknown type becomes a string. A
    /// definition that starts inside another definition ends the outer definition. A definition
    /// that cannot be kept is dropped with its fields.
    ///
    /// # Errors
    /// Fails like [`DefTable::header_line`], but after recovering.
    pub fn mend_line(&mut self, line: &[u8]) -> Result<(), Fault> {
        let keyword = grammar::keyword_of(line);
        if self.skipping && keyword != b"EventDef" {
            self.skipping = keyword != b"EndEventDef";
            return Ok(());
        }
        self.skipping = false;
        let fault = match self.header_line(line) {
            Ok(()) => return Ok(()),
            Err(fault) => fault,
        };
        match fault.kind {
            FaultKind::NestedDefinition => {
                self.end_early();
                self.skipping = self.header_line(line).is_err();
            }
            FaultKind::UnknownEvent | FaultKind::RedefinedId => self.skipping = true,
            FaultKind::ExpectedEventDef if keyword == b"EventDef" => {
                self.end_early();
                self.skipping = true;
            }
            FaultKind::UnnamedField
            | FaultKind::MissingFieldType
            | FaultKind::UnknownFieldType
            | FaultKind::RepeatedField => self.keep_place(line),
            _ => {}
        }
        Err(fault)
    }

    /// Adds a faulty field as a string, so that later fields keep their positions.
    pub fn keep_place(&mut self, line: &[u8]) {
        let Some(HeaderLine::Field { name, .. }) = grammar::header_line(line) else { return };
        let Some(open) = &mut self.open else { return };
        let known = grammar::field_name(name.text, self.names);
        let known = known.filter(|_| open.fields.iter().all(|field| field.known != known));
        let name = String::from_utf8_lossy(name.text).into_owned();
        open.fields.push(FieldDef { name, known, kind: FieldType::String });
    }

    /// Ends the unfinished definition. Drops it if it lacks an obligatory field.
    pub fn end_early(&mut self) {
        if let Some(open) = self.open.take()
            && let Ok(def) = EventDef::finish(open.id, open.kind, open.fields)
        {
            self.insert(def);
        }
    }
}
