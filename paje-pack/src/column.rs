//! The texts of one field of one event, line after line.

use rustc_hash::FxHashMap;

use crate::coder::{CLASSES, Guesses, NUMBER, Side, Trust, mix};
use crate::out::Out;
use crate::texts::Texts;
use crate::value::{Kind, Value};

/// Columns of bytes for the text of a field; fields share them if there are more than [`SHARED`].
pub(crate) const WIDTH: usize = 64;
pub(crate) const SHARED: u32 = 256;

/// Among these: runs of both guesses, what comes if both are wrong, which known value, the number, and four pieces of a
/// hexadecimal one.
mod part {
    use super::{CLASSES, NUMBER};

    pub(super) const RUNS: [usize; 2] = [0, CLASSES];
    pub(super) const WHAT: usize = 2 * CLASSES;
    pub(super) const KNOWN: usize = WHAT + 1;
    pub(super) const NEW: usize = KNOWN + NUMBER;
    pub(super) const PIECES: usize = NEW + NUMBER;
    /// Columns of a piece: differences have three bytes at most.
    pub(super) const PIECE: usize = 4;
}

/// Codes if no guess is right: a text, a hexadecimal number, a value that the field had, or a decimal number, with
/// so many digits after the point added to this.
mod what {
    pub(super) const TEXT: u8 = 0;
    pub(super) const HEX: u8 = 1;
    pub(super) const KNOWN: u8 = 2;
    pub(super) const DECIMAL: u8 = 3;
}

/// History of a field: its values and new numbers so far.
#[derive(Default)]
struct Column {
    last: Value,
    /// Places of values in `values`; for a writer only.
    known: FxHashMap<Value, u32>,
    values: Vec<Value>,
    /// The last decimal number that was new, and hexadecimal one.
    number: i64,
    hex: u64,
    /// Bits that numbers take, on average, in 16ths: beside the last one, beside the last in the context, by themselves.
    averages: [u32; 3],
}

impl Column {
    /// Number from which a new one is told as a difference; `near` is the last in the context.
    fn base(&self, near: Value) -> i64 {
        let [last, context, itself] = self.averages;
        if context < last && context <= itself {
            number(near)
        } else if last <= itself {
            self.number
        } else {
            0
        }
    }

    fn learn(&mut self, came: i64, near: Value) {
        let beside = [self.number, number(near), 0];
        for (average, base) in self.averages.iter_mut().zip(beside) {
            let size = 64 - zigzag(came.wrapping_sub(base)).leading_zeros();
            *average = *average - *average / 16 + size;
        }
        self.number = came;
    }
}

/// Last value in a context, and its difference from the one before. There are many, at random places: they are small.
#[derive(Clone, Copy, Default)]
struct Stride {
    bits: u64,
    stride: i64,
    /// Difference of the last time, which counts when it comes again.
    latest: i64,
    kind: Kind,
    trust: Trust,
}

impl Stride {
    #[inline]
    const fn last(&self) -> Value {
        Value { kind: self.kind, bits: self.bits }
    }

    #[inline]
    const fn guess(&self) -> Value {
        let last = self.last();
        match last.kind {
            Kind::Decimal(_) => {
                Value { bits: (last.bits as i64).wrapping_add(self.stride) as u64, ..last }
            }
            _ => last,
        }
    }

    /// The guess was right.
    #[inline]
    const fn take(&mut self, came: Value) {
        self.trust.learn(true);
        self.bits = came.bits;
    }

    fn learn(&mut self, came: Value) {
        let right = !self.trust.is_none() && self.guess() == came;
        if !right {
            let stride = if came.kind == self.kind && matches!(came.kind, Kind::Decimal(_)) {
                (came.bits as i64).wrapping_sub(self.bits as i64)
            } else {
                0
            };
            if stride == self.latest {
                self.stride = stride;
            }
            self.latest = stride;
        }
        self.trust.learn(right);
        (self.bits, self.kind) = (came.bits, came.kind);
    }
}

/// A guess, in as few bytes as possible.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Small {
    halves: [u32; 2],
    kind: Kind,
}

impl From<Value> for Small {
    #[inline]
    fn from(value: Value) -> Small {
        Small { halves: [value.bits as u32, (value.bits >> 32) as u32], kind: value.kind }
    }
}

impl From<Small> for Value {
    #[inline]
    fn from(small: Small) -> Value {
        let [low, high] = small.halves.map(u64::from);
        Value { bits: low | high << 32, kind: small.kind }
    }
}

/// All fields of a stream.
pub(crate) struct Columns {
    /// The first of its columns of bytes.
    from: usize,
    columns: Vec<Column>,
    texts: Texts,
    strides: Vec<Stride>,
    guesses: Guesses<Small>,
}

pub(crate) const fn zigzag(number: i64) -> u64 {
    (number << 1 ^ number >> 63) as u64
}

