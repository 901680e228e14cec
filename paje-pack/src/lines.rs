//! Which line comes next: what it does, and in which lane.
//!
//! An action is the text of a line, with placeholders for its lane, time, keys, and for what is no name. An action in a lane
//! is a step. Mostly the next step is guessed at once, from what the lane at hand has done, and from the lane before it. If not,
//! its lane is told, by what the one at hand has done, and by who came after it before; then its action, by those that its
//! lane has had.

use rustc_hash::FxHashMap;

use crate::coder::{ASKED, CLASSES, Guesses, NUMBER, Reading, Side, mix};
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

/// Columns: runs of the guesses of lanes, and of actions; numbers of lanes, and of actions; runs of the guesses of steps.
mod column {
    use super::{CLASSES, NUMBER};

    pub(super) const LANES: [usize; 2] = [0, CLASSES];
    pub(super) const ACTIONS: [usize; 2] = [2 * CLASSES, 3 * CLASSES];
    pub(super) const LANE: usize = 4 * CLASSES;
    pub(super) const ACTION: usize = LANE + NUMBER;
    pub(super) const STEPS: usize = ACTION + NUMBER;
}

/// History of a lane: its last actions, the older ones shifted out.
#[derive(Clone, Copy, Default)]
struct Lane {
    /// The last seven, four and two.
    long: u32,
    middle: u32,
    short: u32,
}

/// An action in a lane.
#[derive(Clone, Copy)]
pub(crate) struct Step {
    pub(crate) lane: u32,
    pub(crate) action: u32,
    /// A hash of the action.
    mixed: u32,
}

impl Step {
    const fn new(lane: u32, action: u32) -> Step {
        Step { lane, action, mixed: mix(action, 5) }
    }
}

/// A guess of the next step.
#[derive(Clone, Copy)]
pub(crate) struct Guess {
    pub(crate) number: u32,
    pub(crate) step: Step,
    column: usize,
}

/// State from which the lines of a segment are told, up to one of them.
pub(crate) struct Lines {
    pub(crate) names: Texts,
    pub(crate) actions: Texts,
    lanes: Vec<Lane>,
    steps: Vec<Step>,
    /// The numbers of steps, by their lanes and actions.
    numbers: FxHashMap<(u32, u32), u32>,
    /// Lane of the last line, and of the one before it.
    lane: u32,
    before: u32,
    /// Short history of the one before.
    before_did: u32,
    /// Where the guess of the next step is.
    place: usize,
    next_steps: Guesses<u32>,
    next_lanes: [Guesses<u32>; 2],
    next_actions: [Guesses<u32>; 2],
}

