//! The command line, and what is printed and written.

use std::error::Error;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use benches::scaling::program::Programs;
use benches::scaling::record::{self, Cache};
use benches::scaling::simulate::{self, Memory};
use benches::scaling::speed::points;
use benches::scaling::study::{self, Plan};
use benches::scaling::words::{self, Asked, Pins, unique};
use benches::scaling::{floor, machine, plots, table};
use clap::Parser;
use datasets::{Shape, Size};
use paje_workers::Pin;

/// Measures how pj_dump scales with threads: strong and weak scaling, on traces of every kind.
///
/// Given traces cannot grow: they are for strong scaling only.
///
/// T(p, s) is the time of pj_dump with p threads on a trace of s bytes: wall clock of the whole
/// process, rows to /dev/null, the minimum of the runs.
///
/// Speedup S(p) = T(1, s) / T(p, s), on the same trace for every p (strong scaling).
///
/// Efficiency E(p) = S(p) / p.
///
/// Sizeup Z(p) = p · T(1, s) / T(p, p·s), on a trace p times as large for p threads (weak scaling).
///
/// T(1) is that of the same placement and the same state of the page cache. The floor, beside each
/// figure, is what any program must do at least: with as many threads, read the file, count its
/// lines, and move as many bytes as the rows have.
///
/// Before anything is timed, every number of threads must print the rows of one thread. Then all
/// combinations take turns in each repetition. pj_dump is built first. Prints tables in Markdown;
/// writes every run and plots into a folder. A trace whose runs fail is left out; the exit status is
/// 1 then, 2 if nothing could be measured.
#[derive(Debug, Parser)]
#[command(name = "scaling")]
struct Cli {
    #[command(flatten)]
    asked: Asked,

    /// Shapes of the generated traces (`datasets --list`)
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "mpi,task-runtime,one-container,many-containers,unique-values,all-links,quoted"
    )]
    shapes: Vec<Shape>,

    /// Size of a generated trace for strong scaling [default: 160MB, quick: 1MB]
    #[arg(long)]
    size: Option<Size>,

    /// Size for each thread for weak scaling [default: 40MB, quick: 500kB]
    #[arg(long, value_name = "SIZE")]
    weak_size: Option<Size>,

    /// Numbers of threads; 1 is always among them [default: powers of two up to --max-threads, and
    /// that]
    #[arg(long, value_delimiter = ',', value_name = "N,…", value_parser = words::threads)]
    threads: Vec<usize>,

    /// The largest number of threads [default: CPUs this process may use; quick: at most 4]
    #[arg(long, value_name = "N", conflicts_with = "threads", value_parser = words::threads)]
    max_threads: Option<usize>,

    /// Where threads run, as pj_dump --pin takes it. What begins with a digit goes on with the list
    /// before it: `none,0,2,4-7` are two policies; for two lists, give the option twice [default:
    /// none, compact, scatter; quick: none, compact]
    #[arg(long, value_name = "POLICY,…", value_parser = words::pins)]
    pins: Vec<Pins>,

    /// Where the trace is when a run starts; `dropped` is left out where the kernel does not let go
    /// of pages
    #[arg(long, value_delimiter = ',', default_value = "cached,dropped")]
    caches: Vec<Cache>,

    /// Options of pj_dump beyond those for threads, such as "-n -z"
    #[arg(long, value_name = "WORDS", default_value = "", allow_hyphen_values = true)]
    options: String,

    /// A pj_dump to run instead of this source tree's
    #[arg(long, value_name = "PROGRAM")]
    program: Option<PathBuf>,

    /// Where runs.csv, machine.txt and the plots go; traces are there meanwhile
    #[arg(long, value_name = "DIR", default_value = "target/scaling")]
    out: PathBuf,

    /// Record what each worker has to do, and say how long any number of workers would take for it
    ///
    /// A thread replays the trace as so many workers that take turns, and each task is timed, with what
    /// it looks at brought near before; a scheduler shares the tasks out to workers side by side, as a
    /// replay does. Where there are as many CPUs, the replay is measured, too, and how far as many
    /// replays by one thread each slow one another down: with that, and with what is brought near, the
    /// measured time is foretold. `--options`, `--pins` and `--caches` have no effect.
    #[arg(long, conflicts_with_all = ["threads", "max_threads", "replot", "program"])]
    simulate: bool,

    /// Numbers of simulated workers; 1 is always among them
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "N,…",
        default_value = "1,2,4,8,16,32,64",
        value_parser = words::threads,
        requires = "simulate"
    )]
    workers: Vec<usize>,

    /// Bytes that memory moves in a second, for a second simulation (20GB)
    #[arg(long, value_name = "SIZE", requires = "simulate")]
    bandwidth: Option<Size>,

    /// Measure nothing: draw the plots of DIR/runs.csv again, and print its tables
    #[arg(long, value_name = "DIR", conflicts_with_all = ["traces", "quick"])]
    replot: Option<PathBuf>,

    /// Be the floor on FILE with the given threads, and print its number of lines
    #[arg(long, value_name = "FILE", hide = true)]
    floor: Option<PathBuf>,

    /// Bytes that the floor moves
    #[arg(long, value_name = "BYTES", hide = true, default_value_t = 0)]
    copy: u64,
}

