//! The strands of a shard, in pages that never move.
//!
//! A trace may have a million of them: a vector that doubles would copy them again and again, and leave holes in
//! memory where it was, of half their size each.

use std::ops::{Index, IndexMut};

use crate::replay::strand::Strand;

/// Partitioning of a page.
const PAGE: usize = 128;

/// Partitioning by their numbers.
#[derive(Debug, Default)]
pub(crate) struct StrandPages {
    /// All but the last are full.
    pages: Vec<Vec<Strand>>,
}

impl StrandPages {
    pub(crate) fn len(&self) -> usize {
        self.pages.last().map_or(0, |last| (self.pages.len() - 1) * PAGE + last.len())
    }

    pub(crate) fn push(&mut self, strand: Strand) {
        match self.pages.last_mut().filter(|last| last.len() < PAGE) {
            Some(last) => last.push(strand),
            None => {
                // The first page may be the only one, and then it grows.
                let room = if self.pages.is_empty() { 1 } else { PAGE };
                let mut page = Vec::with_capacity(room);
                page.push(strand);
                self.pages.push(page);
            }
        }
    }

    #[inline]
    pub(crate) fn get(&self, number: usize) -> Option<&Strand> {
        self.pages.get(number / PAGE)?.get(number % PAGE)
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, number: usize) -> Option<&mut Strand> {
        self.pages.get_mut(number / PAGE)?.get_mut(number % PAGE)
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Strand> {
        self.pages.iter_mut().flatten()
    }
}

impl Index<usize> for StrandPages {
    type Output = Strand;

    #[inline]
    fn index(&self, number: usize) -> &Strand {
        &self.pages[number / PAGE][number % PAGE]
    }
}

impl IndexMut<usize> for StrandPages {
    #[inline]
    fn index_mut(&mut self, number: usize) -> &mut Strand {
        &mut self.pages[number / PAGE][number % PAGE]
    }
}