pub(crate) const fn unzigzag(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

/// The number that a value is, 0 if it is none.
const fn number(value: Value) -> i64 {
    match value.kind {
        Kind::Decimal(_) => value.bits as i64,
        _ => 0,
    }
}

/// A context from a value.
const fn hash(value: Value) -> u32 {
    mix(value.bits as u32, (value.bits >> 32) as u32)
}

impl Columns {
    pub(crate) fn new(room: u32, from: usize) -> Self {
        Columns {
            from,
            columns: Vec::new(),
            texts: Texts::default(),
            strides: vec![Stride::default(); 1 << room],
            guesses: Guesses::new(room),
        }
    }

    /// A text of field `number`; one that is read is appended to `out`. Of the contexts in which it comes, the field's last value is added to the second.
    #[inline]
    pub(crate) fn text<S: Side>(
        &mut self,
        side: &mut S,
        number: u32,
        contexts: [u32; 2],
        given: &[u8],
        out: &mut Out,
    ) -> Value {
        if self.columns.len() <= number as usize {
            self.columns.resize_with(number as usize + 1, Column::default);
        }
        let value = if S::WRITES {
            // A text that has no number yet has that which it will get.
            let text = || self.texts.find(given).unwrap_or(self.texts.len());
            Value::of(given).unwrap_or_else(|| Value { kind: Kind::Text, bits: text().into() })
        } else {
            Value::default()
        };
        let from = self.from + (number % SHARED) as usize * WIDTH;
        let column = &mut self.columns[number as usize];
        let [first, second] = contexts;
        let stride = mix(first, number) as usize & (self.strides.len() - 1);
        let near = &mut self.strides[stride];
        let (last, guess) = (near.last(), near.guess());
        let asks = !near.trust.is_none();
        let came = if asks && side.hit(from + part::RUNS[0] + near.trust.class(), guess == value) {
            near.take(guess);
            column.last = guess;
            guess
        } else {
            let place = self.guesses.place(mix(mix(second, hash(column.last)), number));
            let tried = asks.then(|| guess.into());
            let runs = (from + part::RUNS[1], 0);
            let came = match self.guesses.try_one(side, place, runs, tried, value.into()) {
                Some(came) => came.into(),
                None => self.other(side, number, last, value, given),
            };
            self.guesses.learn(place, came.into());
            self.strides[stride].learn(came);
            self.columns[number as usize].last = came;
            came
        };
        if !S::WRITES {
            out.put_value(came, &self.texts);
        }
        came
    }

    /// A value that was not guessed; `near` is the last in the context.
    fn other<S: Side>(
        &mut self,
        side: &mut S,
        number: u32,
        near: Value,
        value: Value,
        given: &[u8],
    ) -> Value {
        let from = self.from + (number % SHARED) as usize * WIDTH;
        let column = &mut self.columns[number as usize];
        let (mut what, mut index) = (0, 0);
        if S::WRITES {
            let known = column.known.get(&value).copied();
            let base = column.base(near);
            what = match (value.kind, known) {
                // A number may be shorter to tell than where it is.
                (Kind::Decimal(after), None) => what::DECIMAL + after,
                (Kind::Decimal(after), Some(known))
                    if zigzag((value.bits as i64).wrapping_sub(base)) <= (known / 2).into() =>
                {
                    what::DECIMAL + after
                }
                (_, Some(known)) => {
                    index = known;
                    what::KNOWN
                }
                (Kind::Text, None) => what::TEXT,
                (Kind::Hex, None) => what::HEX,
            };
        }
        let came = match side.byte(from + part::WHAT, what) {
            what::KNOWN => {
                let index = side.number(from + part::KNOWN, index.into());
                let value = column.values.get(index as usize).copied();
                if value.is_none() {
                    side.fail();
                }
                return value.unwrap_or_default();
            }
            what::TEXT => Value { kind: Kind::Text, bits: self.texts.put(side.text(given)).into() },
            what::HEX => {
                let mut came = 0;
                for piece in 0..4 {
                    let of = |number: u64| (number >> (16 * piece) & 0xffff) as i64;
                    let at = from + part::PIECES + piece * part::PIECE;
                    let difference = zigzag(of(value.bits) - of(column.hex));
                    let difference = unzigzag(side.number(at, difference & 0xff_ffff) & 0xff_ffff);
                    came |=
                        (of(column.hex).wrapping_add(difference) as u64 & 0xffff) << (16 * piece);
                }
                column.hex = came;
                Value { kind: Kind::Hex, bits: came }
            }
            digits => {
                let after = digits - what::DECIMAL;
                if after > 18 {
                    side.fail();
                    return Value::default();
                }
                let base = column.base(near);
                let difference = zigzag((value.bits as i64).wrapping_sub(base));
                let difference = unzigzag(side.number(from + part::NEW, difference));
                let came = base.wrapping_add(difference);
                column.learn(came, near);
                Value { kind: Kind::Decimal(after), bits: came as u64 }
            }
        };
        if S::WRITES {
            column.known.insert(came, column.values.len() as u32);
        }
        column.values.push(came);
        came
    }
}
