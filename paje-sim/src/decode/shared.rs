//! Lanes that all decoders know.
//!
//! Each decoder learns lanes by itself, and where these are many and come up again and again, each would keep all of them
//! and learn them all. So they are brought together now and then, between two rounds, and decoders begin again with what is
//! shared; in a round nobody changes that. A lane is there once, by its names as most programs write them: the
//! type, a blank, the container, without quotes, sixteen bytes at most. Others are each decoder's own.

use paje_parser::TypeNature;
use paje_parser::token::is_white;

use crate::decode::decoded::StrandSymbol;
use crate::decode::pairs::{KnownLane, PairTable};
use crate::decode::plan::{pair_context, split_pair_context};
use crate::names::hash::{Word, word};
use crate::names::ids::TypeId;

/// Lanes by their names, and their strands, which come before all that decoders know by themselves.
#[derive(Clone, Debug, Default)]
pub(crate) struct SharedLanes {
    /// With the number of a type in place of a decoder's symbol.
    by_pair: PairTable,
    /// Of each strand, the shard, and its number there.
    shards: Vec<u8>,
    strands: Vec<u32>,
}

impl SharedLanes {
    pub(super) const fn by_pair(&self) -> &PairTable {
        &self.by_pair
    }

    /// The shard of each strand.
    pub(super) fn shards(&self) -> &[u8] {
        &self.shards
    }

    /// The number of a strand in its shard.
    pub(crate) fn strand(&self, symbol: StrandSymbol) -> Option<u32> {
        self.strands.get(symbol as usize).copied()
    }

    /// Number of strands.
    pub(super) fn len(&self) -> usize {
        self.shards.len()
    }

    /// Adds a lane that is not there: its names, the number of its type, and its strands' shards and numbers in them.
    /// Returns whether there was room for that type.
    pub(super) fn add(
        &mut self,
        (word, context): (Word, u64),
        type_: TypeId,
        shards: &[u8],
        strands: &[u32],
    ) -> bool {
        let strand = self.shards.len() as StrandSymbol;
        let added = self.by_pair.insert(word, context, KnownLane { type_: type_.0, strand });
        if added {
            self.shards.extend_from_slice(shards);
            self.strands.extend_from_slice(strands);
        }
        added
    }
}

/// Tells whether a text of a type and a container, in its context, is that of [`plain_pair`]: the type first, one blank
/// between them, and no quotes.
pub(super) fn is_plain_pair(word: Word, context: u64) -> bool {
    const ONES: u128 = u128::MAX / 0xff;
    const TOPS: u128 = 0x80 * ONES;
    let text = u128::from(word[0]) | u128::from(word[1]) << 64;
    // The top bit of each byte that is smaller than this.
    let below = |text: u128, bound: u8| {
        let sums = (text & !TOPS) + u128::from(0x80 - bound) * ONES;
        !(sums | text) & TOPS
    };
    let (len, type_first) = split_pair_context(context);
    // Zeros stand behind the text. What has other bytes as small is looked at with more care.
    let gap = below(text, b' ' + 1) ^ TOPS.unbounded_shl(8 * len as u32);
    let is_blank = || (text >> (gap.trailing_zeros() - 7)) as u8 == b' ';
    let quotes = below(text ^ (u128::from(b'"') * ONES), 1);
    type_first && quotes == 0 && gap.is_power_of_two() && is_blank()
}

/// The text of a type and a container, and its context, where they stand side by side as most programs write them.
pub(super) fn plain_pair(
    type_: &[u8],
    container: &[u8],
    nature: TypeNature,
) -> Option<(Word, u64)> {
    let len = type_.len() + 1 + container.len();
    // Names that are written in quotes may be empty, or of several words.
    let is_plain =
        |name: &[u8]| !name.is_empty() && !name.iter().any(|byte| is_white(*byte) || *byte == b'"');
    if len > size_of::<Word>() || !is_plain(type_) || !is_plain(container) {
        return None;
    }
    let mut text = [b' '; size_of::<Word>()];
    text[..type_.len()].copy_from_slice(type_);
    text[type_.len() + 1..len].copy_from_slice(container);
    Some((word(&text, 0, len)?, pair_context(len, nature, true)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// A text that is found to be plain is that of its names; those of most programs are found to be.
        #[test]
        fn plain_texts_are_those_of_their_names(text in "[ab\\x01\"][ab \\t\\x01\"]{1,14}[ab\\x01\"]", type_first in any::<bool>()) {
            let mut padded = text.clone().into_bytes();
            padded.resize(16, b'x');
            let word = word(&padded, 0, text.len()).expect("a short text");
            let context = pair_context(text.len(), TypeNature::State, type_first);
            let is_usual = |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphabetic());
            let names = text.split_once(' ');
            let is_plain = is_plain_pair(word, context);
            if let Some((type_, container)) = names {
                let plain = plain_pair(type_.as_bytes(), container.as_bytes(), TypeNature::State);
                prop_assert!(!is_plain || plain == Some((word, context)));
                prop_assert_eq!(is_plain, type_first && is_usual(type_) && is_usual(container));
            } else {
                prop_assert!(!is_plain);
            }
        }
    }
}
