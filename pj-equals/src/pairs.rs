//! Matches the types and containers of two traces by name and parent.
//!
//! A type matches a type with the same name and nature below the counterpart of its container type.
//! A container matches a container with the same name below the counterpart of its parent, if their
//! types are counterparts. Aliases and the order of creation do not matter. If several candidates
//! have the same name, those with the same alias match first, then the others in the order of their
//! aliases.

use std::borrow::Cow;
use std::cmp::Ordering;

use paje_sim::{ContainerId, Trace, TypeId};

use crate::values::Case;

/// Counterparts of types and containers in the other trace.
#[derive(Debug)]
pub(crate) struct Pairs {
    types: [Vec<Option<TypeId>>; 2],
    containers: [Vec<Option<ContainerId>>; 2],
}

impl Pairs {
    pub(crate) fn new(traces: [&Trace; 2], case: Case) -> Self {
        let mut pairs = Pairs {
            types: traces.map(|trace| vec![None; trace.types().len()]),
            containers: traces.map(|trace| vec![None; trace.containers().len()]),
        };
        pairs.pair_types(traces, case);
        pairs.pair_containers(traces, case);
        pairs
    }

    pub(crate) fn type_(&self, side: usize, id: TypeId) -> Option<TypeId> {
        self.types[side][id.index()]
    }

    #[inline]
    pub(crate) fn container(&self, side: usize, id: ContainerId) -> Option<ContainerId> {
        self.containers[side][id.index()]
    }

    fn pair_types(&mut self, traces: [&Trace; 2], case: Case) {
        let [of_a, of_b] = &mut self.types;
        let children = traces.map(|trace| {
            let types = trace.types();
            let mut children = vec![Vec::new(); types.len()];
            for id in types.ids().skip(1) {
                children[types.parent(id).index()].push(id);
            }
            children
        });
        (of_a[0], of_b[0]) = (Some(TypeId::ROOT), Some(TypeId::ROOT));
        // A type is defined after its parent.
        for parent in traces[0].types().ids() {
            let Some(other) = of_a[parent.index()] else { continue };
            let of = |side: usize, id: TypeId| -> Vec<Candidate<'_, TypeId>> {
                let types = traces[side].types();
                let candidate = |id: &TypeId| {
                    let (name, identifier) = (types.name(*id).text, types.identifier(*id).text);
                    let (kind, name) = (types.nature(*id) as u32, case.key(name));
                    Candidate { kind, name, identifier, id: *id }
                };
                children[side][id.index()].iter().map(candidate).collect()
            };
            same(of(0, parent), of(1, other), |a, b| {
                of_a[a.index()] = Some(b);
                of_b[b.index()] = Some(a);
            });
        }
    }

    fn pair_containers(&mut self, traces: [&Trace; 2], case: Case) {
        let ([of_a, of_b], types) = (&mut self.containers, &self.types);
        (of_a[0], of_b[0]) = (Some(ContainerId::ROOT), Some(ContainerId::ROOT));
        // A container is created after its parent.
        for parent in traces[0].containers().ids() {
            let Some(other) = of_a[parent.index()] else { continue };
            let of = |side: usize, id: ContainerId| -> Vec<Candidate<'_, ContainerId>> {
                let all = traces[side].containers();
                let kind = |id: ContainerId| {
                    let type_ = all.type_of(id);
                    // Both sides use the type numbers of the first trace.
                    if side == 0 { Some(type_) } else { types[1][type_.index()] }
                };
                let candidate = |id: ContainerId| {
                    let (name, identifier) = (all.name(id).text, all.identifier(id).text);
                    let name = case.key(name);
                    kind(id).map(|kind| Candidate { kind: kind.0, name, identifier, id })
                };
                all.children(id).filter_map(candidate).collect()
            };
            same(of(0, parent), of(1, other), |a, b| {
                of_a[a.index()] = Some(b);
                of_b[b.index()] = Some(a);
            });
        }
    }
}

struct Candidate<'t, I> {
    /// Nature of a type, or type of a container.
    kind: u32,
    name: Cow<'t, [u8]>,
    identifier: &'t [u8],
    id: I,
}

