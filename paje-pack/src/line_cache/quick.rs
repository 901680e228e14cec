//! Fast path for lines of the usual form. In such a line, the second field is a hole, at most two
//! more holes follow, and the texts between and after the holes are short.

use super::heads::{Head, Heads, MANY, word_of};
use super::{BYTES, NONE, SPREAD};

/// Number of bytes of a line that are read. Words that begin at the last examined byte also include
/// later bytes.
pub(crate) const WINDOW: usize = 64 + MIDDLE;

/// Maximum length of the text after the first hole. This text is stored in three words.
const MIDDLE: usize = 24;

/// Maximum length of the text after the second or third hole.
const NEXT: usize = 15;
const LAST: usize = 6;

/// Masks for three words. Mask `n` keeps their first `n` bytes.
static MASKS: [[u64; MIDDLE / 8]; MIDDLE + 1] = {
    let mut masks = [[0; MIDDLE / 8]; MIDDLE + 1];
    let mut len = 1;
    while len <= MIDDLE {
        masks[len] = masks[len - 1];
        masks[len][(len - 1) / 8] |= 0xff << (8 * ((len - 1) % 8));
        len += 1;
    }
    masks
};

/// The texts of a line outside its holes, and their lengths. The first text precedes the first
/// hole. Each other text follows one of the holes.
#[derive(Clone, Copy, Default)]
pub(crate) struct Words {
    head: u64,
    middle: [u64; MIDDLE / 8],
    next: [u64; 2],
    last: u64,
}

/// Starts and ends of three holes in a line.
pub(crate) type Trio = [[u8; 2]; 3];

/// The ends of the fields of a line, as bits. One byte separates two fields.
struct Ends(u64);

impl Ends {
    #[inline(always)]
    fn next(&mut self) -> usize {
        let end = self.0.trailing_zeros() as usize;
        self.0 &= self.0.wrapping_sub(1);
        end
    }

    /// Returns the start and the end of a field. It comes `fields` fields after the field that ends
    /// at `before`.
    #[inline(always)]
    fn behind(&mut self, fields: u8, before: usize) -> (usize, usize) {
        // End of the previous field.
        let first = match fields {
            1 => before,
            _ => {
                (2..fields).for_each(|_| self.0 &= self.0.wrapping_sub(1));
                self.next()
            }
        };
        (first + 1, self.next())
    }
}

impl Words {
    /// Returns the words and the holes of a line, given the ends of its fields as bits. Returns
    /// `None` if the line does not have the usual form.
    #[inline(always)]
    pub(crate) fn of(
        window: &[u8; WINDOW],
        (ends, len): (u64, u32),
        heads: &Heads,
    ) -> Option<(Words, Trio)> {
        let (mut ends, len) = (Ends(ends), len as usize);
        let (code, end) = (ends.next(), ends.next());
        if code >= BYTES || end > len {
            return None;
        }
        let first = code + 1;
        let head = word_of(word(window, 0), first);
        let Head { others: [second, third], .. } = *heads.get(head)?;
        let mut trio = [[first as u8, end as u8], [0; 2], [0; 2]];
        let (mut behind, mut next, mut last) = (len, [0; 2], 0);
        if second > 0 {
            if second == MANY {
                return None;
            }
            let before;
            (behind, before) = ends.behind(second, end);
            trio[1] = [behind as u8, before as u8];
            let mut to = len;
            if third > 0 {
                let end;
                (to, end) = ends.behind(third, before);
                trio[2] = [to as u8, end as u8];
                let rest = len.checked_sub(end).filter(|rest| *rest <= LAST)?;
                last = word(window, end) & MASKS[rest][0] | (rest as u64) << 48;
            }
            let rest = to.checked_sub(before).filter(|rest| *rest <= NEXT)?;
            let [one, two, _] = MASKS[rest];
            next =
                [word(window, before) & one, word(window, before + 8) & two | (rest as u64) << 56];
        }
        let masks = MASKS.get(behind - end)?;
        last |= ((behind - end) as u64) << 56;
        let middle = std::array::from_fn(|at| word(window, end + 8 * at) & masks[at]);
        Some((Words { head, middle, next, last }, trio))
    }

