//! Classes of states, such as computing, sending, receiving, waiting, or a collective operation.
//!
//! A [`Map`] assigns a [`Class`] to the name of each state value. Maps are TOML files. Two maps are
//! built in, `mpi` and `starpu`. [`Classes`] holds the classes of the values of one trace.

pub mod map;

use std::fmt;

use paje_sim::{ContainerId, Trace, TypeId, TypeNature, ValueId};

pub use map::{Map, MapError};

/// Activity that a state stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// Computation of the program itself.
    Compute,
    /// Sends a message, or starts to send it.
    Send,
    /// Receives a message, or starts to receive it.
    Recv,
    /// Sends one message and receives another.
    SendRecv,
    /// Waits for non-blocking operations.
    Wait,
    /// Takes part in a collective.
    Collective(Collective),
    /// Reads or writes files.
    Io,
    /// Anything else.
    Other,
}

/// Kind of a collective. It determines which members wait for which others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Collective {
    /// Every member waits for all other members. No member leaves before the last one has entered.
    NxN,
    /// Every member waits for the root, as in a broadcast.
    OneToN,
    /// The root waits for all other members, as in a reduction.
    NToOne,
    Barrier,
    /// Each member waits for the members before it.
    Scan,
}

impl Class {
    /// Every class.
    pub const ALL: [Class; 12] = [
        Class::Compute,
        Class::Send,
        Class::Recv,
        Class::SendRecv,
        Class::Wait,
        Class::Collective(Collective::NxN),
        Class::Collective(Collective::OneToN),
        Class::Collective(Collective::NToOne),
        Class::Collective(Collective::Barrier),
        Class::Collective(Collective::Scan),
        Class::Io,
        Class::Other,
    ];

    /// Returns the name in maps and tables, such as `send` or `nxn`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Class::Compute => "compute",
            Class::Send => "send",
            Class::Recv => "recv",
            Class::SendRecv => "sendrecv",
            Class::Wait => "wait",
            Class::Collective(collective) => collective.name(),
            Class::Io => "io",
            Class::Other => "other",
        }
    }

    /// Returns the class of a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Class> {
        Class::ALL.into_iter().find(|class| class.name() == name)
    }

    /// Returns whether a message can start in a state of this class.
    #[must_use]
    pub const fn sends(self) -> bool {
        matches!(self, Class::Send | Class::SendRecv)
    }

    /// Returns whether a message can end in a state of this class.
    #[must_use]
    pub const fn receives(self) -> bool {
        matches!(self, Class::Recv | Class::SendRecv | Class::Wait)
    }

    /// Returns whether the state involves other containers.
    #[must_use]
    pub const fn communicates(self) -> bool {
        self.sends() || self.receives() || matches!(self, Class::Collective(_))
    }
}

impl Collective {
    /// Returns the name in maps and tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Collective::NxN => "nxn",
            Collective::OneToN => "1xn",
            Collective::NToOne => "nx1",
            Collective::Barrier => "barrier",
            Collective::Scan => "scan",
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Classes of a trace's state values, and the state types that analyses use.
#[derive(Clone, Debug)]
pub struct Classes {
    /// Classes by type and value. Types that were not chosen have an empty list.
    by_type: Vec<Vec<Class>>,
    unknown: Vec<(TypeId, ValueId)>,
    chosen: Vec<Option<TypeId>>,
    passed_over: Vec<TypeId>,
}

impl Classes {
    /// Classifies the values of one state type per container type.
    ///
    /// Only considers state types with values in the map. Prefers types that the map names, then
    /// types with more values in the map, then types with more communicating values. Among equal
    /// types, takes the first one.
    #[must_use]
    pub fn new(trace: &Trace, map: &Map) -> Classes {
        let lanes = trace.lanes().filter(|lane| !lane.is_empty());
        Classes::with_lanes(trace, map, lanes.map(|lane| lane.type_id()))
    }

