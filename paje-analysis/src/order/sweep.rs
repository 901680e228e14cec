//! Sweeps through all steps with the clocks of a few tracks.

use rayon::prelude::*;

use super::{NONE, Order, Question, Stretch, TAKEN};

/// Number of tracks that a sweep is about.
pub const LANES: usize = 32;

/// Number of known steps of each of the tracks; as many as at the begin where it is 0.
type Clock = [u32; LANES];

/// Nothing is known that was not known at the begin.
const NOTHING: u32 = 0;

/// See [`Order::known`].
pub(super) fn all(order: &Order, questions: &[Question]) -> Vec<u32> {
    let range = 0..order.sequence.len();
    by_strips(order, questions, |sweep| {
        sweep.run(range.clone(), &order.first[..order.first.len() - 1], NONE);
    })
}

/// See [`Order::known_without`].
pub(super) fn without(
    order: &Order,
    line: u32,
    stretch: &Stretch,
    questions: &[Question],
) -> Vec<u32> {
    let mut known = by_strips(order, questions, |sweep| {
        sweep.run(stretch.range.clone(), &stretch.begin, line);
    });
    for (known, question) in known.iter_mut().zip(questions) {
        let track = question.track as usize;
        *known = (*known).max(stretch.begin[track] - order.first[track]);
    }
    known
}

/// Answers questions about few tracks at a time.
fn by_strips(
    order: &Order,
    questions: &[Question],
    sweep: impl Fn(&mut Sweep<'_>) + Sync,
) -> Vec<u32> {
    let mut place = vec![NONE; order.tracks];
    let mut asked = 0;
    for question in questions {
        let place = &mut place[question.track as usize];
        if *place == NONE {
            (*place, asked) = (asked, asked + 1);
        }
    }
    let strips: Vec<u32> = (0..asked.div_ceil(LANES as u32)).collect();
    let answers: Vec<Vec<(u32, u32)>> = strips
        .into_par_iter()
        .map(|strip| {
            let mut one = Sweep::new(order, questions, &place, strip * LANES as u32);
            sweep(&mut one);
            one.answers
        })
        .collect();
    let mut known = vec![0; questions.len()];
    for (question, answer) in answers.into_iter().flatten() {
        known[question as usize] = answer;
    }
    known
}

struct Sweep<'o> {
    order: &'o Order,
    /// By line: its place in clocks, if it has one.
    lane: Vec<Option<u8>>,
    /// By line: the step that it is in, and what it knows.
    at: Vec<u32>,
    knows: Vec<u32>,
    clocks: Clocks,
    /// By step: what it knew when it began, as long as an edge needs it.
    versions: Vec<u32>,
    /// By step: its first question; by question: the next of the same step. One more than the number.
    head: Vec<u32>,
    next: Vec<(u32, u32, u8)>,
    answers: Vec<(u32, u32)>,
}

impl<'o> Sweep<'o> {
    /// A sweep for the questions about tracks from a place on.
    fn new(order: &'o Order, questions: &[Question], place: &[u32], from: u32) -> Self {
        let lane = |place: u32| place.checked_sub(from).filter(|lane| *lane < LANES as u32);
        let lane = |place: u32| lane(place).map(|lane| lane as u8);
        let lines = order.first.len() - 1;
        let mut lanes: Vec<Option<u8>> = place.iter().map(|place| lane(*place)).collect();
        lanes.resize(lines, None);
        let mut head = vec![0; order.uses.len()];
        let mut next = Vec::new();
        for (at, question) in questions.iter().enumerate() {
            if let Some(lane) = lanes[question.track as usize] {
                let head = &mut head[question.step.0 as usize];
                next.push((at as u32, *head, lane));
                *head = next.len() as u32;
            }
        }
        Sweep {
            order,
            lane: lanes,
            at: Vec::new(),
            knows: vec![NOTHING; lines],
            clocks: Clocks { list: vec![[0; LANES]], uses: vec![0], free: Vec::new() },
            versions: vec![NOTHING; order.uses.len()],
            head,
            answers: Vec::with_capacity(next.len()),
            next,
        }
    }