    #[inline(always)]
    const fn hash(&self) -> u64 {
        let Words { head, middle: [a, b, c], next: [d, e], last } = *self;
        (a ^ d).wrapping_mul(SPREAD)
            ^ (b ^ head).wrapping_mul(0xa409_3822_299f_31d1)
            ^ (c.rotate_left(32) ^ e.rotate_left(16) ^ last).wrapping_mul(0x1319_8a2e_0370_7345)
    }

    #[inline(always)]
    const fn is(&self, other: &Words) -> bool {
        let ([a, b, c], [d, e, f]) = (self.middle, other.middle);
        let ([g, h], [i, j]) = (self.next, other.next);
        let middle = (a ^ d) | (b ^ e) | (c ^ f);
        middle | (self.head ^ other.head) | (g ^ i) | (h ^ j) | (self.last ^ other.last) == 0
    }

    /// Returns the text of the line, in which the kinds of the holes replace their contents.
    pub(super) fn text(&self, heads: &Heads) -> Option<Vec<u8>> {
        let holes = heads.holes(*heads.get(self.head)?);
        let bytes =
            |words: &[u64]| words.iter().flat_map(|it| it.to_le_bytes()).collect::<Vec<_>>();
        let (head, next, last) = (bytes(&[self.head]), bytes(&self.next), bytes(&[self.last]));
        let parts = [
            (&head, head[7]),
            (&bytes(&self.middle), last[7]),
            (&next, next[15]),
            (&last, last[6]),
        ];
        let mut text = Vec::new();
        for (at, (part, len)) in parts.iter().enumerate().take(holes.len() + 1) {
            text.extend((at > 0).then(|| holes[at - 1].kind));
            text.extend_from_slice(&part[..usize::from(*len)]);
        }
        Some(text)
    }
}

/// Returns eight bytes of a line, starting at byte `at`.
#[inline(always)]
fn word(window: &[u8; WINDOW], at: usize) -> u64 {
    window
        .get(at..at + 8)
        .and_then(|it| it.first_chunk())
        .map_or(0, |eight| u64::from_le_bytes(*eight))
}

/// Numbers of steps, by the words of their lines.
pub(crate) struct Quick {
    /// Open hash table. Its size is a power of two, and at least half of it is empty.
    entries: Vec<(Words, u32)>,
    taken: usize,
    /// Number of low bits of a hash that are ignored.
    shift: u32,
}

const EMPTY: (Words, u32) =
    (Words { head: 0, middle: [0; MIDDLE / 8], next: [0; 2], last: 0 }, NONE);

impl Default for Quick {
    fn default() -> Self {
        Quick { entries: vec![EMPTY; 1 << 8], taken: 0, shift: 64 - 8 }
    }
}

impl Quick {
    #[inline(always)]
    pub(crate) fn find(&self, words: &Words) -> Option<u32> {
        let mut at = (words.hash() >> self.shift) as usize;
        loop {
            let (known, step) = self.entries.get(at)?;
            if known.is(words) {
                return Some(*step);
            }
            if *step == NONE {
                return None;
            }
            at = (at + 1) & (self.entries.len() - 1);
        }
    }

    pub(super) fn put(&mut self, words: Words, step: u32) {
        self.taken += 1;
        if 2 * self.taken > self.entries.len() {
            let more = vec![EMPTY; 4 * self.entries.len()];
            self.shift -= 2;
            let before = std::mem::replace(&mut self.entries, more);
            before.into_iter().filter(|entry| entry.1 != NONE).for_each(|entry| self.enter(entry));
        }
        self.enter((words, step));
    }

    fn enter(&mut self, entry: (Words, u32)) {
        let (mut at, most) = ((entry.0.hash() >> self.shift) as usize, self.entries.len() - 1);
        while self.entries[at].1 != NONE {
            at = (at + 1) & most;
        }
        self.entries[at] = entry;
    }
}
