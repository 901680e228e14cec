//! The interval of makespans that agree with what the trace records.

use paje_whatif::fit::{Fit, other_networks};
use paje_whatif::hypothesis::{Applied, Changes};
use paje_whatif::{EagerStart, Graph, Plan, Progress, Settings};

use crate::report::Report;

/// Relative difference of makespans that matters.
const MATTERS: f64 = 1e-4;

/// Widest interval of a simulated run, as a part of the makespan.
const WIDEST: f64 = 0.05;

/// Number of other orders of simultaneous tests.
const ORDERS: u32 = 3;

/// Number of runs with other noise.
const RUNS: u64 = 10;

/// Makespans of the changed run that agree with the trace, in its unit of time.
pub(super) struct Interval<'r> {
    least: f64,
    most: f64,
    makespan: f64,
    changes: Changes<'r>,
    /// Whether nothing waits for messages and collectives with contradictory times.
    mends: bool,
    /// What to record for a narrower interval.
    advice: &'static str,
    report: &'r mut Report,
}

impl<'r> Interval<'r> {
    /// Begins with the predicted makespan of the changed run, and a possible error of the clocks.
    pub(super) fn new(
        makespan: f64,
        error: f64,
        changes: Changes<'r>,
        mends: bool,
        report: &'r mut Report,
    ) -> Self {
        let error = if error.is_finite() { error } else { 0.0 };
        let (least, most) = (makespan - error, makespan + error);
        Interval { least, most, makespan, changes, mends, advice: "", report }
    }

    fn add(&mut self, makespan: f64, why: &str) {
        if (makespan - self.makespan).abs() > MATTERS * self.makespan {
            self.least = self.least.min(makespan);
            self.most = self.most.max(makespan);
            let makespan = self.report.duration(makespan);
            self.report.caveat(format!("interval: {why}, the makespan is {makespan}"));
        }
    }

    /// Adds the makespan of a run under other assumptions, if it ends.
    fn add_run(
        &mut self,
        graph: &Graph<'_>,
        changes: Changes<'_>,
        other: impl FnOnce(Plan) -> Plan,
        why: &str,
    ) {
        let Ok(applied) = changes.apply(graph) else { return };
        if let Ok(run) = graph.retime(&other(applied.plan), false, self.mends) {
            self.add(run.makespan(), why);
        }
    }

    /// Adds the makespans under other assumptions, if the trace does not show which are right.
    pub(super) fn with_assumptions(mut self, graph: &Graph<'_>, settings: &Settings) -> Self {
        let assumed = graph.assumed();
        let mut others = Vec::new();
        if assumed.votes == Some((0, 0)) && !graph.messages().list().is_empty() {
            let (start, why) = match assumed.start {
                EagerStart::Sent => (EagerStart::Posted, "if eager transfers start when posted"),
                EagerStart::Posted => (EagerStart::Sent, "if eager transfers start when sent"),
            };
            others.push((Settings { eager_start: Some(start), ..settings.clone() }, why));
        }
        if assumed.progress_votes == Some((0, 0)) && !graph.messages().list().is_empty() {
            let settings = Settings { progress: Some(Progress::Calls), ..settings.clone() };
            others.push((settings, "if messages travel only while their receiver waits"));
        }
        for (settings, why) in others {
            self.add_run(&graph.assuming(&settings), self.changes, |plan| plan, why);
        }
        self
    }

    /// Adds the makespans without noise of calls, with twice this noise, and with other noise of computing.
    pub(super) fn with_noise(mut self, graph: &Graph<'_>, applied: &Applied) -> Self {
        let mends = self.mends;
        if let Ok(run) = graph.retime(&applied.plan.without_noise(graph), false, mends) {
            let makespan = run.makespan();
            self.add(makespan, "if no call takes longer than half of its kind");
            self.add(2.0 * self.makespan - makespan, "if calls exceed that by twice as much");
        }
        let runs = applied
            .plan
            .with_noise(graph, RUNS)
            .filter_map(|plan| graph.retime(&plan, false, mends).ok());
        let all: Vec<f64> = runs.map(|run| run.makespan()).collect();
        let (least, most) =
            all.iter().fold((f64::INFINITY, 0.0_f64), |(a, b), it| (a.min(*it), b.max(*it)));
        if !all.is_empty() {
            self.add(
                least,
                "if equal phases of computing vary as in the trace (least of ten runs)",
            );
            self.add(most, "if equal phases of computing vary as in the trace (most of ten runs)");
        }
        self
    }

    /// Adds the makespans with other times of messages. Several networks may explain the recorded run equally well. If none
    /// explains it and sizes are not recorded, messages may have shared links, so that each may take as little time as the shortest one.
    pub(super) fn with_costs(mut self, graph: &Graph<'_>, own: Option<&Fit>) -> Self {
        if let Some(own) = own {
            self.advice = "Measure the times of messages (--net-table)";
            for network in other_networks(graph, own) {
                let changes = Changes { network: Some(&network), ..self.changes };
                let why = "in another network that explains the recorded run as well";
                self.add_run(graph, changes, |plan| plan, why);
            }
        } else if !graph.has_sizes() && !graph.messages().list().is_empty() {
            self.advice = "Record the sizes of messages (SMPI: tracing/smpi/display-sizes:yes)";
            let other = |plan: Plan| plan.with_shortest_messages(graph);
            let why = "if each message takes as long as the shortest one";
            self.add_run(graph, self.changes, other, why);
        }
        self
    }

    /// Adds the makespans that differ because nothing shows the order of simultaneous tests in loops, nor when messages arrived
    /// between two tests.
    pub(super) fn with_tests(mut self, graph: &Graph<'_>, settings: &Settings) -> Self {
        let Some(period) = graph.test_period() else { return self };
        self.advice = "Let the program wait for messages (MPI_Wait) instead of testing for them";
        for order in 1..=ORDERS {
            let why = "with another order of simultaneous tests";
            self.add_run(graph, self.changes, |plan| plan.with_order(order), why);
        }
        for tested in [0.1, 0.9] {
            let other = graph.assuming(&Settings { tested, ..settings.clone() });
            let why = "if messages arrive at another time between two tests";
            self.add_run(&other, self.changes, |plan| plan, why);
        }
        for makespan in [self.makespan - period, self.makespan + period] {
            self.add(makespan, "with one test less or more");
        }
        self
    }

    /// Adds the interval of a simulated run to the report, if it has a width. Fails if it is too wide.
    pub(super) fn finish_simulated(self) -> Result<(), String> {
        let width = (self.most - self.least) / self.makespan;
        if width > WIDEST {
            let (least, most) = (self.report.duration(self.least), self.report.duration(self.most));
            return Err(format!(
                "the recorded run leaves open whether the changed run takes {least} or {most}. {}",
                self.advice
            ));
        }
        if width <= MATTERS {
            self.report.caveat("no interval: a simulation has no noise, and what it does not record follows its defaults");
        }
        self.finish();
        Ok(())
    }

    /// Adds the interval to the report, if it has a width.
    pub(super) fn finish(self) {
        if self.most - self.least > MATTERS * self.makespan {
            self.report.add_interval(self.least, self.most);
        }
    }
}
