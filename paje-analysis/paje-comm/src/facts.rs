//! The communication that a trace records, from which all analyses of communication start.

use std::sync::Arc;

use paje_sim::{ContainerId, Trace, ValueId};

use crate::classes::{Classes, Map};
use crate::collectives::{Collectives, Grouping};
use crate::messages::{Message, Messages};
use crate::tracks::Tracks;

/// Settings for reading the communication of a trace.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Settings for finding collectives.
    pub grouping: Grouping,
    /// Rendezvous threshold in bytes. If it is 0, every transfer is a rendezvous. The default is
    /// the threshold of the map.
    pub eager: Option<u64>,
    /// User-defined field with the sizes of messages, as in [`Messages::new`].
    pub bytes: Option<String>,
}

/// States, messages and collectives of a trace.
#[derive(Clone, Debug)]
pub struct Facts<'t> {
    /// States of each rank.
    pub tracks: Arc<Tracks<'t>>,
    /// Links between ranks.
    pub messages: Arc<Messages>,
    /// The k-th operations of each value.
    pub collectives: Arc<Collectives>,
    /// Rendezvous threshold in bytes, if it is given.
    pub eager: Option<u64>,
    /// Whether sends in a state are always a rendezvous, by type and value.
    rendezvous: Arc<Vec<Vec<bool>>>,
}

impl<'t> Facts<'t> {
    /// Reads the facts from a trace. Messages are [ordered by receiver](Messages::by_receiver).
    #[must_use]
    pub fn new(trace: &'t Trace, map: &Map, options: &Options) -> Self {
        let tracks = Tracks::new(trace, Classes::new(trace, map));
        Facts::of(tracks, map, options, Messages::by_receiver)
    }

    /// Reads the facts from a trace. If the map contains none of the trace's state values, all
    /// links are messages, except those of network links and routers. Messages are in the order of
    /// their lanes.
    #[must_use]
    pub fn in_order(trace: &'t Trace, map: &Map, options: &Options) -> Self {
        let mut tracks = Tracks::new(trace, Classes::new(trace, map));
        if tracks.classes().is_empty() {
            let (types, containers) = (trace.types(), trace.containers());
            // SimGrid draws the topology of the platform with links from hosts to these.
            let is_network = |id: &ContainerId| {
                matches!(types.name(containers.type_of(*id)).text, b"LINK" | b"ROUTER")
            };
            let ends = Messages::ends(trace, map);
            tracks = tracks.with_others(ends.into_iter().filter(|id| !is_network(id)));
        }
        Facts::of(tracks, map, options, Messages::new)
    }

    fn of(
        tracks: Tracks<'t>,
        map: &Map,
        options: &Options,
        read: fn(&Tracks<'_>, &Map, Option<&str>) -> Messages,
    ) -> Self {
        let (messages, collectives) = rayon::join(
            || read(&tracks, map, options.bytes.as_deref()),
            || Collectives::new(&tracks, &options.grouping),
        );
        let types = tracks.trace().types();
        let of_type = |type_| {
            let count = tracks.classes().of_type(type_).len() as u32;
            let name = |value| types.value_name(type_, ValueId(value)).text;
            (0..count).map(|value| map.is_rendezvous(name(value))).collect()
        };
        Facts {
            rendezvous: Arc::new(types.ids().map(of_type).collect()),
            tracks: Arc::new(tracks),
            messages: Arc::new(messages),
            collectives: Arc::new(collectives),
            eager: options.eager.or(map.eager()),
        }
    }

    /// Returns these facts with the states and messages of a changed run.
    #[must_use]
    pub fn changed(&self, tracks: Tracks<'t>, messages: Messages) -> Self {
        Facts { tracks: Arc::new(tracks), messages: Arc::new(messages), ..self.clone() }
    }

    /// Returns whether SimGrid wrote the trace.
    #[must_use]
    pub fn is_simulated(&self) -> bool {
        self.tracks.trace().comments().windows(7).any(|word| word == b"SimGrid")
    }

    /// Returns whether the map or the rendezvous threshold says that a message is a rendezvous.
    #[must_use]
    pub fn is_rendezvous(&self, message: &Message) -> bool {
        let Some(send) = message.send() else { return false };
        let track = &self.tracks.list()[message.from as usize];
        let large = |eager: u64| eager == 0 || message.bytes().is_some_and(|b| b >= eager as f64);
        self.rendezvous[track.type_.index()][track.value[send].index()]
            || self.eager.is_some_and(large)
    }
}
