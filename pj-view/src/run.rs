//! Replays a trace and shows it.

use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use paje_console::aside::write_whole;
use paje_console::contents::say_stats;
use paje_console::output::{refuse_inputs, standard_output};
use paje_console::progress::Display;
use paje_console::reading;
use paje_console::voice::{SORTED_BY_FILE, all_met, nothing_in};
use paje_console::{Failure, Voice, failure};
use paje_sim::{MemoryLimit, Opened, Progress, Trace};
use paje_workers::Workers;
use splitter::Limits;

use crate::answer::{Served, Shared};
use crate::cli::Cli;
use crate::explain::{Explained, Once, TasksFile};
#[cfg(feature = "png")]
use crate::png;
use crate::report::VOICE;
use crate::serve::{Patience, Server};
use crate::svg::Overlays;
use crate::view::View;
use crate::{html, open, svg};

/// If the replay takes longer than this, the page opens and shows its progress.
const SOON: Duration = Duration::from_secs(1);

/// Runs the program. Returns exit status 0, 1 for an invalid or repaired trace, or 2 for usage and I/O errors.
#[must_use]
pub fn main(cli: &Cli) -> ExitCode {
    let voice = match cli.reading.accepted.sort {
        true => Voice { on_disorder: SORTED_BY_FILE, ..VOICE },
        false => VOICE,
    };
    let outcome = if cli.writes() { write(cli) } else { show(cli).map(|()| true) };
    failure::exit(voice, outcome)
}

const NO_PNG: &str = "this pj_view was built without --png; use a release, build with `cargo install \
                      --locked --path pj-view --features png`, or convert --svg's file with `rsvg-convert`";

/// Writes the requested files. Returns whether the trace is valid.
fn write(cli: &Cli) -> Result<bool, Failure> {
    if cli.png.is_some() && !cfg!(feature = "png") {
        return Err(Failure::Other(NO_PNG.into()));
    }
    if cli.traces.len() > 1 {
        return Err(Failure::Other("two traces can be shown only in the browser".into()));
    }
    let outputs = [&cli.html, &cli.svg, &cli.png];
    let input: Vec<&PathBuf> = cli.traces.iter().collect();
    refuse_inputs(&input, outputs.into_iter().flatten().map(PathBuf::as_path))?;
    let workers = cli.parallel.workers()?;
    let opened = reading::open(&cli.traces, Some(&cli.reading), VOICE)?;
    let (view, is_sound) = read(cli, opened, &workers, &Arc::default())?;
    let is_explained = cli.html.is_some() || cli.waits || cli.critical_path;
    let tasks = TasksFile::of(cli, cli.traces.first().map(PathBuf::as_path));
    let limit = memory(cli).map(|limit| limit.bytes);
    let explained = is_explained.then(|| Explained::of(&view, &tasks, limit, &workers));
    let overlays = match &explained {
        None => Overlays::default(),
        Some(explained) => overlays(cli, explained)
            .map_err(|why| Failure::Unsuitable(view.name.clone().into(), why))?,
    };
    if let (Some(path), Some(explained)) = (&cli.html, &explained) {
        let (text, whole) = html::write(&view, explained, cli.max_size, &shown(cli), &workers);
        write_file(path, text.as_bytes())?;
        if !whole {
            VOICE.say(format_args!(
                "{}: the finest levels are omitted to fit --max-size, so only short lanes show single rows",
                path.display()
            ));
        }
    }
    if cli.svg.is_none() && cli.png.is_none() {
        return Ok(is_sound);
    }
    let drawing = svg::write(&view, cli.width, cli.height, &overlays);
    if let Some(path) = &cli.svg {
        write_file(path, drawing.as_bytes())?;
    }
    #[cfg(feature = "png")]
    if let Some(path) = &cli.png {
        let painted = png::paint(&drawing).map_err(|why| Failure::File(path.clone(), why))?;
        write_file(path, &painted.bytes)?;
        if painted.lacks_fonts {
            VOICE.say(format_args!(
                "{}: no names are drawn, as no fonts are installed",
                path.display()
            ));
        }
    }
    Ok(is_sound)
}

/// Returns the requested overlays, or why the trace does not have them.
fn overlays<'e>(cli: &Cli, explained: &'e Explained) -> Result<Overlays<'e>, String> {
    let no_waits = |why: &String| format!("no waiting can be shown, as {why}");
    let waits = cli.waits.then(|| explained.waits.as_ref().map_err(no_waits));
    let path = cli.critical_path.then(|| explained.path.as_ref().map_err(String::clone));
    Ok(Overlays { waits: waits.transpose()?, path: path.transpose()? })
}

/// Returns the names of the requested overlays, as the page calls them.
fn shown(cli: &Cli) -> Vec<&'static str> {
    let all = [("waits", cli.waits), ("path", cli.critical_path)];
    all.into_iter().filter_map(|(name, is_shown)| is_shown.then_some(name)).collect()
}

fn write_file(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    if path == Path::new("-") {
        let mut out = standard_output().map_err(Failure::Output)?;
        return out.write_all(bytes).map_err(Failure::Output);
    }
    write_whole(path, bytes).map_err(|error| Failure::File(path.to_owned(), error))
}

