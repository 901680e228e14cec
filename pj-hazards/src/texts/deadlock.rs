//! Deadlocks as text and rows.

use paje_analysis::order::Step;

use super::{Reporter, counted, plain};
use crate::deadlock::{Deadlock, Evidence};
use crate::output::{Cell, Findings};

impl Reporter<'_> {
    pub(crate) fn deadlock(&self, found: &Deadlock) -> Findings {
        let mut findings =
            Findings::with("kind,container,state,waits_for,waiting,hanging,members,why");
        let wait = |track: u32| found.waits.iter().find(|wait| wait.track == track as usize);
        let doing = |track: u32| match wait(track) {
            Some(wait) => self.state(wait.track, Some(wait.state)),
            None => {
                let last = self.model.facts.tracks.list()[track as usize].len().checked_sub(1);
                self.state(track as usize, last)
            }
        };
        for hang in &found.hangs {
            let (most, waiting) = hang.most;
            let (kind, how) = match (hang.is_circle, wait(most)) {
                (true, _) => ("circle", "each waits for the next, and the last for the first"),
                (false, Some(_)) => ("stuck", "it waits, and the trace does not show for whom"),
                (false, None) => ("stuck", "others wait for it, and it does not wait"),
            };
            // For a track in a cycle, only the next member is shown, even if the track also waits
            // for other tracks.
            let place = hang.tracks.iter().position(|track| *track == most).unwrap_or(0);
            let next = hang.tracks[(place + 1) % hang.tracks.len()];
            let whom = wait(most).and_then(|wait| wait.whom.first());
            let whom = if hang.is_circle { Some(&next) } else { whom };
            let members: Vec<String> =
                hang.tracks.iter().map(|track| self.shown(*track as usize)).collect();
            findings.rows.push(vec![
                kind.into(),
                self.name(most as usize).into(),
                doing(most).map_or(Cell::None, Cell::from),
                whom.map_or(Cell::None, |whom| self.name(*whom as usize).into()),
                Cell::number(waiting),
                Cell::number(hang.hanging),
                Cell::from(members.join(" ").as_str()),
                how.into(),
            ]);
            let state = |track: u32| {
                let state = doing(track).map(|name| plain(name));
                state.unwrap_or_else(|| "no state".to_owned())
            };
            let name = self.shown(most as usize);
            let others = match waiting {
                0 => "none waits for it".to_owned(),
                _ => format!("{} for it, {} on it in all", waits(waiting), hangs(hang.hanging)),
            };
            findings.lines.push(format!("{kind}: {name} in {}: {others}", state(most)));
            if hang.is_circle {
                findings.lines.push(format!("  circle of {}:", hang.tracks.len()));
            }
            for (at, track) in hang.tracks.iter().enumerate().filter(|_| hang.is_circle) {
                let next = hang.tracks[(at + 1) % hang.tracks.len()] as usize;
                let (whom, how) = wait(*track).map_or((0, ""), |wait| {
                    let count = wait.whom.len();
                    (count, self.how(wait.how, count > 1))
                });
                let more = if whom > 1 { format!(" and {} more", whom - 1) } else { String::new() };
                findings.lines.push(format!(
                    "  {} in {} waits for {}{more}{how}",
                    self.shown(*track as usize),
                    state(*track),
                    self.shown(next)
                ));
            }
            findings.lines.push(format!("  why: {how}"));
        }
        for steps in &found.potential {
            self.circle(steps, &mut findings);
        }
        findings.found = !found.hangs.is_empty() || found.potential_count > 0;
        let mut sums = Vec::new();
        if !found.hangs.is_empty() {
            let waiting = counted(found.waits.len() as u64, "container");
            let ends = counted(found.hangs.len() as u64, "place");
            let more = if found.has_more { " or more" } else { "" };
            sums.push(format!("{waiting} blocked at the end, for {ends}{more}"));
        }
        if found.potential_count > 0 {
            let circles = counted(found.potential_count, "circle");
            sums.push(format!("{circles} of sends if messages are not buffered"));
        }
        findings.sum = if sums.is_empty() { "no deadlocks".to_owned() } else { sums.join("; ") };
        findings
    }

    fn how(&self, how: Evidence, are_many: bool) -> &'static str {
        match how {
            Evidence::NotEntered if are_many => ", which have not entered",
            Evidence::NotEntered => ", which has not entered",
            Evidence::Field => ", according to the field",
            Evidence::LastMessage => ", as with the message before",
            Evidence::Unknown => "",
        }
    }

    fn circle(&self, steps: &[Step], findings: &mut Findings) {
        let places: Vec<(usize, u32)> = steps.iter().map(|step| self.order.place(*step)).collect();
        let names: Vec<String> = places.iter().map(|(track, _)| self.shown(*track)).collect();
        let first = names.first().cloned().unwrap_or_default();
        findings.lines.push(format!("potential deadlock: {} -> {first}", names.join(" -> ")));
        let why = "each sends to the next, which receives later: without buffering, none can go on";
        let mut state_of_first = None;
        for (at, (step, (track, _))) in steps.iter().zip(&places).enumerate() {
            let next = places[(at + 1) % places.len()].0;
            let list = self.model.facts.messages.list();
            let mut sent = self.model.facts.messages.sent(*track).iter().filter(|message| {
                self.order.send(**message as usize) == *step
                    && list[**message as usize].to as usize == next
            });
            let line = match sent.next() {
                Some(message) => {
                    let state = self.state(*track, list[*message as usize].send());
                    state_of_first = state_of_first.or(state);
                    self.message(*message)
                }
                None => format!("{} waits for {}", self.shown(*track), self.shown(next)),
            };
            findings.lines.push(format!("  {line}"));
        }
        findings.lines.push(format!("  why: {why}"));
        findings.rows.push(vec![
            "potential".into(),
            places.first().map_or(Cell::None, |(track, _)| self.name(*track).into()),
            state_of_first.map_or(Cell::None, Cell::from),
            places
                .get(1 % places.len().max(1))
                .map_or(Cell::None, |(next, _)| self.name(*next).into()),
            Cell::None,
            Cell::None,
            Cell::from(names.join(" ").as_str()),
            why.into(),
        ]);
    }
}

fn waits(count: usize) -> String {
    if count == 1 { "1 waits".to_owned() } else { format!("{count} wait") }
}

fn hangs(count: usize) -> String {
    if count == 1 { "1 hangs".to_owned() } else { format!("{count} hang") }
}
