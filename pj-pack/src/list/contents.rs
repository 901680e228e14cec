//! Counts the contents of a packed trace. Only the first line of each step is read as text.

use std::collections::{BTreeMap, HashMap};
use std::io::Read;

use paje_pack::{Error, KIND_NAMES, Packed, Reader};
use paje_parser::columns::{Content, Hole, Lines, Wanted};
use paje_parser::{Event, EventKind, Field, FieldName, FieldNames, Line, LineDecoder, TypeNature};

#[derive(Default)]
pub(crate) struct Contents {
    pub(super) segments: u64,
    pub(super) lines: u64,
    pub(super) text: u64,
    pub(super) packed: u64,
    /// For each kind of page, the total size of such pages in bytes.
    pub(super) sizes: [u64; KIND_NAMES.len()],
    /// Earliest and latest time of all lines, in seconds.
    pub(super) times: Option<(f64, f64)>,
    /// Number of lines by event name. For lines without an event, the name is empty.
    pub(super) events: BTreeMap<&'static str, u64>,
    /// Types, in the order of their definition or first use.
    pub(super) types: Named,
    /// Containers, in the order of their definition or first use.
    pub(super) containers: Named,
}

/// Containers or types, with an index by identifier.
#[derive(Default)]
pub(super) struct Named {
    /// The map uses the standard hasher, because the trace chooses the keys.
    places: HashMap<Vec<u8>, usize>,
    pub(super) all: Vec<Entry>,
}

#[derive(Default)]
pub(super) struct Entry {
    /// Word that identifies the container or type in lines. This is its alias, or its name if it
    /// has no alias.
    pub(super) id: Vec<u8>,
    pub(super) name: Option<Vec<u8>>,
    pub(super) nature: Option<TypeNature>,
    pub(super) type_: Option<usize>,
    pub(super) lines: u64,
}

impl Named {
    fn place(&mut self, id: Field<'_>) -> usize {
        let id = id.bare();
        if let Some(place) = self.places.get(id) {
            return *place;
        }
        let place = self.all.len();
        self.places.insert(id.to_vec(), place);
        self.all.push(Entry { id: id.to_vec(), ..Entry::default() });
        place
    }

    fn define(&mut self, name: Field<'_>, alias: Option<Field<'_>>) -> &mut Entry {
        let place = self.place(alias.unwrap_or(name));
        let entry = &mut self.all[place];
        entry.name = Some(name.bare().to_vec());
        entry
    }
}

#[derive(Clone, Copy, Default)]
struct Subject {
    kind: Option<EventKind>,
    container: Option<usize>,
    type_: Option<usize>,
}

struct Look {
    contents: Contents,
    decoder: LineDecoder,
    /// Lines of the current segment. Their memory is reused.
    columns: Lines,
    text: Vec<u8>,
}

impl Contents {
    /// Reads a packed trace.
    ///
    /// # Errors
    /// The trace is damaged or is not a packed trace.
    pub(crate) fn read(from: impl Read) -> Result<Contents, Error> {
        let mut look = Look {
            contents: Contents::default(),
            decoder: LineDecoder::new(FieldNames::Old),
            columns: Lines::default(),
            text: Vec::new(),
        };
        let mut reader = Reader::new(from);
        while let Some(segment) = reader.next_segment()? {
            look.segment(&segment)?;
        }
        let mut contents = look.contents;
        contents.packed = reader.position();
        for (sum, size) in contents.sizes.iter_mut().zip(reader.other_sizes()) {
            *sum += size;
        }
        contents.sizes[0] = contents.packed - contents.sizes.iter().sum::<u64>();
        Ok(contents)
    }
}

impl Look {
    fn segment(&mut self, segment: &Packed) -> Result<(), Error> {
        self.contents.segments += 1;
        self.contents.lines += segment.line_count();
        self.contents.text += segment.text_len();
        for (sum, size) in self.contents.sizes.iter_mut().zip(segment.sizes()) {
            *sum += size;
        }
        let decoder = &mut self.decoder;
        let mut judge = |line: &[u8], holes: &[Hole]| wanted(decoder, line, holes);
        if segment.columns(&mut self.text, &mut self.columns, &mut judge) {
            self.columns();
            return Ok(());
        }
        let text = segment.unpack()?;
        for line in text.strip_suffix(b"\n").unwrap_or(&text).split(|byte| *byte == b'\n') {
            let subject = self.line(line);
            self.count(subject, 1);
        }
        Ok(())
    }

