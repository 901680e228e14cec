//! A replay keeps the rows that a selection wants, and no others.

use std::collections::BTreeSet;
use std::iter::successors;

use paje_sim::{
    ContainerId, Glob, Name, NameOrder, Natures, Options, Selection, Step, Trace, TypeId,
    TypeNature::{Container, Event, Link, State, Variable},
};

use crate::listing;
use crate::traces;

/// Returns some selections. Each leaves out rows of most traces.
pub(crate) fn selections() -> Vec<Selection> {
    let mut all = Vec::new();
    for natures in [&[State, Link][..], &[Variable, Event], &[Container]] {
        let mut selection = Selection::default();
        selection.natures = natures.iter().copied().collect::<Natures>();
        all.push(selection);
    }
    for glob in ["*[aeo]*", "*[13579]"] {
        let glob = vec![glob.parse().expect("a pattern")];
        let (mut types, mut containers) = (Selection::default(), Selection::default());
        (types.types, containers.containers) = (glob.clone(), glob);
        all.extend([types, containers]);
    }
    all
}

/// Returns the rows of a trace that a selection wants.
pub(crate) fn wanted(trace: &Trace, selection: &Selection) -> Vec<String> {
    let selected = trace.select(selection);
    let steps = trace.walk(NameOrder::Bare).filter(|step| {
        let is_wanted = wants(trace, selection, *step);
        assert_eq!(selected.wants_step(*step), is_wanted, "{selection:?} {step:?}");
        is_wanted
    });
    listing::of_steps(trace, steps)
}

/// Applies the rules of selections to one step.
fn wants(trace: &Trace, selection: &Selection, step: Step) -> bool {
    let containers = trace.containers();
    let (container, type_) = match step {
        Step::Container(id) => (id, containers.type_of(id)),
        Step::Type(container, type_) => (container, type_),
    };
    let parent = |id: &ContainerId| (*id != ContainerId::ROOT).then(|| containers.parent(*id));
    wants_type(trace, selection, type_)
        && successors(Some(container), parent)
            .any(|id| any(&selection.containers, containers.name(id), containers.alias(id)))
}

fn wants_type(trace: &Trace, selection: &Selection, id: TypeId) -> bool {
    let types = trace.types();
    selection.natures.contains(types.nature(id))
        && any(&selection.types, types.name(id), types.alias(id))
}

fn any(globs: &[Glob], name: Name<'_>, alias: Option<Name<'_>>) -> bool {
    globs.is_empty() || globs.iter().any(|glob| matches(glob, name, alias))
}

fn matches(glob: &Glob, name: Name<'_>, alias: Option<Name<'_>>) -> bool {
    [Some(name), alias].into_iter().flatten().any(|name| glob.matches(name.text))
}

#[test]
fn types_lanes_and_patterns_are_selected() {
    let globs = |all: &[&str]| all.iter().map(|glob| glob.parse().expect("a pattern")).collect();
    let mut all = selections();
    all.push(Selection::default());
    let mut several = Selection::default();
    several.types = globs(&["*", "*[aeo]*", "no such type"]);
    several.containers = globs(&["*", "no such container", "*[13579]"]);
    all.push(several);
    for text in traces() {
        let Ok(trace) = Trace::read(&text[..], &Options::default()) else { continue };
        let (types, containers) = (trace.types(), trace.containers());
        for selection in &all {
            let selected = trace.select(selection);
            assert_eq!(selected.is_everything(), *selection == Selection::default());
            for id in types.ids() {
                assert_eq!(selected.wants_type(id), wants_type(&trace, selection, id));
            }
            for lane in trace.lanes() {
                let step = Step::Type(lane.container(), lane.type_id());
                assert_eq!(selected.wants_lane(lane), wants(&trace, selection, step));
            }
            let unmet = selection.types.iter().filter(|glob| {
                !types.ids().any(|id| matches(glob, types.name(id), types.alias(id)))
            });
            assert!(selected.unmet_types().eq(unmet), "{selection:?}");
            let unmet = selection.containers.iter().filter(|glob| {
                !containers.ids().any(|id| matches(glob, containers.name(id), containers.alias(id)))
            });
            assert!(selected.unmet_containers().eq(unmet), "{selection:?}");
        }
    }
}

