//! The communication that a trace records, from which all analyses of communication start.

use std::sync::Arc;

use paje_sim::{ContainerId, Trace, ValueId};

use crate::classes::{Classes, Map};
use crate::clocks;
use crate::collectives::{Collectives, Grouping};
use crate::hosts::Hosts;
use crate::messages::{Message, Messages};
use crate::recorded::Recorded;
use crate::tracks::{Track, Tracks};

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
    /// What the trace records about calls.
    pub recorded: Arc<Recorded>,
    /// The operations of each communicator, or the k-th operations of each value.
    pub collectives: Arc<Collectives>,
    /// Hosts of the ranks.
    pub hosts: Hosts,
    /// Rendezvous threshold in bytes, if it is given.
    pub eager: Option<u64>,
    /// Largest shift of a container's times in seconds, because clocks differ.
    pub shift: f64,
    /// Largest possible error of the shifts in seconds. It is infinite if nothing bounds the difference of two clocks on
    /// both sides.
    pub shift_error: f64,
    /// Whether sends in a state are always a rendezvous, by type and value.
    rendezvous: Arc<Vec<Vec<bool>>>,
}

impl<'t> Facts<'t> {
    /// Reads the facts from a trace.
    #[must_use]
    pub fn new(trace: &'t Trace, map: &Map, options: &Options) -> Self {
        Facts::of(Tracks::new(trace, Classes::new(trace, map)), map, options)
    }

    /// Reads the facts from a trace. If the map contains none of the trace's state values, all
    /// links are messages, except those of network links and routers.
    #[must_use]
    pub fn with_any_links(trace: &'t Trace, map: &Map, options: &Options) -> Self {
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
        Facts::of(tracks, map, options)
    }

    fn of(tracks: Tracks<'t>, map: &Map, options: &Options) -> Self {
        let (messages, collectives) = rayon::join(
            || Messages::new(&tracks, map, options.bytes.as_deref()),
            || {
                let recorded = Recorded::new(&tracks);
                let collectives = Collectives::new(&tracks, &options.grouping, &recorded);
                (recorded, collectives)
            },
        );
        let (mut recorded, collectives) = collectives;
        recorded.find_requests(&tracks, &messages);
        let types = tracks.trace().types();
        let of_type = |type_| {
            let count = tracks.classes().of_type(type_).len() as u32;
            let name = |value| types.value_name(type_, ValueId(value)).text;
            (0..count).map(|value| map.is_rendezvous(name(value))).collect()
        };
        Facts {
            rendezvous: Arc::new(types.ids().map(of_type).collect()),
            hosts: Hosts::recorded(&tracks),
            tracks: Arc::new(tracks),
            messages: Arc::new(messages),
            recorded: Arc::new(recorded),
            collectives: Arc::new(collectives),
            eager: options.eager.or(map.eager()),
            shift: 0.0,
            shift_error: 0.0,
        }
    }

    /// Returns these facts with the states and messages of a changed run.
    #[must_use]
    pub fn changed(&self, tracks: Tracks<'t>, messages: Messages) -> Self {
        Facts { tracks: Arc::new(tracks), messages: Arc::new(messages), ..self.clone() }
    }

    /// Returns these facts on one clock, if the trace records communicators and its clocks contradict the order of
    /// events.
    #[must_use]
    pub fn on_one_clock(self) -> Self {
        let may_differ = self.recorded.has_operations();
        let shifts = may_differ.then(|| clocks::shifts(&self)).flatten();
        let Some((shifts, shift_error)) = shifts else { return self };
        let times = |of: fn(&Track) -> &Vec<f64>| -> Vec<Vec<f64>> {
            let all = self.tracks.list().iter().zip(&shifts);
            all.map(|(track, shift)| of(track).iter().map(|time| time + shift).collect()).collect()
        };
        let tracks = self.tracks.at_times(&times(|track| &track.start), &times(|track| &track.end));
        let messages = self.messages.at_times(|_, message| {
            let [from, to] = [message.from, message.to].map(|track| shifts[track as usize]);
            Some((message.start + from, message.end + to))
        });
        let shift = shifts.iter().fold(0.0, |most, shift| shift.abs().max(most));
        Facts { shift, shift_error, ..self.changed(tracks, messages) }
    }

    /// Returns whether SimGrid wrote the trace.
    #[must_use]
    pub fn is_simulated(&self) -> bool {
        self.tracks.is_simulated()
    }

    /// Returns whether any message can be a rendezvous.
    #[must_use]
    pub fn has_rendezvous(&self) -> bool {
        self.eager.is_some() || self.rendezvous.iter().flatten().any(|is_rendezvous| *is_rendezvous)
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
