//! Parents of types, according to the containers in the trace.

use paje_parser::LinkEnd;
use paje_sim::{NameOrder, Trace, TypeId, TypeNature, Types};
use rustc_hash::FxHashSet;

use crate::needs::{AllOf, Needs};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    In(TypeId),
    /// A link type, its parent, and the container types at its start and end.
    Link(TypeId, TypeId, TypeId),
    /// Containers of this type have parents of several types, so the type keeps its defined parent.
    SeveralParents,
    SeveralEnds,
}

pub(crate) fn places(trace: &Trace, needs: &Needs, order: NameOrder) -> Vec<Place> {
    let types = trace.types();
    let mut parents: Vec<Option<AllOf>> = vec![None; types.len()];
    for container in trace.containers().ids().skip(1) {
        let (type_, parent) =
            (trace.containers().type_of(container), trace.containers().parent(container));
        let known = &mut parents[type_.index()];
        *known = Some(AllOf::add(*known, trace.containers().type_of(parent)));
    }
    let defined = |type_: TypeId| types.parent(type_);
    let parent = |type_: TypeId| match parents[type_.index()] {
        Some(AllOf::One(parent)) => parent,
        _ => defined(type_),
    };
    let may_move = !is_circular(types, parent) && is_in_order(trace, order, parent);
    let place = |type_: TypeId| match types.nature(type_) {
        TypeNature::Container => match parents[type_.index()] {
            Some(AllOf::Several) => Place::SeveralParents,
            Some(AllOf::One(parent)) if !may_move && parent != defined(type_) => {
                Place::SeveralParents
            }
            _ if !may_move => Place::In(defined(type_)),
            _ => Place::In(parent(type_)),
        },
        TypeNature::Link => {
            let (start, end) = types.link_ends(type_).unwrap_or((defined(type_), defined(type_)));
            let met = |side, asked| match needs.link_ends.get(&(type_, side)) {
                None => Some(asked),
                Some(AllOf::One(met)) => Some(*met),
                Some(AllOf::Several) => None,
            };
            match (met(LinkEnd::Start, start), met(LinkEnd::End, end)) {
                (Some(start), Some(end)) => Place::Link(defined(type_), start, end),
                _ => Place::SeveralEnds,
            }
        }
        _ => Place::In(defined(type_)),
    };
    types.ids().map(place).collect()
}

fn is_circular(types: &Types, parent: impl Fn(TypeId) -> TypeId) -> bool {
    types.ids().any(|type_| {
        let (mut above, mut steps) = (type_, 0);
        while above != TypeId::ROOT && steps <= types.len() {
            (above, steps) = (parent(above), steps + 1);
        }
        above != TypeId::ROOT
    })
}

/// Returns whether rows keep their order if types have these parents. Types below the same type are
/// dumped in the order of their identifiers.
fn is_in_order(trace: &Trace, order: NameOrder, parent: impl Fn(TypeId) -> TypeId) -> bool {
    let types = trace.types();
    if types.ids().skip(1).all(|type_| parent(type_) == types.parent(type_)) {
        return true;
    }
    let ranks = |parent: &dyn Fn(TypeId) -> TypeId| {
        let mut sorted: Vec<TypeId> = types.ids().skip(1).collect();
        sorted.sort_by_cached_key(|type_| order.key(types.identifier(*type_)));
        let (mut counts, mut ranks) = (vec![0_u32; types.len()], vec![0; types.len()]);
        for type_ in sorted {
            let count = &mut counts[parent(type_).index()];
            (ranks[type_.index()], *count) = (*count, *count + 1);
        }
        ranks
    };
    let (before, after) = (ranks(&|type_| types.parent(type_)), ranks(&parent));
    // For each container type, the types of its containers' children.
    let containers = trace.containers();
    let mut inside: FxHashSet<(TypeId, TypeId)> = FxHashSet::default();
    for container in containers.ids().skip(1) {
        let parent = containers.type_of(containers.parent(container));
        inside.insert((parent, containers.type_of(container)));
    }
    let mut inside: Vec<(TypeId, u32, u32)> = inside
        .into_iter()
        .map(|(parent, type_)| (parent, before[type_.index()], after[type_.index()]))
        .collect();
    inside.sort_unstable();
    inside.windows(2).all(|two| two[0].0 != two[1].0 || two[0].1 < two[1].1 && two[0].2 < two[1].2)
}