/// A line without its times, keys and values.
#[derive(Clone, Copy)]
pub(crate) struct Line {
    /// The number of its step.
    pub(crate) step: u32,
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
            steps: Vec::new(),
            numbers: FxHashMap::default(),
            lane: 0,
            before: 0,
            before_did: 0,
            place: 0,
            next_steps: Guesses::new(room),
            next_lanes: [Guesses::new(room), Guesses::new(room)],
            next_actions: [Guesses::new(room), Guesses::new(room)],
        };
        // Lines without a lane are in one that has no name; raw lines have nothing at all.
        lines.place = lines.next_steps.place(mix(mix(0, 0), 0));
        lines.names.put(b"");
        lines.actions.put(b"");
        lines
    }

    /// The next step, if it is known well enough.
    #[inline]
    pub(crate) fn guess(&self) -> Option<Guess> {
        let (number, class) = self.next_steps.asked(self.place, ASKED)?;
        Some(Guess { number, step: self.steps[number as usize], column: column::STEPS + class })
    }

    /// The next line, if the guess is right.
    #[inline]
    pub(crate) fn guessed<S: Side>(
        &mut self,
        side: &mut S,
        guess: Guess,
        right: bool,
    ) -> Option<Line> {
        side.hit(guess.column, right).then(|| self.take(guess.number, guess.step))
    }

    /// The next line, for who reads.
    #[inline]
    pub(crate) fn next(&mut self, side: &mut Reading<'_>) -> Line {
        let guessed = self.guess().and_then(|guess| self.guessed(side, guess, false));
        guessed.unwrap_or_else(|| self.told(side, b"", b"", [None; 2]))
    }

    /// The action that a lane may have next.
    #[inline]
    pub(crate) fn likely(&self, lane: u32) -> Option<u32> {
        let [guesses, _] = &self.next_actions;
        let place = guesses.place(mix(self.lanes[lane as usize].long, 1));
        guesses.asked(place, 0).map(|(guess, _)| guess)
    }

    /// The next line, which was not guessed. The texts are those of its lane and its action when it is written, and `known` are their
    /// numbers as far as these are known.
    pub(crate) fn told<S: Side>(
        &mut self,
        side: &mut S,
        lane: &[u8],
        action: &[u8],
        known: [Option<u32>; 2],
    ) -> Line {
        let number = |known: Option<u32>, texts: &Texts, text| match known {
            Some(known) => known,
            None if S::WRITES => texts.find(text).unwrap_or(texts.len()),
            None => 0,
        };
        let given_lane = number(known[0], &self.names, lane);
        let given_action = number(known[1], &self.actions, action);

        let here = mix(self.lane, 7);
        let contexts = [mix(here, self.lanes[self.lane as usize].middle), mix(here, self.before)];
        let came = next(
            side,
            &mut self.next_lanes,
            contexts,
            (column::LANES, column::LANE, ASKED),
            given_lane,
            self.lanes.len() as u32,
        );
        if came as usize == self.lanes.len() {
            self.new_text(side, lane, true);
            self.lanes.push(Lane::default());
        }
        let now = self.lanes[came as usize];
        let action_came = next(
            side,
            &mut self.next_actions,
            [mix(now.long, 1), mix(now.short, came)],
            (column::ACTIONS, column::ACTION, 0),
            given_action,
            self.actions.len(),
        );
        if action_came == self.actions.len() {
            self.new_text(side, action, false);
        }
        let step = Step::new(came, action_came);
        let next = self.steps.len() as u32;
        let number = *self.numbers.entry((came, action_came)).or_insert(next);
        if number == next {
            self.steps.push(step);
        }
        self.take(number, step)
    }

    /// Takes in what came.
    #[inline]
    fn take(&mut self, number: u32, step: Step) -> Line {
        self.next_steps.learn(self.place, number);
        let Step { lane, action, mixed } = step;
        let stays = lane == self.lane;
        if !stays {
            self.before = self.lane;
            self.before_did = self.lanes[self.lane as usize].short;
            self.lane = lane;
        }
        let now = &mut self.lanes[lane as usize];
        let history = now.middle;
        now.long = now.long << 5 ^ mixed;
        now.middle = now.middle << 8 ^ mixed;
        now.short = now.short << 16 ^ mixed;
        // So it is until there is another lane.
        if lane == self.before {
            self.before_did = now.short;
        }
        let context = mix(mix(now.long, lane), self.before_did ^ self.before);
        self.place = self.next_steps.place(context);
        Line { step: number, lane, action, history, stays }
    }

    /// A lane or an action that has not come before.
    #[cold]
    fn new_text<S: Side>(&mut self, side: &mut S, given: &[u8], is_lane: bool) {
        let text = side.text(given);
        let texts = if is_lane { &mut self.names } else { &mut self.actions };
        let number = texts.len();
        // A reader never looks for texts, and one that came twice is no harm to it.
        if S::WRITES {
            texts.put(text)
        } else {
            texts.push(text)
        };
        debug_assert!(texts.len() == number + 1);
    }
}

/// The next lane or action: what one of two guesses says that are of class `least`, or a number, at most `most`.
fn next<S: Side>(
    side: &mut S,
    guesses: &mut [Guesses<u32>; 2],
    contexts: [u32; 2],
    (runs, column, least): ([usize; 2], usize, usize),
    given: u32,
    most: u32,
) -> u32 {
    let [first, second] = guesses;
    let places = [first.place(contexts[0]), second.place(contexts[1])];
    let tried = first.asked(places[0], least);
    let came = match tried {
        Some((guess, class)) if side.hit(runs[0] + class, guess == given) => Some(guess),
        _ => {
            let tried = tried.map(|(guess, _)| guess);
            second.try_one(side, places[1], (runs[1], least), tried, given)
        }
    };
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
