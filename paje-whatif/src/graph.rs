//! A recorded run with a model that explains its times.

mod choice;

use std::sync::{Arc, OnceLock};

use paje_comm::messages::{Message, Messages};
use paje_comm::tracks::Tracks;
use paje_comm::{Facts, Group, Run};
use paje_sim::Trace;

use crate::costs::Costs;
use crate::fits::{CollectiveModel, divided, shapes};
use crate::measure::{Assumptions, Transfer, measure};
use crate::replay::{Explained, explain, recorded};
use crate::settings::{EagerStart, Progress, Settings};

/// A recorded run with a model that explains its times.
#[derive(Debug)]
pub struct Graph<'t> {
    pub(crate) run: Arc<Run<'t>>,
    settings: Settings,
    /// Transfers of the messages, and the assumptions about them. Without transfers for a run that
    /// does not change.
    measured: (Vec<Transfer>, Assumptions),
    /// Models of the collectives without links, and the costs of all messages.
    model: OnceLock<(Vec<CollectiveModel>, Costs)>,
    explained: OnceLock<Explained>,
    has_sizes: bool,
}

impl<'t> Graph<'t> {
    /// Upper limit for the number of states and for the number of messages. Both must be lower.
    pub const MAX: u64 = Run::MAX;

    /// Builds the graph of a trace.
    #[must_use]
    pub fn new(trace: &'t Trace, settings: &Settings) -> Self {
        Graph::of(Facts::new(trace, &settings.map, &settings.reading), settings, None)
    }

    /// Estimates the memory of the graph of a trace in bytes. The memory of the trace is not
    /// included.
    #[must_use]
    pub fn bytes(trace: &Trace) -> u64 {
        let message = size_of::<Transfer>() + 2 * size_of::<(f64, f64)>() + 4 * size_of::<f64>();
        Run::bytes(trace) + trace.counts().links * message as u64
    }

    /// Builds the graph from the facts of a trace. In a changed run, messages of at least
    /// `rendezvous` bytes may be a rendezvous.
    #[must_use]
    pub fn of(facts: Facts<'t>, settings: &Settings, rendezvous: Option<f64>) -> Self {
        let graph = Graph::grouped(facts, settings, rendezvous);
        if settings.is_identity || settings.is_ideal {
            return graph;
        }
        let facts = divided(&graph);
        facts.map_or(graph, |facts| Graph::grouped(facts, settings, rendezvous))
    }

    /// Builds the graph, given the groups of collectives.
    fn grouped(facts: Facts<'t>, settings: &Settings, rendezvous: Option<f64>) -> Self {
        let run = match settings.is_identity {
            true => Run::without_steps(facts),
            false => Run::new(facts, rendezvous),
        };
        let (mut run, settings, measured) = choice::choose(run, settings);
        // These are needed again only under other assumptions.
        if !measured.1.is_open() && run.polls.is_empty() {
            run.received = Vec::new();
        }
        Graph::with(Arc::new(run), &settings, measured)
    }

    /// Returns a graph of the same run with other assumptions, which the trace must leave
    /// open.
    #[must_use]
    pub fn assuming(&self, settings: &Settings) -> Self {
        Graph::with(self.run.clone(), settings, measure(&self.run, settings))
    }

    fn with(
        run: Arc<Run<'t>>,
        settings: &Settings,
        measured: (Vec<Transfer>, Assumptions),
    ) -> Self {
        let mut list = run.facts.messages.list().iter();
        let has_sizes = !settings.is_identity && list.any(|it| it.bytes().is_some());
        Graph {
            run,
            settings: settings.clone(),
            measured,
            model: OnceLock::new(),
            explained: OnceLock::new(),
            has_sizes,
        }
    }

    /// Returns the transfers of the messages, in the order of the links.
    #[must_use]
    pub fn transfers(&self) -> &[Transfer] {
        &self.measured.0
    }

    /// Returns the assumptions about the transfers.
    #[must_use]
    pub fn assumed(&self) -> &Assumptions {
        &self.measured.1
    }

    fn model(&self) -> &(Vec<CollectiveModel>, Costs) {
        self.model.get_or_init(|| {
            let hosts = &self.run.facts.hosts;
            let with = |is_linked: bool| {
                let is_local = |from, to| !is_linked && hosts.is_same(from, to);
                let groups = &self.run.groups.list;
                let needs_post = self.needs_post(false);
                let models = shapes(&self.run, groups, &self.settings, needs_post, &is_local);
                let off =
                    models.iter().map(|it| it.fits.first().map_or(0.0, |fit| fit.1)).sum::<f64>();
                (off, models, is_linked)
            };
            let ways = match self.assumed().is_local_linked {
                Some(is_linked) => vec![is_linked],
                None if hosts.shared().is_some() => vec![false, true],
                None => vec![false],
            };
            let best = ways.into_iter().map(with).min_by(|a, b| a.0.total_cmp(&b.0));
            let (_, models, is_local_linked) = best.unwrap_or_default();
            let measured = if self.is_ideal() { &[][..] } else { self.transfers() };
            let cost = |transfer: &Transfer| (transfer.seconds, 0.0);
            let blocks =
                |(group, model): (&Group, &CollectiveModel)| model.shape.blocks(group.members());
            let costs = Costs {
                messages: measured.iter().map(cost).collect(),
                groups: models.iter().map(|model| model.costs.clone()).collect(),
                blocks: self.run.groups.list.iter().zip(&models).map(blocks).collect(),
                shares: !self.is_ideal(),
                cross: models.first().map_or(0.0, |model| model.cross),
                is_local_linked,
                ..Costs::default()
            };
            let costs = match &self.settings.table {
                Some(table) => costs.with_table(&self.run, table),
                None => costs,
            };
            (models, costs)
        })
    }

