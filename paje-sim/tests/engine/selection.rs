//! A replay keeps the rows that a selection wants, and no others.

use paje_sim::{
    NameOrder, Natures, Options, Selection, Trace,
    TypeNature::{Container, Event, Link, State, Variable},
};

use crate::listing::Listing;
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
    Listing::of_steps(trace, trace.walk(NameOrder::Bare).filter(|step| selected.wants_step(*step)))
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
                    left_out += usize::from(Listing::of(&some).len() < Listing::of(whole).len());
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
