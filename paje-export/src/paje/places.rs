//! Parents of types, and the container types at the ends of link types, in the written trace.
//!
//! They are those of the definitions, except in a recovered trace, whose containers and links may
//! be in containers of other types. If these are all of one type, the written trace says so, and is
//! valid.

use paje_sim::{NameOrder, Trace, TypeId, TypeNature, Types};

#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) parent: TypeId,
    /// Container types at the start and at the end of links.
    pub(super) ends: [TypeId; 2],
}

/// Common type of several containers.
#[derive(Clone, Copy, Debug, Default)]
enum Met {
    #[default]
    Nothing,
    One(TypeId),
    Several,
}

impl Met {
    fn add(&mut self, type_: TypeId) {
        *self = match *self {
            Met::Nothing => Met::One(type_),
            Met::One(known) if known == type_ => return,
            _ => Met::Several,
        };
    }

    fn or(self, defined: TypeId) -> TypeId {
        if let Met::One(type_) = self { type_ } else { defined }
    }
}

/// Returns the place of each type.
pub(super) fn places(trace: &Trace, order: NameOrder) -> Vec<Place> {
    let (types, containers) = (trace.types(), trace.containers());
    let defined = |type_: TypeId| {
        let parent = types.parent(type_);
        Place { parent, ends: types.link_ends(type_).map_or([parent; 2], |(a, b)| [a, b]) }
    };
    let mut places: Vec<Place> = types.ids().map(defined).collect();
    if trace.recovered().problems.is_empty() {
        return places;
    }
    let mut parents = vec![Met::Nothing; types.len()];
    for container in containers.ids().skip(1) {
        let parent = containers.type_of(containers.parent(container));
        parents[containers.type_of(container).index()].add(parent);
    }
    let parents: Vec<TypeId> =
        types.ids().map(|type_| parents[type_.index()].or(types.parent(type_))).collect();
    if !is_circular(&parents) && is_in_order(trace, order, &parents) {
        for (place, parent) in places.iter_mut().zip(parents) {
            place.parent = parent;
        }
    }
    let mut ends = vec![[Met::Nothing; 2]; types.len()];
    for lane in trace.lanes().filter(|lane| types.nature(lane.type_id()) == TypeNature::Link) {
        for link in lane.links() {
            let [from, to] = &mut ends[lane.type_id().index()];
            from.add(containers.type_of(link.from));
            to.add(containers.type_of(link.to));
        }
    }
    for (place, [from, to]) in places.iter_mut().zip(ends) {
        place.ends = [from.or(place.ends[0]), to.or(place.ends[1])];
    }
    places
}

fn is_circular(parents: &[TypeId]) -> bool {
    (0..parents.len()).any(|type_| {
        let up = |above: &TypeId| (*above != TypeId::ROOT).then(|| parents[above.index()]);
        std::iter::successors(Some(TypeId(type_ as u32)), up).nth(parents.len()).is_some()
    })
}

/// Returns whether rows keep their order if types have these parents. Types below the same type are
/// dumped in the order of their identifiers.
fn is_in_order(trace: &Trace, order: NameOrder, parents: &[TypeId]) -> bool {
    let types = trace.types();
    if types.ids().skip(1).all(|type_| parents[type_.index()] == types.parent(type_)) {
        return true;
    }
    let before = ranks(types, order, |type_| types.parent(type_));
    let after = ranks(types, order, |type_| parents[type_.index()]);
    // For each container type, the types of its containers' children.
    let containers = trace.containers();
    let mut inside: Vec<(TypeId, u32, u32)> = containers
        .ids()
        .skip(1)
        .map(|id| {
            let type_ = containers.type_of(id).index();
            (containers.type_of(containers.parent(id)), before[type_], after[type_])
        })
        .collect();
    inside.sort_unstable();
    inside.dedup();
    inside.windows(2).all(|two| two[0].0 != two[1].0 || two[0].1 < two[1].1 && two[0].2 < two[1].2)
}

/// Returns the position of each type among the types below the same parent.
fn ranks(types: &Types, order: NameOrder, parent: impl Fn(TypeId) -> TypeId) -> Vec<u32> {
    let mut sorted: Vec<TypeId> = types.ids().skip(1).collect();
    sorted.sort_by_cached_key(|type_| order.key(types.identifier(*type_)));
    let (mut counts, mut ranks) = (vec![0; types.len()], vec![0; types.len()]);
    for type_ in sorted {
        let count = &mut counts[parent(type_).index()];
        (ranks[type_.index()], *count) = (*count, *count + 1);
    }
    ranks
}
