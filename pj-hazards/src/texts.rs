//! Findings as text and rows.

mod deadlock;

use std::collections::BTreeSet;

use num_bigint::BigUint;
use paje_analysis::order::Order;
use paje_decimal::amounts;
use paje_sim::Name;

use crate::barriers::Barrier;
use crate::model::Model;
use crate::orders::{Group, Stage};
use crate::output::{Cell, Findings};
use crate::places::Places;
use crate::races::Races;

#[derive(Debug)]
pub(crate) struct Reporter<'m> {
    pub(crate) model: &'m Model<'m>,
    pub(crate) order: &'m Order,
    pub(crate) places: Places,
}

impl<'m> Reporter<'m> {
    pub(crate) fn new(
        model: &'m Model<'m>,
        order: &'m Order,
        messages: impl IntoIterator<Item = u32>,
    ) -> Self {
        let messages: BTreeSet<u32> = messages.into_iter().collect();
        Reporter { model, order, places: Places::new(model, messages) }
    }

    pub(crate) fn name(&self, track: usize) -> Name<'m> {
        let container = self.model.facts.tracks.list()[track].container;
        self.model.trace().containers().name(container)
    }

    /// Converts a time of the trace to seconds.
    pub(crate) fn seconds(&self, time: f64) -> f64 {
        self.model.trace().time_scale().seconds(time)
    }

    pub(crate) fn shown(&self, track: usize) -> String {
        plain(self.name(track))
    }

    pub(crate) fn state(&self, track: usize, state: Option<usize>) -> Option<Name<'m>> {
        let track = &self.model.facts.tracks.list()[track];
        let value = track.value[state?];
        Some(self.model.trace().types().value_name(track.type_, value))
    }

    fn from(&self, message: u32) -> usize {
        self.model.facts.messages.list()[message as usize].from as usize
    }

    fn to(&self, message: u32) -> usize {
        self.model.facts.messages.list()[message as usize].to as usize
    }

    pub(crate) fn message(&self, message: u32) -> String {
        let it = &self.model.facts.messages.list()[message as usize];
        let (from, to) = (self.shown(it.from as usize), self.shown(it.to as usize));
        let line =
            self.places.line(message).map_or(String::new(), |line| format!(" (line {line})"));
        let state = self.state(it.to as usize, it.recv());
        let state = state.map_or(String::new(), |name| format!(" in {}", plain(name)));
        let [sent, received] = [it.start, it.end].map(|time| self.seconds(time));
        format!("{from} -> {to}: sent {sent} s{line}, received {received} s{state}")
    }

    fn cells(&self, message: u32) -> [Cell; 5] {
        let it = &self.model.facts.messages.list()[message as usize];
        let state = self.state(it.to as usize, it.recv());
        [
            self.name(it.from as usize).into(),
            Cell::Seconds(self.seconds(it.start)),
            Cell::Seconds(self.seconds(it.end)),
            state.map_or(Cell::None, Cell::from),
            self.places.line(message).into(),
        ]
    }

    pub(crate) fn races(&self, races: &Races) -> Findings {
        let columns = "container,first_from,first_sent,first_received,first_state,first_line,second_from,\
                       second_sent,second_received,second_state,second_line,why";
        let mut findings = Findings::with(columns);
        let why = "nothing made the second be sent after the first was received";
        for race in &races.list {
            let container = self.to(race.first);
            let mut row = vec![self.name(container).into()];
            row.extend(self.cells(race.first));
            row.extend(self.cells(race.second));
            row.push(why.into());
            findings.rows.push(row);
            let (at, second) = (self.shown(container), self.shown(self.from(race.second)));
            findings.lines.extend([
                format!("race: {at} could have received from {second} first"),
                format!("  {}", self.message(race.first)),
                format!("  {}", self.message(race.second)),
                format!("  why: nothing made {second} send after {at} had received the first"),
            ]);
        }
        findings.found = races.count > 0;
        findings.sum = match races.count {
            0 => "no races".to_owned(),
            count => format!(
                "{} in {}",
                counted(count, "race"),
                counted(races.containers as u64, "container")
            ),
        };
        findings.cut(races.count, "races");
        findings
    }

    pub(crate) fn stages(&self, stages: &[Stage], limit: usize) -> Findings {
        let mut findings = Findings::with("stage,parts,things,orders,deliveries");
        let number = |number: &Option<BigUint>| number.as_ref().map_or(Cell::None, Cell::number);
        findings.lines.push(format!(
            "{:<10}  {:>7}  {:>10}  {:>15}  {:>15}",
            "stage", "parts", "things", "orders", "deliveries"
        ));
        for stage in stages {
            findings.rows.push(vec![
                stage.name.into(),
                Cell::number(stage.parts),
                Cell::number(stage.things),
                number(&stage.orders),
                number(&stage.deliveries),
            ]);
            let text = |number: &Option<BigUint>| match number {
                Some(number) => {
                    u64::try_from(number).map_or_else(|_| scientific(number), amounts::count)
                }
                None => "over the limit".to_owned(),
            };
            let (orders, deliveries) = (text(&stage.orders), text(&stage.deliveries));
            let (name, parts, things) =
                (stage.name, amounts::count(stage.parts), amounts::count(stage.things));
            findings.lines.push(format!(
                "{name:<10}  {parts:>7}  {things:>10}  {orders:>15}  {deliveries:>15}"
            ));
        }
        let one = BigUint::from(1_u8);
        let groups = stages.iter().find(|stage| stage.name == "groups");
        findings.found = groups.is_some_and(|groups| {
            groups.orders.as_ref().is_none_or(|orders| *orders > &one * groups.parts)
        });
        if stages.iter().any(|stage| stage.orders.is_none()) {
            findings.lines.push(format!(
                "over the limit: counting needs more than {} sets of messages (--limit N allows more), \
                 or more than {} messages",
                amounts::count(limit as u64),
                amounts::count(crate::orders::LARGEST as u64)
            ));
        }
        findings.sum = match findings.found {
            true => "messages could have come in other orders".to_owned(),
            false => "no other orders".to_owned(),
        };
        findings
    }

    /// Describes the orders of each group. The function `orders` returns the orders of a group.
    pub(crate) fn orders(
        &self,
        groups: &[Group],
        limit: usize,
        orders: impl Fn(&Group, usize) -> Vec<Vec<usize>>,
    ) -> Findings {
        let mut findings = Findings::with("container,group,order,place,from,sent,line");
        let mut listed = 0;
        for (at, group) in groups.iter().enumerate() {
            let here = self.shown(group.track);
            let count = group.messages.len();
            if listed == limit {
                break;
            }
            let large = if group.poset.is_none() { ", too many to analyse" } else { "" };
            findings.lines.push(format!("{here}, group {}: {count} messages{large}", at + 1));
            let lists = orders(group, limit - listed);
            listed += lists.len();
            for (number, list) in lists.iter().enumerate() {
                let mut names = Vec::new();
                for (place, message) in list.iter().map(|place| group.messages[*place]).enumerate()
                {
                    let it = &self.model.facts.messages.list()[message as usize];
                    let line = self.places.line(message);
                    findings.rows.push(vec![
                        self.name(group.track).into(),
                        Cell::number(at + 1),
                        Cell::number(number + 1),
                        Cell::number(place + 1),
                        self.name(it.from as usize).into(),
                        Cell::Seconds(self.seconds(it.start)),
                        line.into(),
                    ]);
                    let from = self.shown(it.from as usize);
                    names.push(line.map_or(from.clone(), |line| format!("{from} (line {line})")));
                }
                findings.lines.push(format!("  {}: {}", number + 1, names.join(", ")));
            }
        }
        findings.found = !groups.is_empty();
        findings.sum = match groups.len() {
            0 => "no other orders".to_owned(),
            count => {
                let groups_of = counted(count as u64, "group");
                let more = match listed == limit || groups.iter().any(|one| one.poset.is_none()) {
                    true => "; others exceed --limit or are in too large groups",
                    false => "",
                };
                format!("{} of {groups_of}{more}", counted(listed as u64, "order"))
            }
        };
        findings
    }

    pub(crate) fn barriers(&self, barriers: &[Barrier], limit: usize) -> Findings {
        let columns = "value,instance,entered,last_entered,verdict,taken_from,taken_line,other_from,other_line,why";
        let mut findings = Findings::with(columns);
        let can_go = barriers.iter().filter(|barrier| barrier.keeps.is_none()).count();
        for barrier in barriers.iter().take(limit) {
            let operation = self.order.operations()[barrier.operation];
            let series = &self.model.facts.collectives.series[operation.series];
            let value = self.model.trace().types().value_name(series.type_, series.value);
            let (verdict, why) = match barrier.keeps {
                None => ("can go", "no receive could match another message without it"),
                Some(_) => ("needed", "without it a receive could match another message"),
            };
            let cells = |message: Option<u32>| -> [Cell; 2] {
                let from = message.map(|message| self.name(self.from(message)).into());
                let line = message.and_then(|message| self.places.line(message));
                [from.unwrap_or(Cell::None), line.into()]
            };
            let (first, last) = barrier.entered;
            let [first, last] = [first, last].map(|time| self.seconds(time));
            let mut row = vec![
                value.into(),
                Cell::number(operation.instance + 1),
                Cell::Seconds(first),
                Cell::Seconds(last),
                verdict.into(),
            ];
            row.extend(cells(barrier.keeps.map(|kept| kept.taken)));
            row.extend(cells(barrier.keeps.map(|kept| kept.other)));
            row.push(why.into());
            findings.rows.push(row);
            findings.lines.push(format!(
                "{verdict}: {} {}, entered from {first} s to {last} s",
                plain(value),
                operation.instance + 1
            ));
            if let Some(kept) = barrier.keeps {
                let at = self.shown(self.to(kept.taken));
                findings.lines.extend([
                    format!("  {}", self.message(kept.taken)),
                    format!("  {}", self.message(kept.other)),
                    format!(
                        "  why: without it {at} could receive the second in place of the first"
                    ),
                ]);
            }
        }
        findings.found = can_go > 0;
        let all = counted(barriers.len() as u64, "barrier");
        findings.sum = match barriers {
            [] => "no barriers".to_owned(),
            _ => format!("{can_go} of {all} can be removed, one at a time"),
        };
        findings.cut(barriers.len() as u64, "barriers");
        findings
    }
}

