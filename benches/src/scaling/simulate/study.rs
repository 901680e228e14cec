//! Recordings of a trace's replay, what the scheduler makes of them, and the measured times beside it.

use std::fmt::Write as _;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Barrier;
use std::time::Instant;

use paje_sim::progress::Times;
use paje_sim::{Options, Progress, Source, Trace};
use paje_workers::{Pin, Workers, available, thread_time};
use splitter::Input;

use super::graph::{Graph, Job, Round, Work, shortest};
use super::schedule::{Machine, Memory, of_round, seconds};
use crate::scaling::Result;
use crate::scaling::plots::axis::Axis;
use crate::scaling::plots::chart::{Chart, Colour, Line, Marker, Series};
use crate::scaling::plots::{IDEAL_LABEL, Plot, megabytes, slug};

/// A trace on some number of workers.
#[derive(Clone, Debug, PartialEq)]
pub struct Simulated {
    /// Number of workers.
    pub workers: usize,
    /// Seconds of all tasks.
    pub work: Work,
    /// Each round's seconds of tasks, and from its beginning to its end.
    pub rounds: Vec<(Round, f64)>,
    /// Seconds that it takes to wake all workers for all rounds.
    pub waking: f64,
    /// Seconds from the first task to the last, with that.
    pub seconds: f64,
    /// Seconds that the same tasks would take at best, whoever did what in each round.
    pub at_best: f64,
    /// The same with limited memory, if that was asked for.
    pub limited: Option<f64>,
    /// Times of these CPUs, if there are so many.
    pub here: Option<Here>,
}

/// Replay with as many workers as threads can run at once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Here {
    /// Time that replays by one thread each take side by side, as a multiple of that of one alone: processor time, shortest
    /// of all runs.
    pub contention: f64,
    /// Seconds that are foretold, with this contention, and with what is fetched.
    pub foretold: f64,
    /// The shortest replay with so many threads, in seconds.
    pub measured: f64,
}

/// Simulates the replay of a trace with these numbers of workers, and measures it where that can be done: `runs` times each.
///
/// # Errors
///
/// The trace cannot be replayed, or its tasks are others each time.
pub fn simulate(
    trace: &Path,
    workers: &[usize],
    runs: u32,
    memory: Option<Memory>,
) -> Result<Vec<Simulated>> {
    let counts = workers.iter().filter_map(|count| NonZeroUsize::new(*count));
    let wake = wake()?;
    counts.map(|count| one(trace, count, runs, (memory, wake))).collect()
}

/// Seconds that it takes to wake as many workers as there are CPUs, and to wait for them: the shortest of many.
fn wake() -> Result<f64> {
    let workers = Workers::new(None, &Pin::None)?;
    let once = || {
        let began = Instant::now();
        workers.on_each(|_| ());
        began.elapsed().as_secs_f64()
    };
    Ok(workers.run(|| (0..1000).map(|_| once()).fold(f64::INFINITY, f64::min)))
}

fn one(
    trace: &Path,
    count: NonZeroUsize,
    runs: u32,
    (memory, wake): (Option<Memory>, f64),
) -> Result<Simulated> {
    let turns = Workers::in_turn(count);
    let threads = match count <= available() {
        true => Some(Workers::new(Some(count), &Pin::None)?),
        false => None,
    };
    let mut recordings = Vec::new();
    let (mut measured, mut alone, mut together) = (f64::INFINITY, f64::INFINITY, f64::INFINITY);
    for _ in 0..runs {
        recordings.push(replay(trace, &turns, true)?.tasks);
        if let Some(threads) = &threads {
            measured = measured.min(replay(trace, threads, false)?.wall.as_secs_f64());
            alone = alone.min(side_by_side(trace, 1)?);
            together = together.min(side_by_side(trace, count.get())?);
        }
    }
    let tasks = shortest(&recordings).ok_or("the tasks are others each time")?;
    let graph = Graph::new(&tasks);
    let all_awake =
        graph.rounds.len() + graph.rounds.iter().filter(|it| !it.shared.is_empty()).count();
    let waking = if count.get() > 1 { wake * all_awake as f64 } else { 0.0 };
    let takes = |machine: &Machine| waking + seconds(&graph, count.get(), machine);
    let here = threads.map(|_| {
        let contention = if count.get() > 1 { (together / alone).max(1.0) } else { 1.0 };
        let machine = Machine { contention, fetches: true, ..Machine::IDEAL };
        Here { contention, foretold: takes(&machine), measured }
    });
    Ok(Simulated {
        workers: count.get(),
        work: graph.work(),
        waking,
        at_best: graph.at_best(count.get()),
        seconds: takes(&Machine::IDEAL),
        limited: memory.map(|memory| takes(&Machine { memory, ..Machine::IDEAL })),
        here,
        rounds: graph
            .rounds
            .into_iter()
            .map(|round| {
                let seconds = of_round(&round, count.get(), &Machine::IDEAL);
                (round, seconds)
            })
            .collect(),
    })
}

