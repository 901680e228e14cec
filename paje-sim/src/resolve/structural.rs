//! Structural events, applied to the model in file order.

use paje_parser::number::parse_time;
use paje_parser::{DefTable, Event, Field, FieldName, RawEvent};

use super::{Deferred, Resolver};
use paje_decode::decode::Decoder;
use paje_decode::decode::block::DecodedBlock;
use paje_decode::decode::decoded::Structure;
use paje_model::memory::LineNumber;
use paje_model::model::value_names::NamedValue;
use paje_model::model::{Failed, Model};
use paje_model::names::error::{Error, WarningKind};
use paje_model::names::ids::{ContainerId, TypeId, ValueId};
use paje_model::names::ledger::LineOf;
use paje_replay::problems::found::{Where, column_of, place};

impl Resolver<'_> {
    /// Applies a structural line to the model. Returns the object that the line concerns.
    pub(super) fn structural(
        &mut self,
        block: &DecodedBlock,
        decoder: &Decoder,
        line: u32,
        structure: Structure,
        defs: &DefTable,
    ) -> Result<LineOf, Error> {
        let Structure { def, words: (first, count), .. } = structure;
        let words = &block.decoded.words[first as usize..(first + count) as usize];
        if let Some(value) = block.decoded.value_of(structure) {
            let name = |word: u32| words[word as usize].of(block.bytes()).into();
            let type_ = self.type_of(decoder, value.type_);
            let defined = type_.and_then(|type_| {
                let named = NamedValue { name: name(value.name), alias: value.alias.map(name) };
                let before = self.model.types.value_count(type_);
                self.model.define_value(type_, named, value.hash, value.color)?;
                Ok(self.value_since(type_, before))
            });
            let time = defs.defs()[def as usize].word_of(FieldName::Time);
            if let Some(word) = time.and_then(|word| words.get(word)) {
                self.note_time(parse_time(word.of(block.bytes()).bare()));
            }
            return match defined {
                Ok(whose) => Ok(whose),
                Err(failed) => self.wrong_field(block, line, failed).map(|()| LineOf::Nobody),
            };
        }
        if let Some(lifetime) = block.decoded.lifetime_of(structure)
            && self.lifetime(block, decoder, line, words, lifetime)
        {
            return Ok(LineOf::Nobody);
        }
        let raw = RawEvent::new(&defs.defs()[def as usize], block.bytes(), words);
        let (raw, event) = match raw.and_then(|raw| raw.decode().map(|event| (raw, event))) {
            Ok(both) => both,
            Err(fault) => return self.wrong_line(block, line, &fault).map(|()| LineOf::Nobody),
        };
        let other = || raw.field(FieldName::Time).and_then(|time| parse_time(time.bare()));
        self.note_time(event.time().or_else(other));
        if event.time().is_some_and(|time| time > self.clock.stop_at) {
            if let Event::CreateContainer { name, alias, file, .. } = event {
                self.model.leave_out(alias.unwrap_or(name).bare());
                self.name_file(block, line, file)?;
            }
            return Ok(LineOf::Nobody);
        }
        self.effects.ignored = false;
        self.effects.repeated = None;
        let containers = self.model.containers.len();
        let known = if self.structural.is_some() { self.known(&event) } else { 0 };
        let endings = self.effects.endings.len();
        let at = block.text.start().0 + u64::from(line);
        let applied: Result<(), Failed> = self.model.apply(&event, at, self.effects);
        if let Err(failed) = applied {
            self.wrong_field(block, line, failed)?;
            // The file to which the line refers still belongs to the trace.
            if let Event::CreateContainer { file, .. } = event {
                self.name_file(block, line, file)?;
            }
            return Ok(LineOf::Nobody);
        }
        if let Some(container) = self.effects.repeated {
            let start = block.origin.start;
            self.effects.ignored = !self.lanes.cuts.repeat(self.model, container, start, at);
            if !self.effects.ignored {
                self.model.end_newborn(container, at, self.effects);
                if self.effects.endings.len() > endings {
                    self.lanes.cuts.join(at, self.model.containers.ended_at(container));
                }
            }
        }
        self.end_lanes(block, line, endings);
        if self.keeps.anything() && self.model.containers.len() > containers {
            let line = if self.keeps.lines { block.line_of(line) } else { LineNumber::default() };
            let mut kept = Vec::new();
            for (_, field) in raw.extras() {
                kept.extend_from_slice(field.map_or(&[], |field| field.raw()));
                kept.push(b'\n');
            }
            if self.keeps.fields && !kept.is_empty() {
                self.model.containers.keep_extras(Some((def, &kept)), line);
            } else if self.keeps.lines {
                self.model.containers.keep_extras(None, line);
            }
        }
        if self.effects.ignored {
            self.warnings.add_line(block, WarningKind::AfterDestroy, line);
        }
        let is_fine = match event {
            Event::CreateContainer { file, .. } => self.name_file(block, line, file)?,
            Event::TraceFile { container, type_, file } => {
                if self.files.are_wanted()
                    && let Err(failed) = self.model.check_named(container.bare(), type_.bare())
                {
                    self.wrong_field(block, line, failed)?;
                }
                self.name_file(block, line, Some(file))?
            }
            _ => true,
        };
        Ok(match self.structural {
            Some(_) if is_fine => self.line_of(&event, known),
            _ => LineOf::Nobody,
        })
    }

    /// Ends the lanes of the containers that a line has ended. `endings` is the number of endings before the line.
    pub(super) fn end_lanes(&mut self, block: &DecodedBlock, line: u32, endings: usize) {
        self.lanes.end(&self.effects.endings[endings..], self.model);
        if self.effects.endings.len() > endings && self.lanes.cuts.named_from.is_some() {
            let number = self.counter.number(block, line);
            let time_column = column_of(block, line, FieldName::Time);
            let place = place(block, line, Where::Field(FieldName::Name), number);
            let at = block.text.start().0 + u64::from(line);
            self.deferred.push(Deferred { at, place, time_column });
        }
    }

    /// Queues the file to which a line refers, if any. Returns `false` if the file cannot be queued, but the replay
    /// goes on.
    fn name_file(
        &mut self,
        block: &DecodedBlock,
        line: u32,
        file: Option<Field<'_>>,
    ) -> Result<bool, Error> {
        let Some(file) = file.filter(|file| !file.bare().is_empty()) else { return Ok(true) };
        if !self.files.are_wanted() {
            self.warnings.add_line(block, WarningKind::FileNotRead, line);
            return Ok(true);
        }
        let what = Where::Field(FieldName::Filename);
        let counter = &mut self.counter;
        let named_at = || place(block, line, what, counter.number(block, line));
        let named = self.files.name(block.origin.file, file.bare(), self.progress, named_at);
        if self.files.any() {
            let at = block.text.start().0 + u64::from(line);
            self.lanes.cuts.named_from.get_or_insert(at);
        }
        match named {
            Ok(()) => Ok(true),
            Err(why) => self.wrong(block, line, what, why).map(|()| false),
        }
    }

    /// Records the time of a line. Every line can extend the end of the trace, as in PajeNG 1.3.6.
    pub(super) fn note_time(&mut self, time: Option<f64>) {
        let Some(time) = time.filter(|time| *time <= self.clock.stop_at) else { return };
        self.clock.last = self.clock.last.max(time);
        if let Some(usage) = &mut self.usage {
            usage.note_time(time);
        }
        if let Some(times) = &mut self.clock.kept {
            // Minus zero becomes zero, as in the times of lanes.
            times.push(time + 0.0);
        }
    }

    fn value_since(&self, type_: TypeId, before: usize) -> LineOf {
        match self.model.types.value_count(type_) > before {
            true => LineOf::Value(type_, ValueId(before as u32)),
            false => LineOf::Nobody,
        }
    }

    fn known(&self, event: &Event<'_>) -> usize {
        let types = &self.model.types;
        match event {
            Event::CreateContainer { .. } => self.model.containers.len(),
            Event::DefineType { .. } | Event::DefineLinkType { .. } => types.len(),
            Event::DefineValue { type_, .. } => {
                types.find(type_.bare()).map_or(0, |type_| types.value_count(type_))
            }
            _ => 0,
        }
    }

    /// Returns the object that an event has just changed. `before` is the number of such objects before the event.
    fn line_of(&self, event: &Event<'_>, before: usize) -> LineOf {
        let Model { types, containers, .. } = &*self.model;
        match event {
            Event::DefineValue { type_, .. } => {
                let type_ = types.find(type_.bare());
                type_.map_or(LineOf::Nobody, |type_| self.value_since(type_, before))
            }
            Event::CreateContainer { .. } if containers.len() > before => {
                LineOf::Creation(ContainerId(before as u32))
            }
            Event::DestroyContainer { name, .. } => {
                containers.find(name.bare()).map_or(LineOf::Nobody, LineOf::Destruction)
            }
            Event::DefineType { .. } | Event::DefineLinkType { .. } if types.len() > before => {
                LineOf::Type
            }
            Event::TraceFile { .. } => LineOf::File,
            _ => LineOf::Nobody,
        }
    }
}
