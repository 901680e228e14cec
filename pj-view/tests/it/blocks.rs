//! Reads blocks of arrays, as the page does.

/// A block of rows (kind 2) or bins of time spans (kind 1).
#[derive(Clone, Debug, Default)]
pub(crate) struct Block {
    pub(crate) lane: u32,
    pub(crate) kind: u32,
    pub(crate) first: u64,
    /// Rows: start, end, height and number.
    pub(crate) doubles: [Vec<f64>; 4],
    /// Rows: value, imbrication and goal. Bins: value and imbrication of each amount.
    pub(crate) words: [Vec<u32>; 3],
    /// Bins: ends of amounts, and amounts.
    pub(crate) ends: Vec<u32>,
    pub(crate) amounts: Vec<f32>,
}

struct Left<'b>(&'b [u8]);

impl Left<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let (first, rest) = self.0.split_first_chunk::<N>().expect("enough bytes");
        self.0 = rest;
        *first
    }

    fn word(&mut self) -> u32 {
        u32::from_le_bytes(self.take())
    }

    fn words(&mut self, count: u32) -> Vec<u32> {
        let all = (0..count).map(|_| self.word()).collect();
        if count % 2 == 1 {
            self.word();
        }
        all
    }

    fn doubles(&mut self, count: u32) -> Vec<f64> {
        (0..count).map(|_| f64::from_le_bytes(self.take())).collect()
    }
}

pub(crate) fn blocks(bytes: &[u8]) -> Vec<Block> {
    let mut left = Left(bytes);
    let mut found = Vec::new();
    while !left.0.is_empty() {
        let [lane, kind, _level, n, m, _] = [(); 6].map(|()| left.word());
        let first = f64::from_le_bytes(left.take()) as u64;
        let mut block = Block { lane, kind, first, ..Block::default() };
        if kind == 2 {
            block.doubles = [(); 4].map(|()| left.doubles(n));
            block.words = [(); 3].map(|()| left.words(n));
        } else {
            assert!(kind == 1 || kind == 6, "rows or bins");
            block.ends = left.words(n);
            left.words(n);
            block.words = [left.words(m), left.words(m), Vec::new()];
            block.amounts = left.words(m).into_iter().map(f32::from_bits).collect();
            left.words(m);
        }
        found.push(block);
    }
    found
}