    /// Classifies the values likewise, if the trace has lanes of these types.
    #[must_use]
    pub fn with_lanes(
        trace: &Trace,
        map: &Map,
        lanes: impl IntoIterator<Item = TypeId>,
    ) -> Classes {
        let types = trace.types();
        let mut classes = Classes {
            by_type: vec![Vec::new(); types.len()],
            unknown: Vec::new(),
            chosen: vec![None; types.len()],
            passed_over: Vec::new(),
        };
        let mut best = vec![(false, 0, 0); types.len()];
        for id in types.ids().filter(|id| types.nature(*id) == TypeNature::State) {
            let (known, others) = known_values(trace, map, id);
            if known == 0 {
                continue;
            }
            let rank = (map.names(types.name(id).text), known, others);
            let parent = types.parent(id).index();
            if rank > best[parent] {
                best[parent] = rank;
                classes.passed_over.extend(classes.chosen[parent].replace(id));
            } else {
                classes.passed_over.push(id);
            }
        }
        classes.pass_over_actors(trace, lanes);
        classes.passed_over.sort_unstable();
        for id in classes.chosen.clone().into_iter().flatten() {
            classes.classify(trace, map, id);
        }
        classes
    }

    fn classify(&mut self, trace: &Trace, map: &Map, id: TypeId) {
        let types = trace.types();
        let fallback = map.fallback(types.name(id).text);
        for value in (0..types.value_count(id) as u32).map(ValueId) {
            let class = map.class(types.value_name(id, value).text);
            if class.is_none() {
                self.unknown.push((id, value));
            }
            self.by_type[id.index()].push(class.unwrap_or(fallback));
        }
    }

    /// Passes over the states of SimGrid's actors if the trace has states of MPI ranks. The ranks
    /// are actors, too, so their time would count twice, and actors would never wait.
    fn pass_over_actors(&mut self, trace: &Trace, lanes: impl IntoIterator<Item = TypeId>) {
        let types = trace.types();
        let named = |id: TypeId, name: &str| types.name(id).text == name.as_bytes();
        if lanes.into_iter().any(|id| named(id, "MPI_STATE")) {
            for chosen in &mut self.chosen {
                self.passed_over.extend(chosen.take_if(|id| named(*id, "ACTOR_STATE")));
            }
        }
    }

    /// Returns the class of a value, or [`Class::Other`] if the value's type was not chosen.
    #[must_use]
    #[inline]
    pub fn class(&self, type_: TypeId, value: ValueId) -> Class {
        self.of_type(type_).get(value.index()).copied().unwrap_or(Class::Other)
    }

    /// Returns the classes of a type's values, indexed by value.
    #[must_use]
    #[inline]
    pub fn of_type(&self, type_: TypeId) -> &[Class] {
        self.by_type.get(type_.index()).map_or(&[], Vec::as_slice)
    }

    /// Returns the state type chosen for a container.
    #[must_use]
    pub fn state_type(&self, trace: &Trace, container: ContainerId) -> Option<TypeId> {
        self.chosen[trace.containers().type_of(container).index()]
    }

    /// Returns the chosen state types, in the order of their container types.
    pub fn chosen(&self) -> impl Iterator<Item = TypeId> + '_ {
        self.chosen.iter().flatten().copied()
    }

    /// Returns the state types that are ignored because another type of the same containers was
    /// chosen.
    #[must_use]
    pub fn passed_over(&self) -> &[TypeId] {
        &self.passed_over
    }

    /// Returns the values of chosen types that the map does not contain. They count as `other` in
    /// the types of a message-passing library, and as `compute` elsewhere.
    #[must_use]
    pub fn unknown(&self) -> &[(TypeId, ValueId)] {
        &self.unknown
    }

    /// Returns whether the map contains none of the state values.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.chosen().next().is_none()
    }
}

fn known_values(trace: &Trace, map: &Map, id: TypeId) -> (usize, usize) {
    let values = (0..trace.types().value_count(id) as u32).map(ValueId);
    let known = values.filter_map(|value| map.class(trace.types().value_name(id, value).text));
    known.fold((0, 0), |(all, others), class| (all + 1, others + usize::from(class.communicates())))
}