impl Cli {
    fn pins(&self) -> Vec<Pin> {
        words::all(&self.pins)
    }

    fn plan(&self) -> Plan {
        let or = |size: Option<Size>, quick: u64, whole: u64| {
            size.map_or(if self.asked.quick { quick } else { whole }, Size::bytes)
        };
        let cpus = std::thread::available_parallelism().map_or(1, usize::from);
        let most = self.max_threads.unwrap_or(if self.asked.quick { cpus.min(4) } else { cpus });
        let mut threads = self.threads.clone();
        if threads.is_empty() {
            threads = study::default_threads(most);
        }
        threads.push(1);
        threads.sort_unstable();
        threads.dedup();
        let mut pins = self.pins();
        if pins.is_empty() {
            let all = [Pin::None, Pin::Compact, Pin::Scatter];
            pins = all[..if self.asked.quick { 2 } else { 3 }].to_vec();
        }
        Plan {
            threads,
            pins: unique(&pins),
            caches: unique(&self.caches),
            runs: self.asked.runs(),
            size: or(self.size, 1_000_000, 160_000_000),
            weak_size: or(self.weak_size, 500_000, 40_000_000),
        }
    }
}

pub(super) fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = match (&cli.floor, &cli.replot) {
        (Some(path), _) => be_the_floor(&cli, path),
        (None, Some(folder)) => draw(folder).map(|()| ExitCode::SUCCESS),
        (None, None) if cli.simulate => simulated(&cli),
        (None, None) => measure(&cli),
    };
    match result {
        Ok(status) => status,
        Err(error) => {
            eprintln!("scaling: {error}");
            ExitCode::from(2)
        }
    }
}

fn be_the_floor(cli: &Cli, path: &Path) -> Result<ExitCode, Box<dyn Error>> {
    let threads = cli.threads.first().copied().and_then(NonZeroUsize::new);
    let pin = cli.pins().into_iter().next().unwrap_or_default();
    println!("{}", floor::floor(path, threads.unwrap_or(NonZeroUsize::MIN), &pin, cli.copy)?);
    Ok(ExitCode::SUCCESS)
}

