//! Runs the program: reads a trace, finds hazards, and writes them.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use paje_analysis::named;
use paje_analysis::order::Order;
use paje_comm::classes::Map;
use paje_comm::collectives::Grouping;
use paje_console::contents::say_stats;
use paje_console::fill::Filled;
use paje_console::options::Format;
use paje_console::output::{refuse_inputs, write_to};
use paje_console::progress::Display;
use paje_console::reading;
use paje_console::voice::{ALLOW_LONG_LINES, NOTHING_IN_IT, RECOVER, all_met};
use paje_console::{Failure, Voice, failure};
use paje_sim::Trace;
use paje_workers::Workers;
use splitter::Limits;

use crate::barriers::barriers;
use crate::cli::{Cli, Hazard};
use crate::deadlock::{self, deadlock};
use crate::dot;
use crate::memory;
use crate::model::{self, Model};
use crate::orders::{Group, groups, stages};
use crate::output::{self, Findings};
use crate::races::races;
use crate::texts::Reporter;

/// Prints messages on standard error. Problems of a trace have the same form as in `pj_dump`.
const VOICE: Voice = Voice {
    program: "pj_hazards",
    on_disorder: "`--sort` analyses the trace sorted by time",
    on_long_lines: ALLOW_LONG_LINES,
    on_damage: RECOVER,
};

const LISTED: usize = 1000;

/// Default limit for the number of sets of messages when orders are counted.
const SETS: usize = 1_000_000;

/// Runs the program. Returns exit status 0 if nothing was found, 1 if something was found or the
/// trace is invalid, and 2 after usage and I/O errors.
#[must_use]
pub fn main(cli: &Cli) -> ExitCode {
    failure::exit(VOICE, hazards(cli))
}

/// Writes the findings and the requested graph. Returns true if the trace is valid and nothing was
/// found.
fn hazards(cli: &Cli) -> Result<bool, Failure> {
    let (findings, graph, is_sound) = look(cli)?;
    if let (Some(path), Some(graph)) = (&cli.graph, graph) {
        write_to(Some(path), |out| out.write_all(graph.as_bytes()))?;
    }
    let format = cli.formatted.format;
    write_to(cli.output.as_deref(), |out| match (format, &cli.output) {
        (Format::Text, None) => {
            let mut out = Filled::to_output(out);
            output::write(&findings, format, cli.quotes, &mut out)?;
            out.flush()
        }
        _ => output::write(&findings, format, cli.quotes, out),
    })?;
    Ok(is_sound && !findings.found)
}

fn look(cli: &Cli) -> Result<(Findings, Option<String>, bool), Failure> {
    let Some(hazard) = cli.hazard() else {
        let why = "give the hazard first: races, orders, deadlock or barriers";
        let given = cli.words.first().map(|word| format!(", not '{}'", word.display()));
        return Err(Failure::Other(why.to_owned() + &given.unwrap_or_default()));
    };
    if let Some((option, whose)) = cli.out_of_place() {
        let given = cli.words[0].display();
        return Err(Failure::Other(format!("{option} applies to {whose}, not to {given}")));
    }
    let outputs = [&cli.output, &cli.graph];
    refuse_inputs(&cli.files(), outputs.into_iter().flatten().map(PathBuf::as_path))?;
    let began = Instant::now();
    let workers = cli.parallel.workers()?;
    let (name, trace) = read(cli, &workers, began)?;
    let unsuitable = |why| Failure::Unsuitable(name.clone(), why);
    all_met(&name, &trace, &cli.selection())?;
    if cli.files().len() > 1 {
        named::one_trace(&trace).map_err(Failure::Other)?;
    }
    cli.check_names(&trace).map_err(unsuitable)?;
    memory::check(&trace, cli.memory.limit().as_ref()).map_err(unsuitable)?;
    let map = map(cli, &trace)?;
    let grouping =
        Grouping::named(&trace, cli.group.as_deref(), cli.root.as_deref()).map_err(unsuitable)?;
    let options = options(cli, grouping);
    let (mut findings, graph) = workers.run(|| {
        let model = Model::new(&trace, &map, &options);
        let unrecorded = || {
            let what = cli.words[0].display();
            let why = format!(
                "the trace records no messages, so {what} cannot be found; record them as Pajé links"
            );
            Failure::Unsuitable(name.clone(), why)
        };
        let has_messages = model.records_messages();
        // Calls that never end show a deadlock even if no message was ever sent.
        if hazard != Hazard::Deadlock && !has_messages {
            return Err(unrecorded());
        }
        let order = model.order();
        if !cli.talk.warnings.no_warnings {
            notes(&model, &order, hazard);
        }
        let found = find(cli, hazard, &model, &order);
        if found.0.found || has_messages { Ok(found) } else { Err(unrecorded()) }
    })?;
    findings.assumed = assumptions(cli, hazard, &trace, &findings);
    if cli.formatted.format != Format::Text && !cli.talk.warnings.no_warnings {
        findings.assumed.iter().for_each(|it| VOICE.say(format_args!("note: {it}")));
    }
    if !cli.talk.warnings.no_warnings {
        VOICE.doubts(&name, &trace, &cli.selection(), NOTHING_IN_IT);
    }
    say_stats(VOICE, cli.talk, &trace, &[("threads", workers.threads() as u64)], began);
    VOICE.recovered(&name, &trace, "analysed", cli.reading.accepted.late_events());
    let is_sound = trace.recovered().problems.is_empty();
    Ok((findings, graph, is_sound))
}

