//! Checks of a line with an event: first of the line alone, then with the rest of the trace.

use paje_parser::{FaultKind, FieldName, Quoting, RawEvent, number};

use super::*;

impl Checker {
    pub(super) fn event(&mut self, here: &Here<'_>) {
        let Checker { options, header, definitions, model, findings, words, is_shown, .. } = self;
        let number = words[0];
        let id = number.of(here.text).bare();
        let Some(index) = header.defs().find(id) else {
            return header.unknown_id(here, number, findings);
        };
        let def = &header.defs().defs()[index];
        let index = header.number(index);
        definitions.used(index);
        let event = match RawEvent::new(def, here.text, words) {
            Ok(event) => event,
            Err(fault) => {
                let group = match fault.kind {
                    FaultKind::MissingField(field) => {
                        Group::ids("missing-field", index, field as u32)
                    }
                    _ => Group::ids("line", index, 0),
                };
                let event = EventName { kind: def.kind(), number: def.id().to_vec() };
                return findings.fault(here, fault, event, Some(group));
            }
        };
        let decoded = event.decode();
        *is_shown |= decoded.is_ok();
        let here = &Here { hidden: !*is_shown, ..*here };
        let rules = options.rules;
        let source = &mut Source { here, event: &event, def: index, rules, findings };
        match decoded {
            Ok(decoded) => {
                // A time is always read, even if the event does not need one.
                let other = || number::parse_time(event.field(FieldName::Time)?.bare());
                decoded.time().or_else(other).into_iter().for_each(|time| model.see(time));
                if let Err(stop) = model.event(&decoded, source) {
                    model.refuse(*stop, source);
                }
            }
            Err(fault) => {
                let word = fault.word(here.text).of(here.text);
                let group = Group::named(fault.kind.code(), index, word.bare());
                source.findings.fault(here, fault, source.event_name(), Some(group));
            }
        }
        if here.hidden {
            return;
        }
        // This comes last, because it concerns the end of the line.
        if words.len() != def.fields().len() + 1 {
            source.word_count(words);
        }
        let last = words[words.len() - 1];
        if here.text[last.start as usize] == b'"'
            && last.of(here.text).quoting() == Quoting::Unclosed
        {
            source.unclosed_quote(last);
        }
    }
}
