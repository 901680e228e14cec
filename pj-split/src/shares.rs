//! Assigns containers to pieces.
//!
//! All lanes of a container are in the same piece. So are its children, unless the piece would be
//! too large or the pieces too uneven. In that case, the container and its children are assigned
//! separately. The largest units are assigned first, each to the smallest piece.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use paje_sim::{ContainerId, Containers, TypeId};

use crate::survey::ContainerBytes;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shares {
    /// Piece of each container. `NONE` for containers without events whose descendants have events.
    of: Vec<u32>,
    count: usize,
}

pub(crate) const NONE: u32 = u32::MAX;

/// Pieces are even enough if the largest is at most this factor times the mean.
const EVEN: f64 = 1.2;

/// Unit that is assigned to a piece: a container, alone or with all its descendants.
#[derive(Clone, Copy, Debug)]
struct Lot {
    container: ContainerId,
    whole: bool,
    bytes: u64,
}

impl Shares {
    #[inline]
    pub(crate) fn of(&self, container: ContainerId) -> u32 {
        self.of.get(container.index()).copied().unwrap_or(NONE)
    }

    pub(crate) const fn count(&self) -> usize {
        self.count
    }

    pub(crate) fn even(containers: &Containers, held: &[ContainerBytes], pieces: usize) -> Self {
        let tree = Tree::new(containers, held);
        let holders = held.iter().filter(|held| held.events > 0).count();
        let pieces = pieces.min(holders);
        if pieces == 0 {
            return tree.all_in_one();
        }
        let fair = tree.bytes[0].div_ceil(pieces as u64);
        let mut limit = fair;
        let mut best: Option<(u64, Vec<Lot>, Vec<u32>)> = None;
        loop {
            let lots = tree.lots(limit);
            let (piece, most) = deal(&lots, pieces);
            let enough = lots.len() >= pieces;
            let even = enough && most as f64 <= EVEN * fair as f64;
            if enough && best.as_ref().is_none_or(|(least, ..)| most < *least) {
                best = Some((most, lots, piece));
            }
            if even || limit == 0 {
                break;
            }
            limit /= 2;
        }
        let (_, lots, piece) = best.unwrap_or_default();
        tree.shares(&lots, &piece)
    }

    /// Makes a piece for each container of these types that contains events, and one piece for all
    /// other containers.
    pub(crate) fn by_type(
        containers: &Containers,
        held: &[ContainerBytes],
        types: &[TypeId],
    ) -> Self {
        let tree = Tree::new(containers, held);
        let (mut lots, mut piece, mut rest) = (Vec::new(), Vec::new(), Vec::new());
        let mut pending = vec![ContainerId::ROOT];
        while let Some(container) = pending.pop() {
            if !tree.busy[container.index()] {
                continue;
            }
            let whole = types.contains(&containers.type_of(container));
            let lot = Lot { container, whole, bytes: 0 };
            if whole {
                piece.push(lots.len() as u32);
                lots.push(lot);
                continue;
            }
            if held[container.index()].events > 0 {
                rest.push(lot);
            }
            pending.extend(containers.children(container));
        }
        if lots.is_empty() && rest.is_empty() {
            return tree.all_in_one();
        }
        let last = lots.len() as u32;
        piece.extend(rest.iter().map(|_| last));
        lots.extend(rest);
        tree.shares_with_rest(&lots, &piece, last)
    }
}

/// Containers and the total sizes of their subtrees.
struct Tree<'a> {
    containers: &'a Containers,
    held: &'a [ContainerBytes],
    bytes: Vec<u64>,
    busy: Vec<bool>,
}

impl<'a> Tree<'a> {
    fn new(containers: &'a Containers, held: &'a [ContainerBytes]) -> Self {
        let mut bytes: Vec<u64> = held.iter().map(|held| held.events + held.frame).collect();
        let mut busy: Vec<bool> = held.iter().map(|held| held.events > 0).collect();
        // A container is created after its parent.
        for index in (1..bytes.len()).rev() {
            let parent = containers.parent(ContainerId(index as u32)).index();
            bytes[parent] += bytes[index];
            busy[parent] |= busy[index];
        }
        Tree { containers, held, bytes, busy }
    }

