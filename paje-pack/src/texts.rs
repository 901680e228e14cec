//! Numbered texts, and a table for looking them up.

/// Key for looking up a text. A short text is its own key.
///
/// Texts of up to seven bytes have different keys. Keys of longer texts have an 8 in their highest
/// byte and may collide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key(u64);

/// Maximum length of a text that is its own key.
pub(crate) const SHORT: usize = 7;

impl Key {
    #[inline]
    pub(crate) fn of(text: &[u8]) -> Key {
        match text.len() {
            0..=SHORT => Key::short(word(text), text.len()),
            _ => Key(hash(text) >> 8 | 8 << 56),
        }
    }

    /// Returns the key of a text of up to seven bytes. `bytes` is the text as a number, with the
    /// first byte lowest.
    #[inline]
    pub(crate) const fn short(bytes: u64, len: usize) -> Key {
        Key(bytes | (len as u64) << 56)
    }

    const fn is_exact(self) -> bool {
        self.0 >> 56 < 8
    }

    #[inline]
    pub(crate) const fn spread(self) -> u64 {
        fold(self.0 ^ 0x243f_6a88_85a3_08d3, 0x9e37_79b9_7f4a_7c15)
    }
}

/// Multiplies two words, and combines both halves of the product.
#[inline]
pub(crate) const fn fold(a: u64, b: u64) -> u64 {
    let product = a as u128 * b as u128;
    product as u64 ^ (product >> 64) as u64
}

/// Returns up to eight bytes as a number, with the first byte lowest.
#[inline]
pub(crate) fn word(text: &[u8]) -> u64 {
    if let (Some(first), Some(last)) = (text.first_chunk(), text.last_chunk()) {
        // The two halves may overlap.
        let [first, last] = [*first, *last].map(|four| u64::from(u32::from_le_bytes(four)));
        return first | last << (8 * (text.len() - 4));
    }
    match *text {
        [] => 0,
        [one] => one.into(),
        [one, two] => u64::from(one) | u64::from(two) << 8,
        [one, two, three, ..] => u64::from(one) | u64::from(two) << 8 | u64::from(three) << 16,
    }
}

/// Returns `len` bytes (at most eight) of a text as a number.
#[inline(always)]
pub(crate) fn word_at(text: &[u8], start: usize, len: usize) -> u64 {
    const KEEP: [u64; 9] = {
        let mut keep = [u64::MAX; 9];
        let mut len = 0;
        while len < 8 {
            keep[len] = (1 << (8 * len)) - 1;
            len += 1;
        }
        keep
    };
    // Usually, more bytes follow.
    match (text.get(start..).and_then(<[u8]>::first_chunk), KEEP.get(len)) {
        (Some(eight), Some(keep)) => u64::from_le_bytes(*eight) & keep,
        _ => word(&text[start..start + len]),
    }
}

#[inline]
pub(crate) fn hash(text: &[u8]) -> u64 {
    let mut hash = text.len() as u64 ^ 0x1319_8a2e_0370_7344;
    let mut rest = text;
    while let Some((eight, after)) = rest.split_first_chunk() {
        hash = fold(hash ^ u64::from_le_bytes(*eight), 0xa409_3822_299f_31d1);
        rest = after;
    }
    fold(hash ^ word(rest), 0x9e37_79b9_7f4a_7c15)
}

#[derive(Default)]
pub(crate) struct Texts {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    /// Open hash table. An entry is a key and the text's number plus one, or 0 if the entry is
    /// empty. The size is a power of two, or zero if texts are not looked up.
    places: Vec<(Key, u32)>,
}

impl Texts {
    pub(crate) fn len(&self) -> u32 {
        self.ends.len() as u32
    }

    #[inline]
    pub(crate) fn find(&self, text: &[u8]) -> Option<u32> {
        self.find_key(Key::of(text), text)
    }

    /// Returns the number of a text whose key is known.
    #[inline]
    pub(crate) fn find_key(&self, key: Key, text: &[u8]) -> Option<u32> {
        let mut at = key.spread() as usize;
        loop {
            let (other, number) = *self.places.get(at & self.places.len().wrapping_sub(1))?;
            let number = number.checked_sub(1)?;
            if other == key && (key.is_exact() || self.get(number) == text) {
                return Some(number);
            }
            at += 1;
        }
    }

    /// Returns the number of a text. Adds the text if it is new.
    pub(crate) fn put(&mut self, text: &[u8]) -> u32 {
        if let Some(number) = self.find(text) {
            return number;
        }
        // At least half of the entries stay empty.
        if 2 * self.ends.len() >= self.places.len() {
            let count = (4 * self.ends.len()).next_power_of_two().max(16);
            let before = std::mem::replace(&mut self.places, vec![(Key(0), 0); count]);
            before.into_iter().filter(|(_, number)| *number > 0).for_each(|place| self.take(place));
        }
        let number = self.push(text);
        self.take((Key::of(text), number + 1));
        number
    }

    fn take(&mut self, (key, number): (Key, u32)) {
        let mut at = key.spread() as usize;
        let most = self.places.len() - 1;
        while self.places[at & most].1 > 0 {
            at += 1;
        }
        self.places[at & most] = (key, number);
    }

    /// Appends a text without looking it up.
    pub(crate) fn push(&mut self, text: &[u8]) -> u32 {
        let number = self.len();
        self.bytes.extend_from_slice(text);
        self.ends.push(self.bytes.len());
        number
    }

    /// Returns the text with this number, or an empty text if the number is invalid.
    #[inline]
    pub(crate) fn get(&self, number: u32) -> &[u8] {
        let Some(end) = self.ends.get(number as usize) else { return b"" };
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before as usize]);
        &self.bytes[start..*end]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_numbered_in_order_of_arrival() {
        let mut texts = Texts::default();
        assert_eq!(texts.find(b""), None);
        let all: Vec<Vec<u8>> = (0..20_000_u32)
            .map(|number| match number % 3 {
                0 => number.to_string().into_bytes(),
                1 => format!("a name of {number}").into_bytes(),
                // Trailing zeros make texts different.
                _ => vec![0; number as usize / 3 % 400],
            })
            .collect();
        let mut known = std::collections::HashMap::new();
        for text in &all {
            let next = known.len() as u32;
            let number = *known.entry(text.as_slice()).or_insert(next);
            assert_eq!(texts.find(text), (number < next).then_some(number));
            assert_eq!(texts.put(text), number);
        }
        for (text, number) in known {
            assert_eq!((texts.find(text), texts.get(number)), (Some(number), text));
        }
        assert_eq!(texts.get(texts.len()), b"");
    }

    #[test]
    fn short_texts_are_distinguished_by_their_keys() {
        for len in 0..=8 {
            let text: Vec<u8> = (1..=len).collect();
            let mut bytes = [0; 8];
            bytes[..text.len()].copy_from_slice(&text);
            assert_eq!(word(&text), u64::from_le_bytes(bytes));
        }
        assert_ne!(Key::of(b"a"), Key::of(b"a\0"));
        assert!(!Key::of(b"12345678").is_exact());
    }
}
