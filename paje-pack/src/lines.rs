//! Which line comes next: what it does, and in which lane.
//!
//! An action is the text of a line, with placeholders for its lane, time, keys, and for what is no name. Which action comes
//! next depends on those that its lane has had; which lane comes next, on what the one at hand has done, and on who came
//! after it before.

use crate::coder::{Context, Guesses, Model, Side, mix};
use crate::value::Texts;

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

/// How many actions of a lane are remembered.
const REMEMBERED: usize = 6;

#[derive(Clone, Copy, Default)]
struct Lane {
    /// The last first.
    actions: [u32; REMEMBERED],
}

impl Lane {
    /// Its last `count` actions.
    fn context(&self, count: usize) -> u32 {
        self.actions[..count].iter().fold(count as u32, |context, action| mix(context, *action))
    }

    fn learn(&mut self, action: u32) {
        self.actions.copy_within(..REMEMBERED - 1, 1);
        self.actions[0] = action;
    }
}

/// What the lines of a segment are told by, up to one of them.
pub(crate) struct Lines {
    pub(crate) names: Texts,
    pub(crate) actions: Texts,
    lanes: Vec<Lane>,
    /// That of the last line, and those before it.
    lane: u32,
    before: u32,
    model: Model,
    staying: Model,
    next_lanes: [Guesses<u32>; 2],
    next_actions: Guesses<u32>,
}

/// A line without its times, keys and values.
#[derive(Clone, Copy)]
pub(crate) struct Line {
    pub(crate) lane: u32,
    pub(crate) action: u32,
    /// What the lane did before.
    pub(crate) history: u32,
    pub(crate) recent: u32,
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
            model: Model::new(room),
            staying: Model::new(room),
            next_lanes: [Guesses::new(room), Guesses::new(room)],
            next_actions: Guesses::new(room),
        };
        // Lines without a lane are in one that has no name; raw lines have nothing at all.
        lines.names.put(b"");
        lines.actions.put(b"");
        lines
    }

    /// The next line. The texts are those of its lane and its action when it is written.
    pub(crate) fn next<S: Side>(&mut self, side: &mut S, lane: &[u8], action: &[u8]) -> Line {
        let number = |texts: &Texts, text| {
            if S::WRITES { texts.find(text).unwrap_or(texts.len()) } else { 0 }
        };
        let (given_lane, given_action) = (number(&self.names, lane), number(&self.actions, action));
        let mut text = Vec::new();

        let came = self.next_lane(side, given_lane);
        if came as usize == self.lanes.len() {
            side.text(lane, &mut text);
            if self.names.put(&text) != came {
                side.fail();
            }
            self.lanes.push(Lane::default());
        }
        let stays = came == self.lane;
        if !stays {
            self.before = self.lane;
            self.lane = came;
        }
        let now = self.lanes[came as usize];
        let (history, recent) = (now.context(4), now.context(2));
        let came_action = self.next_action(side, came, given_action);
        if came_action == self.actions.len() {
            text.clear();
            side.text(action, &mut text);
            if self.actions.put(&text) != came_action {
                side.fail();
            }
        }
        self.lanes[came as usize].learn(came_action);
        Line { lane: came, action: came_action, history, recent, stays }
    }

    fn next_lane<S: Side>(&mut self, side: &mut S, given: u32) -> u32 {
        let now = self.lanes[self.lane as usize];
        let at = Context::new(now.context(1), now.context(3));
        if self.staying.bit(side, at, given == self.lane) {
            return self.lane;
        }
        let lane = mix(self.lane, 7);
        let contexts = [mix(lane, now.context(4)), mix(lane, self.before)];
        let came = 'came: {
            let mut tried = None;
            for (order, (guesses, context)) in self.next_lanes.iter_mut().zip(contexts).enumerate()
            {
                let guess = guesses.peek(context);
                if guess.is_none() || guess == tried {
                    continue;
                }
                if let Some(lane) = guesses.try_one(side, context, order as u32, given) {
                    break 'came lane;
                }
                tried = guess;
            }
            let at = Context::new(1, mix(lane, now.context(1)));
            let came = self.model.number(side, at, given.into(), u32::MAX);
            if came > self.lanes.len() as u64 {
                side.fail();
                return 0;
            }
            came as u32
        };
        for (guesses, context) in self.next_lanes.iter_mut().zip(contexts) {
            guesses.learn(context, came);
        }
        came
    }

    fn next_action<S: Side>(&mut self, side: &mut S, lane: u32, given: u32) -> u32 {
        let now = self.lanes[lane as usize];
        let context = now.context(REMEMBERED);
        let came = match self.next_actions.try_one(side, context, 0, given) {
            Some(action) => action,
            None => {
                let at = Context::new(mix(2, now.context(1)), mix(3, now.context(3)));
                let came = self.model.number(side, at, given.into(), u32::MAX);
                if came > self.actions.len().into() {
                    side.fail();
                }
                came.min(self.actions.len().into()) as u32
            }
        };
        self.next_actions.learn(context, came);
        came
    }
}
