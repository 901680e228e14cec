//! The progress line.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use indicatif::style::ProgressStyle;
use indicatif::{DecimalBytes, HumanCount, ProgressBar, ProgressDrawTarget, ProgressState};

/// Shortest time over which a speed is measured. Shorter measurements would be too high, because a
/// stage may begin with cached data.
const SETTLED: Duration = Duration::from_secs(1);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Bytes,
    Rows,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stage {
    pub(super) doing: &'static str,
    pub(super) unit: Unit,
    pub(super) done: u64,
    pub(super) all: Option<u64>,
    pub(super) events: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    Wide,
    Medium,
    Narrow,
    Tiny,
}

impl Width {
    pub(super) const fn of(columns: u16) -> Self {
        match columns {
            0..28 => Width::Tiny,
            28..60 => Width::Narrow,
            60..90 => Width::Medium,
            _ => Width::Wide,
        }
    }
}

/// Line that shows the stages of a run. Each stage measures its own speed.
pub(super) struct Line {
    bar: ProgressBar,
    events: Arc<AtomicU64>,
    since: Instant,
    form: Option<(Stage, Width)>,
}

impl Line {
    /// Creates a line that is hidden but already measures speeds.
    pub(super) fn hidden() -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        Line { bar, events: Arc::default(), since: Instant::now(), form: None }
    }

    pub(super) fn show_on(&self, target: impl FnOnce() -> ProgressDrawTarget) {
        if self.bar.is_hidden() {
            self.bar.set_draw_target(target());
        }
    }

    pub(super) fn set(&mut self, stage: Stage, width: Width) {
        let form = |stage: Stage| (stage.doing, stage.all.is_some(), stage.events.is_some());
        let before = self.form;
        if before.is_none_or(|(before, _)| before.doing != stage.doing) {
            self.bar.reset();
            self.bar.set_prefix(stage.doing);
            self.since = Instant::now();
        }
        if before.is_none_or(|(before, at)| at != width || form(before) != form(stage)) {
            self.bar.set_style(self.style(stage, width));
        }
        self.form = Some((stage, width));
        self.events.store(stage.events.unwrap_or(0), Ordering::Relaxed);
        match stage.all {
            Some(all) => self.bar.set_length(all),
            None => self.bar.unset_length(),
        }
        self.bar.set_position(stage.done);
    }

    pub(super) fn clear(&self) {
        self.bar.finish_and_clear();
    }

    fn style(&self, stage: Stage, width: Width) -> ProgressStyle {
        let (done, all) = match stage.unit {
            Unit::Bytes => ("{decimal_bytes}", "{decimal_total_bytes}"),
            Unit::Rows => ("{human_pos}", "{human_len} rows"),
        };
        let events = if stage.events.is_some() { "{events}" } else { "" };
        let template = match (stage.all, width) {
            (Some(_), Width::Wide) => {
                format!("{{prefix}} [{{wide_bar}}] {done} of {all}{{speed}}{events}{{left}}")
            }
            (Some(_), Width::Medium) => {
                "{prefix} [{wide_bar}] {percent:>3} %{speed}{left}".to_owned()
            }
            (Some(_), Width::Narrow) => "{prefix} {percent:>3} %{left}".to_owned(),
            (Some(_), Width::Tiny) => "{percent} %".to_owned(),
            (None, Width::Tiny) => done.to_owned(),
            (None, Width::Narrow) => format!("{{prefix}} {{spinner}} {done}"),
            (None, _) => format!("{{prefix}} {{spinner}} {done}{{speed}}{events}"),
        };
        let (replayed, since, unit) = (Arc::clone(&self.events), self.since, stage.unit);
        // No speed is shown until it is reliable, because the first rows may take long.
        let speed_of = move |state: &ProgressState| {
            let (speed, least) = (state.per_sec(), state.len().unwrap_or(0) / 100);
            let is_known = since.elapsed() >= SETTLED && state.pos() > least && speed > 0.0;
            is_known.then_some(speed)
        };
        let events = move |state: &ProgressState, out: &mut dyn fmt::Write| {
            let Some(speed) = speed_of(state) else { return };
            // The event rate is the current speed in bytes, multiplied by the mean number of events
            // per byte.
            let events = replayed.load(Ordering::Relaxed) as f64;
            let rate = events / state.pos().max(1) as f64 * speed;
            let _ = write!(out, ", {} events/s", HumanCount(rate as u64));
        };
        let speed = move |state: &ProgressState, out: &mut dyn fmt::Write| {
            let Some(speed) = speed_of(state) else { return };
            let _ = match unit {
                Unit::Bytes => write!(out, ", {}/s", DecimalBytes(speed as u64)),
                Unit::Rows => write!(out, ", {} rows/s", HumanCount(speed as u64)),
            };
        };
        let left = move |state: &ProgressState, out: &mut dyn fmt::Write| {
            let rest = state.len().map_or(0, |all| all.saturating_sub(state.pos()));
            let (Some(_), 1..) = (speed_of(state), rest) else { return };
            let seconds = state.eta().as_secs() + 1;
            let _ = match seconds {
                0..60 => write!(out, ", {seconds} s left"),
                _ => write!(out, ", {}:{:02} min left", seconds / 60, seconds % 60),
            };
        };
        let style =
            ProgressStyle::with_template(&template).expect("a valid template, as the tests check");
        let style =
            style.with_key("events", events).with_key("speed", speed).with_key("left", left);
        style.progress_chars("=> ").tick_chars("|/-\\ ")
    }
}

