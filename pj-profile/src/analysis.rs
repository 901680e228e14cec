//! The analyses that reports are made from.

use paje_analysis::classes::{Classes, Map};
use paje_analysis::comm::{self, Comm, Ends};
use paje_analysis::events::Events;
use paje_analysis::kept::Lanes;
use paje_analysis::states::{self, States};
use paje_analysis::summary::Summary;
use paje_analysis::time::{self, Time};
use paje_analysis::variables::Variables;
use paje_analysis::why::Pop;
use paje_analysis::{Bins, By, Data, Scope, Table};
use paje_console::Failure;
use paje_sim::Trace;
use paje_workers::Workers;

use crate::cli::{Cli, Report};
use crate::waiting;

const BINS: u32 = 60;

/// An analysis. Most kinds can read a trace portion by portion.
#[derive(Debug)]
pub(crate) enum Analysis {
    States(States),
    Comm(Comm, Ends),
    Time(Time, ByClass),
    Variables(Variables),
    Events(Events),
    Summary(Box<Summary>),
    /// Finished report of an analysis that needed all rows.
    Waiting(Report, Table),
    /// Efficiencies of one of several runs.
    Run(Box<Pop>),
}

/// Whether time is grouped by class, and the map of the classes.
#[derive(Debug)]
pub(crate) enum ByClass {
    No,
    Of(Map),
    Fitting,
}

impl ByClass {
    fn new(cli: &Cli) -> Result<Self, Failure> {
        Ok(match cli.by_class() {
            false => ByClass::No,
            true => waiting::map(cli)?.map_or(ByClass::Fitting, ByClass::Of),
        })
    }

    fn table(&self, time: &Time, trace: &Trace) -> Table {
        let map = match self {
            ByClass::No => return time.table(trace),
            ByClass::Of(map) => map,
            ByClass::Fitting => &Map::of_trace(trace),
        };
        time.table_by_class(trace, &Classes::new(trace, map))
    }
}

impl Analysis {
    /// Creates the analysis if it can read a trace portion by portion. Bins need a window with both
    /// ends, because the end of the trace is not known yet.
    pub(crate) fn of_portions(cli: &Cli) -> Result<Option<Self>, Failure> {
        if waiting::is_asked(cli) || cli.is_whole_page() || cli.compares_in_words() {
            return Ok(None);
        }
        match (needs_bins(cli), cli.span.start.zip(cli.span.end)) {
            (false, _) => Analysis::new(cli, None).map(Some),
            (true, None) => Ok(None),
            (true, Some((start, end))) => Analysis::in_bins(cli, (start, end)).map(Some),
        }
    }

    pub(crate) fn in_bins(cli: &Cli, (start, end): (f64, f64)) -> Result<Self, Failure> {
        let (start, end) = (cli.span.start.unwrap_or(start), cli.span.end.unwrap_or(end));
        let bins = Bins::new(start, end, cli.bins.unwrap_or(BINS));
        Analysis::new(cli, needs_bins(cli).then_some(bins))
    }

    pub(crate) fn of_whole(cli: &Cli, trace: &Trace) -> Result<Self, Failure> {
        Analysis::in_bins(cli, time::range(trace, &Scope::new(&cli.selection())))
    }

    fn new(cli: &Cli, bins: Option<Bins>) -> Result<Self, Failure> {
        let scope = Scope::new(&cli.selection());
        Ok(match (cli.report(), bins) {
            (Report::Comm, _) => {
                let ends = match cli.by() {
                    By::Type(type_) => Ends::Level(type_),
                    By::Value | By::Container | By::Kind => Ends::Containers,
                };
                Analysis::Comm(Comm::new(scope, cli.bytes.as_deref()), ends)
            }
            (Report::Time, Some(bins)) => {
                let by_class = ByClass::new(cli)?;
                Analysis::Time(Time::new(scope, cli.by(), bins, cli.inclusive), by_class)
            }
            (Report::Variables, bins) => Analysis::Variables(Variables::new(scope, bins)),
            (Report::Events, _) => Analysis::Events(Events::new(scope)),
            (Report::Summary, _) => {
                Analysis::Summary(Box::new(Summary::new(scope, cli.bytes.as_deref())))
            }
            _ => Analysis::States(States::new(scope, cli.by())),
        })
    }

