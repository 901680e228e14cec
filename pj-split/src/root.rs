//! Lines that are not in the original trace: they name the pieces or mark their ends.

use std::collections::HashSet;

use paje_parser::token;
use paje_sim::{ContainerId, Name, Trace};

use crate::shares::{NONE, Shares};
use crate::survey::ContainerBytes;

#[derive(Debug)]
pub(crate) struct OwnLines {
    /// Event numbers: of the PajeTraceFile that names a piece, and of the line that marks the end
    /// of a piece.
    file_id: String,
    end_id: String,
    pub(crate) root_head: Vec<u8>,
    pub(crate) head: Vec<u8>,
    /// Line of root.trace that names the root container's piece. Empty if the root has no events.
    pub(crate) first: Vec<u8>,
    /// Last line of a piece: a PajeTraceFile without a name, at the end of the trace. A trace ends
    /// at the latest time of any line, also for PajeNG. The line ends no container, so `pj_dump -a`
    /// still works.
    pub(crate) tail: Vec<u8>,
    pub(crate) root_tail: Vec<u8>,
    digits: usize,
    suffix: &'static str,
}

impl OwnLines {
    pub(crate) fn new(
        trace: &Trace,
        shares: &Shares,
        held: &[ContainerBytes],
        suffix: &'static str,
    ) -> Self {
        let mut free = free_numbers(trace);
        let mut next = || free.next().unwrap_or_default();
        let (file_id, end_id) = (next(), next());
        let head = format!(
            "%EventDef PajeTraceFile {file_id}\n% Container string\n% Type string\n% Filename string\n\
             %EndEventDef\n\
             %EventDef PajeTraceFile {end_id}\n% Time date\n% Container string\n% Type string\n\
             % Filename string\n%EndEventDef\n"
        );
        // Formats the time as the shortest text that reads as the same number.
        let tail = format!("{end_id} {} 0 0 \"\"\n", trace.end());
        let digits = (shares.count().max(1) - 1).to_string().len().max(3);
        let (head, tail) = (head.into_bytes(), tail.into_bytes());
        let mut lines = OwnLines {
            file_id,
            end_id,
            root_head: head.clone(),
            head,
            first: Vec::new(),
            root_tail: tail.clone(),
            tail,
            digits,
            suffix,
        };
        let mut first = Vec::new();
        if held.first().is_some_and(|root| root.events > 0) {
            lines.name(trace, shares, ContainerId::ROOT, &mut first);
        }
        lines.first = first;
        lines
    }

    /// Marks the end of pieces with a definition instead of a PajeTraceFile, because the time of a
    /// definition counts too. The event type that it defines has no events, and therefore no rows.
    pub(crate) fn end_plainly(&mut self, trace: &Trace) {
        let id = &self.end_id;
        self.head = format!(
            "%EventDef PajeDefineEventType {id}\n% Time date\n% Name string\n% Type string\n\
             %EndEventDef\n"
        )
        .into();
        self.tail = format!("{id} {} {} 0\n", trace.end(), end_type(trace)).into();
    }

    pub(crate) fn piece(&self, number: usize) -> String {
        format!("piece-{number:0digits$}.trace{}", self.suffix, digits = self.digits)
    }

    pub(crate) fn name(
        &self,
        trace: &Trace,
        shares: &Shares,
        container: ContainerId,
        out: &mut Vec<u8>,
    ) {
        let piece = shares.of(container);
        if piece == NONE {
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

/// Returns an unused type name for the line that marks the end.
pub(crate) fn end_type(trace: &Trace) -> String {
    let mut name = "end-of-trace".to_owned();
    while trace.types().find(name.as_bytes()).is_some() {
        name.push('-');
    }
    name
}

fn free_numbers(trace: &Trace) -> impl Iterator<Item = String> + use<> {
    let used: HashSet<Vec<u8>> = trace.defs().iter().map(|def| def.id().to_vec()).collect();
    let numbers = (1_u64..).map(|number| number.to_string());
    numbers.filter(move |number| !used.contains(number.as_bytes()))
}

/// Appends a name as one field, with quotes if it needs them.
fn word(name: Name<'_>, out: &mut Vec<u8>) {
    if plain(name.text) || name.text.contains(&b'"') {
        // In the trace, a name that contains a quote had no quotes around it.
        out.extend_from_slice(name.text);
    } else {
        out.push(b'"');
        out.extend_from_slice(name.text);
        out.push(b'"');
    }
}

/// Returns whether a text is one field without quotes.
fn plain(text: &[u8]) -> bool {
    let special = |byte: &u8| token::is_white(*byte) || matches!(byte, b'"' | b'#');
    !text.is_empty() && !text.iter().any(special)
}

#[cfg(test)]
mod tests {
    use super::*;
    use paje_sim::Options;

    const HEADER: &str = "\
%EventDef PajeDefineContainerType 1\n% Name string\n% Type string\n%EndEventDef
%EventDef PajeCreateContainer 3\n% Time date\n% Name string\n% Type string\n% Container string\n%EndEventDef
";

    #[test]
    fn pieces_end_with_the_trace() {
        let trace = Trace::read(
            (HEADER.to_owned() + "1 T 0\n3 1e-1 a T 0\n").as_bytes(),
            &Options::default(),
        );
        let trace = trace.unwrap();
        let held = vec![ContainerBytes::default(); trace.containers().len()];
        let shares = Shares::even(trace.containers(), &held, 1);
        let lines = OwnLines::new(&trace, &shares, &held, "");
        assert!(lines.head.starts_with(b"%EventDef PajeTraceFile 2\n"));
        assert_eq!(lines.tail, b"4 0.1 0 0 \"\"\n");
        assert_eq!(lines.first, b"");
    }

    #[test]
    fn names_are_written_as_one_field() {
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
