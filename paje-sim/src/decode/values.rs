//! Symbols that a decoder makes of the names of values.
//!
//! Most traces have few values, which come up again and again: a decoder knows them by its own
//! symbols, and only their first uses are resolved. But some have a value for each task, which comes
//! up once or twice; looking for it in a table that it is not in is then for nothing, and so each use
//! is a symbol of its own (the values are *fleeting*), whose text stays where it is.

use paje_parser::{Quoting, Span};

use crate::decode::decoded::{Decoded, Noted};
use crate::decode::symbols::{Symbol, SymbolTable};
use crate::names::hash::{bare, hash_text};
use crate::names::options::ValueNames;
use crate::names::text::Name;

/// Values that a decoder may know before it is [crowded](Values::are_crowded): their table still fits in
/// a core's second-level cache.
const MOST: usize = 1 << 14;

/// With fewer lines than this for each value, values are taken for fleeting. Measured with
/// `compare --shapes unique-values` and traces of StarPU.
const LINES_PER_VALUE: u64 = 4;

/// Values that all decoders meet for the first time in runs of blocks, each of which has as many of them as the ones before, before
/// they are taken for fleeting: none need be crowded first, which takes long where many workers share the blocks.
const MANY_NEW: u64 = 1 << 13;

/// With fewer new ones among so many of them, values that were taken for fleeting because there was a run are not.
const NEW_AMONG: usize = 16;

/// One in so many decoders of fleeting values looks for them nevertheless: they may no longer be.
const PROBES: u32 = 8;

/// The values that a decoder has met, in the context of a type.
#[derive(Debug, Default)]
pub(crate) struct Values {
    table: SymbolTable,
    fleeting: bool,
    /// Number of decoders with fleeting values that came before this one.
    fleeting_before: u32,
    news: News,
    /// It was a run of new values that made them fleeting.
    by_news: bool,
    /// Once a run has misled, the next ones are not asked.
    were_misled: bool,
}

/// Fate of the values that a decoder has met.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Met {
    /// Number of them that were new to the trace.
    pub(crate) new: usize,
    /// New values of the last blocks of all decoders, if most that these have met were new to the trace: one that has not come to such
    /// blocks most likely will.
    pub(crate) news: u64,
}

/// New values of blocks that came one after the other.
#[derive(Clone, Copy, Debug, Default)]
struct News {
    /// Values that were known before the block at hand.
    known: usize,
    /// Number of blocks in a row that had about as many new ones for their lines, and of these values.
    blocks: u32,
    values: u64,
    /// Those of the block of them that had most for its lines, and its lines.
    most: (u64, u64),
}

impl News {
    /// A block of so many lines has been decoded, and so many values are known now.
    fn add(&mut self, lines: u64, known: usize) {
        let new = (known - self.known) as u64;
        self.known = known;
        if new * LINES_PER_VALUE <= lines {
            (self.blocks, self.values) = (0, 0);
            return;
        }
        let (most_new, most_lines) = self.most;
        // If there were fewer than thousands, more of them would be known already.
        let is_less = self.blocks > 0 && 16 * new * most_lines < 15 * most_new * lines;
        if is_less {
            (self.blocks, self.values) = (0, 0);
        }
        if self.blocks == 0 || new * most_lines > most_new * lines {
            self.most = (new, lines);
        }
        self.blocks += 1;
        self.values += new;
    }
}

