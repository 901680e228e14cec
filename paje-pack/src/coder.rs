//! Bits by their probability: an arithmetic coder with two bounds, and what it learns as it goes.
//!
//! One model serves both directions. It asks a [`Side`] for each bit: the side that writes takes the bit that it is given, the
//! side that reads ignores that and gives the one that was written.

/// How much a probability moves by the `n`-th bit: 65,536 divided by n + 1.5.
const RATES: [u32; LIMIT as usize + 1] = {
    let mut rates = [0; LIMIT as usize + 1];
    let mut n = 0;
    while n < rates.len() {
        rates[n] = (2 << 16) / (2 * n as u32 + 3);
        n += 1;
    }
    rates
};

/// From here on, older bits are forgotten. Between 60 and 250, sizes differ by less than one in a hundred.
const LIMIT: u16 = 120;

/// How often a context must have been seen until it is believed alone.
const BELIEVED: u32 = 8;

/// The probability of a one, in 65,536ths, and how many bits it has learnt from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Prob {
    one: u16,
    seen: u16,
}

impl Default for Prob {
    fn default() -> Self {
        Prob { one: 1 << 15, seen: 0 }
    }
}

impl Prob {
    fn learn(&mut self, bit: bool) {
        let (one, rate) = (u32::from(self.one), RATES[usize::from(self.seen)]);
        let one = match bit {
            true => one + (((65_535 - one) * rate) >> 16),
            false => one - ((one * rate) >> 16),
        };
        self.one = one.clamp(1, 65_535) as u16;
        self.seen = (self.seen + 1).min(LIMIT);
    }
}

/// What a coarse and a fine context say together, in 65,536ths.
fn blend(coarse: Prob, fine: Prob) -> u32 {
    let weight = u32::from(fine.seen).min(BELIEVED);
    let one = u32::from(coarse.one) * (BELIEVED - weight) + u32::from(fine.one) * weight;
    (one / BELIEVED).clamp(1, 65_535)
}

/// One stream, which is written or read.
pub(crate) trait Side {
    /// It is written: what is given counts.
    const WRITES: bool;

    /// A bit that is a one with a probability of `one` 65,536ths.
    fn at(&mut self, one: u32, bit: bool) -> bool;

    /// A text without newlines, appended to `out`.
    fn text(&mut self, given: &[u8], out: &mut Vec<u8>);

    /// What has been read makes no sense.
    fn fail(&mut self);

    fn bit(&mut self, coarse: &mut Prob, fine: &mut Prob, bit: bool) -> bool {
        let bit = self.at(blend(*coarse, *fine), bit);
        coarse.learn(bit);
        fine.learn(bit);
        bit
    }

    /// The lowest `count` bits, of which nothing is known.
    fn plain(&mut self, value: u64, count: u32) -> u64 {
        (0..count)
            .rev()
            .fold(0, |read, place| read << 1 | u64::from(self.at(1 << 15, value >> place & 1 == 1)))
    }
}

/// What lies between the bounds is cut at the probability; a one is below.
fn middle(low: u32, high: u32, one: u32) -> u32 {
    low + ((u64::from(high - low) * u64::from(one)) >> 16) as u32
}

/// The side that writes.
pub(crate) struct Writing {
    low: u32,
    high: u32,
    pub(crate) bits: Vec<u8>,
    pub(crate) texts: Vec<u8>,
}

impl Writing {
    pub(crate) const fn new() -> Self {
        Writing { low: 0, high: u32::MAX, bits: Vec::new(), texts: Vec::new() }
    }

    /// The bits and the texts that have been written.
    pub(crate) fn finish(mut self) -> [Vec<u8>; 2] {
        // Zeros follow for the reader: the shortest number between the bounds, of which one is always below 2^32 - 2^24.
        if self.high < u32::MAX || self.low > 0 || !self.bits.is_empty() {
            let bytes = (1..4).find(|bytes| {
                let rest = u32::MAX >> (8 * bytes);
                self.low.checked_add(rest).is_some_and(|up| up & !rest <= self.high)
            });
            let rest = bytes.map_or(0, |bytes| u32::MAX >> (8 * bytes));
            let end = self.low.saturating_add(rest) & !rest;
            self.bits.extend_from_slice(&end.to_be_bytes()[..bytes.unwrap_or(4) as usize]);
        }
        [self.bits, self.texts]
    }
}

