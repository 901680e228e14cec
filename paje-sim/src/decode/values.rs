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

/// One in so many decoders of fleeting values looks for them nevertheless: they may no longer be.
const PROBES: u32 = 8;

/// The values that a decoder has met, in the context of a type.
#[derive(Debug, Default)]
pub(crate) struct Values {
    table: SymbolTable,
    fleeting: bool,
    /// Number of decoders with fleeting values that came before this one.
    fleeting_before: u32,
}

impl Values {
    /// Looks at the whole table.
    pub(super) fn look_at_all(&self) -> u64 {
        self.table.look_at_all()
    }

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
    /// for each in a large one.
    pub(super) fn are_crowded(&self) -> bool {
        self.len() > MOST
    }

    pub(super) fn len(&self) -> usize {
        self.table.len()
    }

    pub(super) const fn are_fleeting(&self) -> bool {
        self.fleeting
    }

    /// No values; but they are taken for what they were in the `lines` lines of a decoder before, whose
    /// memory they take over.
    pub(super) fn successors(&mut self, lines: u64) -> Self {
        let fleeting = match self.fleeting {
            true => !self.fleeting_before.is_multiple_of(PROBES),
            false => self.are_crowded() && lines < LINES_PER_VALUE * self.len() as u64,
        };
        let fleeting_before = if fleeting { self.fleeting_before + 1 } else { 0 };
        let mut table = std::mem::take(&mut self.table);
        table.clear();
        Values { table, fleeting, fleeting_before }
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