impl Values {
    /// The text and the context of a value that is noted in a block of this text.
    pub(crate) fn get<'a>(&'a self, symbol: Symbol, text: &'a [u8]) -> (Name<'a>, u32) {
        if self.fleeting {
            let (span, context) = self.table.span(symbol);
            return (span.of(text).into(), context);
        }
        self.table.get(symbol)
    }

    /// The context of a value.
    #[inline]
    pub(crate) fn context(&self, symbol: Symbol) -> u32 {
        self.table.context(symbol)
    }

    /// True if so many values have come up that starting again with an empty table is better than to look
    /// for each in a large one; or if it seems that they are fleeting, or are not.
    pub(super) fn are_crowded(&self, met: &Met) -> bool {
        self.len() > MOST || self.seem_fleeting(met) || self.seem_to_stay(met)
    }

    /// New values of the last blocks, if it seems that there will be more.
    pub(super) const fn news(&self) -> u64 {
        self.news.values
    }

    const fn seem_fleeting(&self, met: &Met) -> bool {
        !self.fleeting && !self.were_misled && met.news > MANY_NEW
    }

    fn seem_to_stay(&self, met: &Met) -> bool {
        self.by_news && self.len() as u64 > MANY_NEW && NEW_AMONG * met.new < self.len()
    }

    /// A block of so many lines has been decoded.
    pub(super) fn end_block(&mut self, lines: usize) {
        if !self.fleeting {
            self.news.add(lines as u64, self.table.len());
        }
    }

    pub(super) fn len(&self) -> usize {
        self.table.len()
    }

    pub(super) const fn are_fleeting(&self) -> bool {
        self.fleeting
    }

    /// No values; but they are taken for what they were in the `lines` lines of a decoder before, whose
    /// memory they take over, and which it has `met`.
    pub(super) fn successors(&mut self, lines: u64, met: &Met) -> Self {
        let were_misled = self.were_misled || self.seem_to_stay(met);
        let by_news = !were_misled && (self.by_news || self.seem_fleeting(met));
        let fleeting = match self.fleeting {
            true => !self.seem_to_stay(met) && !self.fleeting_before.is_multiple_of(PROBES),
            false => {
                let are_many = self.len() > MOST && lines < LINES_PER_VALUE * self.len() as u64;
                are_many || self.seem_fleeting(met)
            }
        };
        let fleeting_before = if fleeting { self.fleeting_before + 1 } else { 0 };
        let mut table = std::mem::take(&mut self.table);
        table.clear();
        let news = News::default();
        Values { table, fleeting, fleeting_before, news, by_news, were_misled }
    }

    /// The symbol of a value; if it is new, that is noted.
    #[inline]
    pub(super) fn symbol(
        &mut self,
        padded: &[u8],
        span: Span,
        context: u32,
        line: u32,
        decoded: &mut Decoded,
    ) -> Symbol {
        let known = self.table.len();
        let symbol = match self.fleeting {
            true => self.table.append_span(span, context),
            false => self.table.intern(padded, span, context),
        };
        if symbol as usize == known {
            let (start, end) = bare(padded, span);
            decoded.noted.push((line, Noted::Value(symbol, hash_text(padded, start, end))));
        }
        symbol
    }

    /// The symbol of a value between `start` and `end`, which are counted from `base` in the block, and whose quotes, if it has any, are a pair around
    /// it; `None` if it has no symbol and must be given one by [`Values::symbol`].
    #[inline(always)]
    pub(super) fn short_symbol(
        &mut self,
        padded: &[u8],
        (start, end): (usize, usize),
        type_: Symbol,
        names: ValueNames,
        (line, base): (u32, u32),
        decoded: &mut Decoded,
    ) -> Option<Symbol> {
        let quoted = padded[start] == b'"';
        let (from, to) = if quoted { (start + 1, end - 1) } else { (start, end) };
        let context = value_context(type_, told_apart(names, quoted));
        if !self.fleeting {
            return self.table.find_short(padded, from, to, context);
        }
        let place = |at: usize| base.wrapping_add(at as u32);
        let symbol = self.table.append_span(Span { start: place(start), end: place(end) }, context);
        decoded.noted.push((line, Noted::Value(symbol, hash_text(padded, from, to))));
        Some(symbol)
    }
}

/// Quoting of a name that is quoted, or not, as far as it is part of the name.
#[inline(always)]
pub(super) const fn told_apart(names: ValueNames, quoted: bool) -> Quoting {
    match names {
        ValueNames::AsWritten if quoted => Quoting::Quoted,
        _ => Quoting::Bare,
    }
}

/// The context of a type's values, which differ by their quotes only where the options say so.
pub(super) const fn value_context(type_: Symbol, told_apart: Quoting) -> u32 {
    type_ << 2 | told_apart as u32
}

/// The type of a value's context.
pub(crate) const fn value_type(context: u32) -> Symbol {
    context >> 2
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The new values of the run that blocks of so many lines each end with, of which so many are new.
    fn run(lines: u64, blocks: &[usize]) -> u64 {
        let (mut news, mut known) = (News::default(), 0);
        for new in blocks {
            known += new;
            news.add(lines, known);
        }
        news.values
    }

    #[test]
    fn values_that_stay_new_are_a_run() {
        assert_eq!(run(1000, &[800, 790, 780]), 2370);
        assert_eq!(run(1000, &[0, 300, 1000, 1000, 990]), 3290, "the first has only begun");
        assert_eq!(run(1000, &[200; 50]), 0, "each comes up five times");
        assert_eq!(run(1000, &[1000, 1000, 10]), 0);
    }

    /// Of ten thousand values that come up again and again, each block has fewer that are new.
    #[test]
    fn values_that_come_again_are_none() {
        let mut known = 0.0;
        let blocks: Vec<usize> = (0..20)
            .map(|_| {
                let new = (10_000.0 - known) * (1.0 - (1.0 - 1e-4_f64).powi(2500));
                known += new;
                new as usize
            })
            .collect();
        let longest = (1..20).map(|count| run(2500, &blocks[..count])).max();
        assert_eq!(longest, Some(blocks[0] as u64), "{blocks:?}");
    }

    /// Values of a decoder that has met so many, each line another, in blocks of a thousand.
    fn met(blocks: usize) -> Values {
        let (mut values, mut decoded) = (Values::default(), Decoded::default());
        for block in 0..blocks {
            for line in 0..1000 {
                let text = format!("{:016}{:16}", block * 1000 + line, "");
                let span = Span { start: 0, end: 16 };
                values.symbol(text.as_bytes(), span, 0, line as u32, &mut decoded);
            }
            values.end_block(1000);
        }
        values
    }

    #[test]
    fn all_decoders_tell_whether_values_are_fleeting() {
        let mut one = met(3);
        assert_eq!(one.news(), 3000);
        let all = Met { new: 2000, news: 9000 };
        assert!(!one.are_crowded(&Met { new: 3000, news: 3000 }), "a few thousand may be all");
        assert!(one.are_crowded(&all));
        let mut next = one.successors(3000, &all);
        assert!(next.are_fleeting() && !next.are_crowded(&all));
        // Nothing was new among what it met then.
        for line in 0..10_000 {
            next.symbol(b"again", Span { start: 0, end: 5 }, 0, line, &mut Decoded::default());
        }
        let few = Met { new: 1, news: 0 };
        assert!(next.are_crowded(&few) && !next.are_crowded(&Met { new: 5000, news: 0 }));
        let last = next.successors(10_000, &few);
        assert!(!last.are_fleeting() && last.were_misled);
    }
}