    /// Returns the units that result from dividing containers of more than `limit` bytes.
    fn lots(&self, limit: u64) -> Vec<Lot> {
        let mut lots = Vec::new();
        let mut pending = vec![ContainerId::ROOT];
        while let Some(container) = pending.pop() {
            let index = container.index();
            if !self.busy[index] {
                continue;
            }
            let opens = self.bytes[index] > limit
                && self.containers.children(container).any(|child| self.busy[child.index()]);
            if !opens {
                lots.push(Lot { container, whole: true, bytes: self.bytes[index] });
                continue;
            }
            let ContainerBytes { events, frame } = self.held[index];
            if events > 0 {
                lots.push(Lot { container, whole: false, bytes: events + frame });
            }
            pending.extend(self.containers.children(container));
        }
        lots
    }

    fn all_in_one(&self) -> Shares {
        let all = Lot { container: ContainerId::ROOT, whole: true, bytes: 0 };
        self.shares(&[all], &[0])
    }

    fn shares(&self, lots: &[Lot], piece: &[u32]) -> Shares {
        self.shares_with_rest(lots, piece, NONE)
    }

    /// Numbers the pieces in the order of their first containers. Piece `rest` comes last.
    fn shares_with_rest(&self, lots: &[Lot], piece: &[u32], rest: u32) -> Shares {
        let mut of = vec![NONE; self.held.len()];
        for (lot, piece) in lots.iter().zip(piece) {
            of[lot.container.index()] = *piece;
        }
        let mut whole = vec![false; self.held.len()];
        for lot in lots {
            whole[lot.container.index()] = lot.whole;
        }
        for index in 1..of.len() {
            let parent = self.containers.parent(ContainerId(index as u32)).index();
            if of[index] == NONE && whole[parent] {
                of[index] = of[parent];
                whole[index] = true;
            }
        }
        // A container without events goes to its parent's piece, or else to the rest or to any
        // piece. A container that pieces create anyway for its descendants belongs to no piece.
        let mut holds: Vec<bool> = of.iter().map(|piece| *piece != NONE).collect();
        for index in (1..of.len()).rev() {
            holds[self.containers.parent(ContainerId(index as u32)).index()] |= holds[index];
        }
        for index in 1..of.len() {
            if !holds[index] {
                let parent = of[self.containers.parent(ContainerId(index as u32)).index()];
                let anywhere = if rest == NONE { 0 } else { rest };
                of[index] = if parent == NONE { anywhere } else { parent };
            }
        }
        let mut number = std::collections::HashMap::new();
        let met = of.iter().filter(|piece| **piece != NONE && **piece != rest);
        for piece in met {
            let next = number.len() as u32;
            number.entry(*piece).or_insert(next);
        }
        let count = number.len() + usize::from(of.contains(&rest) && rest != NONE);
        for piece in of.iter_mut().filter(|piece| **piece != NONE) {
            *piece = number.get(piece).copied().unwrap_or(count as u32 - 1);
        }
        Shares { of, count }
    }
}

/// Assigns each unit, largest first, to the smallest piece. Returns the piece of each unit, and the
/// bytes of the largest piece.
fn deal(lots: &[Lot], pieces: usize) -> (Vec<u32>, u64) {
    let mut order: Vec<usize> = (0..lots.len()).collect();
    order.sort_by_key(|index| (Reverse(lots[*index].bytes), lots[*index].container));
    let mut loads: BinaryHeap<Reverse<(u64, u32)>> =
        (0..pieces as u32).map(|piece| Reverse((0, piece))).collect();
    let mut piece = vec![NONE; lots.len()];
    for index in order {
        let Some(Reverse((load, least))) = loads.pop() else { break };
        piece[index] = least;
        loads.push(Reverse((load + lots[index].bytes, least)));
    }
    let most = loads.iter().map(|Reverse((load, _))| *load).max().unwrap_or(0);
    (piece, most)
}

/// Returns, for each piece, the number of containers and the number of bytes of events.
pub(crate) fn tally(shares: &Shares, held: &[ContainerBytes]) -> Vec<(u64, u64)> {
    let mut tally = vec![(0, 0); shares.count()];
    for (index, held) in held.iter().enumerate() {
        if let Some((containers, bytes)) = tally.get_mut(shares.of[index] as usize) {
            *containers += 1;
            *bytes += held.events;
        }
    }
    tally
}

pub(crate) fn types_called(types: &paje_sim::Types, text: &[u8]) -> Vec<TypeId> {
    let container = |id: &TypeId| types.nature(*id) == paje_sim::TypeNature::Container;
    let called = |id: &TypeId| types.identifier(*id).text == text || types.name(*id).text == text;
    types.ids().filter(container).filter(called).collect::<BTreeSet<_>>().into_iter().collect()
}
