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

/// Looks up or adds, in these parts, what a wave's blocks say of values, in file order. The first part has the number
/// `first`, and the others those behind it, `step` by `step`. Types are those before the wave: resolving itself looks for the
/// values of others.
pub(crate) fn expect_values<'b>(
    blocks: impl Iterator<Item = (&'b DecodedBlock, &'b Decoder)>,
    types: &Types,
    value_names: ValueNames,
    parts: &mut [&mut ValueNamePart],
    (first, step): (usize, usize),
) {
    let mut places = [None; PARTS];
    for (index, place) in places.iter_mut().skip(first).step_by(step).enumerate() {
        *place = Some(index);
    }
    let mut waiting = Vec::with_capacity(AHEAD);
    for (block, decoder) in blocks {
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
        let mut flush = |waiting: &mut Vec<(usize, Expected)>| {
            for (part, expected) in waiting.iter() {
                parts[*part].look_for(expected.key);
            }
            parts.iter_mut().for_each(|part| part.look());
            for (part, expected) in waiting.drain(..) {
                let Expected { key, type_, .. } = expected;
                parts[part].expect(key, type_, named(block, decoder, expected), value_names);
            }
        };
        for (_, noted) in &decoded.noted {
            let (symbol, hash, is_definition, number) = match *noted {
                Noted::Value(symbol, hash) => {
                    let type_ = value_type(decoder.symbols.values.context(symbol));
                    (type_, hash, false, symbol)
                }
                Noted::Structural(number) => {
                    let Some(value) = decoded.value_of(decoded.structures[number as usize]) else {
                        continue;
                    };
                    (value.type_, value.hash, true, number)
                }
                _ => continue,
            };
            let Some(type_) = type_of(symbol) else { continue };
            let key = ValueKey::new(type_, hash);
            let Some(part) = places[key.part()] else { continue };
            waiting.push((part, Expected { key, type_, is_definition, number }));
            if waiting.len() == AHEAD {
                flush(&mut waiting);
            }
        }
        flush(&mut waiting);
    }
}

/// The name of a value, as its line has it.
fn named<'b>(block: &'b DecodedBlock, decoder: &'b Decoder, expected: Expected) -> ValueNamed<'b> {
    let Expected { is_definition, number, .. } = expected;
    let definition = || {
        let structure = block.decoded.structures[number as usize];
        let words = &block.decoded.words[structure.words.0 as usize..];
        let name = |word: u32| words[word as usize].of(block.text.at_hand()).into();
        let value = block.decoded.value_of(structure)?;
        Some(ValueNamed { name: name(value.name), alias: value.alias.map(name) })
    };
    is_definition.then(definition).flatten().unwrap_or_else(|| {
        let name = decoder.symbols.values.get(number, block.text.at_hand()).0;
        ValueNamed { name, alias: None }
    })
}
