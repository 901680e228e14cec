//! Times of lines: how they are spelt, and how they are told.

use crate::coder::{ASKED, CLASSES, Guesses, NUMBER, Side, mix};
use crate::column::{Columns, unzigzag, zigzag};
use crate::lines::{Line, holes};
use crate::out::Out;
use crate::template::{Cut, Roles, is_header};
use crate::value::{Digits, Kind, Value, with_point};

/// Spelling of times: digits after the point, of which the last `zeros` are zeros.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Scale {
    pub(crate) after: u8,
    pub(crate) zeros: u8,
}

impl Scale {
    /// Spelling of the first times of a text, most of them.
    pub(crate) fn of(text: &[u8], roles: &Roles) -> Scale {
        const SAMPLE: usize = 2048;
        let mut cut = Cut::default();
        let mut counts = [0_usize; 20];
        let mut zeros = [18_u8; 20];
        let lines = text.split(|byte| *byte == b'\n').filter(|line| !is_header(line));
        for line in lines.take(SAMPLE) {
            if !cut.cut(line, roles) {
                continue;
            }
            let is_hole = |byte: &&u8| (holes::LANE..=holes::VALUE).contains(*byte);
            for (hole, field) in cut.action.iter().filter(is_hole).zip(&cut.fields) {
                if *hole == holes::TIME
                    && let Some(Value { kind: Kind::Decimal(after), bits }) =
                        Value::decimal(&line[field.clone()])
                {
                    counts[usize::from(after)] += 1;
                    let of = (0..after)
                        .take_while(|zeros| bits % 10_u64.pow(u32::from(*zeros) + 1) == 0);
                    let zeros = &mut zeros[usize::from(after)];
                    *zeros = (*zeros).min(of.count() as u8);
                }
            }
        }
        let after = (0..20).max_by_key(|after| counts[*after]).unwrap_or(0);
        if counts[after] == 0 {
            Scale::default()
        } else {
            Scale { after: after as u8, zeros: zeros[after] }
        }
    }

    /// The time in the units of the scale, if it is spelt as the others.
    #[inline]
    fn units(self, text: &[u8]) -> Option<i64> {
        let zeros = usize::from(self.zeros);
        if let Some((others, last)) = text.split_at_checked(text.len().wrapping_sub(zeros))
            && last.iter().all(|byte| *byte == b'0')
            && let Some(units) = with_point(others, usize::from(self.after) - zeros)
        {
            return Some(units as i64);
        }
        // Mostly, they are zeros, and there are other digits between them and the point.
        if self.zeros < self.after
            && let Some((others, last)) = text.split_at_checked(text.len().wrapping_sub(zeros))
            && last.iter().all(|byte| *byte == b'0')
            && let Some(Value { kind: Kind::Decimal(after), bits }) = Value::decimal(others)
        {
            let same = after + self.zeros == self.after && text.len() <= 19;
            return same.then_some(bits as i64);
        }
        let Value { kind: Kind::Decimal(after), bits } = Value::decimal(text)? else { return None };
        let power = 10_i64.pow(self.zeros.into());
        (after == self.after && bits as i64 % power == 0).then(|| bits as i64 / power)
    }

    #[inline]
    fn digits(self, units: i64) -> Digits {
        Digits::padded(units, self.after, self.zeros)
    }
}

/// Columns of times: runs of those that are spelt as the others; of guesses; numbers by action; then what odd ones need.
mod column {
    use super::{CLASSES, NUMBER};

    pub(super) const USUAL: usize = 0;
    pub(super) const RUNS: usize = 1;
    pub(super) const NUMBERS: usize = RUNS + 2 * CLASSES;
    /// Actions that share no columns.
    pub(super) const ACTIONS: usize = 64;
    pub(super) const ODD: usize = NUMBERS + 2 * ACTIONS * NUMBER;
}

/// Times, in the order of their lines.
pub(crate) struct Times {
    scale: Scale,
    last: i64,
    /// Spelling of the last time, once there is one: as a writer was given it, and as a reader writes it.
    text: Vec<u8>,
    digits: Option<Digits>,
    durations: Guesses<i64>,
    /// When a lane had its last line.
    lanes: Vec<i64>,
    odd: Columns,
}

impl Times {
    /// For lanes and actions that some `2^room` guesses are kept of.
    pub(crate) fn new(scale: Scale, room: u32) -> Times {
        Times {
            scale,
            last: 0,
            text: Vec::new(),
            digits: None,
            durations: Guesses::new(room),
            lanes: Vec::new(),
            odd: Columns::new(8, column::ODD),
        }
    }

    /// The time of the next line: told if it is `given`, else written.
    #[inline]
    pub(crate) fn next<S: Side>(&mut self, side: &mut S, line: Line, given: &[u8], out: &mut Out) {
        let units = match S::WRITES {
            true if given == self.text => Some(self.last),
            true => self.scale.units(given),
            false => None,
        };
        if !side.hit(column::USUAL, units.is_some()) {
            self.odd.text(side, 0, [line.action, 0], given, out);
            return;
        }
        let lane = line.lane as usize;
        if self.lanes.len() <= lane {
            self.lanes.resize(lane + 1, 0);
        }
        let before = self.lanes[lane];
        let units = units.unwrap_or(0);
        let stays = usize::from(line.stays);
        let place = self.durations.place(mix(line.history, line.action));
        let runs = column::RUNS + stays * CLASSES;
        let guess = self.durations.asked(place, ASKED);
        let came = match guess {
            Some((guess, class)) if side.hit(runs + class, before.wrapping_add(guess) == units) => {
                before.wrapping_add(guess)
            }
            _ => {
                let action = line.action as usize % column::ACTIONS;
                let numbers = column::NUMBERS + (2 * action + stays) * NUMBER;
                let difference = zigzag(units.wrapping_sub(self.last));
                self.last.wrapping_add(unzigzag(side.number(numbers, difference)))
            }
        };
        self.durations.learn(place, came.wrapping_sub(before));
        self.lanes[lane] = came;
        // Many lines have the time of the line before.
        if S::WRITES {
            if came != self.last || self.text.is_empty() {
                self.text.clear();
                self.text.extend_from_slice(given);
            }
            self.last = came;
            return;
        }
        match &self.digits {
            Some(digits) if came == self.last => out.put_digits(digits),
            _ => {
                let digits = self.scale.digits(came);
                out.put_digits(self.digits.insert(digits));
            }
        }
        self.last = came;
    }
}
