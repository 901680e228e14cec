//! A look at a segment when it is packed, for what crosses its ends, and for its rows.
//!
//! This is for traces that a replay finds sound, and asks no more of a line than which lane it is of, and whether it opens or
//! closes something there. Lines of the same action do the same: the first one is decoded, and tells what the others do.

use std::collections::HashMap;

use paje_parser::LineDecoder;

use self::clock::Clock;
use self::lanes::{Lane, Lanes, Opener};
use self::links::{Begun, End, Keys, LinkLine};
use crate::definitions::Definitions;
use crate::passage::{Change, Kept, LaneName, Latest, Numbered, Passage};
use crate::rows::{self, Recorder};
use crate::template::{Cut, Roles};
use crate::times::Scale;
use crate::trail::{Noted, NotedKey, Trail};

mod clock;
mod decode;
mod lanes;
mod links;
mod run;
#[cfg(test)]
mod tests;

/// Samples that a short segment may have.
const MOST_SAMPLES: usize = 1 << 10;

/// Effect that a line has, or all lines of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum What {
    /// Each line is to be decoded.
    #[default]
    Unknown,
    /// None but on time.
    Nothing,
    /// The same in a lane.
    Event,
    Push,
    Pop,
    Set,
    Reset,
    SetVariable,
    AddToVariable,
    Start,
    End,
}

impl What {
    const fn is_on_variable(self) -> bool {
        matches!(self, What::SetVariable | What::AddToVariable)
    }
}

/// Effect, its lane, and the recorder's cell; of links, what the recorder knows the end by, as [`Look::ends`] has it for a step.
#[derive(Clone, Copy, Debug, Default)]
struct Deed {
    what: What,
    lane: u32,
    cell: u32,
}

/// Doing of a line: its number, what it does, its time if it has one, its key, whether no time was later, and whether it is among the samples.
struct Doing {
    line: u32,
    deed: Deed,
    time: f64,
    key: u32,
    is_latest: bool,
    is_sample: bool,
}

/// A look at the lines of a text, in order.
struct Look<'t> {
    text: &'t [u8],
    trail: &'t Trail,
    decoder: LineDecoder,
    roles: Roles,
    cut: Cut,
    /// For each step.
    deeds: Vec<Deed>,
    clock: Clock,
    /// The last line of those with the latest time; none if that is kept anyway.
    latest: Option<u32>,
    latest_opener: Opener,
    fixed: Vec<Numbered>,
    aliased: Vec<Kept>,
    ended: Vec<Kept>,
    lanes: Lanes<'t>,
    /// Links by number, if their writer tells which ends belong together; and ends of which it knows no beginning.
    begun: Vec<Begun>,
    loose: Vec<LinkLine>,
    /// Ends are brought together by their keys when all have come; then these are all.
    by_key: bool,
    links: Vec<LinkLine>,
    /// They are not, and that is wrong.
    is_mixed: bool,
    /// The next key.
    key: u32,
    /// Keys of lines of links that their writer has not found, and did not note.
    odd_keys: Vec<NotedKey>,
    /// The last value of a step's links, and what the recorder knows its end by.
    ends: Vec<End<'t>>,
    /// The same for all values, by step.
    ends_by_value: HashMap<(usize, &'t [u8]), End<'t>>,
    /// None if nobody asks, or nobody but a replay can tell.
    recorder: Option<Box<Recorder>>,
    samples: Vec<u32>,
}

/// Looks at a text, whose lines have been noted and whose times have this scale, with the definitions that stand before it; for who
/// wants rows, at these too. None if no part of the trace may be read by itself: it names other files, has lines that cannot be understood, or
/// one that is not whole.
pub(crate) fn look(
    text: &[u8],
    trail: &Trail,
    scale: Scale,
    definitions: &Definitions,
    at_rows: bool,
) -> Option<Passage> {
    let look = |by_key| {
        let mut look = Look::new((text, trail), scale, definitions, by_key);
        let recorder = || Box::new(Recorder::new(trail.lines.len(), trail.keys.len()));
        look.recorder = at_rows.then(recorder);
        look.all().map(|()| look)
    };
    let mut found = look(trail.has_quoted_keys)?;
    if found.is_mixed {
        found = look(true)?;
    }
    Some(found.passage())
}

impl<'t> Look<'t> {
    fn new(
        (text, trail): (&'t [u8], &'t Trail),
        scale: Scale,
        definitions: &Definitions,
        by_key: bool,
    ) -> Self {
        Look {
            text,
            trail,
            decoder: LineDecoder::after(definitions.strict().clone()),
            roles: definitions.roles.clone(),
            cut: Cut::default(),
            deeds: vec![Deed::default(); trail.steps],
            clock: Clock::new(scale),
            latest: None,
            latest_opener: Opener::Unneeded,
            fixed: Vec::new(),
            aliased: Vec::new(),
            ended: Vec::new(),
            lanes: Lanes::default(),
            begun: Vec::with_capacity(trail.keys.len() / 2),
            loose: Vec::new(),
            by_key,
            links: Vec::new(),
            is_mixed: false,
            key: 0,
            odd_keys: Vec::new(),
            ends: Vec::new(),
            ends_by_value: HashMap::default(),
            recorder: None,
            samples: Vec::new(),
        }
    }

    /// Goes through all lines; none if no part of the trace may be read by itself.
    fn all(&mut self) -> Option<()> {
        let mut line = 0;
        while let Some(noted) = self.trail.lines.get(line as usize) {
            self.see(line, *noted)?;
            line = self.run(line + 1);
        }
        Some(())
    }

