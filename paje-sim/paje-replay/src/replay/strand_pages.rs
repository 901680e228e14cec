use std::ops::{Index, IndexMut};

use crate::replay::strand::Strand;

const PAGE: usize = 128;

/// Strands by number, on pages that never move. A trace may have a million strands. A growing vector would copy the
/// strands again and again, and leave large holes in memory.
#[derive(Debug, Default)]
pub struct StrandPages {
    /// All pages except the last are full.
    pages: Vec<Vec<Strand>>,
}

impl StrandPages {
    pub fn len(&self) -> usize {
        self.pages.last().map_or(0, |last| (self.pages.len() - 1) * PAGE + last.len())
    }

    pub fn push(&mut self, strand: Strand) {
        match self.pages.last_mut().filter(|last| last.len() < PAGE) {
            Some(last) => last.push(strand),
            None => {
                // The first page may be the only one, so it grows.
                let room = if self.pages.is_empty() { 1 } else { PAGE };
                let mut page = Vec::with_capacity(room);
                page.push(strand);
                self.pages.push(page);
            }
        }
    }

    #[inline]
    pub fn get(&self, number: usize) -> Option<&Strand> {
        self.pages.get(number / PAGE)?.get(number % PAGE)
    }

    #[inline]
    pub fn get_mut(&mut self, number: usize) -> Option<&mut Strand> {
        self.pages.get_mut(number / PAGE)?.get_mut(number % PAGE)
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Strand> {
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
