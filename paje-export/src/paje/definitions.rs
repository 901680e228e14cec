use std::collections::HashMap;

use paje_parser::definition::field_name;
use paje_sim::{FieldNames, Trace};

use super::is_word;

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
    PlainEnd,
}

impl Line {
    const COUNT: usize = Line::PlainEnd as usize + 1;

    /// Returns the event's name without `Paje`, and its fields. Fields are strings by default.
    const fn definition(self) -> (&'static str, &'static str) {
        const TYPE: &str = "Alias Type Name";
        const VALUE: &str = "Time:date Type Container Value";
        const VARIABLE: &str = "Time:date Type Container Value:double";
        match self {
            Line::DefineContainer => ("DefineContainerType", TYPE),
            Line::DefineState => ("DefineStateType", TYPE),
            Line::DefineVariable => ("DefineVariableType", TYPE),
            Line::DefineEvent => ("DefineEventType", TYPE),
            Line::DefineLink => {
                ("DefineLinkType", "Alias Type StartContainerType EndContainerType Name")
            }
            Line::Value => ("DefineEntityValue", TYPE),
            Line::ColoredValue => ("DefineEntityValue", "Alias Type Name Color:color"),
            Line::Create => ("CreateContainer", "Time:date Alias Type Container Name"),
            Line::Destroy => ("DestroyContainer", "Time:date Type Name"),
            Line::Push => ("PushState", VALUE),
            Line::Pop => ("PopState", "Time:date Type Container"),
            Line::Set => ("SetVariable", VARIABLE),
            Line::Add => ("AddVariable", VARIABLE),
            Line::New => ("NewEvent", VALUE),
            Line::StartLink => ("StartLink", "Time:date Type Container Value StartContainer Key"),
            Line::EndLink => ("EndLink", "Time:date Type Container Value EndContainer Key"),
            Line::End => ("TraceFile", "Time:date Container Type Filename"),
            Line::PlainEnd => ("DefineEventType", "Time:date Name Type"),
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Definitions {
    list: Vec<(Line, Option<usize>)>,
    numbers: HashMap<(Line, Option<usize>), usize>,
}

impl Definitions {
    /// Returns the number of an event with the user-defined fields of the trace's definition
    /// `fields`.
    pub(super) fn id(&mut self, event: Line, fields: Option<usize>) -> usize {
        let Definitions { list, numbers } = self;
        *numbers.entry((event, fields)).or_insert_with(|| {
            list.push((event, fields));
            list.len() - 1
        })
    }

    pub(super) fn write(&self, trace: &Trace, out: &mut Vec<u8>) {
        for (number, (event, fields)) in self.list.iter().enumerate() {
            let (name, own) = event.definition();
            let mut text = format!("%EventDef Paje{name} {number}\n");
            for field in own.split(' ') {
                let (name, kind) = field.split_once(':').unwrap_or((field, "string"));
                text.push_str(&format!("% {name} {kind}\n"));
            }
            let def = fields.map(|fields| &trace.defs()[fields]);
            let fields = def.iter().flat_map(|def| def.fields().iter().enumerate());
            for (at, field) in fields.filter(|(_, field)| field.known.is_none()) {
                text.push_str(&format!("{} {}\n", spelled(&field.name, at), field.kind.word()));
            }
            text.push_str("%EndEventDef\n");
            out.extend_from_slice(text.as_bytes());
        }
    }
}

/// Returns the beginning of the line of a user-defined field, up to its name. In a damaged trace,
/// names may be known, because they are repeated, or empty.
fn spelled(name: &str, at: usize) -> String {
    if name.is_empty() {
        return format!("% Field-{at}");
    }
    if field_name(name.as_bytes(), FieldNames::Old).is_some() {
        return format!("% {name}-{at}");
    }
    // A leading quote is an ordinary character only if it directly follows the percent sign.
    let space = if name.starts_with('"') { "" } else { " " };
    // A quote inside an unquoted word is an ordinary character.
    let is_plain = is_word(name.as_bytes()) && !matches!(name, "EventDef" | "EndEventDef");
    let quote = if is_plain { "" } else { "\"" };
    format!("%{space}{quote}{name}{quote}")
}

/// Definitions used by some lines, in the order of their first use.
#[derive(Debug, Default)]
pub(super) struct Used {
    list: Vec<(Line, Option<usize>)>,
    numbers: HashMap<(Line, Option<usize>), u32>,
    /// Definition that each kind of line used last, since the next line often uses it again.
    last: [u32; Line::COUNT],
}

impl Used {
    /// Returns the local number of an event, like [`Definitions::id`].
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
