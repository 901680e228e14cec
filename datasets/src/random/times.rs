//! Times as integer ticks, and their spellings.

use crate::rng::Rng;

/// Upper limit of the digits of a time as an integer. Larger integers are not exact in double
/// precision.
const EXACT: u64 = 1 << 53;

/// The clock of a trace. Times are multiples of 10⁻ᵈ seconds.
#[derive(Clone, Debug)]
pub(super) struct Clock {
    /// Number of decimals of a tick in seconds, 0 to 15.
    decimals: u32,
    /// Largest step between two events, in ticks.
    step: u64,
    /// Latest time so far, in ticks.
    pub(super) now: u64,
    playful: bool,
}

impl Clock {
    /// Returns a random clock that stays in the range of exact numbers for at most `events` steps.
    pub(super) fn random(events: u64, rng: &mut Rng) -> Self {
        let decimals = rng.pick(&[0, 1, 2, 3, 6, 6, 6, 9, 9, 12, 15]);
        let room = EXACT / 16 / (events + 64);
        let step = match rng.below(4) {
            0 => 3,
            1 => 1 + rng.below(1000),
            _ => 1 + rng.below(room.min(10_u64.pow(decimals) * 50)),
        };
        let now = if rng.percent(80) { 0 } else { rng.below(EXACT / 16) };
        Self { decimals, step: step.min(room), now, playful: rng.percent(50) }
    }

    pub(super) fn advance(&mut self, rng: &mut Rng) {
        if rng.percent(75) {
            self.now += rng.below(self.step + 1);
        }
    }

    pub(super) fn tick(&mut self, rng: &mut Rng) {
        self.now += 1 + rng.below(self.step);
    }

    pub(super) fn spell(&self, ticks: u64, rng: &mut Rng) -> String {
        let (mut digits, mut decimals) = (ticks, self.decimals);
        if self.playful {
            if ticks == 0 && rng.percent(30) {
                return rng
                    .pick(&["-0.000000", "-0", "0", "0.0", "0e0", "+0", "00.000"])
                    .to_owned();
            }
            match rng.below(6) {
                0 | 1 => {
                    while decimals > 0 && digits % 10 == 0 {
                        (digits, decimals) = (digits / 10, decimals - 1);
                    }
                }
                2 => {
                    while decimals < 15 && digits < EXACT / 10 {
                        (digits, decimals) = (digits * 10, decimals + 1);
                    }
                }
                3 => return scientific(digits, decimals, rng),
                _ => {}
            }
        }
        let mut text = decimal(digits, decimals);
        if self.playful {
            match rng.below(24) {
                0 => text.insert_str(0, "00"),
                1 => text.insert(0, '+'),
                2 if decimals == 0 => text.push('.'),
                3 if text.starts_with("0.") => {
                    text.remove(0);
                }
                _ => {}
            }
        }
        text
    }
}

fn decimal(digits: u64, decimals: u32) -> String {
    let width = decimals as usize + 1;
    let mut text = format!("{digits:0width$}");
    if decimals > 0 {
        text.insert(text.len() - decimals as usize, '.');
    }
    text
}

/// Returns a number with an exponent. The digits and the effective power of ten stay the same, so
/// the text means exactly the same quotient.
fn scientific(digits: u64, decimals: u32, rng: &mut Rng) -> String {
    let point = rng.below(u64::from(decimals) + 4) as u32;
    let mantissa = decimal(digits, point);
    let letter = rng.pick(&['e', 'E']);
    match (i64::from(point) - i64::from(decimals), rng.below(3)) {
        (exponent, 0) => format!("{mantissa}{letter}{exponent}"),
        (exponent, 1) => format!("{mantissa}{letter}{exponent:+}"),
        (exponent, _) => format!("{mantissa}{letter}{exponent:+03}"),
    }
}

#[cfg(test)]
mod tests {
    use super::Clock;
    use crate::rng::Rng;

    #[test]
    fn every_spelling_is_the_same_number() {
        let mut rng = Rng::new(3);
        for _ in 0..2000 {
            let mut clock = Clock::random(400, &mut rng);
            clock.tick(&mut rng);
            let plain = clock.now as f64 / 10_f64.powi(clock.decimals as i32);
            let text = clock.spell(clock.now, &mut rng);
            let read: f64 = text.trim_start_matches('+').parse().expect("a number");
            assert_eq!(read, plain, "{text}");
        }
    }
}
