//! Runs the program: reads a trace, re-times its run, and writes the report.

mod caveats;
mod interval;
mod refusal;

use std::fs;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use paje_analysis::classes::Map;
use paje_analysis::collectives::Grouping;
use paje_console::aside::{Aside, write_whole};
use paje_console::contents::say_stats;
use paje_console::output::{columns, refuse_inputs, standard_output};
use paje_console::progress::Display;
use paje_console::reading;
use paje_console::voice::SORTED_BY_FILE;
use paje_console::{Failure, Voice, failure};
use paje_export::paje::{self, Form};
use paje_sim::{NameOrder, Selection, Trace};
use paje_whatif::fit::{Table, own_network};
use paje_whatif::hypothesis::{Changes, Hypothesis, parse_file};
use paje_whatif::{Changed, Facts, Graph, Hosts, Settings};
use paje_workers::Workers;
use splitter::Limits;

use crate::analysis::RunAnalysis;
use crate::cli::{Cli, PRECISION};
use crate::many;
use crate::page;
use crate::report::Report;
use crate::tasks;
use interval::Interval;

const VOICE: Voice = Voice {
    program: "pj_whatif",
    on_disorder: "`--sort` replays events in the order of their times",
    on_long_lines: paje_console::voice::ALLOW_LONG_LINES,
    on_damage: None,
};

/// Runs the program. Returns exit status 1 for an invalid trace or a run that never ends, and 2
/// after errors.
#[must_use]
pub fn main(cli: &Cli) -> ExitCode {
    main_with(cli, Limits::default())
}

/// Runs the program with other block sizes. These affect only speed and memory.
#[must_use]
pub fn main_with(cli: &Cli, limits: Limits) -> ExitCode {
    let voice = if cli.reading.accepted.sort {
        Voice { on_disorder: SORTED_BY_FILE, ..VOICE }
    } else {
        VOICE
    };
    failure::exit(voice, what_if(cli, limits))
}

/// Runs the analysis. Returns whether the changed run ends.
fn what_if(cli: &Cli, limits: Limits) -> Result<bool, Failure> {
    let workers = cli.parallel.workers()?;
    let (mut hypotheses, ignored) = from_files(cli)?;
    if cli.sweep.is_none() {
        hypotheses.extend(cli.hypotheses(None).map_err(Failure::Other)?);
    }
    let is_change = !hypotheses.is_empty() || !cli.workers.is_empty();
    if cli.identity && (is_change || cli.sweep.is_some() || cli.random.is_some()) {
        return Err(Failure::Other("--identity cannot be combined with hypotheses".into()));
    }
    let is_something =
        cli.identity || cli.sweep.is_some() || cli.random.is_some() || !cli.workers.is_empty();
    if hypotheses.is_empty() && !is_something {
        let why = "no hypothesis given; use --scale, --balance, --cut, --cut-messages, --net, --cpu, --workers, \
                   --random, --sweep or --hypothesis, or --identity to change nothing";
        return Err(Failure::Other(why.into()));
    }
    let table = cli.net_table.as_deref().map(|path| {
        let text = fs::read_to_string(path).map_err(|e| Failure::File(path.to_owned(), e))?;
        let parsed = Table::parse(&text);
        parsed.map_err(|error| Failure::Other(format!("{}: {error}", path.display())))
    });
    let table = table.transpose()?;
    let outputs = [&cli.output, &cli.report, &cli.html];
    let input: Vec<&PathBuf> = cli.file.iter().collect();
    refuse_inputs(&input, outputs.into_iter().flatten().map(PathBuf::as_path))?;
    let began = Instant::now();
    let (trace, name) = read(cli, limits, &workers)?;
    let ends = workers
        .run(|| changed(cli, &name, &trace, &workers, &hypotheses, table.as_ref(), ignored))?;
    say_stats(VOICE, cli.talk, &trace, &[("threads", workers.threads() as u64)], began);
    VOICE.recovered(&name, &trace, "re-timed", cli.reading.accepted.late_events());
    Ok(ends && trace.recovered().problems.is_empty())
}

/// Reads the hypotheses in files. Also returns the ignored options, which are specific to SILAS.
fn from_files(cli: &Cli) -> Result<(Vec<Hypothesis>, Vec<String>), Failure> {
    let (mut all, mut ignored) = (Vec::new(), Vec::new());
    for path in &cli.hypothesis {
        let text = fs::read_to_string(path).map_err(|e| Failure::File(path.clone(), e))?;
        let wrong = |error| Failure::Other(format!("{}:{error}", path.display()));
        let (hypotheses, other) = parse_file(&text).map_err(wrong)?;
        all.extend(hypotheses);
        ignored.extend(other);
    }
    Ok((all, ignored))
}