/// Serves the page until the program is stopped or the trace turns out to be invalid.
fn show(cli: &Cli) -> Result<(), Failure> {
    let address = cli.bind.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
    let server = Server::bind(address, cli.port, Patience::default())
        .map_err(|error| Failure::File(format!("{address}:{}", cli.port).into(), error))?;
    let workers = Arc::new(cli.parallel.workers()?);
    let mut inputs: Vec<&[PathBuf]> = cli.traces.chunks(1).collect();
    if inputs.is_empty() {
        inputs.push(&[]);
    }
    let open = |files| reading::open(files, Some(&cli.reading), VOICE);
    let opened = inputs.into_iter().map(open).collect::<Result<Vec<Opened>, Failure>>()?;
    let memory = memory(cli).map(|limit| limit.bytes);
    let served = opened.iter().enumerate().map(|(at, opened)| Served {
        progress: Arc::default(),
        size: opened.input.size(),
        taken: opened.input.read_so_far(),
        view: OnceLock::new(),
        explained: Once::new(
            &workers,
            TasksFile::of(cli, cli.traces.get(at).map(PathBuf::as_path)),
            memory,
        ),
        shown: shown(cli),
        workers: Arc::clone(&workers),
    });
    let shared = Arc::new(Shared { traces: served.collect() });
    thread::scope(|scope| {
        let (done, is_done) = mpsc::channel();
        let (of_reader, workers) = (Arc::clone(&shared), Arc::clone(&workers));
        scope.spawn(move || {
            let read = read_all(cli, opened, &workers, &of_reader);
            let is_read = read.is_ok();
            // The receiver is dropped after a failure.
            let _ = done.send(read);
            // One thread, since the browser needs the other processors to load the page.
            let views = of_reader.traces.iter().filter_map(|served| served.view.get());
            views.filter(|_| is_read).for_each(|view| view.pyramid.refine(&view.trace));
        });
        let mut server = Some(server);
        let mut serve = || {
            let Some(server) = server.take() else { return Ok(()) };
            announce(cli, &server, address)?;
            let shared = Arc::clone(&shared);
            let served = thread::Builder::new().name("server".into());
            let served = served.spawn(move || server.run(move |request| shared.answer(request)));
            served.map(drop).map_err(|error| {
                Failure::Other(format!("cannot start a thread for the server: {error}"))
            })
        };
        let read = match is_done.recv_timeout(SOON) {
            Err(RecvTimeoutError::Timeout) => {
                serve()?;
                is_done.recv()
            }
            Ok(read) => Ok(read),
            Err(RecvTimeoutError::Disconnected) => Err(mpsc::RecvError),
        };
        read.map_err(|_| Failure::Other("the replay stopped unexpectedly".into()))??;
        serve()
    })?;
    loop {
        thread::park();
    }
}

/// Reads the traces one after the other, and shows each as soon as it is read.
fn read_all(
    cli: &Cli,
    opened: Vec<Opened>,
    workers: &Workers,
    shared: &Shared,
) -> Result<(), Failure> {
    for (opened, served) in opened.into_iter().zip(&shared.traces) {
        let (view, _) = read(cli, opened, workers, &served.progress)?;
        let _ = served.view.set(Arc::new(view));
    }
    Ok(())
}

/// Returns the memory limit of each trace.
fn memory(cli: &Cli) -> Option<MemoryLimit> {
    let limit = cli.memory.limit()?;
    let bytes = limit.bytes / cli.traces.len().max(1) as u64;
    Some(MemoryLimit { bytes, ..limit })
}

fn announce(cli: &Cli, server: &Server, address: IpAddr) -> Result<(), Failure> {
    let url = server.url();
    let mut out = standard_output().map_err(Failure::Output)?;
    match writeln!(out, "{url}") {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            return Err(Failure::Output(error));
        }
        _ => {}
    }
    if !address.is_loopback() {
        VOICE.say(format_args!(
            "warning: others that can connect to {address} and know the address above can read the \
             trace, which is sent unencrypted"
        ));
    }
    if !(cli.no_open || open::browser(&url)) {
        VOICE.say(format_args!("open this address in a browser; Ctrl-C quits"));
    }
    Ok(())
}

fn read(
    cli: &Cli,
    opened: Opened,
    workers: &Workers,
    progress: &Arc<Progress>,
) -> Result<(View, bool), Failure> {
    let name = opened.name().to_owned();
    let mut options = cli.reading.options(Limits::default());
    cli.less.set(&mut options);
    options.memory = memory(cli);
    options.selection = cli.read_selection();
    let is_whole = cli.reads_whole();
    options.time_unit = cli.units.time_unit;
    options.user_defined = cli.keeps_fields(opened.input.size());
    options.keep_lines = options.user_defined;
    let began = Instant::now();
    cli.talk.begin(VOICE, &opened.input, workers);
    let display = Display::new(!cli.talk.no_progress, began);
    let shown = display.replay(&opened.input, progress, None);
    let trace =
        reading::read(opened, workers, |it| Trace::read_with(it, &options, workers, progress));
    drop(shown);
    let trace = trace?;
    if !cli.talk.warnings.no_warnings {
        VOICE.warnings(&name, &trace);
    }
    if cli.reading.recover {
        VOICE.recovered(&name, &trace, "shown", cli.reading.accepted.late_events());
    }
    say_stats(VOICE, cli.talk, &trace, &[("threads", workers.threads() as u64)], began);
    let is_sound = trace.recovered().problems.is_empty();
    all_met(&name, &trace, &cli.selection())?;
    if let Some(why) = nothing_in(cli.span.window(), &trace) {
        return Err(Failure::Unsuitable(name, why));
    }
    let title = name.file_name().unwrap_or(name.as_os_str()).to_string_lossy().into_owned();
    let window = cli.span.window();
    let mut view = View::new(trace, title, &cli.selection(), window, cli.purpose(), workers);
    view.is_whole = is_whole;
    if view.lanes().next().is_none() {
        return Err(Failure::Unsuitable(name, "the trace has no rows to show".into()));
    }
    Ok((view, is_sound))
}