impl Side for Writing {
    const WRITES: bool = true;

    #[inline]
    fn at(&mut self, one: u32, bit: bool) -> bool {
        let middle = middle(self.low, self.high, one);
        if bit {
            self.high = middle;
        } else {
            self.low = middle + 1;
        }
        while (self.low ^ self.high) >> 24 == 0 {
            self.bits.push((self.high >> 24) as u8);
            self.low <<= 8;
            self.high = self.high << 8 | 255;
        }
        bit
    }

    fn text(&mut self, given: &[u8], out: &mut Vec<u8>) {
        self.texts.extend_from_slice(given);
        self.texts.push(b'\n');
        out.extend_from_slice(given);
    }

    fn fail(&mut self) {}
}

/// The side that reads.
pub(crate) struct Reading<'a> {
    low: u32,
    high: u32,
    /// The bits at hand.
    code: u32,
    bits: &'a [u8],
    texts: &'a [u8],
    pub(crate) failed: bool,
}

impl<'a> Reading<'a> {
    pub(crate) fn new(bits: &'a [u8], texts: &'a [u8]) -> Self {
        let mut side = Reading { low: 0, high: u32::MAX, code: 0, bits, texts, failed: false };
        for _ in 0..4 {
            side.shift();
        }
        side
    }

    fn shift(&mut self) {
        let next = self.bits.split_off_first().copied().unwrap_or(0);
        self.code = self.code << 8 | u32::from(next);
    }
}

impl Side for Reading<'_> {
    const WRITES: bool = false;

    #[inline]
    fn at(&mut self, one: u32, _: bool) -> bool {
        let middle = middle(self.low, self.high, one);
        let bit = self.code <= middle;
        if bit {
            self.high = middle;
        } else {
            self.low = middle + 1;
        }
        while (self.low ^ self.high) >> 24 == 0 {
            self.low <<= 8;
            self.high = self.high << 8 | 255;
            self.shift();
        }
        bit
    }

    fn text(&mut self, _: &[u8], out: &mut Vec<u8>) {
        match memchr::memchr(b'\n', self.texts) {
            Some(end) => {
                out.extend_from_slice(&self.texts[..end]);
                self.texts = &self.texts[end + 1..];
            }
            None => self.failed = true,
        }
    }

    fn fail(&mut self) {
        self.failed = true;
    }
}

/// A context from two others.
pub(crate) const fn mix(a: u32, b: u32) -> u32 {
    let mixed =
        (a ^ b.wrapping_mul(0x9e37_79b1)).wrapping_add(0x7f4a_7c15).wrapping_mul(0x85eb_ca6b);
    mixed ^ mixed >> 15
}

/// How much room there is for what is learnt from a text of so many bytes: 2 to this power for the probabilities of a
/// model. More than fits in a core's cache costs more time than it saves bytes.
pub(crate) const fn room(length: usize) -> u32 {
    let bits = usize::BITS - length.leading_zeros();
    let room = bits.saturating_sub(4);
    if room < 10 {
        10
    } else if room > 18 {
        18
    } else {
        room
    }
}

/// Probabilities by context: 64 for each, some of which share them.
pub(crate) struct Probs {
    probs: Vec<Prob>,
    mask: u32,
}

impl Probs {
    /// Room for 2^`log` probabilities.
    pub(crate) fn new(log: u32) -> Self {
        Probs { probs: vec![Prob::default(); 1 << log], mask: (1 << (log - 6)) - 1 }
    }

    fn at(&mut self, context: u32, node: u32) -> &mut Prob {
        &mut self.probs[((context & self.mask) << 6 | node & 63) as usize]
    }
}

/// Probabilities in a coarse and in a fine context.
pub(crate) struct Model {
    coarse: Probs,
    fine: Probs,
}

/// A coarse context and a fine one.
#[derive(Clone, Copy)]
pub(crate) struct Context {
    pub(crate) coarse: u32,
    pub(crate) fine: u32,
}