#[cfg(test)]
mod tests {
    use indicatif::InMemoryTerm;

    use super::*;

    /// Returns the last line that a terminal with this number of columns shows for these stages.
    fn drawn(stages: &[Stage], columns: u16) -> String {
        let terminal = InMemoryTerm::new(24, columns);
        let mut line = Line::hidden();
        line.show_on(|| ProgressDrawTarget::term_like(Box::new(terminal.clone())));
        for stage in stages {
            line.set(*stage, Width::of(columns));
            // This makes a stage with progress begin a while ago.
            line.since -= if stage.done > 0 { SETTLED } else { Duration::ZERO };
            line.bar.set_style(line.style(*stage, Width::of(columns)));
            line.bar.force_draw();
        }
        let drawn = terminal.contents();
        line.clear();
        assert_eq!(terminal.contents(), "");
        drawn
    }

    fn assert_in_order(text: &str, parts: &[&str]) {
        let mut rest = text;
        for part in parts {
            let at = rest.find(part).unwrap_or_else(|| panic!("no {part:?}: {text}"));
            rest = &rest[at + part.len()..];
        }
        assert_eq!(text.lines().count(), 1, "{text}");
    }

    const READING: Stage = Stage {
        doing: "reading",
        unit: Unit::Bytes,
        done: 1_500_000,
        all: Some(4_000_000),
        events: Some(30_000),
    };

    #[test]
    fn each_kind_of_line_is_drawn() {
        let parts =
            ["reading [", "=", ">", " ] 1.50 MB of 4.00 MB, ", "B/s, ", " events/s, ", " left"];
        assert_in_order(&drawn(&[READING], 120), &parts);
        let unknown = Stage { done: 2_500_000_000, all: None, ..READING };
        assert_in_order(&drawn(&[unknown], 120), &["reading ", " 2.50 GB, ", "B/s, ", " events/s"]);
        let rows = Stage {
            doing: "writing tables",
            unit: Unit::Rows,
            done: 199_900,
            events: None,
            ..READING
        };
        assert_in_order(
            &drawn(&[rows], 120),
            &["writing tables [", "] 199,900 of 4,000,000 rows, ", " rows/s, ", " left"],
        );
        // A file may be empty, or may have grown.
        drawn(&[Stage { all: Some(0), ..READING }], 80);
        drawn(&[Stage { done: 11, all: Some(10), ..READING }], 80);
    }

    #[test]
    fn every_width_needs_one_line() {
        for columns in [10, 20, 27, 28, 30, 44, 59, 60, 69, 80, 89, 90, 200] {
            for all in [None, Some(4_000_000)] {
                let text = drawn(&[Stage { all, ..READING }], columns);
                assert_eq!(text.lines().count(), 1, "{columns}: {text}");
                assert!(columns < 28 || text.starts_with("reading"), "{columns}: {text}");
                assert!(all.is_none() || columns < 60 || text.contains("=>"), "{columns}: {text}");
            }
        }
        assert_in_order(&drawn(&[READING], 59), &["reading  38 %, ", " left"]);
    }

    #[test]
    fn stages_follow_one_another() {
        let sorting = Stage { doing: "sorting", done: 0, all: Some(100), events: None, ..READING };
        let text = drawn(&[READING, sorting], 100);
        assert!(
            text.starts_with("sorting [") && text.trim_end().ends_with("] 0 B of 100 B"),
            "{text}"
        );
    }

    #[test]
    fn no_speed_is_shown_before_it_is_known() {
        for columns in [30, 60, 80, 200] {
            let at_once = |stage: Stage| {
                let terminal = InMemoryTerm::new(24, columns);
                let mut line = Line::hidden();
                line.show_on(|| ProgressDrawTarget::term_like(Box::new(terminal.clone())));
                line.set(stage, Width::of(columns));
                line.bar.force_draw();
                terminal.contents()
            };
            for text in [
                at_once(READING),
                at_once(Stage { all: None, ..READING }),
                drawn(&[READING, Stage { done: 0, ..READING }], columns),
                drawn(&[READING, Stage { done: 40_000, ..READING }], columns),
            ] {
                assert!(!text.contains("/s") && !text.contains("left"), "{columns}: {text}");
            }
            let done = drawn(&[Stage { done: 4_000_000, ..READING }], columns);
            assert!(!done.contains("left"), "{columns}: {done}");
        }
    }
}