    fn columns(&mut self) {
        let (text, columns) = (std::mem::take(&mut self.text), std::mem::take(&mut self.columns));
        let with_text = |content: &&Content| columns.lines[content.line as usize].has_text();
        for content in columns.contents.iter().filter(with_text) {
            let line = &text[columns.lines[content.line as usize].start as usize..];
            let end = memchr::memchr(b'\n', line).unwrap_or(line.len());
            let subject = self.line(&line[..end]);
            let alike = columns.counts.get(content.step as usize).copied().unwrap_or_default();
            self.count(subject, 1 + u64::from(alike));
        }
        let times = columns.lines.iter().filter(|line| !line.has_text()).map(|line| line.time);
        let (first, last) = times
            .fold((i64::MAX, i64::MIN), |(first, last), time| (first.min(time), last.max(time)));
        if first <= last {
            let power = 10_f64.powi(columns.digits.into());
            self.contents.pass(first as f64 / power);
            self.contents.pass(last as f64 / power);
        }
        (self.text, self.columns) = (text, columns);
    }

    /// Adds the time of a line, and the object that it defines, if any. Returns the event,
    /// container and type of the line.
    fn line(&mut self, text: &[u8]) -> Subject {
        let Contents { containers, types, .. } = &mut self.contents;
        // An invalid line does not count as an event.
        let Ok(Line::Event(raw)) = self.decoder.line(text) else { return Subject::default() };
        let Ok(event) = raw.decode() else { return Subject::default() };
        let mut subject = Subject { kind: Some(raw.def().kind()), ..Subject::default() };
        let (mut container, mut type_) = (None, None);
        match event {
            Event::DefineType { nature, name, alias, .. } => {
                types.define(name, alias).nature = Some(nature);
            }
            Event::DefineLinkType { name, alias, .. } => {
                types.define(name, alias).nature = Some(TypeNature::Link);
            }
            Event::CreateContainer { name, alias, type_, parent, .. } => {
                container = Some(parent);
                let type_ = types.place(type_);
                containers.define(name, alias).type_ = Some(type_);
            }
            Event::DestroyContainer { name, .. } => container = Some(name),
            Event::Entity { type_: of, container: within, .. } => {
                (container, type_) = (Some(within), Some(of));
            }
            Event::Link { type_: of, at, .. } => (container, type_) = (Some(at), Some(of)),
            _ => {}
        }
        subject.container = container.map(|container| containers.place(container));
        subject.type_ = type_.map(|type_| types.place(type_));
        if let Some(time) = event.time() {
            self.contents.pass(time);
        }
        subject
    }

    fn count(&mut self, subject: Subject, lines: u64) {
        let Contents { events, containers, types, .. } = &mut self.contents;
        *events.entry(subject.kind.map_or("", EventKind::name)).or_default() += lines;
        if let Some(container) = subject.container {
            containers.all[container].lines += lines;
        }
        if let Some(type_) = subject.type_ {
            types.all[type_].lines += lines;
        }
    }
}

impl Contents {
    fn pass(&mut self, time: f64) {
        let (first, last) = self.times.unwrap_or((time, time));
        self.times = Some((first.min(time), last.max(time)));
    }
}

/// Chooses how the lines of a step are read, given the first of these lines. They are read as
/// columns unless they are definitions or belong to different containers or types.
fn wanted(decoder: &mut LineDecoder, line: &[u8], holes: &[Hole]) -> Wanted {
    let Ok(Line::Event(raw)) = decoder.line(line) else { return Wanted::Text };
    if !matches!(raw.decode(), Ok(Event::Entity { .. } | Event::Link { .. })) {
        return Wanted::Text;
    }
    let subject =
        [FieldName::Type, FieldName::Container, FieldName::StartContainer, FieldName::EndContainer];
    let mut subject = subject.into_iter().filter_map(|field| raw.span(field));
    let in_hole = subject.any(|span| {
        let (start, end) = (span.start as usize, span.end as usize);
        holes.iter().any(|Hole { range, .. }| range.start < end && start < range.end)
    });
    if in_hole { Wanted::Text } else { Wanted::Columns(None) }
}
