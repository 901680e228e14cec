//! Recorded facts about the calls of a message-passing library: communicators, roots and requests.
//!
//! They are in events of the containers, at times when the state of the call is open, and in fields of messages. The
//! names are those of OTF2, such as an event `MpiCollectiveEnd` with `Communicator` and `Root`. Each of them is a field,
//! or all are in one field `Fields`, as in `Communicator=MPI_COMM_WORLD; Root=0 (rank 0)`.

use std::str;

use paje_sim::{LaneView, Trace, TypeId, TypeNature, ValueId};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::classes::Class;
use crate::messages::Messages;
use crate::tracks::Tracks;

/// Names of the fields, for [`needed_fields`](paje_sim::Options::needed_fields).
pub const FIELDS: &[&str] = &["Fields", "Operation", "Communicator", "Root", "Request"];

const NONE: u32 = u32::MAX;

/// Recorded facts about calls.
#[derive(Clone, Debug, Default)]
pub struct Recorded {
    /// Operations of each track, in the order of their starts.
    operations: Vec<Vec<Operation>>,
    communicators: Vec<Box<[u8]>>,
    /// For each message, the state that completes its send, and the state that posts its receive. Empty if there are
    /// no requests.
    requests: Vec<[u32; 2]>,
    /// Events of each track, until the requests have been found.
    notes: Vec<Vec<Note>>,
    /// Number of sends and receives whose other end is not known.
    pub halves: u64,
}

/// Part of a track in a collective operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// State of the call.
    pub state: u32,
    /// Whether the call begins the use of the library. Its state has no class of a collective.
    pub is_begin: bool,
    /// Index of the communicator.
    pub communicator: u32,
    /// Track of the root.
    pub root: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Collective,
    /// A call that begins the use of the library. All members wait for one another.
    Begin,
    SendCompleted,
    ReceivePosted,
    /// A send or a receive that is not an end of a link.
    Half,
}

impl Kind {
    fn of(name: &[u8]) -> Option<Kind> {
        match name {
            b"MpiCollectiveEnd" => Some(Kind::Collective),
            b"MpiIsendComplete" => Some(Kind::SendCompleted),
            b"MpiIrecvRequest" => Some(Kind::ReceivePosted),
            b"MpiSend" | b"MpiIsend" | b"MpiRecv" | b"MpiIrecv" => Some(Kind::Half),
            _ => None,
        }
    }
}

/// An event about a call.
#[derive(Clone, Copy, Debug)]
struct Note {
    time: f64,
    kind: Kind,
    request: u64,
    /// Numbers of names, or [`NONE`].
    communicator: u32,
    root: u32,
}

impl Recorded {
    /// Reads what a trace records about the states of tracks.
    #[must_use]
    pub fn new(tracks: &Tracks<'_>) -> Self {
        let trace = tracks.trace();
        let is_event = |lane: &LaneView<'_>| lane.nature() == TypeNature::Event;
        let lanes: Vec<_> = trace.lanes().filter(is_event).collect();
        let read: Vec<(usize, Reader)> = lanes
            .par_iter()
            .filter_map(|lane| {
                let reader = Reader::new(trace, lane.type_id())?;
                Some((tracks.of_container(lane.container())?, reader.read(*lane)))
            })
            .collect();
        if read.is_empty() {
            return Recorded::default();
        }
        let mut names: FxHashMap<Box<[u8]>, u32> = FxHashMap::default();
        let mut notes: Vec<Vec<Note>> = vec![Vec::new(); tracks.list().len()];
        let halves = read.iter().map(|(_, reader)| reader.halves).sum();
        for (track, reader) in read {
            let mut numbers = vec![NONE; reader.names.len()];
            for (name, number) in reader.names {
                let next = names.len() as u32;
                numbers[number as usize] = *names.entry(name).or_insert(next);
            }
            let number = |local: u32| numbers.get(local as usize).copied().unwrap_or(NONE);
            let global = |note: Note| {
                let (communicator, root) = (number(note.communicator), number(note.root));
                Note { communicator, root, ..note }
            };
            notes[track].extend(reader.notes.into_iter().map(global));
        }
        let mut texts: Vec<Box<[u8]>> = vec![Box::default(); names.len()];
        for (name, number) in names {
            texts[number as usize] = name;
        }
        let containers = trace.containers();
        let tracks_by_name: FxHashMap<&[u8], u32> = (0..)
            .zip(tracks.list())
            .map(|(at, track)| (containers.name(track.container).text, at))
            .collect();
        let roots = texts.iter().map(Box::as_ref).map(|text| tracks_by_name.get(text).copied());
        let roots: Vec<Option<u32>> = roots.collect();
        notes.par_iter_mut().for_each(|all| all.sort_by(|a, b| a.time.total_cmp(&b.time)));
        let of_track = |(at, notes): (usize, &Vec<Note>)| operations(tracks, at, notes, &roots);
        let operations = notes.par_iter().enumerate().map(of_track).collect();
        Recorded { operations, communicators: texts, notes, requests: Vec::new(), halves }
    }

