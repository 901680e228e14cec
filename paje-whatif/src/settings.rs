//! Settings for building the graph of a run.

use paje_analysis::classes::Map;
use paje_analysis::collectives::Grouping;
use paje_comm::Reading;
use paje_sim::Glob;

use crate::fit::Table;

/// Start of the transfer of an eager message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EagerStart {
    /// When the message is sent.
    #[default]
    Sent,
    /// When the receiver is ready, too.
    Posted,
}

impl EagerStart {
    /// Returns the name on the command line.
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
    /// At any time, also while the receiver computes.
    #[default]
    Async,
    /// Only while the receiver is in a call that waits for them.
    Calls,
}

impl Progress {
    /// Returns the name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Progress::Async => "async",
            Progress::Calls => "calls",
        }
    }
}

/// Schedule of a collective: who sends to whom, and who waits for whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Shape {
    /// Each waits for all; messages take no time.
    NxN,
    /// Each waits for the root; messages take no time.
    OneToN,
    /// The root waits for all; messages take no time.
    NToOne,
    /// The root sends to all, all send to the root, or both, one after the other.
    Flat,
    /// A binomial tree from or to the root.
    Binomial,
    /// All send to the root, which sends down a binomial tree.
    ReduceBcast,
    /// Recursive doubling: in each round, pairs exchange messages.
    Doubling,
    /// Each sends to its neighbour, in as many rounds as there are others.
    Ring,
    /// Each sends to all others at once.
    Direct,
    /// Each sends to all others, one after the other.
    Pairwise,
    /// Each sends to a member twice as far away as in the round before.
    Dissemination,
    /// Each waits for the members before it.
    Scan,
    /// None waits.
    Local,
}

impl Shape {
    /// Every shape.
    pub const ALL: [Shape; 13] = [
        Shape::NxN,
        Shape::OneToN,
        Shape::NToOne,
        Shape::Flat,
        Shape::Binomial,
        Shape::ReduceBcast,
        Shape::Doubling,
        Shape::Ring,
        Shape::Direct,
        Shape::Pairwise,
        Shape::Dissemination,
        Shape::Scan,
        Shape::Local,
    ];

    /// Returns the name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Shape::NxN => "nxn",
            Shape::OneToN => "1xn",
            Shape::NToOne => "nx1",
            Shape::Flat => "flat",
            Shape::Binomial => "binomial",
            Shape::ReduceBcast => "reduce+bcast",
            Shape::Doubling => "doubling",
            Shape::Ring => "ring",
            Shape::Direct => "direct",
            Shape::Pairwise => "pairwise",
            Shape::Dissemination => "dissemination",
            Shape::Scan => "scan",
            Shape::Local => "local",
        }
    }

    /// Whether messages take no time, so that only the dependences count.
    #[must_use]
    pub const fn is_free(self) -> bool {
        matches!(self, Shape::NxN | Shape::OneToN | Shape::NToOne | Shape::Scan | Shape::Local)
    }
}

/// Settings for building the graph.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How to read the trace.
    pub reading: Reading,
    /// Start of eager transfers; by default estimated from the messages.
    pub eager_start: Option<EagerStart>,
    /// When messages travel.
    pub progress: Progress,
    /// Shapes by value; the first match counts. Others get the best shape of their class.
    pub shapes: Vec<(Glob, Shape)>,
    /// Shape of all collectives with the class of broadcasts.
    pub broadcast: Option<Shape>,
    /// Measured times of messages in the recorded run.
    pub table: Option<Table>,
}

impl Settings {
    /// Returns the default settings with a map.
    #[must_use]
    pub fn new(map: Map) -> Self {
        let reading = Reading { map, grouping: Grouping::default(), bytes: None, eager: None };
        Settings {
            reading,
            eager_start: None,
            progress: Progress::Async,
            shapes: Vec::new(),
            broadcast: None,
            table: None,
        }
    }
}
