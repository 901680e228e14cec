//! Settings for building the graph of a run.

use paje_analysis::classes::Map;
use paje_analysis::collectives::Grouping;
use paje_sim::Glob;

/// Time at which the transfer of an eager message starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EagerStart {
    /// It starts when the message is sent.
    #[default]
    Sent,
    /// It starts when the message has been sent and the receiver is ready.
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

/// Model of a collective. It says which members wait for which.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Shape {
    /// Each member waits for all.
    NxN,
    /// The root waits for all, then each member waits for its parent in a binomial tree.
    ReduceBcast,
    /// Each member waits for the root.
    OneToN,
    /// Each member waits for its parent in a binomial tree.
    Binomial,
    /// The root waits for all.
    NToOne,
    /// Each member waits until its message with the root has arrived. The root waits until all
    /// messages have arrived.
    Held,
    /// Each member waits for its parent in a binomial tree, then for its messages to its children.
    Relay,
    /// Each member waits for all, then until the result has come down a binomial tree.
    ReduceRelay,
    /// Each member waits for the members before it.
    Scan,
    /// None waits.
    Local,
}

impl Shape {
    /// Every shape.
    pub const ALL: [Shape; 10] = [
        Shape::NxN,
        Shape::ReduceBcast,
        Shape::OneToN,
        Shape::Binomial,
        Shape::NToOne,
        Shape::Held,
        Shape::Relay,
        Shape::ReduceRelay,
        Shape::Scan,
        Shape::Local,
    ];

    /// Returns the name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Shape::NxN => "nxn",
            Shape::ReduceBcast => "reduce+bcast",
            Shape::OneToN => "1xn",
            Shape::Binomial => "binomial",
            Shape::NToOne => "nx1",
            Shape::Held => "held",
            Shape::Relay => "relay",
            Shape::ReduceRelay => "reduce+relay",
            Shape::Scan => "scan",
            Shape::Local => "local",
        }
    }
}

/// Settings for building the graph.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Classes of states.
    pub map: Map,
    /// Groups of containers, and the roots of their collectives.
    pub grouping: Grouping,
    /// User-defined field with the sizes of messages, if it is not one of
    /// [`BYTES`](paje_analysis::comm::BYTES).
    pub bytes: Option<String>,
    /// Rendezvous threshold in bytes. By default, the map gives it; for SimGrid it is 64 KiB.
    pub eager: Option<u64>,
    /// Start of eager transfers. By default, it is estimated from the messages.
    pub eager_start: Option<EagerStart>,
    /// Shapes by value. The first match counts. All others get the best shape of their class.
    pub shapes: Vec<(Glob, Shape)>,
    /// Shape of all collectives that belong to the class of broadcasts.
    pub broadcast: Option<Shape>,
}

impl Settings {
    /// Returns the default settings for a map.
    #[must_use]
    pub fn new(map: Map) -> Self {
        Settings {
            map,
            grouping: Grouping::default(),
            bytes: None,
            eager: None,
            eager_start: None,
            shapes: Vec::new(),
            broadcast: None,
        }
    }
}