    /// Returns whether a trace may record facts about calls.
    #[must_use]
    pub fn are_possible(trace: &Trace) -> bool {
        let types = trace.types();
        let mut events = types.ids().filter(|id| types.nature(*id) == TypeNature::Event);
        events.any(|id| Reader::new(trace, id).is_some())
    }

    /// Finds the states that complete the sends of messages and post their receives.
    pub(crate) fn find_requests(&mut self, tracks: &Tracks<'_>, messages: &Messages) {
        self.requests = vec![[NONE; 2]; messages.requests().len()];
        let notes = std::mem::take(&mut self.notes);
        for (at, notes) in notes.iter().enumerate() {
            if self.requests.is_empty() {
                break;
            }
            self.find_requests_of(tracks, messages, at, notes);
        }
    }

    /// Finds them for a track. A request that is used again belongs to the latest message before.
    fn find_requests_of(
        &mut self,
        tracks: &Tracks<'_>,
        messages: &Messages,
        at: usize,
        notes: &[Note],
    ) {
        let track = &tracks.list()[at];
        let state_at = |time: f64, takes: fn(Class) -> bool| {
            let state = track.open_at(time).find(|state| takes(tracks.class(at, *state)));
            state.map_or(NONE, |state| state as u32)
        };
        let list = messages.list();
        let mut sent = messages.sent(at).iter().copied().peekable();
        let mut open: FxHashMap<u64, u32> = FxHashMap::default();
        for note in notes.iter().filter(|note| note.kind == Kind::SendCompleted) {
            while let Some(message) = sent.next_if(|it| list[*it as usize].start <= note.time) {
                open.extend(messages.requests()[message as usize][0].map(|it| (it, message)));
            }
            if let Some(message) = open.remove(&note.request) {
                self.requests[message as usize][0] = state_at(note.time, Class::receives);
            }
        }
        let mut posts = notes.iter().filter(|note| note.kind == Kind::ReceivePosted).peekable();
        let mut posted: FxHashMap<u64, u32> = FxHashMap::default();
        for message in messages.received(at) {
            let end = list[*message as usize].end;
            while let Some(note) = posts.next_if(|note| note.time <= end) {
                let state = state_at(note.time, |class| class != Class::Compute);
                posted.insert(note.request, state);
            }
            let request = messages.requests()[*message as usize][1];
            if let Some(state) = request.and_then(|request| posted.remove(&request)) {
                self.requests[*message as usize][1] = state;
            }
        }
    }

    /// Returns whether the trace records communicators of collective operations.
    #[must_use]
    pub fn has_operations(&self) -> bool {
        self.operations.iter().any(|track| !track.is_empty())
    }

    /// Returns whether the trace records nothing about calls.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }

    /// Returns the operations of each track, in the order in which they start.
    #[must_use]
    pub fn operations(&self) -> &[Vec<Operation>] {
        &self.operations
    }

    /// Returns the names of the communicators.
    #[must_use]
    pub fn communicators(&self) -> &[Box<[u8]>] {
        &self.communicators
    }

    /// Returns the state in which the sender of a message waits until its nonblocking send is complete.
    #[must_use]
    pub fn completion(&self, message: usize) -> Option<usize> {
        self.state_of(message, 0)
    }

    /// Returns the state that posted the nonblocking receive of a message.
    #[must_use]
    pub fn post(&self, message: usize) -> Option<usize> {
        self.state_of(message, 1)
    }

    fn state_of(&self, message: usize, side: usize) -> Option<usize> {
        let state = self.requests.get(message)?[side];
        (state != NONE).then_some(state as usize)
    }
}

