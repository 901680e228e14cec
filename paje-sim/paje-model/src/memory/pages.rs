use paje_parser::Span;

use std::sync::Arc;

use crate::memory::{Arena, KeyPlace, Overflow, Place};
use crate::names::hash::{bare, hash_text};

/// Link keys as written, on pages that never move. The length of a key precedes it. No key crosses a page boundary.
#[derive(Debug, Default)]
pub struct TextPages {
    pub(super) arena: Arena,
    pages: Vec<(Place, usize)>,
    /// Number of bytes in use on each page except the last one.
    full: Vec<u32>,
    /// Number of bytes in use on the last page.
    used: usize,
}

/// Stands for a long length, which follows in the next four bytes.
const LONG: u8 = u8::MAX;

/// Size of a page in bytes. Only the page of a longer key is larger.
const PAGE: usize = 1 << 16;

/// The last page, borrowed while several keys are added.
pub struct KeyRoom<'a> {
    page: &'a mut [u8],
    used: &'a mut usize,
    /// Place of the first byte of the page.
    before: u64,
}

impl KeyRoom<'_> {
    /// Stores a key of up to sixteen bytes. Returns its place if there is room.
    #[inline(always)]
    pub fn push_short(&mut self, padded: &[u8; 16], len: usize) -> Option<u64> {
        let at = *self.used;
        let [length, text @ ..] = self.page.get_mut(at..)?.first_chunk_mut::<17>()?;
        (*length, *text) = (len as u8, *padded);
        *self.used = at + 1 + len;
        Some(self.before + at as u64)
    }
}

impl TextPages {
    pub(super) fn new(overflow: Option<Arc<Overflow>>) -> Self {
        TextPages { arena: Arena::new(overflow), ..TextPages::default() }
    }

    #[inline(always)]
    pub fn room(&mut self) -> Option<KeyRoom<'_>> {
        let TextPages { arena, pages, used, .. } = self;
        let (page, bytes) = *pages.last()?;
        let page: &mut [u8] = bytemuck::cast_slice_mut(arena.words_mut(page));
        let before = ((pages.len() - 1) * PAGE) as u64;
        Some(KeyRoom { page: page.get_mut(..bytes)?, used, before })
    }

    #[inline(never)]
    pub fn push(&mut self, raw: &[u8]) -> u64 {
        // The number of a page is computed from a key's place, so no key may begin beyond the regular page size.
        let room = self.pages.last().map_or(0, |page| page.1.min(PAGE)).saturating_sub(self.used);
        if room < raw.len() + 5 {
            assert!(self.pages.len() < 1 << (KeyPlace::BITS - PAGE.ilog2()), "too many keys");
            let bytes = PAGE.max((raw.len() + 5).next_multiple_of(8));
            if !self.pages.is_empty() {
                self.full.push(self.used as u32);
            }
            self.pages.push((self.arena.take(bytes / 8), bytes));
            self.used = 0;
        }
        let place = ((self.pages.len() - 1) * PAGE + self.used) as u64;
        let Some((page, bytes)) = self.pages.last() else { return place };
        let page: &mut [u8] =
            bytemuck::cast_slice_mut(&mut self.arena.words_mut(*page)[..bytes / 8]);
        let page = &mut page[self.used..];
        let text = match u8::try_from(raw.len()) {
            Ok(len) if len < LONG => {
                page[0] = len;
                1
            }
            _ => {
                page[0] = LONG;
                page[1..5].copy_from_slice(&(raw.len() as u32).to_le_bytes());
                5
            }
        };
        page[text..text + raw.len()].copy_from_slice(raw);
        self.used += text + raw.len();
        place
    }

    pub fn relieve(&self) {
        self.arena.relieve();
    }

    #[inline(always)]
    pub fn get(&self, place: u64) -> &[u8] {
        let (page, start, len) = self.find(place);
        &page[start..start + len]
    }

    #[inline(never)]
    fn hash(&self, place: u64) -> u64 {
        let (page, start, len) = self.find(place);
        let (start, end) = bare(page, Span { start: start as u32, end: (start + len) as u32 });
        hash_text(page, start, end)
    }

    pub fn all_hashes(&self) -> impl Iterator<Item = u64> + '_ {
        let ends = self.full.iter().map(|used| *used as usize).chain([self.used]);
        self.pages.iter().zip(ends).enumerate().flat_map(move |(number, ((page, bytes), end))| {
            let page: &[u8] = bytemuck::cast_slice(self.arena.words(*page, 0, bytes / 8));
            self.relieve();
            let (mut hashes, mut at) = (self.hashes(), 0);
            std::iter::from_fn(move || {
                let here = (at < end).then_some(at)?;
                let (start, len) = text_at(page, here);
                at = start + len;
                Some(hashes.of((number * PAGE + here) as u64))
            })
        })
    }

    pub const fn hashes(&self) -> KeyHashes<'_> {
        KeyHashes { keys: self, number: usize::MAX, page: &[] }
    }

    /// Returns the page of a key, the key's start on that page, and its length.
    #[inline(always)]
    fn find(&self, place: u64) -> (&[u8], usize, usize) {
        let (page, bytes) = self.pages[place as usize / PAGE];
        let page: &[u8] = bytemuck::cast_slice(self.arena.words(page, 0, bytes / 8));
        let (start, len) = text_at(page, place as usize % PAGE);
        (page, start, len)
    }
}

