//! Values that a wave's lines name, looked up by all workers before resolving, which is one thread's, comes to them.

use crate::decode::Decoder;
use crate::decode::block::DecodedBlock;
use crate::decode::decoded::Noted;
use crate::decode::symbols::Symbol;
use crate::decode::values::value_type;
use crate::model::types::Types;
use crate::model::value_names::{PARTS, ValueKey, ValueNamePart, ValueNamed};
use crate::names::ids::TypeId;
use crate::names::options::ValueNames;
use crate::resolve::AHEAD;

/// A line's value, on its way to its part: the first use of a symbol, or the definition in a structural event.
#[derive(Clone, Copy, Debug)]
struct Expected {
    key: ValueKey,
    type_: TypeId,
    is_definition: bool,
    number: u32,
}

/// Values that a block names, part by part, and in file order within each.
#[derive(Debug)]
pub(crate) struct ExpectedOfBlock {
    list: Vec<Expected>,
    /// Where each part begins, and where the last one ends.
    bounds: [u32; PARTS + 1],
}

impl ExpectedOfBlock {
    /// Types are those before the wave: resolving itself looks for the values of others.
    pub(crate) fn new(block: &DecodedBlock, decoder: &Decoder, types: &Types) -> Self {
        let decoded = &block.decoded;
        // The types of a trace are few, or come up one after the other.
        let mut known = [None::<(Symbol, Option<TypeId>)>; 8];
        let mut type_of = |symbol: Symbol| match &mut known[symbol as usize % 8] {
            Some((same, type_)) if *same == symbol => *type_,
            other => {
                let type_ = types.find(decoder.symbols.types.get(symbol).0.text);
                *other = Some((symbol, type_));
                type_
            }
        };
        let expected = decoded.noted.iter().filter_map(|(_, noted)| {
            let (symbol, hash, is_definition, number) = match *noted {
                Noted::Value(symbol, hash) => {
                    let type_ = value_type(decoder.symbols.values.context(symbol));
                    (type_, hash, false, symbol)
                }
                Noted::Structural(number) => {
                    let value = decoded.value_of(decoded.structures[number as usize])?;
                    (value.type_, value.hash, true, number)
                }
                _ => return None,
            };
            let type_ = type_of(symbol)?;
            Some(Expected { key: ValueKey::new(type_, hash), type_, is_definition, number })
        });
        let in_file_order: Vec<Expected> = expected.collect();
        let mut bounds = [0; PARTS + 1];
        for expected in &in_file_order {
            bounds[expected.key.part() + 1] += 1;
        }
        for part in 0..PARTS {
            bounds[part + 1] += bounds[part];
        }
        let (mut next, mut list) = (bounds, in_file_order.clone());
        for expected in in_file_order {
            let place = &mut next[expected.key.part()];
            list[*place as usize] = expected;
            *place += 1;
        }
        ExpectedOfBlock { list, bounds }
    }

    /// Looks up or adds, in a part, what falls to it.
    pub(crate) fn expect(
        &self,
        (number, part): (usize, &mut ValueNamePart),
        block: &DecodedBlock,
        decoder: &Decoder,
        value_names: ValueNames,
    ) {
        let of_part = self.bounds[number] as usize..self.bounds[number + 1] as usize;
        for together in self.list[of_part].chunks(AHEAD) {
            together.iter().for_each(|expected| part.look_for(expected.key));
            part.look();
            for expected in together {
                let said = named(block, decoder, *expected);
                part.expect(expected.key, expected.type_, said, value_names);
            }
        }
    }
}

/// The name of a value, as its line has it.
fn named<'b>(block: &'b DecodedBlock, decoder: &'b Decoder, expected: Expected) -> ValueNamed<'b> {
    let Expected { is_definition, number, .. } = expected;
    let definition = || {
        let structure = block.decoded.structures[number as usize];
        let words = &block.decoded.words[structure.words.0 as usize..];
        let name = |word: u32| words[word as usize].of(block.bytes()).into();
        let value = block.decoded.value_of(structure)?;
        Some(ValueNamed { name: name(value.name), alias: value.alias.map(name) })
    };
    is_definition.then(definition).flatten().unwrap_or_else(|| {
        let name = decoder.symbols.values.get(number, block.bytes()).0;
        ValueNamed { name, alias: None }
    })
}
