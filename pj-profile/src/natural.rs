use std::cmp::Ordering;

use paje_pictures::natural;

/// A name in natural order: `rank-2` before `rank-10`.
#[derive(Default, PartialEq, Eq)]
pub(crate) struct NaturalName(pub(crate) String);

impl Ord for NaturalName {
    fn cmp(&self, other: &Self) -> Ordering {
        natural(&self.0, &other.0)
    }
}

impl PartialOrd for NaturalName {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
