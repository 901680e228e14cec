use paje_parser::Span;
use splitter::Block;

use crate::decode::decoded::{Decoded, OrderedItem};
use crate::decode::names::NameTable;
use crate::decode::symbols::{Symbol, SymbolTable};
use paje_model::names::hash::{bare, hash_text};
use paje_model::names::text::Name;

#[derive(Debug, Default)]
pub struct Symbols {
    pub types: SymbolTable,
    /// Containers, in the context of a type and a nature. See `lane_context`.
    pub lanes: NameTable,
    /// Containers, in the context of a link type and an end. See `end_context`.
    pub link_ends: SymbolTable,
    /// Values, in the context of a type. See `value_context`.
    pub values: SymbolTable,
    /// Whether values are not interned: each use has its own symbol, and its text stays in the block.
    pub(crate) unique_values: bool,
}

impl Symbols {
    pub(super) fn len(&self) -> usize {
        self.lanes.len() + self.link_ends.len() + self.values.len()
    }

    pub(super) fn clear(&mut self) {
        let Symbols { types, lanes, link_ends, values, .. } = self;
        lanes.clear();
        [types, link_ends, values].into_iter().for_each(SymbolTable::clear);
    }

    pub fn value_name<'a>(&'a self, symbol: Symbol, block: &'a Block) -> Name<'a> {
        match self.unique_values {
            true => self.values.span(symbol).of(block.text()).into(),
            false => self.values.get(symbol).0,
        }
    }

    #[inline]
    pub(super) fn value(
        &mut self,
        padded: &[u8],
        span: Span,
        context: u32,
        line: u32,
        decoded: &mut Decoded,
    ) -> Symbol {
        let known = self.values.len();
        let symbol = match self.unique_values {
            true => self.values.append_span(span, context),
            false => self.values.intern(padded, span, context),
        };
        if symbol as usize == known {
            let (start, end) = bare(padded, span);
            decoded.ordered.push((line, OrderedItem::Value(symbol, hash_text(padded, start, end))));
        }
        symbol
    }

    #[inline]
    pub(super) fn link_end(
        &mut self,
        padded: &[u8],
        span: Span,
        context: u32,
        line: u32,
        decoded: &mut Decoded,
    ) -> Symbol {
        let known = self.link_ends.len();
        let symbol = self.link_ends.intern(padded, span, context);
        if symbol as usize == known {
            decoded.ordered.push((line, OrderedItem::LinkEnd(symbol)));
        }
        symbol
    }
}
