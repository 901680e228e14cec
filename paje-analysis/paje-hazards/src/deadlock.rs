//! Finds deadlocks of a run that hung, and deadlocks that would occur if sends were not buffered.
//!
//! (Source: Schaeli, 5.5.1.) A container is blocked if the trace ends while it is in a
//! communicating call that has received nothing. A receive waits for its sender. A collective waits
//! for the members that have not entered. Containers that wait for one another form a cycle, which
//! reports call a *circle*. A container for which others wait but that does not wait itself is
//! *stuck*.

use std::collections::BTreeMap;
use std::sync::Arc;

use paje_analysis::order::{Order, Rendezvous, Step, posts};
use paje_comm::classes::Class;
use paje_sim::{ContainerId, Glob, ValueId};
use rustc_hash::FxHashMap;

use crate::hangs::hangs;
use crate::model::Model;

/// Options of the search for deadlocks.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Blocking states. By default, these are all communicating states except those with names such
    /// as `Isend` and `Bsend`.
    pub blocking: Vec<Glob>,
    /// User-defined field of a state with the name or number of the container for which it waits.
    pub peer_field: Option<String>,
    /// Maximum number of cycles listed.
    pub limit: usize,
}

/// A waiting container.
#[derive(Clone, Debug, PartialEq)]
pub struct Wait {
    /// Track that waits.
    pub track: usize,
    /// State in which the container waits.
    pub state: usize,
    /// All tracks for which the container waits. Empty if they are unknown. Members of the same
    /// operation share the list.
    pub whom: Arc<[u32]>,
    /// Evidence for `whom`.
    pub how: Evidence,
}

/// Evidence for the containers for which another container waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// These containers have not entered a collective.
    NotEntered,
    /// A field of the state names this container.
    Field,
    /// The last message in a state of the same value was exchanged with this container.
    LastMessage,
    /// No evidence.
    Unknown,
}

/// Cause of a hang, which is a cycle or a stuck track.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hang {
    /// Tracks of a cycle, each of which waits for the next track. Without a cycle, only the stuck
    /// track.
    pub tracks: Vec<u32>,
    /// Whether the cause is a cycle.
    pub is_circle: bool,
    /// The track for which the most other tracks wait, and how many tracks wait for it.
    pub most: (u32, usize),
    /// Number of other tracks that wait for these tracks, directly or indirectly.
    pub hanging: usize,
}

/// Deadlocks found, actual and potential.
#[derive(Clone, Debug, Default)]
pub struct Deadlock {
    /// Containers that wait at the end of the trace, in track order.
    pub waits: Vec<Wait>,
    /// Cycles and stuck tracks, in descending order of the number of blocked tracks.
    pub hangs: Vec<Hang>,
    /// Whether there are more cycles than listed ones.
    pub has_more: bool,
    /// Cycles of steps that would wait forever if senders waited for their receivers.
    pub potential: Vec<Vec<Step>>,
    /// Number of these cycles, listed or not.
    pub potential_count: u64,
}

/// Finds actual and potential deadlocks.
#[must_use]
pub fn deadlock(model: &Model<'_>, order: &Order, options: &Options) -> Deadlock {
    let waits = waits(model, options);
    let (hangs, has_more) = hangs(model.facts.tracks.list().len(), &waits, options.limit);
    let (potential, potential_count) = potential(model, order, options);
    Deadlock { waits, hangs, has_more, potential, potential_count }
}

fn blocks(options: &Options, name: &[u8], class: Class) -> bool {
    if !options.blocking.is_empty() {
        return options.blocking.iter().any(|glob| glob.matches(name));
    }
    let call = name.rsplit(|byte| *byte == b'_').next().unwrap_or(name).to_ascii_lowercase();
    class.communicates() && !call.starts_with(b"i") && call != b"bsend"
}

fn waits(model: &Model<'_>, options: &Options) -> Vec<Wait> {
    let (trace, tracks) = (model.trace(), &model.facts.tracks);
    let containers = trace.containers();
    let mut found = Vec::new();
    for (at, track) in tracks.list().iter().enumerate() {
        let end = containers.end(track.container);
        let Some(state) = (0..track.len()).rev().find(|state| track.end[*state] >= end) else {
            continue;
        };
        let class = tracks.class(at, state);
        let name = trace.types().value_name(track.type_, track.value[state]);
        let list = model.facts.messages.list();
        let got = || {
            let mut received = model.facts.messages.received(at).iter().rev();
            received.any(|message| list[*message as usize].recv() == Some(state))
                || model.facts.messages.sent(at).iter().rev().any(|message| {
                    class == Class::Send && list[*message as usize].send() == Some(state)
                })
        };
        if !blocks(options, name.text, class) || got() {
            continue;
        }
        found.push(Wait { track: at, state, whom: Arc::from([]), how: Evidence::Unknown });
    }
    let mut groups = Groups::new(model, &found);
    found.retain_mut(|wait| {
        if let Class::Collective(_) = tracks.class(wait.track, wait.state) {
            (wait.whom, wait.how) = (groups.missing(model, wait), Evidence::NotEntered);
            return !wait.whom.is_empty();
        }
        if let Some(peer) = options.peer_field.as_deref().and_then(|name| peer(model, wait, name)) {
            (wait.whom, wait.how) = (Arc::from([peer]), Evidence::Field);
        } else if let Some(peer) = last_peer(model, wait) {
            (wait.whom, wait.how) = (Arc::from([peer]), Evidence::LastMessage);
        }
        // If there are no messages, a waiting state only means an idle worker.
        wait.how != Evidence::Unknown
            || !model.facts.messages.list().is_empty()
            || tracks.class(wait.track, wait.state) != Class::Wait
    });
    found
}

