//! Reports for other programs: one JSON object per line.
//!
//! Each finding is an object, in file order. The summary follows, unless `-q` is given. Several
//! traces follow one another. Invalid UTF-8 in the trace's texts is replaced by U+FFFD. New members
//! may be added, but existing ones do not change.
//!
//! A finding:
//!
//! | member | |
//! |---|---|
//! | `kind` | `"finding"` |
//! | `severity` | `"error"` or `"warning"` |
//! | `code` | kind of the problem, such as `"unknown-type"`; stable across releases |
//! | `message` | one sentence for people |
//! | `event` | the event of the line: `{name, number}`, such as `"PajePopState"` and `"13"`, or `null` |
//! | `names` | names in the message that the trace defines: an array of `{what, name, alias}`; `what` is `"type"`, `"container"`, `"value"`, `"container_type"`, `"expected_type"` or `"other_value"`, `alias` may be `null` |
//! | `trace` | the trace as it was named |
//! | `file` | file of the line: the trace as it was named, or `"-"` for standard input; for a named file, its name relative to the naming file's folder |
//! | `line`, `column` | 1-based, the column in bytes; `null` if the problem is in no single line |
//! | `byte` | offset in the (uncompressed) file, 0-based, or `null` |
//! | `width` | length of the offending text in bytes |
//! | `text` | the line, or the part around the column; `null` if unknown |
//! | `count` | number of lines with the same problem |
//! | `last_line` | the last of these lines |
//! | `last_file` | file of `last_line`, in the form of `file` |
//! | `consequences` | number of lines that were not checked because of this problem |
//! | `note` | another sentence, or `null` |
//!
//! The summary:
//!
//! | member | |
//! |---|---|
//! | `kind` | `"summary"` |
//! | `file` | the trace as it was named |
//! | `sound` | whether the exit status is 0 |
//! | `doubts` | number of warnings that `--strict` counts |
//! | `errors`, `warnings` | number of lines with errors, and with warnings |
//! | `unlisted_errors`, `unlisted_warnings` | number of errors, and of warnings, that have no finding because of `--max-errors` |
//! | `disordered_events` | number of events that are earlier than the last event of their container and type; `pj_dump --sort` accepts them |
//! | `disordered_lanes` | number of pairs of a container and a type with such events |
//! | `lines`, `bytes`, `event_definitions` | totals of all files; equal definitions count once |
//! | `files` | an array of `{file, lines, bytes, truncated}` in the order of reading; `truncated` files end inside a line or a definition |
//! | `start`, `end` | earliest and latest time in seconds, or `null` |
//! | `containers`, `states`, `variables`, `events`, `links`, `values` | number of each |
//! | `types` | an array of `{name, alias, nature, parent, objects, values}`, parents first; `parent` is an index into it, `null` for the root |
//! | `container_tree` | with `-c`: an array of `{name, alias, type, parent}`; `type` is an index into `types` |
//! | `seconds` | with `-t`: duration of the check |

use std::io::{self, Write};

use serde::Serialize;

use crate::check::{FileRead, Report};
use crate::finding;
use crate::summary::{ContainerSummary, TypeSummary};

#[derive(Serialize)]
struct Finding<'a> {
    kind: &'static str,
    severity: &'static str,
    code: &'static str,
    message: String,
    event: Option<Event>,
    names: Vec<Named>,
    trace: &'a str,
    file: &'a str,
    line: Option<u64>,
    column: Option<u64>,
    byte: Option<u64>,
    width: u64,
    text: Option<String>,
    count: u64,
    last_line: Option<u64>,
    last_file: Option<&'a str>,
    consequences: u64,
    note: Option<&'a str>,
}

#[derive(Serialize)]
struct Event {
    name: &'static str,
    number: String,
}

#[derive(Serialize)]
struct Named {
    what: &'static str,
    name: String,
    alias: Option<String>,
}

#[derive(Serialize)]
struct Summary<'a> {
    kind: &'static str,
    file: &'a str,
    sound: bool,
    errors: u64,
    warnings: u64,
    doubts: u64,
    unlisted_errors: u64,
    unlisted_warnings: u64,
    disordered_events: u64,
    disordered_lanes: u64,
    lines: u64,
    bytes: u64,
    event_definitions: u64,
    files: Vec<File<'a>>,
    start: Option<f64>,
    end: Option<f64>,
    containers: u64,
    states: u64,
    variables: u64,
    events: u64,
    links: u64,
    values: u64,
    types: Vec<Type>,
    #[serde(skip_serializing_if = "Option::is_none")]
    container_tree: Option<Vec<Container>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds: Option<f64>,
}