impl Context {
    pub(crate) const fn new(coarse: u32, fine: u32) -> Self {
        Context { coarse, fine }
    }

    /// That of something else in this one.
    pub(crate) const fn with(self, other: u32) -> Self {
        Context { coarse: mix(self.coarse, other), fine: mix(self.fine, other) }
    }
}

impl Model {
    pub(crate) fn new(room: u32) -> Self {
        Model { coarse: Probs::new(room.min(14)), fine: Probs::new(room) }
    }

    fn node<S: Side>(&mut self, side: &mut S, at: Context, node: u32, bit: bool) -> bool {
        side.bit(self.coarse.at(at.coarse, node), self.fine.at(at.fine, node), bit)
    }

    pub(crate) fn bit<S: Side>(&mut self, side: &mut S, at: Context, bit: bool) -> bool {
        self.node(side, at, 0, bit)
    }

    /// The lowest `count` bits, at most 6, from the highest down.
    fn tree<S: Side>(&mut self, side: &mut S, at: Context, value: u64, count: u32) -> u64 {
        let root = 1_u64;
        let leaf = (0..count).rev().fold(root, |node, place| {
            node << 1 | u64::from(self.node(side, at, node as u32, value >> place & 1 == 1))
        });
        leaf - (root << count)
    }

    /// A number: how many bits it has, and those behind its first one, of which `modelled` are believed to mean something.
    pub(crate) fn number<S: Side>(
        &mut self,
        side: &mut S,
        at: Context,
        value: u64,
        modelled: u32,
    ) -> u64 {
        let bits = u64::from(u64::BITS - value.leading_zeros());
        let mut bits = match self.tree(side, at, bits.min(15), 4) {
            15 => 15 + self.tree(side, at.with(1), bits.wrapping_sub(15), 6),
            few => few,
        };
        if bits > 64 {
            side.fail();
            bits = 64;
        }
        if bits < 2 {
            return bits;
        }
        let (mut left, mut modelled, mut read) = (bits as u32 - 1, modelled, 1_u64);
        let mut at = at.with(bits as u32 + 1);
        while left > 0 && modelled > 0 {
            let count = left.min(modelled).min(4);
            left -= count;
            modelled -= count;
            read = read << count | self.tree(side, at, value >> left, count);
            at = at.with(read as u32);
        }
        read << left | side.plain(value, left)
    }
}

/// What may come next, as it did the last time.
pub(crate) struct Guesses<T> {
    guesses: Vec<(T, Prob, u32)>,
    /// By how often it was right lately.
    shared: Vec<Prob>,
}

impl<T: Copy + PartialEq + Default> Guesses<T> {
    pub(crate) fn new(room: u32) -> Self {
        Guesses {
            guesses: vec![(T::default(), Prob::default(), 0); 1 << (room - 2)],
            shared: vec![Prob::default(); 1 << 12],
        }
    }

    const fn place(&self, context: u32) -> usize {
        context as usize & (self.guesses.len() - 1)
    }

    /// The guess, if it is right. `group` is what guesses are alike in.
    pub(crate) fn try_one<S: Side>(
        &mut self,
        side: &mut S,
        context: u32,
        group: u32,
        given: T,
    ) -> Option<T> {
        let place = self.place(context);
        let (guess, prob, right) = &mut self.guesses[place];
        if *right == 0 {
            return None;
        }
        let shared = &mut self.shared[((group << 4 | *right) & 4095) as usize];
        let hit = side.bit(shared, prob, *guess == given);
        hit.then_some(*guess)
    }

    /// What a guess would be, if there is one.
    pub(crate) fn peek(&self, context: u32) -> Option<T> {
        let (guess, _, right) = self.guesses[self.place(context)];
        (right > 0).then_some(guess)
    }

    pub(crate) fn learn(&mut self, context: u32, came: T) {
        let place = self.place(context);
        let (guess, prob, right) = &mut self.guesses[place];
        if *guess == came && *right > 0 {
            *right = (*right + 1).min(15);
        } else if *right > 3 {
            *right /= 2;
        } else {
            *guess = came;
            *right = 1;
            *prob = Prob::default();
        }
    }
}
