//! Sweeps through all steps, with vector clocks for a few tracks at a time.

use rayon::prelude::*;

use super::{NONE, Order, Question, Stretch, TAKEN};

/// Number of tracks of a sweep.
pub const LANES: usize = 32;

/// Vector clock: the number of known steps of each track. 0 means that no steps are known beyond
/// those at the start of the sweep. The numbers are signed, because all processors can compare
/// vectors of signed numbers. There are fewer than 2^31 steps.
type Clock = [i32; LANES];

/// Index of the clock that knows nothing beyond the start.
const NOTHING: u32 = 0;

impl Order {
    /// For each query, returns the number of steps of the track that are complete when the step
    /// begins.
    #[must_use]
    pub fn known(&self, questions: &[Question]) -> Vec<u32> {
        let range = 0..self.schedule.sequence.len();
        by_strips(self, questions, |sweep| {
            sweep.run(range.clone(), &self.first[..self.first.len() - 1], NONE);
        })
    }

    /// Answers queries as if operation `skipped` (an index into [`Order::operations`]) delayed no
    /// member. The steps of the queries must be in the stretch of this operation.
    #[must_use]
    pub fn known_without(
        &self,
        skipped: usize,
        stretch: &Stretch,
        questions: &[Question],
    ) -> Vec<u32> {
        let line = self.operations[skipped].line;
        let mut known = by_strips(self, questions, |sweep| {
            sweep.run(stretch.range.clone(), &stretch.begin, line);
        });
        for (known, question) in known.iter_mut().zip(questions) {
            let track = question.track as usize;
            *known = (*known).max(stretch.begin[track] - self.first[track]);
        }
        known
    }
}

struct Asked {
    number: u32,
    slot: u32,
    /// Index of the step's track among the queried tracks.
    place: u32,
    known: u32,
}

impl Asked {
    fn strip(&self) -> u32 {
        self.place / LANES as u32
    }
}

/// Answers queries, a few tracks at a time.
fn by_strips(
    order: &Order,
    questions: &[Question],
    sweep: impl Fn(&mut Sweep<'_>) + Sync,
) -> Vec<u32> {
    let mut place = vec![NONE; order.tracks];
    let mut count = 0;
    let mut asked = Vec::with_capacity(questions.len());
    for (number, question) in (0..).zip(questions) {
        let place = &mut place[question.track as usize];
        if *place == NONE {
            (*place, count) = (count, count + 1);
        }
        let slot = order.schedule.slot[question.step.0 as usize];
        asked.push(Asked { number, slot, place: *place, known: 0 });
    }
    asked.par_sort_unstable_by_key(|asked| (asked.strip(), asked.slot));
    asked
        .par_chunk_by_mut(|a, b| a.strip() == b.strip())
        .for_each(|asked| sweep(&mut Sweep::new(order, &place, asked)));
    let mut known = vec![0; questions.len()];
    asked.iter().for_each(|asked| known[asked.number as usize] = asked.known);
    known
}

struct Sweep<'o> {
    order: &'o Order,
    /// For each line, its index in the clocks of this sweep, if any.
    lane: Vec<Option<u8>>,
    knows: Vec<u32>,
    clocks: Clocks,
    /// For each slot, the clock with which its step began. It is kept as long as an edge needs it.
    versions: Vec<u32>,
    asked: &'o mut [Asked],
}

impl<'o> Sweep<'o> {
    fn new(order: &'o Order, place: &[u32], asked: &'o mut [Asked]) -> Self {
        let from = asked[0].strip() * LANES as u32;
        let lane = |place: u32| place.checked_sub(from).filter(|lane| *lane < LANES as u32);
        let lines = order.first.len() - 1;
        let mut lanes: Vec<Option<u8>> =
            place.iter().map(|place| lane(*place).map(|lane| lane as u8)).collect();
        lanes.resize(lines, None);
        Sweep {
            order,
            lane: lanes,
            knows: vec![NOTHING; lines],
            clocks: Clocks { list: vec![[0; LANES]], uses: vec![0], free: Vec::new() },
            versions: vec![NOTHING; order.schedule.uses.len()],
            asked,
        }
    }