/// In a damaged trace, events of a container may come before its parent is known.
#[test]
fn recovery_keeps_rows_for_later_parents() {
    let text = datasets::definitions(DEFINITIONS)
        + "a P 0\nb S P\ne 0 p P 0\n4 1 S c 1\ne 2 c P p\n4 3 S c 1\n";
    let mut options = Options::default();
    options.recover = true;
    options.selection.containers = vec!["p".parse().expect("a pattern")];
    let trace = Trace::read(text.as_bytes(), &options).expect("recovered");
    let selected = trace.select(&options.selection);
    let wanted = trace.lanes().filter(|lane| selected.wants_lane(*lane));
    assert_eq!(wanted.map(|lane| lane.len()).sum::<u64>(), 2);
}

/// Lanes without rows refuse the same events as lanes with rows.
#[test]
fn unwanted_rows_are_checked_and_left_out() {
    let selections = selections();
    let (mut left_out, mut refused) = (0, 0);
    for (number, text) in traces().enumerate() {
        let mut options = Options::default();
        options.no_imbrication = number % 3 == 0;
        options.user_defined = number % 2 == 0;
        let whole = Trace::read(&text[..], &options);
        for turn in 0..3 {
            let selection = &selections[(number + turn * 3) % selections.len()];
            options.selection = selection.clone();
            match (&whole, Trace::read(&text[..], &options)) {
                (Ok(whole), Ok(some)) => {
                    assert_eq!(wanted(&some, selection), wanted(whole, selection));
                    assert_eq!(some.end(), whole.end());
                    let selected = some.select(selection);
                    for lane in some.lanes().filter(|lane| !selected.wants_lane(*lane)) {
                        assert!(lane.is_empty(), "{selection:?} {}", lane.type_name());
                    }
                    left_out += usize::from(listing::of(&some).len() < listing::of(whole).len());
                }
                (Err(whole), Err(some)) => {
                    assert_eq!(some.to_string(), whole.to_string());
                    refused += 1;
                }
                (whole, some) => {
                    panic!("{selection:?}: {:?}, {:?}", whole.as_ref().err(), some.err())
                }
            }
        }
    }
    assert!(left_out > 200 && refused > 50, "{left_out} {refused}");
}

/// Tries all sequences of up to five events of a lane in which the last event is out of order.
#[test]
fn lanes_are_checked_without_rows() {
    let definitions = datasets::definitions(DEFINITIONS);
    let mut messages = BTreeSet::new();
    for (type_, operations) in [("S", 4..8), ("V", 1..4), ("E", 0..1_usize)] {
        let mut sequences = vec![Vec::new()];
        for time in 1..=5_u32 {
            let longer = |events: &Vec<usize>| {
                let events = events.clone();
                operations.clone().map(move |next| [&events[..], &[next]].concat())
            };
            sequences = sequences.iter().flat_map(longer).collect();
            for (events, flat) in sequences.iter().flat_map(|it| [(it, false), (it, true)]) {
                let mut text = definitions.clone() + "a P 0\nb S P\nc V P\nd E P\ne 0 c P 0\n";
                for (event, now) in events.iter().zip(1..) {
                    let now = if now == time { time.saturating_sub(2) } else { now };
                    text += &format!("{event} {now} {type_} c 1\n");
                }
                let mut options = Options::default();
                options.no_imbrication = flat;
                let mut read = || {
                    let found = Trace::read(text.as_bytes(), &options);
                    options.selection.natures = [Container].into_iter().collect();
                    let told = |error: paje_sim::Error| (error.position(), error.to_string());
                    found.map(|trace| trace.end()).map_err(told)
                };
                let (expected, found) = (read(), read());
                assert_eq!(found, expected, "{text}");
                messages.extend(found.err().map(|(_, message)| message));
            }
        }
    }
    // Events out of order, pops without a state, and changes of variables without a value.
    assert!(messages.len() > 4, "{messages:?}");
}

const DEFINITIONS: [(&str, &str, &str); 13] = [
    ("a", "DefineContainerType", "Name Type"),
    ("b", "DefineStateType", "Name Type"),
    ("c", "DefineVariableType", "Name Type"),
    ("d", "DefineEventType", "Name Type"),
    ("e", "CreateContainer", "Time:date Name Type Container"),
    ("0", "NewEvent", "Time:date Type Container Value"),
    ("1", "SetVariable", "Time:date Type Container Value"),
    ("2", "AddVariable", "Time:date Type Container Value"),
    ("3", "SubVariable", "Time:date Type Container Value"),
    ("4", "SetState", "Time:date Type Container Value"),
    ("5", "PushState", "Time:date Type Container Value"),
    ("6", "PopState", "Time:date Type Container"),
    ("7", "ResetState", "Time:date Type Container"),
];
