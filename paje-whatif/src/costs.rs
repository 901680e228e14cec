//! Costs of messages, which are the times that the network takes for each message of a run.

use paje_comm::Run;

use crate::fit::Table;
use crate::graph::Graph;

/// Times of all messages, and the rules for their transfer.
#[derive(Clone, Debug, Default)]
pub struct Costs {
    /// For each message, its latency, and the time to transfer its bytes if no links are shared, in
    /// seconds. Empty if messages take no time.
    pub(crate) messages: Vec<(f64, f64)>,
    /// Whether each message is a rendezvous. If the list is empty, each message is as recorded.
    pub(crate) rendezvous: Vec<bool>,
    /// Cost of the messages of collectives without links, by group and operation. The last entry of
    /// a group applies to all later operations.
    pub(crate) groups: Vec<Vec<(f64, f64)>>,
    /// Size of the largest message of each group, as a multiple of the size of an operation.
    pub(crate) blocks: Vec<f64>,
    /// Whether messages share links.
    pub(crate) shares: bool,
    /// Whether messages between ranks of one host use the links of this host.
    pub(crate) is_local_linked: bool,
    /// Fraction of the opposite link that a message uses for acknowledgements, as in SimGrid.
    pub(crate) cross: f64,
}

impl Costs {
    /// Returns these costs, but takes the times of all messages of known size from a table.
    pub(crate) fn with_table(mut self, run: &Run<'_>, table: &Table) -> Self {
        for (cost, message) in self.messages.iter_mut().zip(run.facts.messages.list()) {
            if self.is_local_linked || !run.facts.hosts.is_same(message.from, message.to) {
                *cost = message.bytes().map_or(*cost, |bytes| table.times(bytes));
            }
        }
        (self.shares, self.cross) = (true, table.cross);
        self
    }

    /// Returns these costs, changed by `change`. This function is called with the size (NaN if
    /// unknown) and the cost of each message.
    pub(crate) fn changed(
        &self,
        graph: &Graph<'_>,
        change: impl Fn(f64, (f64, f64)) -> (f64, f64),
    ) -> Self {
        let mut changed = self.clone();
        for (cost, message) in changed.messages.iter_mut().zip(graph.messages().list()) {
            if !graph.is_local(message.from, message.to) {
                *cost = change(message.bytes().unwrap_or(f64::NAN), *cost);
            }
        }
        for ((costs, group), blocks) in
            changed.groups.iter_mut().zip(&graph.run.groups.list).zip(&self.blocks)
        {
            let members = group.tracks.len();
            for (operation, cost) in costs.iter_mut().enumerate() {
                let bytes = group.bytes[operation * members..][..members].iter().copied();
                *cost = change(bytes.fold(f64::NAN, f64::max) * blocks, *cost);
            }
        }
        changed
    }

    pub(crate) fn of_message(&self, message: usize) -> (f64, f64) {
        self.messages.get(message).copied().unwrap_or((0.0, 0.0))
    }

    pub(crate) fn of_operation(&self, group: usize, operation: usize) -> (f64, f64) {
        let costs = &self.groups[group];
        costs.get(operation).or(costs.last()).copied().unwrap_or((0.0, 0.0))
    }
}