fn measure(cli: &Cli) -> Result<ExitCode, Box<dyn Error>> {
    let (plan, sources) = (cli.plan(), cli.asked.sources(&cli.shapes)?);
    let programs = Programs::find(cli.program.clone(), &cli.options)?;
    std::fs::create_dir_all(&cli.out).map_err(|error| format!("{}: {error}", cli.out.display()))?;
    let traces = tempfile::Builder::new().prefix("traces-").tempdir_in(&cli.out)?;
    let (mut runs, mut failed) = (Vec::new(), 0);
    for source in &sources {
        let name = source.name();
        eprintln!("{name} …");
        let mut tell = |what: &str| eprintln!("{name}: {what}");
        match study::measure(source, &plan, &programs, traces.path(), &mut tell) {
            Ok(more) => {
                runs.extend(more);
                // After every trace: a study that is broken off keeps what it has.
                std::fs::write(cli.out.join("runs.csv"), record::csv(&runs))?;
                std::fs::write(cli.out.join("machine.txt"), machine::describe())?;
            }
            Err(error) => {
                eprintln!("scaling: {name}: {error}");
                failed += 1;
            }
        }
    }
    if runs.is_empty() {
        return Err("nothing could be measured".into());
    }
    draw(&cli.out)?;
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn simulated(cli: &Cli) -> Result<ExitCode, Box<dyn Error>> {
    let mut workers = [&[1], &cli.workers[..]].concat();
    workers.sort_unstable();
    workers.dedup();
    let memory = cli.bandwidth.map(|size| Memory { bytes_per_second: size.bytes() as f64 });
    std::fs::create_dir_all(&cli.out).map_err(|error| format!("{}: {error}", cli.out.display()))?;
    let traces = tempfile::Builder::new().prefix("traces-").tempdir_in(&cli.out)?;
    let about =
        format!("shortest of {} runs; {}", cli.asked.runs(), machine::label(&machine::describe()));
    println!("{about}\n");
    for source in &cli.asked.sources(&cli.shapes)? {
        let name = source.name();
        eprintln!("{name} …");
        let trace = source.on_disk(cli.plan().size, traces.path())?;
        let rows = simulate::simulate(&trace, &workers, cli.asked.runs(), memory)?;
        println!("{}", simulate::study::table(&name, &rows));
        let rounds = simulate::study::rounds_csv(&rows);
        std::fs::write(cli.out.join(format!("rounds-{}.csv", plots::slug(&name))), rounds)?;
        let bytes = std::fs::metadata(&trace)?.len();
        for plot in simulate::study::plots(&name, bytes, &rows, &about)? {
            std::fs::write(cli.out.join(plot.file), plot.svg)?;
        }
    }
    eprintln!("plots and rounds are in {}", cli.out.display());
    Ok(ExitCode::SUCCESS)
}

/// Plots of what is recorded in a folder go into it, tables to standard output.
///
/// Nothing but the record goes in: drawn again, it gives the same.
fn draw(folder: &Path) -> Result<(), Box<dyn Error>> {
    let path = folder.join("runs.csv");
    let place = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let text = std::fs::read_to_string(&path).map_err(|error| place(&error))?;
    let runs = record::parse_csv(&text).map_err(|error| place(&error))?;
    let points = points(&runs);
    let repetitions = runs.iter().map(|run| run.run).max().unwrap_or(0);
    // A record without its machine can still be drawn.
    let machine = std::fs::read_to_string(folder.join("machine.txt")).unwrap_or_default();
    let about = format!("minimum of {repetitions} runs; {}", machine::label(&machine));
    let about = about.trim_end_matches("; ");
    for plot in plots::plots(&points, about)? {
        std::fs::write(folder.join(plot.file), plot.svg)?;
    }
    println!("{about}\n\n{}", table::tables(&points).trim_end());
    eprintln!("runs.csv and plots are in {}", folder.display());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn lists_of_cpus_are_policies() {
        let pins = |words: &[&str]| -> Vec<String> {
            let cli = Cli::parse_from([&["scaling"], words].concat());
            cli.plan().pins.iter().map(Pin::to_string).collect()
        };
        assert_eq!(
            pins(&["--pins", "0,2,4-7,compact,none,numa:0,1,scatter"]),
            ["none", "compact", "scatter", "numa:0,1", "0,2,4-7"]
        );
        assert_eq!(
            pins(&["--pins", "1,0", "--pins", "0,1", "--pins", "numa"]),
            ["numa", "0,1", "1,0"]
        );
        for wrong in ["", "none,", "nowhere", "3-1", "compact,x"] {
            assert!(Cli::try_parse_from(["scaling", "--pins", wrong]).is_err(), "{wrong}");
        }
    }

    #[test]
    fn defaults() {
        let plan = |words: &[&str]| Cli::parse_from([&["scaling"], words].concat()).plan();
        let whole = plan(&["--max-threads", "6"]);
        assert_eq!((whole.threads, whole.runs), (vec![1, 2, 4, 6], 5));
        assert_eq!(whole.pins, [Pin::None, Pin::Compact, Pin::Scatter]);
        assert_eq!((whole.size, whole.weak_size), (160_000_000, 40_000_000));
        let quick = plan(&["--quick", "--threads", "8,2,2"]);
        assert_eq!((quick.threads, quick.runs), (vec![1, 2, 8], 2));
        assert_eq!((quick.size, quick.weak_size), (1_000_000, 500_000));
        assert!(Cli::try_parse_from(["scaling", "--threads", "0"]).is_err());
        let twice = Cli::parse_from(["scaling", "a/x.trace", "b/x.trace"]);
        assert!(twice.asked.sources(&twice.shapes).unwrap_err().contains("x.trace"));
    }
}
