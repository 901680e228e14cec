//! Model of a run: messages, their channels, and the happened-before order.

use paje_analysis::order::{Order, Rendezvous};
use paje_comm::Facts;
use paje_comm::classes::Map;
use paje_comm::collectives::Grouping;
use paje_comm::messages::Message;
use paje_comm::tracks::Tracks;
use paje_sim::{Glob, LaneView, Link, Selection, TimeRange, Trace, TypeId};
use rustc_hash::FxHashMap;

/// Channel of a message. Messages of different channels may overtake one another.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Channel {
    Value,
    Type,
    /// A user-defined field.
    Field(String),
}

impl From<&str> for Channel {
    fn from(name: &str) -> Self {
        match name {
            "value" => Channel::Value,
            "type" => Channel::Type,
            field => Channel::Field(field.to_owned()),
        }
    }
}

/// Options of the model.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Wildcard receives, by state or value. By default, all receives are wildcard receives.
    pub wildcard: Option<Glob>,
    /// Source of the channel of each message. By default all messages have the same channel.
    pub channel: Option<Channel>,
    /// Messages that only read, by receiving state or value.
    pub reads: Option<Glob>,
    /// User-defined field with the access of a message to each variable: `r`, `w` or anything else.
    pub access: Option<String>,
    /// Whether the sends of a state depend only on what the state received.
    pub is_driven: bool,
    /// Whether only the container type of a future message's receiver is known.
    pub is_routed: bool,
    /// Settings for finding collectives.
    pub grouping: Grouping,
    /// Containers and times of the receives to examine.
    pub selection: Selection,
}

/// Messages of a trace, with the data that the searches for hazards need.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Model<'t> {
    /// States, messages and collectives. There is a track for each container.
    pub facts: Facts<'t>,
    /// Channel of each message.
    pub channel: Vec<u32>,
    /// For each message, whether it is received by a wildcard receive.
    pub wildcard: Vec<bool>,
    /// Access of each message to variables, if the access is known.
    pub access: Vec<Option<Box<[u8]>>>,
    /// For each message, whether it is examined.
    pub selected: Vec<bool>,
    /// As in [`Options`].
    pub is_driven: bool,
    /// As in [`Options`].
    pub is_routed: bool,
    window: TimeRange,
    rendezvous: Vec<bool>,
}

impl<'t> Model<'t> {
    /// Builds the model of a trace. If the map contains none of the trace's state values, all links
    /// are messages, except those of network links and routers.
    #[must_use]
    pub fn new(trace: &'t Trace, map: &Map, options: &Options) -> Self {
        let grouping = options.grouping.clone();
        let reading = paje_comm::Options { grouping, ..paje_comm::Options::default() };
        let facts = Facts::with_any_links(trace, map, &reading);
        let (tracks, messages) = (&*facts.tracks, &facts.messages);
        let list = messages.list();
        let mut reader = Reader {
            tracks,
            options,
            channels: FxHashMap::default(),
            channel: list.iter().map(|message| message.from).collect(),
            access: options.access.as_ref().map(|_| vec![None; list.len()]).unwrap_or_default(),
        };
        if options.channel.is_some() || options.access.is_some() {
            messages.each_link(trace, |at, link| reader.add(at, link));
        }
        let (channel, access) = (reader.channel, reader.access);
        let by = |glob: &Option<Glob>, otherwise| -> Vec<bool> {
            let Some(glob) = glob else { return vec![otherwise; list.len()] };
            let mut states = Matches::new(glob, trace);
            list.iter().map(|message| states.of(tracks, message)).collect()
        };
        let (wildcard, reads) = (by(&options.wildcard, true), by(&options.reads, false));
        let mut access = access;
        if options.reads.is_some() {
            access.resize(list.len(), None);
            for (access, reads) in access.iter_mut().zip(reads) {
                if access.is_none() {
                    *access = Some(if reads { b"r"[..].into() } else { b"w"[..].into() });
                }
            }
        }
        let selected = trace.select(&options.selection);
        let window = selected.window();
        let types: Vec<TypeId> = trace.lanes().map(LaneView::type_id).collect();
        let is_selected = |message: &Message| {
            let container = tracks.list()[message.to as usize].container;
            selected.wants_container(container)
                && selected.wants_type(types[message.lane.index()])
                && window.from <= message.end
                && message.end <= window.to
        };
        let selected = list.iter().map(is_selected).collect();
        let rendezvous = list.iter().map(|message| facts.is_rendezvous(message)).collect();
        Model {
            facts,
            channel,
            wildcard,
            access,
            selected,
            is_driven: options.is_driven,
            is_routed: options.is_routed,
            window,
            rendezvous,
        }
    }