fn read(cli: &Cli, workers: &Workers, began: Instant) -> Result<(PathBuf, Trace), Failure> {
    let opened = reading::open(&cli.files(), Some(&cli.reading), VOICE)?;
    let name = opened.name().to_owned();
    cli.talk.begin(VOICE, &opened.input, workers);
    let display = Display::new(!cli.talk.no_progress, began);
    Ok((name, reading::replay(opened, &cli.options(Limits::default()), workers, display)?))
}

fn map(cli: &Cli, trace: &Trace) -> Result<Map, Failure> {
    let Some(path) = &cli.map else { return Ok(Map::of_trace(trace)) };
    Map::open(path).map_err(|error| Failure::File(path.clone(), error))
}

fn options(cli: &Cli, grouping: Grouping) -> model::Options {
    model::Options {
        wildcard: cli.wildcard.clone(),
        channel: cli.channel.as_deref().map(model::Channel::from),
        reads: cli.reads.clone(),
        access: cli.access.clone(),
        is_driven: cli.message_driven,
        is_routed: cli.routed,
        grouping,
        selection: cli.selection(),
    }
}

fn find(cli: &Cli, hazard: Hazard, model: &Model<'_>, order: &Order) -> (Findings, Option<String>) {
    let limit = cli.limit.unwrap_or(LISTED);
    let draw = |graph: &dyn Fn() -> String| cli.graph.as_ref().map(|_| graph());
    match hazard {
        Hazard::Races => {
            let found = races(model, order, limit);
            let both = found.list.iter().flat_map(|race| [race.first, race.second]);
            let reporter = Reporter::new(model, order, both);
            (reporter.races(&found), draw(&|| dot::races(&reporter, &found)))
        }
        Hazard::Orders if cli.count => {
            let sets = cli.limit.unwrap_or(SETS);
            let reporter = Reporter::new(model, order, []);
            (
                reporter.stages(&stages(model, order, sets), sets),
                draw(&|| dot::orders(&reporter, &groups(model, order))),
            )
        }
        Hazard::Orders => {
            // Groups with a single order need no tries.
            let is_open =
                |group: &Group| group.poset.as_ref().is_none_or(|poset| poset.list(2).len() > 1);
            let all: Vec<Group> = groups(model, order).into_iter().filter(is_open).collect();
            let messages = all.iter().flat_map(|group| group.messages.iter().copied());
            let reporter = Reporter::new(model, order, messages);
            let orders = |group: &Group, limit: usize| {
                let Some(poset) = &group.poset else { return Vec::new() };
                match (cli.late, cli.pairs) {
                    (true, _) => poset.late().into_iter().take(limit).collect(),
                    (_, true) => poset.pairs(limit),
                    _ => poset.list(limit),
                }
            };
            (reporter.orders(&all, limit, orders), draw(&|| dot::orders(&reporter, &all)))
        }
        Hazard::Deadlock => {
            let options = deadlock::Options {
                blocking: cli.blocking.clone(),
                peer_field: cli.peer_field.clone(),
                limit,
            };
            let found = deadlock(model, order, &options);
            let tracks = found.potential.iter().flatten().map(|step| order.place(*step).0);
            let sent = tracks.flat_map(|track| model.facts.messages.sent(track).iter().copied());
            let reporter = Reporter::new(model, order, sent);
            (reporter.deadlock(&found), draw(&|| dot::deadlock(&reporter, &found)))
        }
        Hazard::Barriers => {
            let found = barriers(model, order);
            let kept = found.iter().take(limit).filter_map(|barrier| barrier.keeps);
            let reporter =
                Reporter::new(model, order, kept.flat_map(|kept| [kept.taken, kept.other]));
            (reporter.barriers(&found, limit), draw(&|| dot::barriers(&reporter, &found)))
        }
    }
}

/// Returns notes on the assumptions of the findings. In tables, the usual unit needs no note.
fn assumptions(cli: &Cli, hazard: Hazard, trace: &Trace, findings: &Findings) -> Vec<String> {
    let (scale, is_text) = (trace.time_scale(), cli.formatted.format == Format::Text);
    let shows_times = hazard != Hazard::Deadlock && !cli.count && !findings.rows.is_empty();
    let unit = (shows_times && (is_text || !scale.is_seconds())).then(|| scale.to_string());
    let is_bound = findings.found && cli.wildcard.is_none();
    let bound =
        "upper bound: every receive is taken as MPI_ANY_SOURCE; --wildcard names those that are";
    let applies = matches!(hazard, Hazard::Races | Hazard::Orders);
    unit.into_iter().chain((is_bound && applies).then(|| bound.into())).collect()
}

fn notes(model: &Model<'_>, order: &Order, hazard: Hazard) {
    if model.facts.messages.list().is_empty() {
        VOICE.say(format_args!("note: the trace has no messages"));
    }
    if model.facts.messages.elsewhere > 0 {
        let count = model.facts.messages.elsewhere;
        VOICE.say(format_args!(
            "note: {count} links are ignored, as a container has no states that the map knows"
        ));
    }
    if order.left_out() > 0 {
        let count = order.left_out();
        VOICE.say(format_args!(
            "note: the trace contradicts itself; the order ignores {count} messages or members of collectives"
        ));
    }
    let uneven = &model.facts.collectives.uneven;
    if hazard != Hazard::Deadlock && !uneven.is_empty() {
        let types = model.trace().types();
        let mut values: Vec<String> =
            uneven.iter().map(|one| types.value_name(one.type_, one.value).to_string()).collect();
        values.sort();
        values.dedup();
        VOICE.say(format_args!(
            "note: these collectives are ignored, as containers have different numbers of them: {}",
            values.join(", ")
        ));
    }
}
