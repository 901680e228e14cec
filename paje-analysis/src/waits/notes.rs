//! Notes on what the analysis of waiting assumes and ignores.

use paje_sim::{TypeId, ValueId};

use super::Waits;
use crate::classes::{Class, Classes, Map};
use crate::collectives::{Collectives, Level};
use crate::tasks::NO_FILE;

impl Waits<'_> {
    /// Returns notes on assumptions and on ignored states.
    #[must_use]
    pub fn assumptions(&self, map: &Map) -> Vec<String> {
        let types = self.facts.tracks.trace().types();
        let classes = self.facts.tracks.classes();
        let value = |type_: TypeId, value: ValueId| types.value_name(type_, value).to_string();
        let mut notes = Vec::new();
        if !classes.passed_over().is_empty() {
            let name = |id: TypeId| types.name(id).to_string();
            let chosen = list(classes.chosen().map(name).collect());
            let others = list(classes.passed_over().iter().map(|id| name(*id)).collect());
            notes.push(format!("note: waits analysed in {chosen}; ignored: {others}"));
        }
        let unknown = unknown(classes, |class| class != Class::Compute);
        if !unknown.is_empty() {
            let (count, map) = (unknown.len(), map.name());
            let values = if count == 1 { "value is" } else { "values are" };
            let unknown = list(unknown.iter().map(|it| value(it.0, it.1)).collect());
            notes.push(format!(
                "note: {count} {values} not in the map `{map}`, so never waiting (classify with --map FILE): {unknown}"
            ));
        }
        if self.facts.shift > 0.0 {
            notes.push(format!(
                "note: clocks differ by up to {:.6} s, as messages and collectives show; times are compared on one clock",
                self.facts.shift
            ));
        }
        notes.extend(notes_on_groups(self));
        let collectives = &self.facts.collectives;
        let uneven = collectives.uneven.iter().map(|uneven| {
            let first = self.name(collectives.groups[uneven.group][0]);
            let (name, least, most) =
                (value(uneven.type_, uneven.value), uneven.least, uneven.most);
            format!("{name} in the group of {first} ({least} to {most})")
        });
        let uneven: Vec<String> = uneven.collect();
        if !uneven.is_empty() {
            notes.push(format!(
                "warning: these collectives are ignored, as containers have different numbers of them: {}",
                list(uneven)
            ));
        }
        let rooted = collectives.series.iter().filter(|series| series.assumed);
        let assumed = rooted.filter_map(|series| {
            let members = &series.tracks;
            let root = self.name(members[series.root.filter(|_| members.len() > 1)?]);
            let turn = if series.turn > 0 { ", rotating," } else { "" };
            Some(format!("{root}{turn} for {}", value(series.type_, series.value)))
        });
        let assumed: Vec<String> = assumed.collect();
        let parts = collectives.series.iter().filter(|series| series.is_part);
        let mut parts: Vec<String> = parts.map(|it| value(it.type_, it.value)).collect();
        parts.dedup();
        if !parts.is_empty() {
            notes.push(format!(
                "note: groups of containers are inferred from the times of {}; the trace has no communicators",
                list(parts)
            ));
        }
        if !assumed.is_empty() {
            notes
                .push(format!("note: assuming the root is {} (change with --root)", list(assumed)));
        }
        let combined = self.combined();
        if self.lacks_messages() {
            notes.push(format!(
                "note: of {} Sendrecv states, {} have a message, as SMPI does not record it; waiting there is \
                 ignored",
                combined.0, combined.1
            ));
        } else if !self.has_dependences() {
            let why = match map.name() {
                "starpu" => NO_FILE,
                _ => "no messages between containers with these states, and no collectives",
            };
            notes.push(format!("note: no waiting can be found: {why}"));
        }
        let (sent, received) = self.facts.messages.without_state();
        if sent + received > 0 {
            let all = self.facts.messages.list().len();
            notes.push(format!(
                "note: of {all} messages, {sent} have no sending state and {received} no receiving state"
            ));
        }
        notes
    }

    /// Returns a note on values that the map does not contain, and that count as computing.
    #[must_use]
    pub fn unknown_computing(&self) -> Option<String> {
        let own = unknown(self.facts.tracks.classes(), |class| class == Class::Compute);
        let types = self.facts.tracks.trace().types();
        let own: Vec<String> =
            own.iter().map(|it| types.value_name(it.0, it.1).to_string()).collect();
        (!own.is_empty()).then(|| {
            format!("note: these values count as computing (change with --map): {}", list(own))
        })
    }
}

/// Returns the values that the map does not contain, and whose class fits.
fn unknown(classes: &Classes, fits: fn(Class) -> bool) -> Vec<(TypeId, ValueId)> {
    let all = classes.unknown().iter().copied();
    all.filter(|it| fits(classes.class(it.0, it.1))).collect()
}

/// Joins the first names of a list, and counts the others.
fn list(names: Vec<String>) -> String {
    let (shown, more) = (names.len().min(5), names.len().saturating_sub(5));
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", names[..shown].join(", "))
}

/// Explains how containers were grouped, if that is not evident.
fn notes_on_groups(waits: &Waits<'_>) -> Option<String> {
    let Collectives { groups, series, level, .. } = &*waits.facts.collectives;
    if series.is_empty() {
        return None;
    }
    if groups.iter().all(|group| group.len() == 1) {
        let why =
            "collectives not analysed, as each group has one container; try another --group TYPE";
        return Some(format!("note: {why}"));
    }
    let containers = waits.facts.tracks.trace().containers();
    let parent =
        |track: &u32| containers.parent(waits.facts.tracks.list()[*track as usize].container);
    let is_evident = |group: &Vec<u32>| group.iter().all(|it| parent(it) == parent(&group[0]));
    match level {
        Level::All if !groups.iter().all(is_evident) => {
            let count = series.iter().map(|it| groups[it.group].len()).max().unwrap_or(0);
            let all = format!("assuming all {count} containers with such states are one group");
            Some(format!("note: {all} (change with --group)"))
        }
        Level::Depth(_) => {
            let count = groups.len();
            Some(format!(
                "note: assuming {count} groups, as collectives agree (change with --group)"
            ))
        }
        Level::All | Level::Given | Level::Recorded => None,
    }
}