    /// Sweeps a part of the sequence. `at` has the current step of each line at the start of the
    /// part. Steps of line `skipped` do not delay other lines.
    fn run(&mut self, range: std::ops::Range<usize>, at: &[u32], skipped: u32) {
        let (order, schedule) = (self.order, &self.order.schedule);
        let lines = at.len();
        let mut complete: Vec<u32> =
            at.iter().zip(&order.first).map(|(at, first)| at - first).collect();
        // Nothing is known at the start, so queries for earlier slots have the answer 0.
        let mut next =
            self.asked.partition_point(|asked| (asked.slot as usize) < lines + range.start);
        for place in range {
            let line = schedule.sequence[place] as usize;
            for from in schedule.edges(place) {
                if skipped == NONE || schedule.line(from & !TAKEN, lines) != skipped as usize {
                    self.join(line, *from);
                }
            }
            if let Some(lane) = self.lane[line] {
                complete[line] += 1;
                self.clocks.raise(&mut self.knows[line], lane, complete[line]);
            }
            // The line's next step begins. Its queries are answered, and its clock is kept if edges
            // need it.
            let (slot, knows) = (lines + place, self.knows[line]);
            while let Some(asked) =
                self.asked.get_mut(next).filter(|asked| asked.slot as usize == slot)
            {
                let lane = asked.place as usize % LANES;
                asked.known = self.clocks.list[knows as usize][lane] as u32;
                next += 1;
            }
            let uses = schedule.uses[slot];
            if uses > 0 && knows != NOTHING {
                self.clocks.uses[knows as usize] += uses;
                self.versions[slot] = knows;
            }
        }
    }

    /// Merges the clock with which the step of a slot began into the line's clock.
    fn join(&mut self, line: usize, from: u32) {
        let slot = from & !TAKEN;
        let version = self.versions[slot as usize];
        if version != NOTHING {
            self.clocks.join(&mut self.knows[line], version);
            self.clocks.release(version);
        }
        if from & TAKEN != 0 {
            let first = &self.order.first;
            let track = self.order.schedule.line(slot, first.len() - 1);
            if let Some(lane) = self.lane[track] {
                // The slots of a line are in ascending order.
                let slots =
                    &self.order.schedule.slot[first[track] as usize..first[track + 1] as usize];
                let index = slots.partition_point(|other| *other < slot) as u32;
                self.clocks.raise(&mut self.knows[line], lane, index + 1);
            }
        }
    }
}

struct Clocks {
    list: Vec<Clock>,
    uses: Vec<u32>,
    free: Vec<u32>,
}

impl Clocks {
    fn release(&mut self, clock: u32) {
        self.uses[clock as usize] -= 1;
        if self.uses[clock as usize] == 0 {
            self.free.push(clock);
        }
    }

    /// Sets a clock to these numbers. Other references to the old clock do not change.
    fn set(&mut self, clock: &mut u32, numbers: &Clock) {
        let at = *clock as usize;
        if at != NOTHING as usize && self.uses[at] == 1 {
            self.list[at] = *numbers;
            return;
        }
        if at != NOTHING as usize {
            self.uses[at] -= 1;
        }
        *clock = match self.free.pop() {
            Some(free) => {
                (self.list[free as usize], self.uses[free as usize]) = (*numbers, 1);
                free
            }
            None => {
                self.list.push(*numbers);
                self.uses.push(1);
                self.list.len() as u32 - 1
            }
        };
    }

    fn raise(&mut self, clock: &mut u32, lane: u8, known: u32) {
        let mut numbers = self.list[*clock as usize];
        if numbers[lane as usize] < known as i32 {
            numbers[lane as usize] = known as i32;
            self.set(clock, &numbers);
        }
    }

    fn join(&mut self, clock: &mut u32, other: u32) {
        if *clock == other {
            return;
        }
        let (mine, others) = (&self.list[*clock as usize], &self.list[other as usize]);
        let mut both = *mine;
        // `more` becomes nonzero if the result differs from this clock, and `less` if it differs
        // from the other clock.
        let (mut more, mut less) = (0, 0);
        for ((both, mine), other) in both.iter_mut().zip(mine).zip(others) {
            *both = (*mine).max(*other);
            more |= *both ^ mine;
            less |= *both ^ other;
        }
        if more == 0 {
            return;
        }
        if less != 0 {
            self.set(clock, &both);
            return;
        }
        // The other clock is already the result.
        let old = std::mem::replace(clock, other);
        self.uses[other as usize] += 1;
        if old != NOTHING {
            self.release(old);
        }
    }
}
