//! Message races, deadlocks and removable barriers.

use paje_analysis::order::Order;
use paje_comm::tracks::Tracks;
use paje_hazards::model::{self, Model};
use paje_hazards::{barriers, deadlock, races};
use paje_sim::Trace;

use super::record::record;
use super::{Options, Refusal};

record! {
    /// Two messages to the same container that could have arrived in the other order.
    Race {
        /// Container that received both.
        receiver: String,
        /// Sender of the message that was received first.
        first_sender: String,
        /// Time of its receipt in seconds.
        first_received: f64,
        /// Sender of the other message.
        second_sender: String,
        /// Time of its receipt in seconds.
        second_received: f64,
    }
}

/// Returns the races between messages, ordered by receiver and time, but at most `limit` of them. Without
/// [`Options::wildcard`], every receive is taken as one from any sender, so the result is an upper bound.
///
/// # Errors
/// The trace records no messages, or a name of the options does not exist.
pub fn message_races(trace: &Trace, options: &Options, limit: usize) -> Result<Vec<Race>, Refusal> {
    found(trace, options, |model, order| {
        if !model.records_messages() {
            return Err(Refusal("the trace records no messages; record them as links".into()));
        }
        let scale = trace.time_scale();
        let row = |race: &races::Race| {
            let [first, second] =
                [race.first, race.second].map(|at| &model.facts.messages.list()[at as usize]);
            Race {
                receiver: name(&model.facts.tracks, first.to),
                first_sender: name(&model.facts.tracks, first.from),
                first_received: scale.seconds(first.end),
                second_sender: name(&model.facts.tracks, second.from),
                second_received: scale.seconds(second.end),
            }
        };
        Ok(races::races(model, order, limit).list.iter().map(row).collect())
    })
}

/// Deadlocks of a run, actual and potential.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Deadlocks {
    /// Places where the run hangs at the end of its trace. The one that blocks the most containers comes first.
    pub hangs: Vec<Hang>,
    /// Number of circles of sends that would wait forever if messages were not buffered.
    pub potential: u64,
}

/// A place where a run hangs.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Hang {
    /// Containers of a circle, each of which waits for the next. Without a circle, the container that is stuck.
    pub containers: Vec<String>,
    /// Whether the containers wait for one another in a circle.
    pub is_circle: bool,
    /// Number of other containers that wait for them, directly or indirectly.
    pub hanging: usize,
}

/// Finds deadlocks. Lists at most `limit` places where the run hangs.
///
/// # Errors
/// A name of the options does not exist.
pub fn deadlocks(trace: &Trace, options: &Options, limit: usize) -> Result<Deadlocks, Refusal> {
    found(trace, options, |model, order| {
        let options = deadlock::Options { limit, ..deadlock::Options::default() };
        let found = deadlock::deadlock(model, order, &options);
        let hang = |hang: deadlock::Hang| Hang {
            containers: hang.tracks.iter().map(|at| name(&model.facts.tracks, *at)).collect(),
            is_circle: hang.is_circle,
            hanging: hang.hanging,
        };
        let hangs = found.hangs.into_iter().map(hang).collect();
        Ok(Deadlocks { hangs, potential: found.potential_count })
    })
}

record! {
    /// A barrier.
    Barrier {
        /// Name of the barrier's state.
        value: String,
        /// Number of the barrier among those of its group and value, from 1.
        instance: u64,
        /// Time at which the first member entered, in seconds.
        first_entered: f64,
        /// Time at which the last member entered, in seconds.
        last_entered: f64,
        /// 1 if no receive could take another message without the barrier, else 0.
        is_removable: u64,
    }
}

/// Returns all barriers, ordered by group, value and instance. A barrier is removable if no receive could take another
/// message without it.
///
/// # Errors
/// A name of the options does not exist.
pub fn removable_barriers(trace: &Trace, options: &Options) -> Result<Vec<Barrier>, Refusal> {
    found(trace, options, |model, order| {
        let scale = trace.time_scale();
        let row = |barrier: barriers::Barrier| {
            let operation = order.operations()[barrier.operation];
            let series = &model.facts.collectives.series[operation.series];
            Barrier {
                value: trace.types().value_name(series.type_, series.value).to_string(),
                instance: operation.instance as u64 + 1,
                first_entered: scale.seconds(barrier.entered.0),
                last_entered: scale.seconds(barrier.entered.1),
                is_removable: barrier.keeps.is_none().into(),
            }
        };
        Ok(barriers::barriers(model, order).into_iter().map(row).collect())
    })
}

fn name(tracks: &Tracks<'_>, track: u32) -> String {
    tracks.trace().containers().name(tracks.list()[track as usize].container).to_string()
}

fn found<T: Send>(
    trace: &Trace,
    options: &Options,
    find: impl FnOnce(&Model<'_>, &Order) -> Result<T, Refusal> + Send,
) -> Result<T, Refusal> {
    let (map, reading) = options.communication(trace)?;
    let options_of_model = model::Options {
        wildcard: options.wildcard.clone(),
        grouping: reading.grouping,
        ..model::Options::default()
    };
    options.workers()?.run(|| {
        let model = Model::new(trace, &map, &options_of_model);
        let order = model.order();
        find(&model, &order)
    })
}
