//! Checks that several workers, which read a trace in portions, compute the same summary as one
//! worker that reads the whole trace.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;

use datasets::random;
use paje_analysis::asked::Asked;
use paje_analysis::states::States;
use paje_analysis::summary::Summary;
use paje_analysis::{By, Scope};
use paje_sim::{FieldNames, Options, Portion, Progress, Selection, Source, Trace};
use paje_workers::{Pin, Workers};

fn options() -> Options {
    let mut options = Options::default();
    options.field_names = FieldNames::Old;
    options.ignore_incomplete_links = true;
    options.user_defined = true;
    options
}

#[test]
fn the_longest_states_have_a_unique_order() {
    let team = Workers::new(NonZeroUsize::new(3), &Pin::None).expect("three threads");
    let (one, progress, mut compared) = (Workers::one(), Progress::default(), 0);
    for seed in 0..60 {
        let text = random::trace(seed).bytes;
        let Ok(whole) = Trace::read(&text[..], &options()) else { continue };
        let mut plain = Summary::new(Scope::default(), None);
        plain.see(&whole, &one);
        let mut parts = Summary::new(Scope::default(), None);
        let mut see = |portion: &Portion<'_>| {
            parts.see(portion.trace(), &team);
            ControlFlow::Continue(())
        };
        let (source, options) = (Source::stream(&text[..]), options());
        let last = Trace::read_in_portions(source, &options, &team, &progress, 700, &mut see);
        let last = last.expect("the trace is valid");
        assert_eq!(parts.table(&last), plain.table(&whole), "seed {seed}");
        compared += 1;
    }
    assert!(compared > 20, "{compared}");
}

#[test]
fn values_with_equal_names_are_merged() {
    let text = "\
%EventDef PajeDefineContainerType 1\n% Name string\n% Type string\n%EndEventDef
%EventDef PajeDefineStateType 2\n% Name string\n% Type string\n%EndEventDef
%EventDef PajeCreateContainer 3\n% Time date\n% Name string\n% Type string\n% Container string\n%EndEventDef
%EventDef PajeSetState 4\n% Time date\n% Type string\n% Container string\n% Value string\n%EndEventDef
%EventDef PajeDefineEntityValue 5\n% Alias string\n% Type string\n% Name string\n%EndEventDef
1 P 0\n2 S P\n5 a S \"run\"\n3 0 p P 0\n4 0 S p a\n4 1 S p run\n4 3 S p a\n";
    let trace = Trace::read(text.as_bytes(), &Options::default()).expect("the trace is valid");
    let mut states = States::new(Scope::default(), By::Value);
    states.see(&trace, &Workers::one());
    let rows = states.rows(&trace);
    assert_eq!((rows.len(), rows[0].count, rows[0].containers), (1, 3, 1));
}

#[test]
fn parts_of_the_time_add_up() {
    let (one, mut compared, mut nested) = (Workers::one(), 0, 0);
    for seed in 0..200 {
        let text = random::trace(seed).bytes;
        let Ok(trace) = Trace::read(&text[..], &options()) else { continue };
        let borders = [f64::NEG_INFINITY, trace.end() * 0.2, trace.end() * 0.5, f64::INFINITY];
        nested += usize::from(trace.states().any(|state| state.imbrication > 1));
        for asked in [
            Asked::States(By::Value),
            Asked::States(By::Container),
            Asked::Comm { level: None, bytes: None },
        ] {
            let selection = Selection::default();
            let parts = borders.windows(2).map(|pair| {
                let begins = pair[0]..pair[1];
                asked.part(&trace, &selection, begins, &one).expect("the report can be divided")
            });
            // The order does not matter, nor which parts are added first.
            let parts: Vec<Vec<u8>> = parts.collect();
            let some = asked.add_parts([&parts[2][..], &parts[0]].into_iter()).expect("two parts");
            let all = asked.add_parts([&some.to_bytes()[..], &parts[1]].into_iter());
            let found = asked.of_parts(&trace, &all.expect("all parts"));
            let whole = asked.table(&trace, &selection, None, &one).expect("a report");
            assert_eq!(found, Some(whole), "seed {seed}, {asked:?}");
            for end in 0..parts[0].len() {
                let cut = asked.add_parts([&parts[0][..end]].into_iter());
                assert!(cut.is_none() || end == 0, "seed {seed}, {asked:?}");
            }
        }
        compared += 1;
    }
    assert!(compared > 60 && nested > 20, "{compared} {nested}");
}
