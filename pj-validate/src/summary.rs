//! Contents of a trace, as numbers and trees.

use paje_parser::TypeNature;

/// Contents of a trace.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Summary {
    /// Lines, including blank ones and comments.
    pub lines: u64,
    /// Bytes, without the last newline.
    pub bytes: u64,
    /// Completed event definitions.
    pub event_definitions: u64,
    /// Earliest and latest time of an event, in seconds.
    pub times: Option<(f64, f64)>,
    /// Types: the root, then the others in the order of definition.
    pub types: Vec<TypeSummary>,
    /// Containers: the root, then the others in the order of creation.
    pub containers: Vec<ContainerSummary>,
    /// Objects of all types, as a dump prints them.
    pub states: u64,
    /// Number of intervals between changes of variables.
    pub variables: u64,
    /// Events (PajeNewEvent).
    pub events: u64,
    /// Links with both ends.
    pub links: u64,
    /// Values of state, event and link types, defined or used.
    pub values: u64,
}

/// A type.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TypeSummary {
    /// Name without quotes.
    pub name: Vec<u8>,
    /// Alias without quotes.
    pub alias: Option<Vec<u8>>,
    /// Nature of the objects of this type.
    pub nature: TypeNature,
    /// Index of the parent container type. The root is its own parent.
    pub parent: usize,
    /// Number of objects of this type.
    pub objects: u64,
    /// Number of values of this type.
    pub values: u64,
}

/// A container.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ContainerSummary {
    /// Name without quotes.
    pub name: Vec<u8>,
    /// Alias without quotes.
    pub alias: Option<Vec<u8>>,
    /// Index of the container's type.
    pub type_: usize,
    /// Index of the parent. The root is its own parent.
    pub parent: usize,
}

/// Returns the nodes of a tree in depth-first order, with their depths. Siblings keep their order.
/// Node 0 is the root, and `parents[i] < i` for all others.
pub(crate) fn depth_first(parents: &[usize]) -> Vec<(usize, usize)> {
    let mut children = vec![Vec::new(); parents.len()];
    for (node, parent) in parents.iter().enumerate().skip(1) {
        children[*parent].push(node);
    }
    let mut order = Vec::with_capacity(parents.len());
    let mut pending: Vec<_> = (!parents.is_empty()).then_some((0, 0)).into_iter().collect();
    while let Some((node, depth)) = pending.pop() {
        order.push((node, depth));
        let below = children[node].iter().rev();
        pending.extend(below.map(|child| (*child, depth + 1)));
    }
    order
}

#[cfg(test)]
mod tests {
    use super::depth_first;

    #[test]
    fn parents_come_before_children() {
        assert_eq!(depth_first(&[]), []);
        let order = depth_first(&[0, 0, 1, 0, 1, 2]);
        assert_eq!(order, [(0, 0), (1, 1), (2, 2), (5, 3), (4, 2), (3, 1)]);
    }
}