    /// Adapts the analysis to reading only a part of the trace. `lanes` are the lanes with states
    /// in the whole trace.
    pub(crate) fn in_part_of(self, lanes: Option<Lanes>) -> Self {
        match (self, lanes) {
            (Analysis::States(states), Some(lanes)) => Analysis::States(states.in_part_of(lanes)),
            (other, _) => other,
        }
    }

    pub(crate) fn see(&mut self, trace: &Trace, workers: &Workers) {
        match self {
            Analysis::States(states) => states.see(trace, workers),
            Analysis::Comm(comm, _) => comm.see(trace, workers),
            Analysis::Time(time, _) => time.see(trace, workers),
            Analysis::Variables(variables) => variables.see(trace, workers),
            Analysis::Events(events) => events.see(trace, workers),
            Analysis::Summary(summary) => summary.see(trace, workers),
            Analysis::Waiting(..) | Analysis::Run(_) => {}
        }
    }

    pub(crate) fn states(&self, trace: &Trace) -> Vec<states::Row> {
        match self {
            Analysis::States(states) => states.rows(trace),
            _ => Vec::new(),
        }
    }

    pub(crate) fn table(&self, trace: &Trace, top: Option<usize>) -> Table {
        let (report, table) = match self {
            Analysis::States(states) => (Report::States, states::table(&states.rows(trace))),
            Analysis::Comm(comm, ends) => (Report::Comm, comm::table(&comm.rows(trace, ends))),
            Analysis::Time(time, by_class) => (Report::Time, by_class.table(time, trace)),
            Analysis::Variables(all) => (Report::Variables, all.table(trace)),
            Analysis::Events(events) => (Report::Events, events.table(trace)),
            Analysis::Summary(summary) => (Report::Summary, summary.table(trace)),
            Analysis::Waiting(report, table) => (*report, table.clone()),
            Analysis::Run(_) => (Report::Scaling, Table::new("scaling")),
        };
        largest(report, table, top)
    }
}

/// Returns a note on how to record sizes, if no link has one.
pub(crate) fn without_sizes(cli: &Cli, table: &Table) -> Option<String> {
    let Some(Data::Amount(bytes)) = table.column("bytes") else { return None };
    let lacks = cli.report() == Report::Comm && !bytes.is_empty();
    (lacks && bytes.iter().all(Option::is_none) && !cli.talk.warnings.no_warnings).then(|| {
        format!(
            "note: no link has a size; record it in a field {} (SMPI: --cfg=tracing/smpi/display-sizes:yes), or name its \
             field with --bytes",
            comm::BYTES.join(", ")
        )
    })
}

pub(crate) fn largest(report: Report, table: Table, top: Option<usize>) -> Table {
    let by: &[&str] = match report {
        Report::States => &["exclusive"],
        Report::Comm => &["bytes", "count"],
        Report::Time | Report::Waits | Report::Critical => &["seconds"],
        Report::Tasks => &["beside_idle", "seconds", "execution"],
        Report::Variables if table.column("bin").is_some() => &["mean"],
        Report::Variables => &["integral"],
        Report::Events => &["count"],
        Report::Summary | Report::Compare | Report::Why | Report::Scaling => {
            return table;
        }
    };
    match top {
        Some(rows) => table.top(rows, by),
        None => table,
    }
}

pub(crate) fn needs_bins(cli: &Cli) -> bool {
    cli.report() == Report::Time || (cli.report() == Report::Variables && cli.bins.is_some())
}