#[derive(Serialize)]
struct File<'a> {
    file: &'a str,
    lines: u64,
    bytes: u64,
    truncated: bool,
}

#[derive(Serialize)]
struct Type {
    name: String,
    alias: Option<String>,
    nature: &'static str,
    parent: Option<usize>,
    objects: u64,
    values: u64,
}

#[derive(Serialize)]
struct Container {
    name: String,
    alias: Option<String>,
    #[serde(rename = "type")]
    type_: usize,
    parent: Option<usize>,
}

/// Writes a finding, with the names of [`Report::files`].
pub fn finding(
    out: &mut impl Write,
    files: &[String],
    finding: &finding::Finding,
) -> io::Result<()> {
    let name = |file: usize| files.get(file).map_or("", String::as_str);
    let position = finding.position;
    let object = Finding {
        kind: "finding",
        severity: finding.severity.name(),
        code: finding.code(),
        message: finding.cause.to_string(),
        event: finding
            .event
            .as_ref()
            .map(|event| Event { name: event.kind.name(), number: text(&event.number) }),
        names: finding.cause.names().into_iter().map(Named::new).collect(),
        trace: name(0),
        file: name(finding.file),
        line: position.map(|position| position.line),
        column: position.map(|position| position.column),
        byte: position.map(|position| position.byte.0),
        width: finding.width,
        text: finding.excerpt.as_ref().map(|excerpt| text(&excerpt.text)),
        count: finding.count,
        last_line: position.map(|_| finding.last_line),
        last_file: position.map(|_| name(finding.last_file)),
        consequences: finding.consequences,
        note: finding.note.as_deref(),
    };
    line(out, &object)
}

/// Writes the summary, with the names of [`Report::files`].
pub fn summary(
    out: &mut impl Write,
    files: &[String],
    report: &Report,
    sound: bool,
    container_tree: bool,
    seconds: Option<f64>,
) -> io::Result<()> {
    let summary = &report.summary;
    let types = summary.types.iter().enumerate();
    let containers = summary.containers.iter().enumerate();
    let object = Summary {
        kind: "summary",
        file: files.first().map_or("", String::as_str),
        sound,
        errors: report.errors,
        warnings: report.warnings,
        doubts: report.doubts,
        unlisted_errors: report.unlisted_errors,
        unlisted_warnings: report.unlisted_warnings,
        disordered_events: report.disorder.events,
        disordered_lanes: report.disorder.lanes,
        lines: summary.lines,
        bytes: summary.bytes,
        event_definitions: summary.event_definitions,
        files: report
            .files
            .iter()
            .zip(files)
            .map(|(read, file)| {
                let FileRead { lines, bytes, truncated, .. } = *read;
                File { file, lines, bytes, truncated }
            })
            .collect(),
        start: summary.times.map(|(start, _)| start),
        end: summary.times.map(|(_, end)| end),
        containers: summary.containers.len().saturating_sub(1) as u64,
        states: summary.states,
        variables: summary.variables,
        events: summary.events,
        links: summary.links,
        values: summary.values,
        types: types.map(|(id, type_)| Type::new(id, type_)).collect(),
        container_tree: container_tree
            .then(|| containers.map(|(id, it)| Container::new(id, it)).collect()),
        seconds,
    };
    line(out, &object)
}

impl Named {
    fn new((what, named): (&'static str, &paje_sim::error::Named)) -> Self {
        Named { what, name: text(named.name()), alias: named.alias().map(text) }
    }
}

impl Type {
    fn new(id: usize, type_: &TypeSummary) -> Self {
        Type {
            name: text(&type_.name),
            alias: type_.alias.as_deref().map(text),
            nature: type_.nature.name(),
            parent: (id > 0).then_some(type_.parent),
            objects: type_.objects,
            values: type_.values,
        }
    }
}

impl Container {
    fn new(id: usize, container: &ContainerSummary) -> Self {
        Container {
            name: text(&container.name),
            alias: container.alias.as_deref().map(text),
            type_: container.type_,
            parent: (id > 0).then_some(container.parent),
        }
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn line(out: &mut impl Write, object: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, object)?;
    out.write_all(b"\n")
}
