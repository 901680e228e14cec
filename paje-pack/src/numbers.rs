//! Numbers of a column that is read. Small ones take a byte each.

use crate::spare;

/// All numbers of a column.
pub(crate) enum Numbers {
    Small(Vec<u8>),
    Any(Vec<u64>),
}

impl Default for Numbers {
    fn default() -> Self {
        Numbers::Any(Vec::new())
    }
}

impl Drop for Numbers {
    fn drop(&mut self) {
        match self {
            Numbers::Small(numbers) => spare::give(std::mem::take(numbers)),
            Numbers::Any(numbers) => spare::give(std::mem::take(numbers)),
        }
    }
}

impl Numbers {
    pub(crate) const fn len(&self) -> usize {
        match self {
            Numbers::Small(numbers) => numbers.len(),
            Numbers::Any(numbers) => numbers.len(),
        }
    }

    #[inline(always)]
    pub(crate) fn get(&self, place: usize) -> Option<u64> {
        match self {
            Numbers::Small(numbers) => numbers.get(place).map(|number| u64::from(*number)),
            Numbers::Any(numbers) => numbers.get(place).copied(),
        }
    }

    /// Converts the numbers to eight bytes each.
    pub(crate) fn widen(&mut self) {
        if let Numbers::Small(small) = self {
            let mut numbers = spare::take();
            numbers.clear();
            numbers.extend(small.iter().map(|number| u64::from(*number)));
            *self = Numbers::Any(numbers);
        }
    }

    /// Returns the numbers if they have eight bytes each.
    #[inline]
    pub(crate) fn wide(&self) -> &[u64] {
        match self {
            Numbers::Any(numbers) => numbers,
            Numbers::Small(_) => &[],
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = u64> {
        (0..self.len()).map_while(|place| self.get(place))
    }
}
