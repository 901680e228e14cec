//! The valid trace into which a fault is planted.
//!
//! Four ranks work. The container `v` and its child `n` have no valid events. Faults are planted
//! there, so that they depend on no earlier events, and later events stay valid.

use crate::header::{self, seconds};
use crate::rng::Rng;

#[derive(Debug)]
pub(super) struct Base {
    pub(super) start: Vec<String>,
    /// Events in order of time. Each has its time in microseconds and one or two lines.
    pub(super) events: Vec<(u64, String)>,
    /// Lines that destroy the containers, at the time of the last event.
    pub(super) end: Vec<String>,
}

/// Types and values: `1` rank, `2` its states, `3` links of ranks, `4` its variables, `6` its
/// events; `7` child of ranks, `8` its states, `9` links of children held by a rank; `a` value of
/// states.
const TYPES: [&str; 10] = [
    "0 1 0 Rank",
    "2 2 1 State",
    "4 3 0 1 1 Link",
    "1 4 1 Load \"1 0 0\"",
    "3 6 1 Mark",
    "0 7 1 Device",
    "2 8 7 \"Device State\"",
    "4 9 1 7 7 Copy",
    "5 a 2 Active \"0 1 0\"",
    "5 w 2 Waiting \"0 0 1\"",
];

const RANKS: u64 = 4;

impl Base {
    pub(super) fn random(rng: &mut Rng) -> Self {
        let mut start: Vec<String> = header::all().lines().map(str::to_owned).collect();
        start.extend(TYPES.map(str::to_owned));
        start.extend((1..=RANKS).map(|rank| format!("6 0.000000 {rank} 1 0 \"rank {rank}\"")));
        start.extend(
            ["6 0.000000 v 1 0 victim", "6 0.000000 n 7 v \"device of the victim\""]
                .map(str::to_owned),
        );
        start.extend((1..=RANKS).map(|rank| format!("8 0.000000 4 {rank} 1.5")));
        let mut base = Self { start, events: Vec::new(), end: Vec::new() };
        base.work(rng);
        base
    }

    fn work(&mut self, rng: &mut Rng) {
        let mut depths = [0_u32; RANKS as usize];
        // Faults that come too early use earlier times than this.
        let mut now = 10_000_000;
        let mut links = 0;
        for _ in 0..rng.between(20, 60) {
            now += 1 + rng.below(100_000);
            let time = seconds(now);
            let index = rng.index(depths.len());
            let rank = index + 1;
            match rng.below(8) {
                0..3 if depths[index] < 3 => {
                    self.events.push((
                        now,
                        format!("12 {time} 2 {rank} {}", rng.pick(&["a", "w", "compute"])),
                    ));
                    depths[index] += 1;
                }
                0..5 if depths[index] > 0 => {
                    self.events.push((now, format!("13 {time} 2 {rank}")));
                    depths[index] -= 1;
                }
                5 => self.events.push((
                    now,
                    format!("{} {time} 4 {rank} {}", rng.between(8, 10), rng.below(100)),
                )),
                6 => self.events.push((now, format!("17 {time} 6 {rank} tick"))),
                _ => {
                    links += 1;
                    let [start, end] = [
                        format!("15 {time} 3 0 message {rank}"),
                        format!("16 {time} 3 0 message 1"),
                    ];
                    // Both lines form one event, because a fault that ends the file must not also
                    // leave this link open.
                    self.events.push((now, format!("{start} b{links}\n{end} b{links}")));
                }
            }
        }
        self.end = (1..=RANKS).map(|rank| format!("7 {} 1 {rank}", seconds(now))).collect();
    }
}