    /// Goes through a part of the sequence in which lines are at these steps at the begin. What ends on line
    /// `skipped` keeps nobody back.
    fn run(&mut self, range: std::ops::Range<usize>, at: &[u32], skipped: u32) {
        let order = self.order;
        self.at = at.to_vec();
        for line in 0..at.len() {
            self.begin(line);
        }
        let skipped = match skipped {
            NONE => 0..0,
            line => order.first[line as usize]..order.first[line as usize + 1],
        };
        for line in &order.sequence[range] {
            let line = *line as usize;
            let step = self.at[line] as usize;
            for edge in order.edge[step] as usize..order.edge[step + 1] as usize {
                let from = order.edges[edge];
                if from != NONE && !skipped.contains(&(from & !TAKEN)) {
                    self.join(line, from);
                }
            }
            if let Some(lane) = self.lane[line] {
                let known = step as u32 + 1 - order.first[line];
                self.clocks.raise(&mut self.knows[line], lane, known);
            }
            self.at[line] += 1;
            self.begin(line);
        }
    }

    /// The step of a line begins: its questions are answered, and what it knows is kept for who needs it.
    fn begin(&mut self, line: usize) {
        let step = self.at[line] as usize;
        if step == self.order.first[line + 1] as usize {
            return;
        }
        let mut question = self.head[step];
        while question != 0 {
            let (number, next, lane) = self.next[question as usize - 1];
            self.answers.push((number, self.clocks.list[self.knows[line] as usize][lane as usize]));
            question = next;
        }
        let (uses, knows) = (self.order.uses[step], self.knows[line]);
        if uses > 0 && knows != NOTHING {
            self.clocks.uses[knows as usize] += uses;
            self.versions[step] = knows;
        }
    }

    /// The line gets to know what the begin of a step knew.
    fn join(&mut self, line: usize, from: u32) {
        let step = (from & !TAKEN) as usize;
        let version = self.versions[step];
        if version != NOTHING {
            self.clocks.join(&mut self.knows[line], version);
            self.clocks.release(version);
        }
        if from & TAKEN != 0 {
            let (track, index) = self.order.place(super::Step(step as u32));
            if let Some(lane) = self.lane[track] {
                self.clocks.raise(&mut self.knows[line], lane, index + 1);
            }
        }
    }
}

/// Clocks, which those who know the same share.
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

    /// Makes the clock one that nobody else has.
    fn own(&mut self, clock: &mut u32) -> &mut Clock {
        let at = *clock as usize;
        if at == NOTHING as usize || self.uses[at] > 1 {
            let copy = self.list[at];
            if at != NOTHING as usize {
                self.uses[at] -= 1;
            }
            *clock = match self.free.pop() {
                Some(free) => {
                    (self.list[free as usize], self.uses[free as usize]) = (copy, 1);
                    free
                }
                None => {
                    self.list.push(copy);
                    self.uses.push(1);
                    self.list.len() as u32 - 1
                }
            };
        }
        &mut self.list[*clock as usize]
    }

    fn raise(&mut self, clock: &mut u32, lane: u8, known: u32) {
        if self.list[*clock as usize][lane as usize] < known {
            self.own(clock)[lane as usize] = known;
        }
    }

    fn join(&mut self, clock: &mut u32, other: u32) {
        if *clock == other {
            return;
        }
        if *clock == NOTHING {
            *clock = other;
            self.uses[other as usize] += 1;
            return;
        }
        let (mine, others) = (self.list[*clock as usize], self.list[other as usize]);
        if mine.iter().zip(&others).any(|(mine, other)| mine < other) {
            let mine = self.own(clock);
            for (mine, other) in mine.iter_mut().zip(&others) {
                *mine = (*mine).max(*other);
            }
        }
    }
}
