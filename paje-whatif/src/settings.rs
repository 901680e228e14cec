//! Settings for building the graph of a run.

use paje_comm::Options;
use paje_comm::classes::Map;
use paje_sim::Glob;

use crate::fit::Table;

/// Time at which the transfer of an eager message starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EagerStart {
    /// The transfer starts when the message is sent.
    #[default]
    Sent,
    /// The transfer starts when the message has been sent and the receiver is ready.
    Posted,
}

impl EagerStart {
    /// Returns the name of the start on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            EagerStart::Sent => "sent",
            EagerStart::Posted => "posted",
        }
    }
}

/// When messages travel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Progress {
    /// Messages make progress at any time, even while the receiver computes.
    #[default]
    Async,
    /// Messages make progress only while the receiver is in a call that waits for them.
    Calls,
}

impl Progress {
    /// Returns the name of the kind of progress on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Progress::Async => "async",
            Progress::Calls => "calls",
        }
    }
}

/// Schedule of a collective. The schedule determines which members send to which others, and which
/// members wait for which others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Shape {
    /// Each member waits for all members. Messages take no time.
    NxN,
    /// Each member waits for the root. Messages take no time.
    OneToN,
    /// The root waits for all members. Messages take no time.
    NToOne,
    /// The root sends to all members, or all members send to the root, or both one after the other.
    Flat,
    /// A binomial tree from or to the root.
    Binomial,
    /// All members send to the root. The root then sends the result down a binomial tree.
    ReduceBcast,
    /// All members send to the root. The root then sends each member its block of the result.
    ReduceScatter,
    /// Recursive doubling: in each round, pairs exchange messages.
    Doubling,
    /// Each member sends to its neighbour. The number of rounds is the number of other members. In a
    /// scan, there is one round, in which a member sends when it has received.
    Ring,
    /// Each member sends to all others at once. In a scan, it sends only to the members after it.
    Direct,
    /// Each member sends to all others, one after the other.
    Pairwise,
    /// In each round, each member sends to a member that is twice as far away as in the previous
    /// round.
    Dissemination,
    /// The messages are as in [`Shape::Dissemination`]. Each one carries a block for every member
    /// whose distance, as a sum of powers of two, includes the distance of the round.
    Bruck,
    /// Each member waits for the members before it.
    Scan,
    /// None waits.
    Local,
}

impl Shape {
    /// Every shape.
    pub const ALL: [Shape; 15] = [
        Shape::NxN,
        Shape::OneToN,
        Shape::NToOne,
        Shape::Flat,
        Shape::Binomial,
        Shape::ReduceBcast,
        Shape::ReduceScatter,
        Shape::Doubling,
        Shape::Ring,
        Shape::Direct,
        Shape::Pairwise,
        Shape::Dissemination,
        Shape::Bruck,
        Shape::Scan,
        Shape::Local,
    ];

    /// Returns the name of the shape on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Shape::NxN => "nxn",
            Shape::OneToN => "1xn",
            Shape::NToOne => "nx1",
            Shape::Flat => "flat",
            Shape::Binomial => "binomial",
            Shape::ReduceBcast => "reduce+bcast",
            Shape::ReduceScatter => "reduce+scatter",
            Shape::Doubling => "doubling",
            Shape::Ring => "ring",
            Shape::Direct => "direct",
            Shape::Pairwise => "pairwise",
            Shape::Dissemination => "dissemination",
            Shape::Bruck => "bruck",
            Shape::Scan => "scan",
            Shape::Local => "local",
        }
    }

    /// Returns whether each member sends a message for each other member.
    #[must_use]
    pub const fn is_quadratic(self) -> bool {
        matches!(self, Shape::Ring | Shape::Direct | Shape::Pairwise)
    }

    /// Returns whether messages take no time, so that only the dependencies matter.
    #[must_use]
    pub const fn is_free(self) -> bool {
        matches!(self, Shape::NxN | Shape::OneToN | Shape::NToOne | Shape::Scan | Shape::Local)
    }
}

/// Settings for building the graph.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Classes of states.
    pub map: Map,
    /// How to read the trace.
    pub reading: Options,
    /// Start of eager transfers. By default, it is estimated from the messages.
    pub eager_start: Option<EagerStart>,
    /// When messages travel. By default, it is estimated from the waits.
    pub progress: Option<Progress>,
    /// Shapes by value. The first match applies. All other values get the best shape of their
    /// class.
    pub shapes: Vec<(Glob, Shape)>,
    /// Shape of all collectives that belong to the class of broadcasts.
    pub broadcast: Option<Shape>,
    /// Measured times of messages in the recorded run, in the trace's unit of time.
    pub table: Option<Table>,
    /// Whether messages between ranks of one host use its links. By default, it is estimated.
    pub is_local_linked: Option<bool>,
    /// Place of the transfers that only loops of tests show, between the end of the last failed test (0) and that of the
    /// test that succeeded (1).
    pub tested: f64,
    /// Whether communication takes no time beyond waiting. Nothing is estimated then.
    pub is_ideal: bool,
    /// Whether the run does not change. The graph then has no steps and no groups of collectives.
    pub is_identity: bool,
}

impl Settings {
    /// Returns the default settings for a map.
    #[must_use]
    pub fn new(map: Map) -> Self {
        Settings {
            map,
            reading: Options::default(),
            eager_start: None,
            progress: None,
            shapes: Vec::new(),
            broadcast: None,
            table: None,
            is_local_linked: None,
            tested: 0.5,
            is_ideal: false,
            is_identity: false,
        }
    }
}