/// Seconds of processor time that each of so many threads takes to replay the trace by itself, while the others do, too: their mean.
fn side_by_side(trace: &Path, count: usize) -> Result<f64> {
    let together = Barrier::new(count);
    let once = || {
        together.wait();
        let began = thread_time();
        let replayed = replay(trace, &Workers::one(), false).map_err(|error| error.to_string());
        replayed.map(|_| thread_time().saturating_sub(began).as_secs_f64())
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..count).map(|_| scope.spawn(once)).collect();
        let mut sum = 0.0;
        for thread in threads {
            sum += thread.join().map_err(|_| "a replay panicked")??;
        }
        Ok(sum / count as f64)
    })
}

fn replay(trace: &Path, workers: &Workers, keep_tasks: bool) -> Result<Times> {
    let mut options = Options::default();
    options.keep_tasks = keep_tasks;
    let input = Input::open(Some(trace));
    let input = input.map_err(|error| format!("{}: {error}", trace.display()))?;
    let trace = Trace::read_with(Source::from(input), &options, workers, &Progress::default())?;
    Ok(trace.times().clone())
}

impl Simulated {
    /// The number of times that it is as fast as one worker, which takes so long.
    fn speedup(&self, one: f64) -> f64 {
        one / self.seconds
    }
}

/// A table in Markdown; what one worker takes is in the first row.
pub fn table(name: &str, rows: &[Simulated]) -> String {
    let mut text = String::from(
        "| trace | workers | rounds | decode, s | replay, s | merge, s | shared, s | serial | lost to more work | to waiting | \
         seconds | speedup | efficiency | limited memory, s | to fetch, s | contention | foretold here, s | measured, s | off |\n\
         |---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    let one = rows.first().map_or(f64::NAN, |row| row.seconds);
    let one_works = rows.first().map_or(f64::NAN, |row| row.work.sum());
    for row in rows {
        let or_dash =
            |value: Option<f64>| value.map_or("–".into(), |value| format!("{value:.3}"));
        // Time of all workers.
        let all = row.seconds * row.workers as f64;
        let here = |of: fn(&Here) -> f64| or_dash(row.here.as_ref().map(of));
        let off = row.here.map(|here| (here.foretold / here.measured - 1.0) * 100.0);
        let _ = writeln!(
            text,
            "| {} | {} | {} | {:.4} | {:.4} | {:.4} | {:.4} | {:.2} % | {:.0} % | {:.0} % | {:.4} | {:.4} | {:.2} | {:.0} % | {} | {:.4} \
             | {} | {} | {} | {} |",
            name.replace('|', "\\|"),
            row.workers,
            row.rounds.len(),
            row.work.decode,
            row.work.replay,
            row.work.merge,
            row.work.shared,
            row.work.serial / one * 100.0,
            (row.work.sum() - one_works) / all * 100.0,
            (all - row.work.sum()) / all * 100.0,
            row.at_best,
            row.seconds,
            row.speedup(one),
            row.speedup(one) / row.workers as f64 * 100.0,
            or_dash(row.limited),
            row.work.fetch,
            here(|here| here.contention),
            here(|here| here.foretold),
            here(|here| here.measured),
            off.map_or("–".into(), |off| format!("{off:+.0} %")),
        );
    }
    text
}

/// Each round of each simulation, as CSV: seconds of its tasks by kind, of the longest of each kind, and from its beginning
/// to its end.
pub fn rounds_csv(rows: &[Simulated]) -> String {
    let mut text = String::from(
        "workers,round,between,shared,longest_shared,around,replay,longest_replay,decode,longest_decode,merge,longest_merge,\
         blocks,seconds\n",
    );
    for row in rows {
        for (number, (round, seconds)) in row.rounds.iter().enumerate() {
            let longest = |jobs: &[Job]| jobs.iter().map(|job| job.seconds).fold(0.0, f64::max);
            let work = round.work();
            let _ = writeln!(
                text,
                "{},{number},{:.7},{:.7},{:.7},{:.7},{:.7},{:.7},{:.7},{:.7},{:.7},{:.7},{},{seconds:.7}",
                row.workers,
                work.serial,
                work.shared,
                longest(&round.shared),
                work.around,
                work.replay,
                longest(&round.replay),
                work.decode,
                longest(&round.decode),
                work.merge,
                longest(&round.merge),
                round.decode.len(),
            );
        }
    }
    text
}

/// Plots of speed-up and efficiency, simulated and measured.
///
/// # Errors
///
/// Errors of the drawing library.
pub fn plots(name: &str, bytes: u64, rows: &[Simulated], about: &str) -> Result<Vec<Plot>> {
    let Some(one) = rows.iter().find(|row| row.workers == 1) else { return Ok(Vec::new()) };
    let measured = |row: &Simulated| row.here.map(|here| here.measured);
    let counts: Vec<usize> = rows.iter().map(|row| row.workers).collect();
    let most = counts.iter().copied().max().unwrap_or(1) as f64;
    let draw = |file: &str, title: &str, y_name: &str, is_share: bool| -> Result<Plot> {
        let points = |gain: &dyn Fn(&Simulated) -> Option<f64>| -> Vec<(f64, f64)> {
            let place = |row: &Simulated| {
                let workers = row.workers as f64;
                Some((workers, gain(row)? / if is_share { workers } else { 1.0 }))
            };
            rows.iter().filter_map(place).collect()
        };
        let limited_one = one.limited;
        let mut series = vec![
            Series {
                label: IDEAL_LABEL.into(),
                note: None,
                colour: Colour(150, 150, 150),
                line: Line::Thin,
                marker: None,
                points: vec![(1.0, 1.0), (most, if is_share { 1.0 } else { most })],
            },
            Series {
                label: "simulated".into(),
                note: None,
                colour: Colour(0, 114, 178),
                line: Line::Solid,
                marker: Some(Marker::Circle),
                points: points(&|row| Some(row.speedup(one.seconds))),
            },
            Series {
                label: "simulated, with limited memory".into(),
                note: None,
                colour: Colour(0, 158, 115),
                line: Line::Dashed,
                marker: Some(Marker::Triangle),
                points: points(&|row| Some(limited_one? / row.limited?)),
            },
            Series {
                label: "measured".into(),
                note: None,
                colour: Colour(213, 94, 0),
                line: Line::None,
                marker: Some(Marker::OpenStar),
                points: points(&|row| Some(measured(one)? / measured(row)?)),
            },
        ];
        series.retain(|series| !series.points.is_empty());
        let values: Vec<f64> =
            series.iter().flat_map(|series| &series.points).map(|(_, value)| *value).collect();
        let x = Axis::counts(&counts);
        let y = if is_share { Axis::shares(&values) } else { Axis::gains(&values, &x) };
        let chart = Chart {
            title: format!("{title}: {name}, {}", megabytes(bytes)),
            subtitle: about.to_owned(),
            x_name: "workers p".into(),
            y_name: y_name.into(),
            x,
            y,
            series,
        };
        Ok(Plot { file: format!("{file}-{}.svg", slug(name)), svg: chart.svg()? })
    };
    Ok(vec![
        draw("simulated-speedup", "Simulated workers", "speedup T(1) / T(p)", false)?,
        draw("simulated-efficiency", "Efficiency of simulated workers", "efficiency", true)?,
    ])
}