    /// Any line.
    fn see(&mut self, line: u32, noted: Noted) -> Option<()> {
        let mut deed = self.deeds[noted.step()];
        if deed.what == What::Unknown || noted.is_marked() && Look::is_odd(noted, deed.what) {
            return self.decode(line);
        }
        let mut key = 0;
        if matches!(deed.what, What::Start | What::End) {
            key = self.key_of(line);
            let came = &self.text[self.trail.keys[key as usize].value()];
            let known = &mut self.ends[deed.cell as usize];
            if came != known.value {
                match self.ends_by_value.get(&(noted.step(), came)) {
                    Some(end) => *known = *end,
                    None => return self.decode(line),
                }
            }
            deed.cell = known.end;
        }
        let time = self.clock.seconds_of(noted.units);
        let is_latest = self.clock.units(noted.units);
        self.act(Doing { line, deed, time, key, is_latest, is_sample: false })
    }

    /// A marked line does not do what others of its step do, for all that is known of it.
    fn is_odd(noted: Noted, what: What) -> bool {
        noted.time().is_none() || noted.has_odd_quotes() || noted.is_text() && what.is_on_variable()
    }

    /// Number of the key that was noted of a line, or of one behind it.
    #[inline]
    fn key_of(&mut self, line: u32) -> u32 {
        let keys = &self.trail.keys;
        while keys.get(self.key as usize).is_some_and(|key| key.line < line) {
            self.key += 1;
        }
        self.key
    }

    /// Does what a line does.
    fn act(&mut self, doing: Doing) -> Option<()> {
        let Doing { line, deed, time, key, is_latest, is_sample } = doing;
        let mut opener = Opener::Unneeded;
        let Deed { what, lane: number, cell } = deed;
        if matches!(what, What::Start | What::End) {
            let (is_start, lane, end) = (what == What::Start, number, cell);
            opener = self.link(LinkLine { lane, end, time, line, key, is_start, is_sample });
        } else if what != What::Nothing {
            let lane = &mut self.lanes.all[number as usize];
            if !lane.pass(time) {
                self.recorder = None;
            }
            let recorder = self.recorder.as_deref_mut();
            match what {
                What::Push => lane.push(time, cell, line),
                What::Pop => opener = lane.pop(time, line, recorder)?,
                What::Set => {
                    lane.reset(time, line, recorder);
                    lane.push(time, cell, line);
                }
                What::Reset => lane.reset(time, line, recorder),
                What::SetVariable => lane.set(line),
                What::AddToVariable => opener = lane.add(line),
                _ => {}
            }
        }
        if is_latest {
            (self.latest, self.latest_opener) = (Some(line), opener);
        }
        if is_sample {
            self.samples.push(line);
            if let Opener::Line(opener) = opener {
                self.samples.push(opener);
            }
        }
        Some(())
    }

    fn line_at(&self, line: u32) -> &'t [u8] {
        let line = &self.text[self.trail.lines[line as usize].at as usize..];
        &line[..memchr::memchr(b'\n', line).unwrap_or(line.len())]
    }

    fn keep(&self, line: u32) -> Numbered {
        (line.into(), self.line_at(line).into())
    }

    /// All that was seen, when there are no more lines.
    fn passage(mut self) -> Passage {
        let owned = |(one, other): LaneName<&[u8]>| (one.into(), other.into());
        let halves = self.halves();
        let lines = self.trail.lines.len();
        let times = self.clock.times();
        let mut samples = std::mem::take(&mut self.samples);
        let opener = match self.latest_opener {
            Opener::Line(line) if self.latest.is_some() => Some(line),
            _ => None,
        };
        samples.extend(self.latest.iter().chain(&opener));
        samples.sort_unstable();
        samples.dedup();
        // Where most lines are unlike others, a replay of all is no dearer.
        let is_short = samples.len() <= MOST_SAMPLES + lines / 8;
        let latest_time = times.map_or(0.0, |(_, last)| last);
        let is_near = latest_time < rows::FAR;
        let recorder = self.recorder.take().filter(|_| is_short && is_near);
        let keys = Keys { text: self.text, keys: &self.trail.keys, odd: &self.odd_keys };
        let rows = recorder.map(|all| {
            let half = |half: &LinkLine| {
                let key = keys.bare(half.key);
                all.half_link((half.end, half.time), half.lane, key)
            };
            let halves = halves.iter().map(half).collect();
            let is_cut = !self.text.ends_with(b"\n");
            let lanes = self.lanes.all.iter_mut().map(Lane::rows).collect();
            all.rows(lanes, halves, latest_time, (lines as u64, is_cut))
        });
        if rows.is_none() {
            samples.clear();
        }
        let keep = |line| self.keep(line);
        let links = halves.iter().map(|half| {
            let name = self.lanes.all[half.lane as usize].name;
            ((owned(name), keys.bare(half.key).into()), keep(half.line))
        });
        let links = links.collect();
        let latest = Latest {
            line: self.latest.map(keep),
            opener: opener.map(keep),
            wants_opener: self.latest.is_some() && self.latest_opener != Opener::Unneeded,
        };
        let samples = samples.into_iter().map(keep).collect();
        let lanes = std::mem::take(&mut self.lanes.all);
        let lanes = lanes.into_iter().map(|lane| (lane.name, lane.change()));
        let lanes = lanes.filter(|(_, change)| *change != Change::default());
        Passage {
            lines: lines as u64,
            ends_with_newline: self.text.ends_with(b"\n"),
            times: times.unwrap_or((f64::INFINITY, f64::NEG_INFINITY)),
            latest,
            lanes: lanes
                .map(|(name, change)| (owned(name), change.map(|line| self.keep(line))))
                .collect(),
            links,
            samples,
            rows,
            fixed: std::mem::take(&mut self.fixed),
            aliased: std::mem::take(&mut self.aliased),
            ended: std::mem::take(&mut self.ended),
        }
    }
}
