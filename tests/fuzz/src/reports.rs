//! Checks that reports from portions agree with those from the whole trace.

use std::ops::ControlFlow;

use paje_analysis::classes::Map;
use paje_analysis::comm::{self, Comm, Ends};
use paje_analysis::critical::CriticalPath;
use paje_analysis::events::Events;
use paje_analysis::states::{self, States};
use paje_analysis::summary::Summary;
use paje_analysis::time::Time;
use paje_analysis::variables::Variables;
use paje_analysis::waits::{self, Waits};
use paje_analysis::{Bins, By, Scope, Table};
use paje_sim::{Options, Portion, Progress, Selection, Source, TimeRange, Trace};
use paje_workers::Workers;

use crate::team;

struct Reports {
    states: [States; 2],
    comm: Comm,
    time: Time,
    variables: [Variables; 2],
    events: Events,
    summary: Summary,
}

impl Reports {
    fn new(choice: u8) -> Self {
        let mut selection = Selection::default();
        if choice & 1 != 0 {
            let from = f64::from(choice >> 4);
            selection.window = TimeRange { from, to: from + f64::from(choice >> 1 & 7) };
        }
        let scope = || Scope::new(&selection);
        let bins = || Bins::new(0.0, 20.0, 1 + u32::from(choice % 7));
        Reports {
            states: [By::Value, By::Container].map(|by| States::new(scope(), by)),
            comm: Comm::new(scope(), None),
            time: Time::new(scope(), By::Container, bins(), choice & 2 != 0),
            variables: [None, Some(bins())].map(|bins| Variables::new(scope(), bins)),
            events: Events::new(scope()),
            summary: Summary::new(scope(), None),
        }
    }

    fn see(&mut self, trace: &Trace, workers: &Workers) {
        self.states.iter_mut().for_each(|states| states.see(trace, workers));
        self.comm.see(trace, workers);
        self.time.see(trace, workers);
        self.variables.iter_mut().for_each(|variables| variables.see(trace, workers));
        self.events.see(trace, workers);
        self.summary.see(trace, workers);
    }

    fn tables(&self, trace: &Trace) -> Vec<Table> {
        let states = self.states.iter().map(|states| states::table(&states.rows(trace)));
        let others = [
            comm::table(&self.comm.rows(trace, &Ends::Containers)),
            self.time.table(trace),
            self.variables[0].table(trace),
            self.variables[1].table(trace),
            self.events.table(trace),
            self.summary.table(trace),
        ];
        states.chain(others).collect()
    }
}

fn waiting(trace: &Trace, choice: u8) -> Vec<Table> {
    let eager = (choice & 8 != 0).then_some(u64::from(choice >> 4));
    let options = waits::Options { eager, ..waits::Options::default() };
    let mut tables = Vec::new();
    for map in Map::BUILT_IN.into_iter().filter_map(Map::built_in) {
        let waits = Waits::new(trace, &map, &options);
        let whole = waits.whole();
        let windows = [whole, (whole.0, whole.0 + f64::from(choice >> 5))];
        for window in windows {
            tables.push(waits.kinds_table(window));
            tables.push(waits.waiters_table(window));
            tables.push(waits.pairs_table(window));
            if let Some(path) = CriticalPath::new(&waits) {
                tables.push(path.activity_table(&waits, window));
                tables.push(path.imbalance_table(&waits, window));
            }
        }
    }
    tables
}

/// Checks that reports do not depend on portions and workers, and that every valid trace has them.
pub fn agree(trace: &[u8], mut options: Options, choice: u8, size: u8) {
    // Without imbrication, a state that ends at a push may end again, which a portion cannot know.
    options.no_imbrication = false;
    let (source, progress) = (Source::stream(trace), Progress::default());
    let Ok(whole) = Trace::read_with(source, &options, &Workers::one(), &progress) else { return };
    let mut plain = Reports::new(choice);
    plain.see(&whole, &Workers::one());
    let one = Workers::one();
    assert_eq!(team().run(|| waiting(&whole, choice)), one.run(|| waiting(&whole, choice)));

    let mut parts = Reports::new(choice);
    let bytes = 1 + (u64::from(size) << 3);
    let mut see = |portion: &Portion<'_>| {
        parts.see(portion.trace(), team());
        // Reports must be possible while states and links are open.
        parts.tables(portion.trace());
        ControlFlow::Continue(())
    };
    let (source, progress) = (Source::stream(trace), Progress::default());
    let read = Trace::read_in_portions(source, &options, team(), &progress, bytes, &mut see);
    // Reused keys are not detected, so a trace that is valid as a whole is valid in portions.
    let last = read.expect("the whole is valid");
    assert_eq!(parts.tables(&last), plain.tables(&whole));
}