    /// Whether the trace records messages, or shows that the program only uses collectives.
    #[must_use]
    pub fn records_messages(&self) -> bool {
        let Facts { tracks, messages, collectives, .. } = &self.facts;
        let mut classes = (0..tracks.list().len()).flat_map(|track| {
            let states = 0..tracks.list()[track].len();
            states.map(move |state| tracks.class(track, state))
        });
        let has_collectives = !(collectives.series.is_empty() && collectives.uneven.is_empty());
        !messages.list().is_empty()
            || has_collectives && !classes.any(|class| class.sends() || class.receives())
    }

    /// Computes the happened-before order.
    #[must_use]
    pub fn order(&self) -> Order {
        Order::new(&self.facts, Rendezvous::Taken(&self.rendezvous))
    }

    /// Returns whether a message is examined and received by a wildcard receive.
    pub(crate) fn is_open(&self, message: usize) -> bool {
        self.selected[message] && self.wildcard[message]
    }

    /// Returns the access of a message to variables, if it is known.
    pub(crate) fn access(&self, message: u32) -> Option<&[u8]> {
        self.access.get(message as usize)?.as_deref()
    }

    /// Returns the time window of the examined receives and collectives.
    pub(crate) const fn window(&self) -> TimeRange {
        self.window
    }

    /// Returns the type of a track's container.
    pub(crate) fn container_type(&self, track: u32) -> TypeId {
        self.trace().containers().type_of(self.facts.tracks.list()[track as usize].container)
    }

    /// Returns the trace.
    #[must_use]
    pub fn trace(&self) -> &'t Trace {
        self.facts.tracks.trace()
    }
}

struct Matches<'g> {
    glob: &'g Glob,
    types: Vec<TypeId>,
    known: FxHashMap<(u32, u32), bool>,
}

impl<'g> Matches<'g> {
    fn new(glob: &'g Glob, trace: &Trace) -> Self {
        let types = trace.lanes().map(LaneView::type_id).collect();
        Matches { glob, types, known: FxHashMap::default() }
    }

    fn of(&mut self, tracks: &Tracks<'_>, message: &Message) -> bool {
        let (trace, track) = (tracks.trace(), &tracks.list()[message.to as usize]);
        let types = trace.types();
        let link = (self.types[message.lane.index()], message.value);
        let state = message.recv().map(|state| (track.type_, track.value[state]));
        [Some(link), state].into_iter().flatten().any(|(type_, value)| {
            let glob = self.glob;
            let matches = || glob.matches(types.value_name(type_, value).text);
            *self.known.entry((type_.0, value.0)).or_insert_with(matches)
        })
    }
}

struct Reader<'a> {
    tracks: &'a Tracks<'a>,
    options: &'a Options,
    channels: FxHashMap<(u32, Box<[u8]>), u32>,
    channel: Vec<u32>,
    access: Vec<Option<Box<[u8]>>>,
}

impl Reader<'_> {
    fn add(&mut self, at: usize, link: &Link<'_>) {
        let property = match &self.options.channel {
            None => None,
            Some(Channel::Value) => Some(link.value_name().text),
            Some(Channel::Type) => Some(link.lane.type_name().text),
            Some(Channel::Field(name)) => link.field(name),
        };
        if let Some(property) = property {
            let next = (self.tracks.list().len() + self.channels.len()) as u32;
            let channel = &mut self.channel[at];
            *channel = *self.channels.entry((*channel, property.into())).or_insert(next);
        }
        if let Some(name) = &self.options.access {
            self.access[at] = link.field(name).map(|text| text.trim_ascii().into());
        }
    }
}