impl<I> Candidate<'_, I> {
    fn compare(&self, other: &Self) -> Ordering {
        (self.kind, &self.name).cmp(&(other.kind, &other.name))
    }
}

fn same<'t, I: Copy>(
    mut a: Vec<Candidate<'t, I>>,
    mut b: Vec<Candidate<'t, I>>,
    mut pair: impl FnMut(I, I),
) {
    for list in [&mut a, &mut b] {
        list.sort_by(|a, b| a.compare(b).then(a.identifier.cmp(b.identifier)));
    }
    let (mut a, mut b) = (a.as_slice(), b.as_slice());
    while let (Some(first), Some(second)) = (a.first(), b.first()) {
        let alike = |list: &[Candidate<'_, I>]| {
            list.iter().take_while(|one| one.compare(&list[0]).is_eq()).count()
        };
        match first.compare(second) {
            Ordering::Less => a = &a[1..],
            Ordering::Greater => b = &b[1..],
            Ordering::Equal => {
                let (these, rest) = a.split_at(alike(a));
                let (those, others) = b.split_at(alike(b));
                of_one_name(these, those, &mut pair);
                (a, b) = (rest, others);
            }
        }
    }
}

/// Matches candidates with the same name. Equal identifiers match first, then the others in the
/// order of their identifiers.
fn of_one_name<I: Copy>(
    mut a: &[Candidate<'_, I>],
    mut b: &[Candidate<'_, I>],
    pair: &mut impl FnMut(I, I),
) {
    if let ([one], [other]) = (a, b) {
        return pair(one.id, other.id);
    }
    let mut left = [Vec::new(), Vec::new()];
    while let (Some(first), Some(second)) = (a.first(), b.first()) {
        let order = first.identifier.cmp(second.identifier);
        match order {
            Ordering::Equal => pair(first.id, second.id),
            Ordering::Less => left[0].push(first.id),
            Ordering::Greater => left[1].push(second.id),
        }
        a = &a[usize::from(order.is_le())..];
        b = &b[usize::from(order.is_ge())..];
    }
    let [mut these, mut those] = left;
    these.extend(a.iter().map(|one| one.id));
    those.extend(b.iter().map(|one| one.id));
    these.into_iter().zip(those).for_each(|(a, b)| pair(a, b));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidates<'t>(texts: &[(&'t str, &'t str)]) -> Vec<Candidate<'t, usize>> {
        let candidate = |(id, (name, identifier)): (usize, &(&'t str, &'t str))| Candidate {
            kind: 0,
            name: Cow::Borrowed(name.as_bytes()),
            identifier: identifier.as_bytes(),
            id,
        };
        texts.iter().enumerate().map(candidate).collect()
    }

    fn pairs(a: &[(&str, &str)], b: &[(&str, &str)]) -> Vec<(usize, usize)> {
        let mut pairs = Vec::new();
        same(candidates(a), candidates(b), |a, b| pairs.push((a, b)));
        pairs.sort_unstable();
        pairs
    }

    #[test]
    fn names_match_in_any_order_with_any_alias() {
        let (a, b) = ([("x", "1"), ("y", "2"), ("z", "3")], [("z", "1"), ("x", "2"), ("w", "3")]);
        assert_eq!(pairs(&a, &b), [(0, 1), (2, 0)]);
        assert_eq!(pairs(&a, &[]), []);
    }

    #[test]
    fn equal_names_match_by_alias_first() {
        let a = [("x", "1"), ("x", "2"), ("x", "3"), ("y", "4")];
        assert_eq!(pairs(&a, &a), [(0, 0), (1, 1), (2, 2), (3, 3)]);
        assert_eq!(pairs(&a, &[("x", "3"), ("x", "0")]), [(0, 1), (2, 0)]);
        assert_eq!(pairs(&[("x", "2")], &[("x", "0"), ("x", "2")]), [(0, 1)]);
        assert_eq!(pairs(&[("x", "9"), ("x", "8")], &[("x", "5"), ("x", "6")]), [(0, 1), (1, 0)]);
    }
}