/// Returns the facts in a field: name and value. A field `Fields` may have several of them.
fn parts<'t>((name, text): (&'t str, &'t [u8])) -> impl Iterator<Item = (&'t [u8], &'t [u8])> {
    let text = text.strip_prefix(b"\"").and_then(|it| it.strip_suffix(b"\"")).unwrap_or(text);
    let (one, many) = match name {
        "Fields" => (None, Some(text)),
        _ => (Some((name.as_bytes(), text)), None),
    };
    let parts = many.into_iter().flat_map(|text| text.split(|byte| *byte == b';'));
    let parts = parts.filter_map(|part| {
        let part = part.trim_ascii();
        let at = part.iter().position(|byte| *byte == b'=')?;
        Some((&part[..at], &part[at + 1..]))
    });
    one.into_iter().chain(parts)
}

/// Returns a number, such as a request.
pub(crate) fn number(text: &[u8]) -> Option<u64> {
    str::from_utf8(text).ok()?.trim().parse().ok()
}

/// Returns the container in `3 (rank 3)`, or the whole text, which is a name.
fn root_name(text: &[u8]) -> &[u8] {
    let inner = text.split(|byte| *byte == b'(').next().filter(|rank| number(rank).is_some());
    inner.and_then(|rank| text[rank.len()..].strip_prefix(b"(")?.strip_suffix(b")")).unwrap_or(text)
}

/// Finds the states of a track's operations.
fn operations(
    tracks: &Tracks<'_>,
    at: usize,
    notes: &[Note],
    roots: &[Option<u32>],
) -> Vec<Operation> {
    let track = &tracks.list()[at];
    let mut operations = Vec::new();
    let mut is_taken = vec![false; track.len()];
    for note in notes {
        let class = |state: &usize| tracks.class(at, *state);
        let is_initial = |state: &usize| {
            let name = tracks.trace().types().value_name(track.type_, track.value[*state]).text;
            name.windows(4).any(|part| part.eq_ignore_ascii_case(b"init"))
                && class(state) != Class::Compute
        };
        let mut open = track.open_at(note.time);
        let state = match note.kind {
            Kind::Collective => {
                open.find(|state| matches!(class(state), Class::Collective(_)) && !is_taken[*state])
            }
            Kind::Begin => open.find(is_initial),
            Kind::SendCompleted | Kind::ReceivePosted | Kind::Half => None,
        };
        let Some(state) = state else { continue };
        is_taken[state] = true;
        let Note { communicator, root, .. } = *note;
        let root = roots.get(root as usize).copied().flatten();
        let is_begin = note.kind == Kind::Begin;
        operations.push(Operation { state: state as u32, is_begin, communicator, root });
    }
    operations.sort_by_key(|it| it.state);
    operations
}

/// Reads the events of a container.
struct Reader {
    /// Kind of each value.
    kinds: Vec<Option<Kind>>,
    notes: Vec<Note>,
    names: FxHashMap<Box<[u8]>, u32>,
    halves: u64,
}

impl Reader {
    /// Creates a reader, unless the type has no values of interest.
    fn new(trace: &Trace, type_: TypeId) -> Option<Reader> {
        let types = trace.types();
        let kind = |value| Kind::of(types.value_name(type_, ValueId(value)).text);
        let kinds: Vec<_> = (0..types.value_count(type_) as u32).map(kind).collect();
        let (notes, names) = Default::default();
        let is_any = kinds.iter().any(Option::is_some);
        is_any.then_some(Reader { kinds, notes, names, halves: 0 })
    }

    fn read(mut self, lane: LaneView<'_>) -> Reader {
        for event in lane.events() {
            let Some(kind) = self.kinds[event.value.index()] else { continue };
            if kind == Kind::Half {
                self.halves += 1;
                continue;
            }
            let (request, communicator, root) = (0, NONE, NONE);
            let mut note = Note { time: event.time, kind, request, communicator, root };
            for (name, text) in event.fields().flat_map(parts) {
                match name {
                    b"Request" => note.request = number(text).unwrap_or(0),
                    b"Communicator" => note.communicator = self.name(text),
                    b"Root" => note.root = self.name(root_name(text)),
                    b"Operation" if text.starts_with(b"CREATE_HANDLE") => {
                        note.kind = Kind::Begin;
                    }
                    _ => {}
                }
            }
            let needs_communicator = matches!(note.kind, Kind::Collective | Kind::Begin);
            if note.communicator != NONE || !needs_communicator {
                self.notes.push(note);
            }
        }
        self
    }

    fn name(&mut self, name: &[u8]) -> u32 {
        let next = self.names.len() as u32;
        match self.names.get(name) {
            Some(number) => *number,
            None => *self.names.entry(name.into()).or_insert(next),
        }
    }
}
