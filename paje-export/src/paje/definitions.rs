//! Event definitions of the written trace.

use std::collections::HashMap;

use paje_sim::Trace;

/// Kind of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Line {
    DefineContainer,
    DefineState,
    DefineVariable,
    DefineEvent,
    DefineLink,
    Value,
    ColoredValue,
    Create,
    Destroy,
    Push,
    Pop,
    Set,
    Add,
    New,
    StartLink,
    EndLink,
    End,
}

impl Line {
    const COUNT: usize = Line::End as usize + 1;

    /// Returns the event's name, and its fields with their types.
    const fn definition(self) -> (&'static str, &'static [&'static str]) {
        const TYPE: &[&str] = &["Alias string", "Type string", "Name string"];
        const VALUE: &[&str] = &["Time date", "Type string", "Container string", "Value string"];
        match self {
            Line::DefineContainer => ("PajeDefineContainerType", TYPE),
            Line::DefineState => ("PajeDefineStateType", TYPE),
            Line::DefineVariable => ("PajeDefineVariableType", TYPE),
            Line::DefineEvent => ("PajeDefineEventType", TYPE),
            Line::DefineLink => (
                "PajeDefineLinkType",
                &[
                    "Alias string",
                    "Type string",
                    "StartContainerType string",
                    "EndContainerType string",
                    "Name string",
                ],
            ),
            Line::Value => ("PajeDefineEntityValue", TYPE),
            Line::ColoredValue => (
                "PajeDefineEntityValue",
                &["Alias string", "Type string", "Name string", "Color color"],
            ),
            Line::Create => (
                "PajeCreateContainer",
                &["Time date", "Alias string", "Type string", "Container string", "Name string"],
            ),
            Line::Destroy => ("PajeDestroyContainer", &["Time date", "Type string", "Name string"]),
            Line::Push => ("PajePushState", VALUE),
            Line::Pop => ("PajePopState", &["Time date", "Type string", "Container string"]),
            Line::Set => (
                "PajeSetVariable",
                &["Time date", "Type string", "Container string", "Value double"],
            ),
            Line::Add => (
                "PajeAddVariable",
                &["Time date", "Type string", "Container string", "Value double"],
            ),
            Line::New => ("PajeNewEvent", VALUE),
            Line::StartLink => (
                "PajeStartLink",
                &[
                    "Time date",
                    "Type string",
                    "Container string",
                    "Value string",
                    "StartContainer string",
                    "Key string",
                ],
            ),
            Line::EndLink => (
                "PajeEndLink",
                &[
                    "Time date",
                    "Type string",
                    "Container string",
                    "Value string",
                    "EndContainer string",
                    "Key string",
                ],
            ),
            Line::End => (
                "PajeTraceFile",
                &["Time date", "Container string", "Type string", "Filename string"],
            ),
        }
    }
}

/// Definitions of the trace, by number.
#[derive(Debug, Default)]
pub(super) struct Definitions {
    list: Vec<(Line, Option<usize>)>,
    numbers: HashMap<(Line, Option<usize>), usize>,
}

impl Definitions {
    /// Returns the number of an event with the user-defined fields of definition `fields` of the trace.
    pub(super) fn id(&mut self, event: Line, fields: Option<usize>) -> usize {
        let Definitions { list, numbers } = self;
        *numbers.entry((event, fields)).or_insert_with(|| {
            list.push((event, fields));
            list.len() - 1
        })
    }

    /// Appends the definitions.
    pub(super) fn write(&self, trace: &Trace, out: &mut Vec<u8>) {
        for (number, (event, fields)) in self.list.iter().enumerate() {
            let (name, own) = event.definition();
            let mut text = format!("%EventDef {name} {number}\n");
            for field in own {
                text.push_str(&format!("% {field}\n"));
            }
            let def = fields.map(|fields| &trace.defs()[fields]);
            let fields = def.iter().flat_map(|def| def.fields());
            for field in fields.filter(|field| field.known.is_none()) {
                text.push_str(&format!("% {} {}\n", field.name, field.kind.word()));
            }
            text.push_str("%EndEventDef\n");
            out.extend_from_slice(text.as_bytes());
        }
    }
}

/// Definitions that some lines use, in the order of their first use.
#[derive(Debug, Default)]
pub(super) struct Used {
    list: Vec<(Line, Option<usize>)>,
    numbers: HashMap<(Line, Option<usize>), u32>,
    /// By kind of line: the definition used last, which is mostly used next.
    last: [u32; Line::COUNT],
}

impl Used {
    /// Returns the local number of an event with the user-defined fields of definition `fields`.
    pub(super) fn id(&mut self, event: Line, fields: Option<usize>) -> u32 {
        let last = &mut self.last[event as usize];
        if self.list.get(*last as usize) != Some(&(event, fields)) {
            let next = self.list.len() as u32;
            *last = *self.numbers.entry((event, fields)).or_insert(next);
            if *last == next {
                self.list.push((event, fields));
            }
        }
        *last
    }

    /// Returns the numbers of these definitions in the file, as text.
    pub(super) fn numbers(&self, all: &mut Definitions) -> Vec<Vec<u8>> {
        let number = |(event, fields): &(Line, Option<usize>)| {
            all.id(*event, *fields).to_string().into_bytes()
        };
        self.list.iter().map(number).collect()
    }
}
