//! The lines that are in no trace that is split: those that name pieces, and those that end them.

use paje_parser::{EventDef, EventKind, FieldName, token};
use paje_sim::{ContainerId, Name, Trace};

use crate::shares::{NONE, Shares};
use crate::survey::Held;

/// What root.trace begins with, and what every piece ends with.
#[derive(Debug)]
pub(crate) struct OwnLines {
    /// The number of PajeTraceFile.
    file_id: String,
    /// The definition of PajeTraceFile, and a line for the root container if it has events.
    pub(crate) head: Vec<u8>,
    /// The end of the root container when the trace ends, with the definition of the event if the trace
    /// has none that fits.
    pub(crate) tail: Vec<u8>,
    digits: usize,
    /// What the names of pieces end with, behind `.trace`.
    suffix: &'static str,
}

impl OwnLines {
    pub(crate) fn new(trace: &Trace, shares: &Shares, held: &[Held], suffix: &'static str) -> Self {
        let mut free = (1_u64..).map(|number| number.to_string()).filter(|number| {
            let number = number.as_bytes();
            !trace.defs().iter().any(|def| def.id() == number)
        });
        let mut next = || free.next().expect("a trace has not all numbers");
        let (file_id, own_id) = (next(), next());
        let head = format!(
            "%EventDef PajeTraceFile {file_id}\n% Container string\n% Type string\n% Filename string\n\
             %EndEventDef\n"
        );
        let digits = (shares.count().max(1) - 1).to_string().len().max(3);
        let mut lines = OwnLines { file_id, head: head.into(), tail: Vec::new(), digits, suffix };
        lines.tail = tail(trace, &own_id);
        let mut head = std::mem::take(&mut lines.head);
        lines.name(trace, shares, held, ContainerId::ROOT, &mut head);
        lines.head = head;
        lines
    }

    /// The name of a piece's file.
    pub(crate) fn piece(&self, number: usize) -> String {
        format!("piece-{number:0digits$}.trace{}", self.suffix, digits = self.digits)
    }

    /// Appends the line that names the piece of a container's events, if it has any.
    pub(crate) fn name(
        &self,
        trace: &Trace,
        shares: &Shares,
        held: &[Held],
        container: ContainerId,
        out: &mut Vec<u8>,
    ) {
        let piece = shares.of(container);
        if piece == NONE || held.get(container.index()).is_none_or(|held| held.events == 0) {
            return;
        }
        out.extend_from_slice(self.file_id.as_bytes());
        out.push(b' ');
        word(trace.containers().identifier(container), out);
        out.push(b' ');
        word(trace.types().identifier(trace.containers().type_of(container)), out);
        out.extend_from_slice(format!(" \"{}\"\n", self.piece(piece as usize)).as_bytes());
    }
}

/// Appends a name so that it is read as one field: as it was written, or in quotes if it needs some.
fn word(name: Name<'_>, out: &mut Vec<u8>) {
    if plain(name.text) || name.text.contains(&b'"') {
        // What holds a quote was written without them, and so needs none.
        out.extend_from_slice(name.text);
    } else {
        out.push(b'"');
        out.extend_from_slice(name.text);
        out.push(b'"');
    }
}

/// Whether a text is one field as it is.
fn plain(text: &[u8]) -> bool {
    let special = |byte: &u8| token::is_white(*byte) || matches!(byte, b'"' | b'#');
    !text.is_empty() && !text.iter().any(special)
}

/// The end of the root container at the end of the trace.
fn tail(trace: &Trace, own_id: &str) -> Vec<u8> {
    // The shortest text that is read as the same number.
    let time = trace.end().to_string();
    let fits = |def: &&std::sync::Arc<EventDef>| {
        def.kind() == EventKind::DestroyContainer
            && def.fields().len() == 3
            && plain(def.id())
            && !def.id().starts_with(b"%")
    };
    let line = |id: &[u8], fields: &mut dyn Iterator<Item = FieldName>| {
        let mut line = id.to_vec();
        for field in fields {
            line.push(b' ');
            line.extend_from_slice(if field == FieldName::Time { time.as_bytes() } else { b"0" });
        }
        line.push(b'\n');
        line
    };
    match trace.defs().iter().find(fits) {
        Some(def) => line(def.id(), &mut def.fields().iter().filter_map(|field| field.known)),
        None => {
            let mut text = format!(
                "%EventDef PajeDestroyContainer {own_id}\n% Time date\n% Type string\n% Name string\n\
                 %EndEventDef\n"
            )
            .into_bytes();
            let fields = [FieldName::Time, FieldName::Type, FieldName::Name];
            text.extend(line(own_id.as_bytes(), &mut fields.into_iter()));
            text
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use paje_sim::Options;

    const HEADER: &str = "\
%EventDef PajeDefineContainerType 1\n% Name string\n% Type string\n%EndEventDef
%EventDef PajeCreateContainer 3\n% Time date\n% Name string\n% Type string\n% Container string\n%EndEventDef
";

    fn tail_of(more: &str) -> String {
        let trace = Trace::read((HEADER.to_owned() + more).as_bytes(), &Options::default());
        let trace = trace.unwrap();
        let held = vec![Held::default(); trace.containers().len()];
        let shares = Shares::even(trace.containers(), &held, 1);
        let lines = OwnLines::new(&trace, &shares, &held, "");
        assert!(lines.head.starts_with(b"%EventDef PajeTraceFile 2\n"), "{more}");
        String::from_utf8(lines.tail).unwrap()
    }

    #[test]
    fn the_end_in_the_words_of_the_trace() {
        let def = "%EventDef PajeDestroyContainer 7\n% Name string\n% Time date\n% Type string\n%EndEventDef\n";
        assert_eq!(tail_of(&format!("{def}1 T 0\n3 0.1 a T 0\n")), "7 0 0.1 0\n");
    }

    #[test]
    fn the_end_in_words_of_its_own() {
        let own = "%EventDef PajeDestroyContainer 4\n% Time date\n% Type string\n% Name string\n%EndEventDef\n";
        assert_eq!(tail_of(""), format!("{own}4 0 0 0\n"));
        let more = "%EventDef PajeDestroyContainer 7\n% Name string\n% Time date\n% Type string\n\
                    % Why string\n%EndEventDef\n1 T 0\n3 1e-3 a T 0\n";
        assert_eq!(tail_of(more), format!("{own}4 0.001 0 0\n"));
    }

    #[test]
    fn words() {
        let text = |text: &[u8]| {
            let mut out = Vec::new();
            word(Name::bare(text), &mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(text(b"rank-1"), "rank-1");
        assert_eq!(text(b"rank 1"), "\"rank 1\"");
        assert_eq!(text(b"a#1"), "\"a#1\"");
        assert_eq!(text(b""), "\"\"");
        assert_eq!(text(b"a\"b"), "a\"b");
    }
}