fn read(cli: &Cli, limits: Limits, workers: &Workers) -> Result<(Trace, PathBuf), Failure> {
    let opened = reading::open(cli.file.as_slice(), Some(&cli.reading), VOICE)?;
    let name = opened.name().to_owned();
    cli.talk.begin(VOICE, &opened.input, workers);
    let display = Display::new(!cli.talk.no_progress, Instant::now());
    let trace = reading::replay(opened, &cli.options(limits), workers, display)?;
    if !cli.talk.warnings.no_warnings {
        VOICE.warnings(&name, &trace);
    }
    Ok((trace, name))
}

fn changed(
    cli: &Cli,
    name: &Path,
    trace: &Trace,
    workers: &Workers,
    hypotheses: &[Hypothesis],
    table: Option<&Table>,
    ignored: Vec<String>,
) -> Result<bool, Failure> {
    let unsuitable = |why: String| Failure::Unsuitable(name.to_owned(), why);
    let counts = trace.counts();
    if counts.states.max(counts.links) >= Graph::MAX {
        let why = format!("too many states or links; the maximum is {}", Graph::MAX);
        return Err(unsuitable(why));
    }
    let mut settings = settings(cli, name, trace)?;
    if let Some(report) = tasks::report(cli, name, trace, &settings.map, hypotheses)? {
        write_report(cli, &report)?;
        return Ok(true);
    }
    settings.table = table.cloned().map(|table| table.in_unit_of(trace.time_scale()));
    let mut facts = Facts::new(trace, &settings.map, &settings.reading).on_one_clock();
    if let Some(path) = &cli.hosts {
        let text = fs::read_to_string(path).map_err(|error| Failure::File(path.clone(), error))?;
        let hosts = Hosts::given(&text, facts.tracks.list().len());
        facts.hosts = hosts.map_err(|why| Failure::Other(format!("{}: {why}", path.display())))?;
    }
    if facts.tracks.classes().is_empty() {
        return Err(unsuitable(settings.map.unknown(trace, "--map FILE")));
    }
    let scale = trace.time_scale();
    let mut report = Report::new(scale);
    let (shift, error) = (facts.shift, facts.shift_error);
    if shift > 0.0 {
        let within = match error.is_finite() {
            true => format!(", to within {}", report.duration(error)),
            false => String::new(),
        };
        let shift = report.duration(shift);
        report.caveat(format!(
            "clocks differ by up to {shift}, as messages and collectives show; the times are on one clock{within}"
        ));
    }
    // The recorded run is analysed before the graph needs memory.
    let before = cli.sweep.is_none().then(|| RunAnalysis::of(facts.clone()));
    let mut changes = Changes { hypotheses, network: None, random: None };
    let eager = changes.eager();
    let graph = Graph::of(facts, &settings, eager);
    let is_recorded = cli.identity || hypotheses.is_empty() && cli.sweep.is_none();
    let refusal = refusal::refusal(&graph, &settings);
    if !ignored.is_empty() {
        report
            .caveat(format!("ignored options that are specific to SILAS: {}", ignored.join(", ")));
    }
    caveats::of_graph(&graph, &settings, &mut report);
    if !cli.identity {
        caveats::of_model(&graph, &mut report);
    }
    if settings.table.is_some() && !cli.identity {
        caveats::of_table(&graph, &mut report).map_err(unsuitable)?;
    }
    let own = match cli.identity || eager.is_some() || settings.table.is_some() {
        true => None,
        false => own_network(&graph),
    };
    if let Some((network, fit)) = &own {
        changes.network = Some(network);
        caveats::of_network(fit, graph.messages().list().len(), &mut report);
    }
    let (begin, end) = graph.span().unwrap_or((0.0, 0.0));
    let mut ends = true;
    if let Some(why) = refusal.clone().filter(|_| cli.sweep.is_some() || cli.random.is_some()) {
        return Err(unsuitable(why));
    }
    if let Some(sweep) = &cli.sweep {
        let all: Result<Vec<Vec<Hypothesis>>, String> = sweep
            .values
            .iter()
            .map(|value| {
                let mut all = hypotheses.to_vec();
                all.extend(cli.hypotheses(Some((&sweep.key, value)))?);
                Ok(all)
            })
            .collect();
        let all = all.map_err(Failure::Other)?;
        let runs = many::sweep(&graph, &all, changes, &settings).map_err(unsuitable)?;
        ends = runs.iter().all(Result::is_ok);
        report.add_sweep(&sweep.key, &sweep.values, end - begin, &runs);
    } else {
        let applied = changes.apply(&graph).map_err(unsuitable)?;
        if shift > 0.0 && cli.output.is_some() && !applied.plan.is_nothing() {
            let why = "the clocks of its containers differ, so the changed run cannot be written; omit --output";
            return Err(unsuitable(why.into()));
        }
        if let Some(why) = refusal.filter(|_| !applied.plan.is_nothing()) {
            return Err(unsuitable(why));
        }
        let mends = eager.is_none() || is_recorded;
        // The times of an unchanged run are needed only for the page.
        let keeps = !cli.identity || cli.html.is_some();
        let retimed = match graph.retime(&applied.plan, keeps, mends) {
            Ok(retimed) => retimed,
            Err(cycle) => {
                VOICE.say(format_args!("{}: the changed run never ends: {cycle}", name.display()));
                return Ok(false);
            }
        };
        caveats::of_change(&applied, &retimed, graph.messages().list().len(), &mut report);
        if let Some(before) = &before {
            report.add_run(&graph, &applied.plan, &retimed, before);
        }
        // Simulations have no noise, and what they do not show is assumed to follow their defaults.
        if applied.plan.is_nothing() {
        } else if graph.run().facts.is_simulated() {
            let mut interval = Interval::new(retimed.makespan(), 0.0, changes, mends, &mut report);
            if !hypotheses.iter().any(|it| matches!(it, Hypothesis::Net(_))) {
                if settings.table.is_none() {
                    let own = own.as_ref().map(|(_, fit)| fit);
                    interval = interval.with_costs(&graph, own);
                }
                interval = interval.with_tests(&graph, &settings);
            }
            interval.finish_simulated().map_err(unsuitable)?;
        } else {
            Interval::new(retimed.makespan(), error, changes, mends, &mut report)
                .with_assumptions(&graph, &settings)
                .with_noise(&graph, &applied)
                .finish();
        }
        if let Some(random) = &cli.random {
            let makespans = many::random(&graph, random, changes).map_err(unsuitable)?;
            report.add_random(end - begin, &makespans);
            report.caveat(format!(
                "random durations: {random}; low and high bound the mean's 95 % confidence interval"
            ));
        }
        if let Some(path) = &cli.output {
            let changed = Changed::new(&graph, &applied.plan, &retimed);
            write_trace(trace, &changed, workers, path)?;
        }
        if let Some(path) = &cli.html {
            let name = name.display().to_string();
            let page = page::page(&name, &cli.different(), &report, &graph, &retimed);
            write_whole(path, page.as_bytes())
                .map_err(|error| Failure::File(path.clone(), error))?;
        }
    }
    write_report(cli, &report)?;
    Ok(ends)
}

