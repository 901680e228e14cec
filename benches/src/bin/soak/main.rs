//! `soak`: tests `pj_dump` with random traces, options, threads, blocks, inputs and faults, for a
//! given time.
//!
//! Dumps of valid traces are compared with those of PajeNG's `pj_dump` if it is installed, verdicts
//! with those of the checker, and different dumps of a trace with each other. If a test fails, the
//! program prints the command that repeats the test.

mod fault;
mod program;
mod trial;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

use clap::Parser;

use program::Programs;
use trial::{Summary, trial};

/// Tests pj_dump on random traces, with random options and faults, against PajeNG and the checker.
///
/// Exit status: 0 no failure, 1 some failures, 2 the program could not run.
#[derive(Debug, Parser)]
struct Arguments {
    /// Duration in minutes
    #[arg(long, default_value_t = 1.0)]
    minutes: f64,

    /// Largest number of traces
    #[arg(long)]
    count: Option<u64>,

    /// Seed of the first trace [default: from the clock]
    #[arg(long)]
    seed: Option<u64>,

    /// Number of traces at a time
    #[arg(long, default_value_t = 2)]
    jobs: u64,

    /// Our pj_dump [default: the one beside this program]
    #[arg(long)]
    program: Option<PathBuf>,

    /// PajeNG's pj_dump, if it is installed
    #[arg(long, default_value = "/usr/bin/pj_dump")]
    pajeng: PathBuf,
}

/// Number of failures after which the run ends.
const MOST: usize = 20;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let programs = match Programs::find(arguments.program, arguments.pajeng) {
        Ok(programs) => programs,
        Err(problem) => {
            eprintln!("soak: {problem}");
            return ExitCode::from(2);
        }
    };
    let folder = match tempfile::Builder::new().prefix("paje-soak-").tempdir() {
        Ok(folder) => folder,
        Err(error) => {
            eprintln!("soak: cannot create a temporary folder: {error}");
            return ExitCode::from(2);
        }
    };
    let first = arguments.seed.unwrap_or_else(clock);
    let (began, longest) = (Instant::now(), Duration::from_secs_f64(arguments.minutes * 60.0));
    println!("seeds from {first} on; {programs}");
    let next = AtomicU64::new(0);
    let (all, failures) = (Mutex::new(Summary::default()), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for job in 0..arguments.jobs {
            let folder = folder.path().join(job.to_string());
            let (programs, next, all, failures) = (&programs, &next, &all, &failures);
            scope.spawn(move || {
                let mut sum = Summary::default();
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let over = arguments.count.is_some_and(|count| number >= count)
                        || began.elapsed() >= longest
                        || failures.load(Ordering::Relaxed) >= MOST as u64;
                    if over {
                        break;
                    }
                    let seed = first.wrapping_add(number);
                    if let Err(problem) = trial(seed, programs, &folder, &mut sum) {
                        failures.fetch_add(1, Ordering::Relaxed);
                        println!("FAILED seed {seed}: {problem}");
                        println!("  again: cargo run --release -p benches --bin soak -- --seed {seed} --count 1");
                    }
                }
                all.lock().unwrap_or_else(std::sync::PoisonError::into_inner).add(&sum);
            });
        }
    });
    let (all, failures) = (all.into_inner().unwrap_or_default(), failures.into_inner());
    println!("{all}{failures} failures in {:.1} minutes", began.elapsed().as_secs_f64() / 60.0);
    ExitCode::from(u8::from(failures > 0))
}

fn clock() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    // Runs use consecutive seeds, which must not overlap.
    since.map_or(0, |since| since.as_secs() << 20)
}
