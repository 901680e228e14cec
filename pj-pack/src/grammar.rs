//! The structure of a lane as a grammar: events, sequences, and loops.
//!
//! It is the grammar of HTF (C. Guelque, "HTF: un format de trace hiérarchique", 2023, section
//! 3.1). The events from the start of a state to its end form a sequence. If the last tokens of a
//! level repeat the preceding tokens, both become a loop. Loops with the same body have the same
//! number, even if they have different numbers of iterations.

use rustc_hash::FxHashMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Token {
    Event(u32),
    /// A sequence, by its index in [`Structure::sequences`].
    Sequence(u32),
    Loop(u32),
}

/// A loop, and its number of iterations at each place where it occurs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Iterations {
    pub(crate) body: Token,
    /// Numbers of iterations, in the order of the places where the loop occurs.
    pub(crate) counts: Vec<u64>,
}

#[derive(Debug)]
pub(crate) struct Structure {
    longest: usize,
    /// Tokens of the open levels, innermost level last.
    levels: Vec<Vec<Token>>,
    sequences: Vec<Vec<Token>>,
    numbers: FxHashMap<Vec<Token>, u32>,
    loops: Vec<Iterations>,
    loop_numbers: FxHashMap<Token, u32>,
    events: u64,
}

impl Structure {
    /// Creates an empty structure. The body of a loop has at most `longest` tokens. Adding a token
    /// takes time proportional to `longest`.
    pub(crate) fn new(longest: usize) -> Self {
        Structure {
            longest,
            levels: vec![Vec::new()],
            sequences: Vec::new(),
            numbers: FxHashMap::default(),
            loops: Vec::new(),
            loop_numbers: FxHashMap::default(),
            events: 0,
        }
    }

    /// Adds an event that begins a sequence of events.
    pub(crate) fn enter(&mut self, event: u32) {
        self.levels.push(Vec::new());
        self.event(event);
    }

    pub(crate) fn event(&mut self, event: u32) {
        self.events += 1;
        self.append(Token::Event(event));
    }

    /// Adds an event that ends a sequence of events. If no sequence is open, it is an ordinary
    /// event.
    pub(crate) fn leave(&mut self, event: u32) {
        self.event(event);
        self.close();
    }

    pub(crate) fn finish(&mut self) {
        while self.levels.len() > 1 {
            self.close();
        }
    }

    fn close(&mut self) {
        if self.levels.len() > 1
            && let Some(level) = self.levels.pop()
        {
            let sequence = self.sequence(level);
            self.append(sequence);
        }
    }

    pub(crate) fn root(&self) -> &[Token] {
        &self.levels[0]
    }

    pub(crate) fn sequences(&self) -> &[Vec<Token>] {
        &self.sequences
    }

    pub(crate) fn loops(&self) -> &[Iterations] {
        &self.loops
    }

    /// Returns the number of events, counting all iterations of loops.
    pub(crate) const fn events(&self) -> u64 {
        self.events
    }

    fn sequence(&mut self, tokens: Vec<Token>) -> Token {
        let next = self.sequences.len() as u32;
        let number = *self.numbers.entry(tokens).or_insert_with_key(|tokens| {
            self.sequences.push(tokens.clone());
            next
        });
        Token::Sequence(number)
    }

    /// Returns the body of a loop over these tokens. Several tokens become a sequence.
    fn body(&mut self, tokens: &[Token]) -> Token {
        match tokens {
            [one] => *one,
            more => self.sequence(more.to_vec()),
        }
    }

    fn level(&mut self) -> &mut Vec<Token> {
        self.levels.last_mut().expect("the lane itself is always there")
    }

    fn append(&mut self, token: Token) {
        self.level().push(token);
        while self.fold() {}
    }

    /// If the end of the innermost level repeats itself, turns it into a loop. Returns whether a
    /// loop was made.
    fn fold(&mut self) -> bool {
        let level = self.levels.last().map_or(&[][..], Vec::as_slice);
        let len = level.len();
        for many in 1..=self.longest.min(len - 1) {
            let (before, last) = level.split_at(len - many);
            if let Some(Token::Loop(number)) = before.last()
                && self.repeats(*number, last)
            {
                let number = *number as usize;
                self.level().truncate(len - many);
                if let Some(count) = self.loops[number].counts.last_mut() {
                    *count += 1;
                }
                return true;
            }
            if before.ends_with(last) && !matches!(last, [Token::Loop(_)]) {
                let last = last.to_vec();
                let body = self.body(&last);
                let next = self.loops.len() as u32;
                let number = *self.loop_numbers.entry(body).or_insert(next);
                if number == next {
                    self.loops.push(Iterations { body, counts: Vec::new() });
                }
                self.loops[number as usize].counts.push(2);
                let level = self.level();
                level.truncate(len - 2 * many);
                level.push(Token::Loop(number));
                return true;
            }
        }
        false
    }

    /// Returns whether these tokens are the body of a loop.
    fn repeats(&self, number: u32, tokens: &[Token]) -> bool {
        match (self.loops[number as usize].body, tokens) {
            (body, [one]) if *one == body => true,
            (Token::Sequence(body), tokens) => self.sequences[body as usize] == tokens,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Token::{Event as E, Loop as L, Sequence as S};

    #[test]
    fn a_ping_pong_has_the_loops_of_htf() {
        let mut structure = Structure::new(100);
        structure.event(0);
        for rounds in [100, 10_000] {
            for _ in 0..rounds {
                for call in [1, 4] {
                    structure.enter(call);
                    structure.event(call + 1);
                    structure.leave(call + 2);
                }
            }
            structure.enter(7);
            structure.event(8);
            structure.event(9);
            structure.leave(10);
        }
        structure.event(11);
        structure.finish();
        assert_eq!(structure.events(), 60_610);
        assert_eq!(structure.root(), [E(0), L(1), E(11)]);
        assert_eq!(
            structure.sequences(),
            [
                vec![E(1), E(2), E(3)],
                vec![E(4), E(5), E(6)],
                vec![S(0), S(1)],
                vec![E(7), E(8), E(9), E(10)],
                vec![L(0), S(3)]
            ]
        );
        let loops = [
            Iterations { body: S(2), counts: vec![100, 10_000] },
            Iterations { body: S(4), counts: vec![2] },
        ];
        assert_eq!(structure.loops(), loops);
    }

    fn unfold(structure: &Structure, tokens: &[Token], met: &mut [usize], out: &mut Vec<u32>) {
        for token in tokens {
            match *token {
                E(event) => out.push(event),
                S(number) => unfold(structure, &structure.sequences()[number as usize], met, out),
                L(number) => {
                    let looped = &structure.loops()[number as usize];
                    let count = looped.counts[met[number as usize]];
                    met[number as usize] += 1;
                    for _ in 0..count {
                        unfold(structure, &[looped.body], met, out);
                    }
                }
            }
        }
    }

    #[test]
    fn the_structure_converts_back_to_its_events() {
        for seed in 0..300 {
            let mut rng = testkit::Rng::new(seed);
            let mut structure = Structure::new(1 + rng.index(6));
            let mut events = Vec::new();
            for _ in 0..rng.index(200) {
                let event = rng.index(3) as u32;
                events.push(event);
                match event {
                    0 => structure.enter(event),
                    1 => structure.leave(event),
                    _ => structure.event(event),
                }
            }
            structure.finish();
            let (mut met, mut out) = (vec![0; structure.loops().len()], Vec::new());
            unfold(&structure, structure.root(), &mut met, &mut out);
            assert_eq!(out, events, "seed {seed}");
        }
    }
}
