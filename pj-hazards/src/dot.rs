//! Draws graphs of races, waits, cycles, and groups of orders, for Graphviz.

use std::fmt::Write;

use paje_analysis::dot::quoted;

use crate::barriers::Barrier;
use crate::deadlock::Deadlock;
use crate::orders::Group;
use crate::races::Races;
use crate::texts::Reporter;

const DRAWN: usize = 5;

const NODES: usize = 200;

/// Colours that are readable on light and dark backgrounds.
const HEAD: &str = "digraph hazards {\n  bgcolor=\"transparent\"; rankdir=LR;\n  node [shape=box, style=\"filled,rounded\", \
                    fillcolor=\"#dde6f0\", color=\"#6b7c90\", fontcolor=\"#182430\", fontname=\"sans-serif\", fontsize=11];\n  \
                    edge [color=\"#6b7c90\", fontcolor=\"#6b7c90\", fontname=\"sans-serif\", fontsize=10];\n";

const MARKED: &str = "color=\"#d1495b\", fontcolor=\"#d1495b\", penwidth=2";

/// Draws the first races. Each has two messages, and an edge from the second receive to the first.
pub(crate) fn races(reporter: &Reporter<'_>, races: &Races) -> String {
    let mut out = HEAD.to_owned();
    for (at, race) in races.list.iter().take(DRAWN).enumerate() {
        pair(reporter, at, race.first, race.second, "could come first", &mut out);
    }
    out + "}\n"
}

fn pair(
    reporter: &Reporter<'_>,
    at: usize,
    first: u32,
    second: u32,
    label: &str,
    out: &mut String,
) {
    let list = reporter.model.facts.messages.list();
    let _ = writeln!(out, "  subgraph cluster_{at} {{ color=\"#6b7c90\"; style=rounded;");
    for (name, message) in [("first", first), ("second", second)] {
        let it = &list[message as usize];
        let line =
            reporter.places.line(message).map_or(String::new(), |line| format!(", line {line}"));
        let [sent, received] = [it.start, it.end].map(|time| reporter.seconds(time));
        let from = quoted(&format!("{} sends at {sent} s{line}", reporter.shown(it.from as usize)));
        let to = quoted(&format!("{} receives at {received} s", reporter.shown(it.to as usize)));
        let _ = writeln!(out, "    s{at}{name} [label={from}]; r{at}{name} [label={to}];");
        let _ = writeln!(out, "    s{at}{name} -> r{at}{name};");
    }
    let label = quoted(label);
    let _ = writeln!(out, "    r{at}first -> r{at}second [style=dotted, arrowhead=none];");
    let _ = writeln!(
        out,
        "    s{at}second -> r{at}first [style=dashed, label={label}, {MARKED}];\n  }}"
    );
}

/// Draws the messages that could be matched differently without a barrier.
pub(crate) fn barriers(reporter: &Reporter<'_>, barriers: &[Barrier]) -> String {
    let mut out = HEAD.to_owned();
    let kept = barriers.iter().filter_map(|barrier| barrier.keeps).take(DRAWN);
    for (at, kept) in kept.enumerate() {
        pair(reporter, at, kept.taken, kept.other, "without the barrier", &mut out);
    }
    out + "}\n"
}

/// Draws the waits at the end of the trace, and the cycles of sends.
pub(crate) fn deadlock(reporter: &Reporter<'_>, found: &Deadlock) -> String {
    let mut out = HEAD.to_owned();
    for wait in found.waits.iter().take(NODES) {
        for whom in wait.whom.iter().take(NODES) {
            let in_circle = found.hangs.iter().any(|hang| {
                let next = |at: usize| hang.tracks[(at + 1) % hang.tracks.len()];
                let mut places = hang.tracks.iter().enumerate();
                hang.is_circle
                    && places.any(|(at, track)| *track as usize == wait.track && next(at) == *whom)
            });
            let style = if in_circle { format!(" [{MARKED}]") } else { String::new() };
            let (from, to) = (reporter.shown(wait.track), reporter.shown(*whom as usize));
            let _ = writeln!(out, "  {} -> {}{style};", quoted(&from), quoted(&to));
        }
    }
    for steps in found.potential.iter().take(DRAWN) {
        for (at, step) in steps.iter().enumerate() {
            let next = steps[(at + 1) % steps.len()];
            let name = |step| quoted(&reporter.shown(reporter.order.place(step).0));
            let _ =
                writeln!(out, "  {} -> {} [label=\"sends\", {MARKED}];", name(*step), name(next));
        }
    }
    out + "}\n"
}

/// Draws the first groups. The edges are the transitive reduction of their orders.
pub(crate) fn orders(reporter: &Reporter<'_>, groups: &[Group]) -> String {
    let mut out = HEAD.to_owned();
    for (at, group) in groups.iter().take(DRAWN).enumerate() {
        let Some(poset) = group.poset.as_ref().filter(|poset| poset.len() <= NODES) else {
            continue;
        };
        let title = quoted(&format!("{}, group {}", reporter.shown(group.track), at + 1));
        let _ = writeln!(
            out,
            "  subgraph cluster_{at} {{ color=\"#6b7c90\"; fontcolor=\"#6b7c90\"; fontname=\"sans-serif\"; style=rounded; label={title};"
        );
        for (place, message) in group.messages.iter().enumerate() {
            let it = &reporter.model.facts.messages.list()[*message as usize];
            let line = reporter
                .places
                .line(*message)
                .map_or(String::new(), |line| format!(", line {line}"));
            let label = quoted(&format!("from {}{line}", reporter.shown(it.from as usize)));
            let _ = writeln!(out, "    m{at}_{place} [label={label}];");
        }
        for b in 0..poset.len() {
            for a in (0..poset.len()).filter(|a| poset.is_before(*a, b)) {
                let between = |x| poset.is_before(a, x) && poset.is_before(x, b);
                if !(0..poset.len()).any(between) {
                    let _ = writeln!(out, "    m{at}_{a} -> m{at}_{b};");
                }
            }
        }
        out += "  }\n";
    }
    out + "}\n"
}
