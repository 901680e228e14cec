//! A writer's guess of the next line: a line is compared with it, and taken apart only if it is another one.

use crate::lines::Line;

/// History of a lane: its last actions, the older ones shifted out.
#[derive(Clone, Copy, Default)]
struct Lane {
    /// The last seven, and the last two.
    long: u32,
    short: u32,
}

/// The lines and actions that came the last time, after what has come now.
pub(crate) struct Foresight {
    lanes: Vec<Lane>,
    /// Lane of the last line, and of the one before it, and what that did.
    lane: u32,
    before: u32,
    before_did: u32,
    /// Where the guess of the next line is.
    place: usize,
    lines: Guesses<Line>,
    actions: Guesses<u32>,
}

impl Foresight {
    pub(crate) fn new(room: u32) -> Foresight {
        let (lines, actions) = (Guesses::new(room), Guesses::new(room));
        Foresight { lanes: Vec::new(), lane: 0, before: 0, before_did: 0, place: 0, lines, actions }
    }

    /// The next line, if it is known well enough.
    #[inline]
    pub(crate) fn guess(&self) -> Option<Line> {
        self.lines.asked(self.place, TRUSTED)
    }

    /// The action that a lane may have next.
    #[inline]
    pub(crate) fn likely(&self, lane: u32) -> Option<u32> {
        let long = self.lanes.get(lane as usize)?.long;
        self.actions.asked(self.actions.place(mix(long, 1)), 1)
    }

    /// Takes in what came, which was guessed or not.
    #[inline]
    pub(crate) fn learn(&mut self, line: Line, guessed: bool) {
        self.lines.learn(self.place, line);
        let Line { lane, action } = line;
        if self.lanes.len() <= lane as usize {
            self.lanes.resize(lane as usize + 1, Lane::default());
        }
        if lane != self.lane {
            self.before = self.lane;
            self.before_did = self.lanes[self.lane as usize].short;
            self.lane = lane;
        }
        let now = &mut self.lanes[lane as usize];
        if !guessed {
            self.actions.learn(self.actions.place(mix(now.long, 1)), action);
        }
        let mixed = mix(action, 5);
        now.long = now.long << 5 ^ mixed;
        now.short = now.short << 16 ^ mixed;
        let context = mix(mix(now.long, lane), self.before_did ^ self.before);
        self.place = self.lines.place(context);
    }
}

/// A context from two others.
const fn mix(a: u32, b: u32) -> u32 {
    let mixed =
        (a ^ b.wrapping_mul(0x9e37_79b1)).wrapping_add(0x7f4a_7c15).wrapping_mul(0x85eb_ca6b);
    mixed ^ mixed >> 15
}

/// Room for guesses in a segment with so many bytes of text: 2 to this power.
pub(crate) const fn room(length: usize) -> u32 {
    let bits = usize::BITS - length.leading_zeros();
    let room = bits.saturating_sub(6);
    if room < 8 {
        8
    } else if room > 14 {
        14
    } else {
        room
    }
}

/// Times that a guess was right lately, from which on it is one that may be right again.
const TRUSTED: u8 = 2;
/// No guess is trusted more; one that is trusted as much as this stays when it is wrong.
const MOST: u8 = 15;
const STAYS: u8 = 4;

/// Guesses by context: what came the last time may come next.
struct Guesses<T> {
    /// With how often they were right lately, 0 if there is none.
    guesses: Vec<(T, u8)>,
}

impl<T: Copy + PartialEq + Default> Guesses<T> {
    fn new(room: u32) -> Self {
        Guesses { guesses: vec![Default::default(); 1 << room] }
    }

    /// Which guess is that of a context.
    #[inline]
    const fn place(&self, context: u32) -> usize {
        context as usize & (self.guesses.len() - 1)
    }

    /// The guess at a place, if it is trusted so much.
    #[inline]
    fn asked(&self, place: usize, least: u8) -> Option<T> {
        let (guess, trust) = self.guesses[place];
        (trust >= least).then_some(guess)
    }

    #[inline]
    fn learn(&mut self, place: usize, came: T) {
        let (guess, trust) = &mut self.guesses[place];
        if *trust > 0 && *guess == came {
            *trust = (*trust + 1).min(MOST);
        } else if *trust >= STAYS {
            *trust /= 2;
        } else {
            (*guess, *trust) = (came, 1);
        }
    }
}