impl Findings {
    fn with(columns: &'static str) -> Self {
        Findings { columns: columns.split(',').collect(), ..Findings::default() }
    }

    /// Adds the number of listed findings, unless all are listed.
    fn cut(&mut self, count: impl Into<u128>, what: &str) {
        let (listed, count) = (self.rows.len() as u128, count.into());
        if listed != count {
            let [listed, count] = [listed, count].map(grouped);
            self.sum += &format!(" ({listed} of {count} {what} listed; --limit lists more)");
        }
    }
}

fn plain(name: Name<'_>) -> String {
    let text = String::from_utf8_lossy(name.text);
    let letters = text.chars().map(|letter| if letter.is_control() { '\u{fffd}' } else { letter });
    letters.collect()
}

/// Formats a number with commas.
fn grouped(number: u128) -> String {
    u64::try_from(number).map_or_else(|_| number.to_string(), amounts::count)
}

/// Formats a large number in three significant digits.
fn scientific(number: &BigUint) -> String {
    let digits = number.to_string();
    format!("{}.{}e{}", &digits[..1], &digits[1..3], digits.len() - 1)
}

fn counted(count: impl Into<u128>, what: &str) -> String {
    let count = count.into();
    let s = if count == 1 { "" } else { "s" };
    format!("{} {what}{s}", grouped(count))
}