/// Returns the start and length of the key at a place of its page.
#[inline(always)]
fn text_at(page: &[u8], at: usize) -> (usize, usize) {
    match page[at] {
        LONG => {
            let len = page[at + 1..].first_chunk().map_or(0, |len| u32::from_le_bytes(*len));
            (at + 5, len as usize)
        }
        len => (at + 1, usize::from(len)),
    }
}

/// Computes hashes of keys. It is fast if consecutive requests are for the same page.
pub struct KeyHashes<'k> {
    keys: &'k TextPages,
    page: &'k [u8],
    number: usize,
}

impl KeyHashes<'_> {
    /// Returns the hash of the key at a place, without its quotes.
    #[inline(always)]
    pub fn of(&mut self, place: u64) -> u64 {
        let (number, at) = (place as usize / PAGE, place as usize % PAGE);
        if number != self.number {
            let (page, bytes) = self.keys.pages[number];
            self.page = bytemuck::cast_slice(self.keys.arena.words(page, 0, bytes / 8));
            self.number = number;
        }
        match self.page.get(at..).and_then(<[u8]>::first_chunk::<17>) {
            Some([len @ ..16, text @ ..]) if text[0] != b'"' => {
                hash_text(text, 0, usize::from(*len))
            }
            // The key is quoted, long, or at the end of its page.
            _ => self.keys.hash(place),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::hash::hash_bytes;

    #[test]
    fn keys_of_any_length() {
        let mut keys = TextPages::default();
        let texts: Vec<Vec<u8>> =
            [0, 1, 5, 253, 254, 255, 256, 70_000].iter().map(|len| vec![b'k'; *len]).collect();
        let places: Vec<u64> = texts.iter().map(|text| keys.push(text)).collect();
        let mut hashes = keys.hashes();
        for (text, at) in texts.iter().zip(places) {
            assert_eq!(keys.get(at), text);
            assert_eq!(hashes.of(at), hash_bytes(text));
        }
        assert!(keys.all_hashes().eq(texts.iter().map(|text| hash_bytes(text))));
        let quoted = keys.push(b"\"a key\"");
        assert_eq!(keys.hashes().of(quoted), hash_bytes(b"a key"));
    }

    /// The page of a long key may have up to seven bytes left, but a [`KeyPlace`] cannot address them.
    #[test]
    fn pages_of_long_keys_take_no_others() {
        for len in PAGE - 6..PAGE + 10 {
            let mut keys = TextPages::default();
            let texts = [vec![b'k'; len], b"ab".to_vec(), vec![b'l'; len], vec![], b"c".to_vec()];
            let places = texts.each_ref().map(|text| keys.push(text));
            for (text, place) in texts.iter().zip(places) {
                assert_eq!(keys.get(place), text, "{len}");
            }
            assert!(keys.all_hashes().eq(texts.iter().map(|text| hash_bytes(text))), "{len}");
        }
    }

    /// Tests the last keys of a page, and the first keys of the next page.
    #[test]
    fn hashes_of_many_pages() {
        let mut keys = TextPages::default();
        let texts: Vec<String> = (0..20_000).map(|i| format!("key{}", i * i)).collect();
        let mut places = Vec::new();
        for text in &texts {
            let mut padded = [0; 16];
            padded[..text.len()].copy_from_slice(text.as_bytes());
            let short = keys.room().and_then(|mut room| room.push_short(&padded, text.len()));
            places.push(short.unwrap_or_else(|| keys.push(text.as_bytes())));
        }
        let mut hashes = keys.hashes();
        for (text, at) in texts.iter().zip(places) {
            assert_eq!(hashes.of(at), hash_bytes(text.as_bytes()));
        }
        assert!(keys.pages.len() > 2);
        assert!(keys.all_hashes().eq(texts.iter().map(|text| hash_bytes(text.as_bytes()))));
        assert_eq!(TextPages::default().all_hashes().count(), 0);
    }
}
