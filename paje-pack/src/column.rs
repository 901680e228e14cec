//! The texts of one field of one event, line after line.

use rustc_hash::FxHashMap;

use crate::coder::{Context, Guesses, Model, Side, mix};
use crate::value::{Kind, Texts, Value};

/// Values of a column that have numbers.
const KNOWN: usize = 1 << 16;

/// Bits of numbers behind the first that are believed to mean something.
const MODELLED: u32 = 8;

/// What is known of a column.
#[derive(Default)]
struct Column {
    last: Value,
    known: FxHashMap<Value, u32>,
    values: Vec<Value>,
    /// The last decimal number, and its digits after the point.
    number: i64,
    after: u8,
    /// The last hexadecimal one.
    hex: u64,
    /// Bits that differences and the numbers themselves take, on average, in 16ths.
    difference: u32,
    itself: u32,
}

/// All columns of a stream.
pub(crate) struct Columns {
    columns: Vec<Column>,
    texts: Texts,
    model: Model,
    guesses: [Guesses<Value>; 2],
}

const fn zigzag(number: i64) -> u64 {
    (number << 1 ^ number >> 63) as u64
}

const fn unzigzag(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

const fn bits(number: u64) -> u32 {
    u64::BITS - number.leading_zeros()
}

impl Columns {
    pub(crate) fn new(room: u32) -> Self {
        Columns {
            columns: Vec::new(),
            texts: Texts::default(),
            model: Model::new(room),
            guesses: [Guesses::new(room), Guesses::new(room)],
        }
    }

    /// A text of column `number`, appended to `out`. What it may depend on is in `contexts`, the best first.
    pub(crate) fn text<S: Side>(
        &mut self,
        side: &mut S,
        number: u32,
        contexts: [u32; 2],
        given: &[u8],
        out: &mut Vec<u8>,
    ) -> Value {
        if self.columns.len() <= number as usize {
            self.columns.resize_with(number as usize + 1, Column::default);
        }
        let column = number;
        let value = if S::WRITES {
            // A text that has no number yet has that which it will get.
            let text = || self.texts.find(given).unwrap_or(self.texts.len());
            Value::of(given).unwrap_or_else(|| Value { kind: Kind::Text, bits: text().into() })
        } else {
            Value::default()
        };
        let last = self.columns[number as usize].last;
        let [first, second] = contexts;
        let before = mix(last.bits as u32, (last.bits >> 32) as u32);
        let contexts = [mix(first, column), mix(mix(second, before), column)];
        let came = self.value(side, column, contexts, value, given);
        for (guesses, context) in self.guesses.iter_mut().zip(contexts) {
            guesses.learn(context, came);
        }
        self.columns[number as usize].last = came;
        came.write(&self.texts, out);
        came
    }

    fn value<S: Side>(
        &mut self,
        side: &mut S,
        number: u32,
        contexts: [u32; 2],
        value: Value,
        given: &[u8],
    ) -> Value {
        let mut tried = None;
        for (order, (guesses, context)) in self.guesses.iter_mut().zip(contexts).enumerate() {
            if tried.is_some() && guesses.peek(context) == tried {
                continue;
            }
            if let Some(value) = guesses.try_one(side, context, number << 1 | order as u32, value) {
                return value;
            }
            tried = guesses.peek(context).or(tried);
        }
        let column = &mut self.columns[number as usize];
        let at = Context::new(number, mix(contexts[0], 1));
        let index = column.known.get(&value).copied();
        if self.model.bit(side, at.with(2), index.is_some()) {
            let index = self.model.number(side, at.with(3), index.unwrap_or(0).into(), u32::MAX);
            let value = column.values.get(index as usize).copied();
            if value.is_none() {
                side.fail();
            }
            return value.unwrap_or_default();
        }
        let came = self.new_value(side, number, value, given);
        let column = &mut self.columns[number as usize];
        if column.values.len() < KNOWN {
            column.known.insert(came, column.values.len() as u32);
            column.values.push(came);
        }
        came
    }

    /// A value that the column has not had.
    fn new_value<S: Side>(
        &mut self,
        side: &mut S,
        number: u32,
        value: Value,
        given: &[u8],
    ) -> Value {
        let column = &mut self.columns[number as usize];
        let at = Context::new(mix(number, 4), mix(number, 5));
        let (kind, after) = match value.kind {
            Kind::Text => (0, 0),
            Kind::Decimal(after) => (1, after),
            Kind::Hex => (2, 0),
        };
        match self.model.number(side, at, kind, u32::MAX) {
            0 => {
                let mut text = Vec::new();
                side.text(given, &mut text);
                Value { kind: Kind::Text, bits: self.texts.put(&text).into() }
            }
            1 => {
                let after = self
                    .model
                    .number(side, at.with(column.after.into()), after.into(), u32::MAX)
                    .min(18) as u8;
                let base = if column.difference <= column.itself { column.number } else { 0 };
                let at = at.with(6 + u32::from(base != 0));
                let difference = zigzag((value.bits as i64).wrapping_sub(base));
                let difference = unzigzag(self.model.number(side, at, difference, MODELLED));
                let came = base.wrapping_add(difference);
                let average = |old: u32, number: i64| old - old / 16 + bits(zigzag(number));
                column.difference = average(column.difference, came.wrapping_sub(column.number));
                column.itself = average(column.itself, came);
                (column.number, column.after) = (came, after);
                Value { kind: Kind::Decimal(after), bits: came as u64 }
            }
            2 => {
                let mut came = 0;
                for piece in (0..64).step_by(16).rev() {
                    let of = |number: u64| (number >> piece & 0xffff) as i64;
                    let at = at.with(8 + piece);
                    let difference = zigzag(of(value.bits) - of(column.hex));
                    let difference = unzigzag(self.model.number(side, at, difference, u32::MAX));
                    came |= (of(column.hex).wrapping_add(difference) as u64 & 0xffff) << piece;
                }
                column.hex = came;
                Value { kind: Kind::Hex, bits: came }
            }
            _ => {
                side.fail();
                Value::default()
            }
        }
    }
}