/// For each group and value of a collective in which a track waits, how often each member has
/// entered.
struct Groups {
    group: Vec<Option<usize>>,
    counts: BTreeMap<(u32, ValueId), Counts>,
}

struct Counts {
    by_track: FxHashMap<u32, usize>,
    /// For each number of entries, the members that have fewer.
    missing: BTreeMap<usize, Arc<[u32]>>,
}

impl Groups {
    fn new(model: &Model<'_>, waits: &[Wait]) -> Self {
        let tracks = model.facts.tracks.list();
        let mut group = vec![None; tracks.len()];
        for (at, members) in model.facts.collectives.groups.iter().enumerate() {
            members.iter().for_each(|track| group[*track as usize] = Some(at));
        }
        let mut counts = BTreeMap::new();
        for wait in waits {
            let Some(at) = group[wait.track] else { continue };
            let value = tracks[wait.track].value[wait.state];
            counts.entry((at as u32, value)).or_insert_with(|| {
                let count = |track: &u32| {
                    let values = &tracks[*track as usize].value;
                    (*track, values.iter().filter(|other| **other == value).count())
                };
                let by_track = model.facts.collectives.groups[at].iter().map(count).collect();
                Counts { by_track, missing: BTreeMap::new() }
            });
        }
        Groups { group, counts }
    }

    fn missing(&mut self, model: &Model<'_>, wait: &Wait) -> Arc<[u32]> {
        let value = model.facts.tracks.list()[wait.track].value[wait.state];
        let counts = self.group[wait.track].and_then(|at| self.counts.get_mut(&(at as u32, value)));
        let Some(Counts { by_track, missing }) = counts else { return Arc::from([]) };
        let mine = by_track.get(&(wait.track as u32)).copied().unwrap_or(0);
        let missing = missing.entry(mine).or_insert_with(|| {
            let less = by_track.iter().filter(|(_, count)| **count < mine);
            let mut less: Vec<u32> = less.map(|(track, _)| *track).collect();
            less.sort_unstable();
            less.into()
        });
        Arc::clone(missing)
    }
}

fn peer(model: &Model<'_>, wait: &Wait, name: &str) -> Option<u32> {
    let (trace, track) = (model.trace(), &model.facts.tracks.list()[wait.track]);
    let lane = trace.lane(track.container, track.type_)?;
    let text = lane.states().nth(wait.state)?.field(name)?.trim_ascii();
    let text = text.strip_prefix(b"\"").and_then(|text| text.strip_suffix(b"\"")).unwrap_or(text);
    let containers = trace.containers();
    let of = |id: ContainerId| model.facts.tracks.of_container(id).map(|track| track as u32);
    let named = containers.ids().find(|id| {
        let names = [Some(containers.name(*id)), containers.alias(*id)];
        of(*id).is_some() && names.into_iter().flatten().any(|name| name.text == text)
    });
    // A number denotes a rank, which is the number at the end of a container's name.
    let number: Option<u64> = std::str::from_utf8(text).ok().and_then(|text| text.parse().ok());
    let ends_so = |id: &ContainerId| {
        let name = containers.name(*id).text;
        let digits = name.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        let digits = std::str::from_utf8(&name[name.len() - digits..]).ok();
        number.is_some() && digits.and_then(|digits| digits.parse().ok()) == number
    };
    let mut ranks = model.facts.tracks.list().iter().map(|track| track.container);
    named.or_else(|| ranks.find(ends_so)).and_then(of)
}

fn last_peer(model: &Model<'_>, wait: &Wait) -> Option<u32> {
    let (list, track) = (model.facts.messages.list(), &model.facts.tracks.list()[wait.track]);
    let value = track.value[wait.state];
    if model.facts.tracks.class(wait.track, wait.state) == Class::Send {
        let sent = model.facts.messages.sent(wait.track).iter().rev().map(|at| &list[*at as usize]);
        let mut same =
            sent.filter(|message| message.send().is_some_and(|at| track.value[at] == value));
        return same.next().map(|message| message.to);
    }
    let received =
        model.facts.messages.received(wait.track).iter().rev().map(|at| &list[*at as usize]);
    let mut same =
        received.filter(|message| message.recv().is_some_and(|at| track.value[at] == value));
    same.next().map(|message| message.from)
}

/// Finds the cycles of senders that would wait for one another if sends were not buffered.
fn potential(model: &Model<'_>, order: &Order, options: &Options) -> (Vec<Vec<Step>>, u64) {
    let mut posted = posts(&model.facts, order);
    let types = model.trace().types();
    for (message, post) in model.facts.messages.list().iter().zip(&mut posted) {
        let track = &model.facts.tracks.list()[message.from as usize];
        let is_kept_back = message.send().is_some_and(|state| {
            let name = types.value_name(track.type_, track.value[state]);
            let class = model.facts.tracks.class(message.from as usize, state);
            // Messages within collectives are internal, so they are ignored unless they are
            // requested.
            let is_within = options.blocking.is_empty() && matches!(class, Class::Collective(_));
            !is_within && blocks(options, name.text, class)
        });
        if !is_kept_back {
            *post = None;
        }
    }
    let rendezvous = Rendezvous::Posted(&posted);
    let order = Order::unordered(&model.facts, rendezvous);
    order.circles(options.limit)
}
