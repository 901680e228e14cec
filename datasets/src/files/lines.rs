//! A minimal reader of traces: event definitions, and the fields of lines.

use std::collections::HashMap;

#[derive(Debug, Default)]
pub(super) struct Lines<'a> {
    pub(super) defs: Vec<Def<'a>>,
    pub(super) list: Vec<Line<'a>>,
}

#[derive(Debug)]
pub(super) struct Def<'a> {
    pub(super) number: &'a [u8],
    /// Name of the event, without `Paje`.
    pub(super) event: &'a [u8],
    pub(super) fields: Vec<(&'a [u8], &'a [u8])>,
}

#[derive(Debug)]
pub(super) enum Line<'a> {
    Percent(&'a [u8]),
    Event(Event<'a>),
    Other(&'a [u8]),
}

#[derive(Debug)]
pub(super) struct Event<'a> {
    pub(super) text: &'a [u8],
    pub(super) def: usize,
    /// The event number and the fields, including quotes.
    pub(super) words: Vec<&'a [u8]>,
}

/// Names of fields, and their names in older traces.
const OLD_NAMES: [(&str, &str); 6] = [
    ("Type", "ContainerType"),
    ("Type", "EntityType"),
    ("StartContainerType", "SourceContainerType"),
    ("EndContainerType", "DestContainerType"),
    ("StartContainer", "SourceContainer"),
    ("EndContainer", "DestContainer"),
];

impl<'a> Lines<'a> {
    pub(super) fn new(trace: &'a [u8]) -> Self {
        let mut lines = Lines::default();
        let mut by_number = HashMap::new();
        let mut open: Option<Def<'a>> = None;
        for text in trace.split(|byte| *byte == b'\n') {
            let mut words = words(text);
            let Some(first) = words.first_mut() else {
                continue;
            };
            if !first.starts_with(b"%") {
                let line = match by_number.get(bare(first)) {
                    Some(def) => Line::Event(Event { text, def: *def, words }),
                    None => Line::Other(text),
                };
                lines.list.push(line);
                continue;
            }
            lines.list.push(Line::Percent(text));
            // If the percent sign is part of the first word, quotes in that word are text.
            *first = &first[1..];
            let glued = words.first().copied().filter(|word| !word.is_empty());
            let apart = words[1..].iter().map(|word| bare(word));
            let words: Vec<&[u8]> = glued.into_iter().chain(apart).collect();
            match (words.as_slice(), &mut open) {
                ([b"EventDef", event, number], _) => {
                    let event = event.strip_prefix(b"Paje").unwrap_or(event);
                    open = Some(Def { number: bare(number), event, fields: Vec::new() });
                }
                ([b"EndEventDef", ..], _) => {
                    if let Some(def) = open.take() {
                        by_number.entry(def.number).or_insert(lines.defs.len());
                        lines.defs.push(def);
                    }
                }
                ([name, type_, ..], Some(def)) => def.fields.push((name, type_)),
                _ => {}
            }
        }
        lines
    }

    pub(super) fn field(&self, event: &Event<'a>, name: &str) -> Option<&'a [u8]> {
        let index = self.defs[event.def].index(name)?;
        event.words.get(index + 1).map(|word| bare(word))
    }

    pub(super) fn kind(&self, event: &Event<'a>) -> &'a [u8] {
        self.defs[event.def].event
    }

    pub(super) fn free_number(&self, from: usize) -> String {
        let taken = |number: &String| self.defs.iter().any(|def| def.number == number.as_bytes());
        let mut numbers = (from..).map(|number| number.to_string());
        numbers.find(|number| !taken(number)).unwrap_or_default()
    }
}

impl Def<'_> {
    /// Returns the index of the field with this name, or with the field's older name.
    pub(super) fn index(&self, name: &str) -> Option<usize> {
        let find = |name: &str| self.fields.iter().position(|field| field.0 == name.as_bytes());
        let mut old = OLD_NAMES.iter().filter(|(new, _)| *new == name);
        find(name).or_else(|| old.find_map(|(_, old)| find(old)))
    }
}

pub(super) fn bare(word: &[u8]) -> &[u8] {
    let Some(inner) = word.strip_prefix(b"\"") else {
        return word;
    };
    inner.strip_suffix(b"\"").unwrap_or(inner)
}

/// Splits a line at white space outside quotes, up to a comment.
fn words(text: &[u8]) -> Vec<&[u8]> {
    let mut words = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let length = match rest[0] {
            b'#' => break,
            b' ' | b'\t' | b'\r' | b'\x0b' | b'\x0c' => {
                at += 1;
                continue;
            }
            b'"' => rest[1..].iter().position(|byte| *byte == b'"').map(|end| end + 2),
            _ => rest.iter().position(|byte| b" \t\r\x0b\x0c#".contains(byte)),
        };
        let length = length.unwrap_or(rest.len());
        words.push(&rest[..length]);
        at += length;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_as_the_format_requires() {
        let line = b" 1\t\"a # b\" c#d\r";
        assert_eq!(words(line), [&b"1"[..], b"\"a # b\"", b"c"]);
        assert_eq!(words(b"1 \"open "), [&b"1"[..], b"\"open "]);
        assert_eq!(
            [bare(b"\"a\""), bare(b"\"a"), bare(b"a"), bare(b"\"\"")],
            [&b"a"[..], b"a", b"a", b""]
        );
    }

    #[test]
    fn definitions_are_read_in_every_spelling() {
        let trace = b"%EventDef PajePopState 3\n% Time date\n%\tEntityType string # old\n%EndEventDef\n3 1 \"S\"\n4\n";
        let lines = Lines::new(trace);
        let [Line::Percent(_), .., Line::Event(event), Line::Other(b"4")] = lines.list.as_slice()
        else {
            panic!("{lines:?}");
        };
        assert_eq!(lines.field(event, "Type"), Some(&b"S"[..]));
        assert_eq!(lines.field(event, "Container"), None);
        assert_eq!(lines.kind(event), b"PopState");
        assert_eq!(lines.free_number(2), "2");
        assert_eq!(lines.free_number(3), "4");
    }
}