    /// Returns the models of the collectives without links. Finding them takes time.
    #[must_use]
    pub fn shapes(&self) -> &[CollectiveModel] {
        &self.model().0
    }

    /// Returns the models of other groups of the same run.
    pub(crate) fn shapes_of(&self, groups: &[Group]) -> Vec<CollectiveModel> {
        let is_local = |from, to| self.is_local(from, to);
        shapes(&self.run, groups, &self.settings, self.needs_post(false), &is_local)
    }

    /// Returns the facts that were read from the trace.
    #[must_use]
    pub fn facts(&self) -> Facts<'t> {
        self.run.facts.clone()
    }

    /// Returns the sequences of the ranks.
    #[must_use]
    pub fn run(&self) -> &Run<'t> {
        &self.run
    }

    /// Returns the states of the ranks.
    #[must_use]
    pub fn tracks(&self) -> &Arc<Tracks<'t>> {
        &self.run.facts.tracks
    }

    /// Returns the links between ranks.
    #[must_use]
    pub fn messages(&self) -> &Arc<Messages> {
        &self.run.facts.messages
    }

    /// Returns the times of the first enter and of the last exit, in seconds.
    #[must_use]
    pub fn span(&self) -> Option<(f64, f64)> {
        self.tracks().span()
    }

    /// Returns the name of a track's container.
    #[must_use]
    pub fn name(&self, track: u32) -> String {
        self.run.name(track)
    }

    /// Returns whether ranks ever wait for one another. This is the case if the run has messages or
    /// collectives.
    #[must_use]
    pub fn has_dependences(&self) -> bool {
        self.run.inferred.used > 0 || !self.run.groups.list.is_empty()
    }

    /// Returns how far a model with these costs is from the record. This is the sum of the
    /// differences of all waits, divided by the total time of all ranks.
    pub(crate) fn misfit_of(&self, costs: &Costs) -> f64 {
        self.misfit(&explain(self, costs))
    }

    /// Returns how far times that a model explains are from the record.
    pub(crate) fn misfit(&self, explained: &Explained) -> f64 {
        let (begin, end) = self.span().unwrap_or((0.0, 0.0));
        let mut sum = 0.0;
        for (steps, explained) in self.run.steps.iter().zip(explained) {
            let waits = steps.iter().filter(|step| step.acts.iter().any(paje_comm::Act::waits));
            sum += waits.zip(explained).map(|(step, it)| (it - step.time).abs()).sum::<f64>();
        }
        let whole = (end - begin) * self.run.steps.len() as f64;
        if whole > 0.0 { sum / whole } else { 0.0 }
    }

    /// Returns whether a table gives the times of messages.
    pub(crate) fn has_table(&self) -> bool {
        self.settings.table.is_some()
    }

    /// Returns whether communication takes no time beyond waiting.
    pub(crate) fn is_ideal(&self) -> bool {
        self.settings.is_ideal
    }

    pub(crate) fn costs(&self) -> &Costs {
        &self.model().1
    }

    pub(crate) fn explained(&self) -> &Explained {
        self.explained.get_or_init(|| match self.is_ideal() {
            true => recorded(self),
            false => explain(self, self.costs()),
        })
    }

    pub(crate) fn is_rendezvous(&self, message: u32) -> bool {
        self.transfers()[message as usize].is_rendezvous
    }

    /// Returns whether messages between two ranks stay on a host and do not use its links.
    #[must_use]
    pub fn is_local(&self, from: u32, to: u32) -> bool {
        self.run.facts.hosts.is_same(from, to) && !self.costs().is_local_linked
    }

    /// Returns the size of a message that uses links. If no message has a size, all are assumed to
    /// be equally long.
    pub(crate) fn size(&self, message: &Message) -> Option<f64> {
        match self.has_sizes {
            _ if self.is_local(message.from, message.to) => None,
            true => message.bytes(),
            false => Some(1.0),
        }
    }

    pub(crate) fn needs_post(&self, is_rendezvous: bool) -> bool {
        is_rendezvous || self.assumed().start == EagerStart::Posted || self.progresses_in_calls()
    }

    /// Returns whether the trace records sizes of messages.
    #[must_use]
    pub fn has_sizes(&self) -> bool {
        self.has_sizes
    }

    pub(crate) fn progresses_in_calls(&self) -> bool {
        self.assumed().progress == Progress::Calls
    }
}