fn settings(cli: &Cli, name: &Path, trace: &Trace) -> Result<Settings, Failure> {
    let open = |path: &PathBuf| Map::open(path).map_err(|error| Failure::File(path.clone(), error));
    let map = cli.map.as_ref().map(open).transpose()?;
    let mut settings = Settings::new(map.unwrap_or_else(|| Map::of_trace(trace)));
    let grouping = Grouping::named(trace, cli.group.as_deref(), cli.root.as_deref());
    settings.reading.grouping =
        grouping.map_err(|why| Failure::Unsuitable(name.to_owned(), why))?;
    settings.reading.bytes.clone_from(&cli.bytes);
    settings.reading.eager = cli.eager;
    settings.eager_start = cli.eager_start;
    settings.progress = cli.progress;
    settings.shapes.clone_from(&cli.coll);
    settings.broadcast = cli.bcast;
    settings.is_identity = cli.identity;
    Ok(settings)
}

fn write_trace(
    trace: &Trace,
    changed: &Changed<'_>,
    workers: &Workers,
    path: &Path,
) -> Result<(), Failure> {
    let selected = trace.select(&Selection::default());
    let form = Form { order: NameOrder::Bare, precision: PRECISION };
    if path == Path::new("-") {
        let mut out = BufWriter::new(standard_output().map_err(Failure::Output)?);
        let written = paje::write(trace, &selected, form, changed, workers, &mut out);
        let written = written.and_then(|()| out.flush());
        if written.is_err() {
            // A second attempt to flush the buffer would fail again.
            let _ = out.into_parts();
        }
        return written.map_err(Failure::Output);
    }
    let write = || -> io::Result<()> {
        if fs::metadata(path).is_ok_and(|it| !it.is_file() && !it.is_dir()) {
            let mut out = BufWriter::new(fs::File::options().write(true).open(path)?);
            paje::write(trace, &selected, form, changed, workers, &mut out)?;
            return out.flush();
        }
        let aside = Aside::at(path)?;
        let mut out = BufWriter::new(aside.file());
        paje::write(trace, &selected, form, changed, workers, &mut out)?;
        out.flush()?;
        drop(out);
        aside.sync()?;
        aside.take_place()
    };
    write().map_err(|error| Failure::File(path.to_owned(), error))
}

fn write_report(cli: &Cli, report: &Report) -> Result<(), Failure> {
    if let Some(path) = &cli.report {
        let text = report.text(cli.formatted.format, false, None);
        let written = write_whole(path, text.as_bytes());
        return written.map_err(|error| Failure::File(path.clone(), error));
    }
    if cli.output.as_deref() == Some(Path::new("-")) {
        return Ok(());
    }
    let out = io::stdout();
    let text = report.text(cli.formatted.format, out.is_terminal(), columns(&out));
    let mut out = standard_output().map_err(Failure::Output)?;
    out.write_all(text.as_bytes()).map_err(Failure::Output)
}
