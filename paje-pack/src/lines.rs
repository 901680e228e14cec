//! Which line comes next: what it does, and in which lane.
//!
//! An action is the text of a line, with placeholders for its lane, time, keys, and for what is no name. Which action comes
//! next depends on those that its lane has had; which lane comes next, on what the one at hand has done, and on who came
//! after it before.

use crate::coder::{CLASSES, Guesses, NUMBER, Side, mix};
use crate::texts::Texts;

/// Placeholders in the text of an action.
pub(crate) mod holes {
    /// The lane.
    pub(crate) const LANE: u8 = 1;
    /// A time.
    pub(crate) const TIME: u8 = 2;
    /// The key of a link that begins.
    pub(crate) const START: u8 = 3;
    /// The key of one that ends.
    pub(crate) const END: u8 = 4;
    /// Anything else.
    pub(crate) const VALUE: u8 = 5;
}

/// The action of lines that are kept as they are.
pub(crate) const RAW: u32 = 0;

/// Columns: runs of the guesses of lanes, and of actions; numbers of lanes, and of actions.
mod column {
    use super::{CLASSES, NUMBER};

    pub(super) const LANES: [usize; 2] = [0, CLASSES];
    pub(super) const ACTIONS: [usize; 2] = [2 * CLASSES, 3 * CLASSES];
    pub(super) const LANE: usize = 4 * CLASSES;
    pub(super) const ACTION: usize = LANE + NUMBER;
}

/// History of a lane: its last actions, the older ones shifted out.
#[derive(Clone, Copy, Default)]
struct Lane {
    /// The last seven, four and two.
    long: u32,
    middle: u32,
    short: u32,
}

impl Lane {
    #[inline]
    const fn learn(&mut self, action: u32) {
        let action = mix(action, 5);
        self.long = self.long << 5 ^ action;
        self.middle = self.middle << 8 ^ action;
        self.short = self.short << 16 ^ action;
    }
}

/// State from which the lines of a segment are told, up to one of them.
pub(crate) struct Lines {
    pub(crate) names: Texts,
    pub(crate) actions: Texts,
    lanes: Vec<Lane>,
    /// Lane of the last line, and of the one before it.
    lane: u32,
    before: u32,
    next_lanes: [Guesses<u32>; 2],
    next_actions: [Guesses<u32>; 2],
    text: Vec<u8>,
}

/// A line without its times, keys and values.
#[derive(Clone, Copy)]
pub(crate) struct Line {
    pub(crate) lane: u32,
    pub(crate) action: u32,
    /// The lane's actions before it, hashed.
    pub(crate) history: u32,
    /// It is that of the line before.
    pub(crate) stays: bool,
}

impl Lines {
    pub(crate) fn new(room: u32) -> Self {
        let mut lines = Lines {
            names: Texts::default(),
            actions: Texts::default(),
            lanes: vec![Lane::default()],
            lane: 0,
            before: 0,
            next_lanes: [Guesses::new(room), Guesses::new(room)],
            next_actions: [Guesses::new(room), Guesses::new(room)],
            text: Vec::new(),
        };
        // Lines without a lane are in one that has no name; raw lines have nothing at all.
        lines.names.put(b"");
        lines.actions.put(b"");
        lines
    }

    /// The next line. The texts are those of its lane and its action when it is written, and `known` is the action's number
    /// if that is known.
    #[inline]
    pub(crate) fn next<S: Side>(
        &mut self,
        side: &mut S,
        lane: &[u8],
        action: &[u8],
        known: Option<u32>,
    ) -> Line {
        let number = |texts: &Texts, text| {
            if S::WRITES { texts.find(text).unwrap_or(texts.len()) } else { 0 }
        };
        let given_lane = number(&self.names, lane);
        let given_action = known.unwrap_or_else(|| number(&self.actions, action));

        let here = mix(self.lane, 7);
        let contexts = [mix(here, self.lanes[self.lane as usize].middle), mix(here, self.before)];
        let came = next(
            side,
            &mut self.next_lanes,
            contexts,
            (column::LANES, column::LANE),
            given_lane,
            self.lanes.len() as u32,
        );
        if came as usize == self.lanes.len() {
            self.new_text(side, lane, true);
            self.lanes.push(Lane::default());
        }
        let stays = came == self.lane;
        if !stays {
            self.before = self.lane;
            self.lane = came;
        }
        let now = self.lanes[came as usize];
        let action_came = next(
            side,
            &mut self.next_actions,
            [mix(now.long, 1), mix(now.short, came)],
            (column::ACTIONS, column::ACTION),
            given_action,
            self.actions.len(),
        );
        if action_came == self.actions.len() {
            self.new_text(side, action, false);
        }
        self.lanes[came as usize].learn(action_came);
        Line { lane: came, action: action_came, history: now.middle, stays }
    }

    /// A lane or an action that has not come before.
    #[cold]
    fn new_text<S: Side>(&mut self, side: &mut S, given: &[u8], is_lane: bool) {
        self.text.clear();
        side.text(given, &mut self.text);
        let texts = if is_lane { &mut self.names } else { &mut self.actions };
        let number = texts.len();
        // A reader never looks for texts, and one that came twice is no harm to it.
        if S::WRITES {
            texts.put(&self.text)
        } else {
            texts.push(&self.text)
        };
        debug_assert!(texts.len() == number + 1);
    }
}

/// The next lane or action: what one of two guesses says, or a number, at most `most`.
#[inline]
fn next<S: Side>(
    side: &mut S,
    guesses: &mut [Guesses<u32>; 2],
    contexts: [u32; 2],
    (runs, column): ([usize; 2], usize),
    given: u32,
    most: u32,
) -> u32 {
    let [first, second] = guesses;
    let places = [first.place(contexts[0]), second.place(contexts[1])];
    let came = first
        .try_one(side, places[0], runs[0], None, given)
        .or_else(|| second.try_one(side, places[1], runs[1], first.peek(places[0]), given));
    let came = came.unwrap_or_else(|| {
        let came = side.number(column, given.into());
        if came > most.into() {
            side.fail();
        }
        came.min(most.into()) as u32
    });
    first.learn(places[0], came);
    second.learn(places[1], came);
    came
}
