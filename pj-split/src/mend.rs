//! Pieces of a damaged trace (`--recover`). They are as valid as possible.
//!
//! Each file begins with new definitions of events and types (`head`), as the replay knows them.
//! Definitions that recovery invents precede the line that needs them. The other lines are copied
//! from the trace, without the skipped ones, and some with a replaced word (`lines`). Problems that
//! no valid trace can express stay. Recovery of a piece treats them as recovery of the trace does,
//! because lanes do not influence one another.

mod head;
mod lines;
mod types;

use paje_parser::{EventDef, EventKind};
use paje_sim::{ContainerId, ErrorKind, LineRemedy, NameOrder, Trace};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::needs::Needs;
use crate::root::free_numbers;
use crate::survey::{Damage, Mend};
pub(crate) use types::Place;

#[derive(Debug)]
pub(crate) struct Mending<'a> {
    trace: &'a Trace,
    /// Repairs, each with the byte offset of its line. They are sorted by offset.
    mends: Vec<(u64, Mend)>,
    /// Containers to create, each with the byte offset of the line before which it is created. They
    /// are sorted by offset.
    created: Vec<(u64, ContainerId)>,
    /// Containers in `created` that a later line of the trace creates.
    moved: FxHashSet<ContainerId>,
    /// Destructions that also ended children, and destructions that are earlier than their
    /// container.
    split_ends: FxHashSet<u64>,
    defs: FxHashMap<&'a [u8], &'a EventDef>,
    /// Unused event numbers: one for PajeCreateContainer, and one for each definition that is
    /// copied as PajeSetVariable.
    creation: String,
    setters: FxHashMap<&'a [u8], String>,
    /// Lines at the beginning of every file.
    pub(crate) head: Vec<u8>,
    pub(crate) stays: Vec<&'static str>,
}

impl<'a> Mending<'a> {
    /// Collects the repairs. An error is the reason why the trace cannot be split.
    pub(crate) fn new(
        trace: &'a Trace,
        damage: Damage,
        needs: &Needs,
        old_names: bool,
        order: NameOrder,
    ) -> Result<Self, &'static str> {
        let mut numbers = free_numbers(trace).skip(2);
        let mut number = || numbers.next().unwrap_or_default();
        let creation = number();
        let mut setters = FxHashMap::default();
        let defs: FxHashMap<&[u8], &EventDef> =
            trace.defs().iter().map(|def| (def.id(), &**def)).collect();
        for def in trace.defs().iter() {
            if matches!(def.kind(), EventKind::AddVariable | EventKind::SubVariable) {
                setters.insert(def.id(), number());
            }
        }
        let places = types::places(trace, needs, order);
        let mut mending = Mending {
            trace,
            mends: damage.mends,
            created: Vec::new(),
            moved: FxHashSet::default(),
            split_ends: FxHashSet::default(),
            defs,
            creation,
            setters,
            head: Vec::new(),
            stays: Vec::new(),
        };
        mending.place_containers(&damage.creations)?;
        mending.find_split_ends();
        mending.head = head::write(&mending, &places, old_names, &mut number);
        mending.stays = mending.remaining_problems(&places);
        Ok(mending)
    }

    fn place_containers(&mut self, creations: &[(u64, ContainerId)]) -> Result<(), &'static str> {
        let containers = self.trace.containers();
        let mut at = vec![0; containers.len()];
        for (byte, container) in creations {
            at[container.index()] = *byte;
        }
        let made_up: Vec<(u64, ContainerId)> = self
            .mends
            .iter()
            .filter_map(|(byte, mend)| match mend {
                Mend::As(LineRemedy::Created(container)) => Some((*byte, *container)),
                _ => None,
            })
            .collect();
        for (byte, container) in &made_up {
            at[container.index()] = *byte;
        }
        let in_line = at.clone();
        let mut moved: Vec<ContainerId> = made_up.iter().map(|(_, container)| *container).collect();
        for (byte, container) in &made_up {
            let mut ancestor = containers.parent(*container);
            while ancestor != ContainerId::ROOT && at[ancestor.index()] > *byte {
                if self.moved.insert(ancestor) && !moved.contains(&ancestor) {
                    moved.push(ancestor);
                }
                at[ancestor.index()] = *byte;
                ancestor = containers.parent(ancestor);
            }
        }
        for (_, container) in &made_up {
            self.moved.remove(container);
        }
        if moved.is_empty() {
            return Ok(());
        }
        let depth = |mut container: ContainerId| {
            let mut depth = 0;
            while container != ContainerId::ROOT {
                container = containers.parent(container);
                depth += 1;
            }
            depth
        };
        self.created = moved.iter().map(|container| (at[container.index()], *container)).collect();
        self.created.sort_by_cached_key(|(at, container)| (*at, depth(*container), *container));
        if at == in_line
            && made_up.iter().all(|(_, id)| containers.parent(*id) == ContainerId::ROOT)
        {
            return Ok(());
        }
        // A container with events before its creation may end together with its parent.
        for id in containers.ids().skip(1) {
            let mut ended = u64::MAX;
            let mut above = id;
            loop {
                if let Some((byte, true)) = containers.destruction(above)
                    && byte.0 > at[id.index()]
                {
                    ended = ended.min(byte.0);
                }
                if above == ContainerId::ROOT {
                    break;
                }
                above = containers.parent(above);
            }
            if ended != containers.destruction(id).map_or(u64::MAX, |(byte, _)| byte.0) {
                return Err(
                    "a container has events before it is created, and what it is created in ends \
                            in between; no pieces can say so",
                );
            }
        }
        Ok(())
    }

    fn find_split_ends(&mut self) {
        let containers = self.trace.containers();
        let ended = |id| containers.destruction(id);
        let prolonged: FxHashSet<u64> = containers
            .ids()
            .filter(|id| containers.said_end(*id) != containers.end(*id))
            .filter_map(|id| ended(id).map(|(byte, _)| byte.0))
            .collect();
        let unnamed = containers.ids().filter_map(ended).filter(|(_, named)| !named);
        self.split_ends =
            unnamed.map(|(byte, _)| byte.0).filter(|at| prolonged.contains(at)).collect();
    }

    fn remaining_problems(&self, places: &[Place]) -> Vec<&'static str> {
        let told = |code: &str| {
            self.trace.recovered().problems.iter().any(|problem| match problem.error.kind() {
                ErrorKind::Invalid(problem) => problem.code() == code,
                _ => false,
            })
        };
        let late = self.mends.iter().any(|(_, mend)| *mend == Mend::As(LineRemedy::Kept));
        let all = [
            (late, "links that are completed earlier than those before them"),
            (told("key-reused"), "links with keys that others had"),
            (places.contains(&Place::SeveralEnds), "links that end in containers of several types"),
            (
                places.contains(&Place::SeveralParents),
                "containers of one type in containers of several types",
            ),
            (
                !self.split_ends.is_empty(),
                "containers that end later than what is in them, by one destruction",
            ),
        ];
        all.into_iter().filter_map(|(stays, what)| stays.then_some(what)).collect()
    }
}
