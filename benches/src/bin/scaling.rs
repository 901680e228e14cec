//! Measures how `pj_dump` scales with threads; see `--help`.

use std::error::Error;
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use benches::study::{self, Cache, Plan, Source};
use benches::{floor, machine, process, report};
use clap::Parser;
use datasets::{Shape, Size};
use paje_workers::Pin;

/// Measures how pj_dump scales with threads, and optionally what splitting a trace costs.
///
/// Strong scaling uses the same trace for any number of threads, weak scaling a trace whose size is
/// proportional to it. Given files are used for strong scaling only.
///
/// Speedup is S(p) = T(1, s) / T(p, s) for strong scaling, Z(p) = p · T(1, s) / T(p, p·s) for weak
/// scaling. T(p, s) is the time with p threads on a trace of s bytes: wall clock of the whole
/// process, rows to /dev/null, the minimum of the runs. Efficiency is speedup / p.
///
/// The floor is the minimum work of any such program: with as many threads, read the file, count
/// its lines, and copy as many bytes as the rows have.
///
/// With --pieces, pj_split splits each trace into this many pieces, compared with cp, and pj_dump
/// replays them, with and without rows.
///
/// Before anything is timed, every number of threads and pieces must give the rows of one thread.
/// Then all cases take turns in each repetition. Prints tables in Markdown, and writes them, every
/// run and a description of the machine to a folder; benches/python/plots.py draws them. Traces
/// whose runs fail are skipped. The exit status is 1 then, and 2 if nothing could be measured.
#[derive(Debug, Parser)]
#[command(name = "scaling")]
struct Cli {
    /// Traces to measure after the generated ones
    #[arg(value_name = "TRACE")]
    traces: Vec<PathBuf>,

    /// Measure the given traces only
    #[arg(long, requires = "traces")]
    only_given: bool,

    /// Number of repetitions [default: 5, quick: 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    runs: Option<u32>,

    /// Use small traces and few runs, to test the study
    #[arg(long)]
    quick: bool,

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

    /// Size per thread for weak scaling [default: 40MB, quick: 500kB]
    #[arg(long, value_name = "SIZE")]
    weak_size: Option<Size>,

    /// Numbers of threads, in addition to 1 [default: the number of usable CPUs (quick: at most 4)
    /// and powers of two below it]
    #[arg(long, value_delimiter = ',', value_name = "N,…", value_parser = threads)]
    threads: Vec<usize>,

    /// Where threads run, as in pj_dump --pin. For several lists of CPUs, repeat the option
    /// [default: none, compact, scatter; quick: none, compact]
    #[arg(long, visible_alias = "pin", value_name = "POLICY,…", value_parser = pins)]
    pins: Vec<Vec<Pin>>,

    /// Whether the trace is in the page cache when a run starts; `dropped` is skipped if the kernel
    /// keeps pages
    #[arg(long, value_delimiter = ',', default_value = "cached,dropped")]
    caches: Vec<Cache>,

    /// Numbers of pieces to split traces into, limited by the containers with events
    #[arg(long, value_delimiter = ',', value_name = "N,…")]
    pieces: Vec<NonZeroUsize>,

    /// Further options of pj_dump and pj_split, such as "-n -z"
    #[arg(long, value_name = "WORDS", default_value = "", allow_hyphen_values = true)]
    options: String,

    /// Folder of pj_dump and pj_split [default: build them for release]
    #[arg(long, value_name = "DIR")]
    programs: Option<PathBuf>,

    /// Temporary folder for traces and pieces, with room for twice their size per number of pieces
    /// [default: --out]
    #[arg(long, value_name = "DIR")]
    temp_dir: Option<PathBuf>,

    /// Folder for runs.csv, tables.md and machine.txt
    #[arg(long, value_name = "DIR", default_value = "target/scaling")]
    out: PathBuf,

    /// Do the minimum work on FILE with the given threads
    #[arg(long, value_name = "FILE", hide = true)]
    floor: Option<PathBuf>,

    /// Number of bytes that the floor copies
    #[arg(long, value_name = "BYTES", hide = true, default_value_t = 0)]
    copy: u64,

    /// Expected number of lines
    #[arg(long, value_name = "N", hide = true, default_value_t = 0)]
    lines: u64,
}

fn threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(threads @ 1..=1024) => Ok(threads),
        _ => Err("not a number from 1 to 1024".into()),
    }
}

/// Parses policies that are separated by commas. Numbers after a list of CPUs or nodes belong to
/// the list.
fn pins(text: &str) -> Result<Vec<Pin>, String> {
    let number = |text: &str| text.starts_with(|first: char| first.is_ascii_digit());
    let mut words: Vec<String> = Vec::new();
    for part in text.split(',') {
        match words.last_mut() {
            Some(list) if number(part) && (number(list) || list.starts_with("numa:")) => {
                *list = format!("{list},{part}");
            }
            _ => words.push(part.to_owned()),
        }
    }
    words.iter().map(|word| word.parse().map_err(|error| format!("{error}"))).collect()
}

fn unique<T: Ord>(values: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut values: Vec<T> = values.into_iter().collect();
    values.sort_unstable();
    values.dedup();
    values
}

impl Cli {
    fn sources(&self) -> Result<Vec<Source>, String> {
        let shapes = if self.only_given { &[] } else { &self.shapes[..] };
        let shapes = shapes.iter().copied().map(Source::Shape);
        let sources: Vec<_> = shapes.chain(self.traces.iter().cloned().map(Source::File)).collect();
        let names: Vec<String> = sources.iter().map(Source::name).collect();
        match (1..names.len()).find(|index| names[..*index].contains(&names[*index])) {
            Some(index) => Err(format!("two traces are called `{}`", names[index])),
            None => Ok(sources),
        }
    }

    fn plan(&self) -> Plan {
        let quick = |quick: usize, whole: usize| if self.quick { quick } else { whole };
        let size = |size: Option<Size>, default| size.map_or(default as u64, Size::bytes);
        let mut threads = self.threads.clone();
        if threads.is_empty() {
            let cpus = paje_workers::available().get();
            threads = study::default_threads(quick(cpus.min(4), cpus));
        }
        let mut pins = self.pins.concat();
        if pins.is_empty() {
            pins = vec![Pin::None, Pin::Compact, Pin::Scatter];
            pins.truncate(quick(2, 3));
        }
        Plan {
            threads: unique(threads.into_iter().chain([1])),
            pins: unique(pins),
            caches: unique(self.caches.iter().copied()),
            pieces: unique(self.pieces.iter().map(|pieces| pieces.get())),
            runs: self.runs.unwrap_or(quick(2, 5) as u32),
            size: size(self.size, quick(1_000_000, 160_000_000)),
            weak_size: size(self.weak_size, quick(500_000, 40_000_000)),
            programs: self.programs.clone().unwrap_or_default(),
            options: self.options.split_whitespace().map(str::to_owned).collect(),
        }
    }
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = match &cli.floor {
        Some(path) => be_the_floor(&cli, path),
        None => measure(&cli),
    };
    result.unwrap_or_else(|error| {
        eprintln!("scaling: {error}");
        ExitCode::from(2)
    })
}

fn be_the_floor(cli: &Cli, path: &Path) -> Result<ExitCode, Box<dyn Error>> {
    let threads = cli.threads.first().copied().and_then(NonZeroUsize::new);
    let pin = cli.pins.concat().into_iter().next().unwrap_or_default();
    let lines = floor::floor(path, threads.unwrap_or(NonZeroUsize::MIN), &pin, cli.copy)?;
    if lines != cli.lines {
        return Err(format!("the floor counts {lines} lines instead of {}", cli.lines).into());
    }
    Ok(ExitCode::SUCCESS)
}

fn measure(cli: &Cli) -> Result<ExitCode, Box<dyn Error>> {
    let (mut plan, sources) = (cli.plan(), cli.sources()?);
    if cli.programs.is_none() {
        plan.programs = process::build(&["pj-dump", "pj-split"])?;
    }
    let temporary = cli.temp_dir.as_ref().unwrap_or(&cli.out);
    for folder in [&cli.out, temporary] {
        fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    let traces = tempfile::Builder::new().prefix("traces-").tempdir_in(temporary)?;
    let (mut all, mut failed) = (Vec::new(), false);
    let about = format!("Minimum of {} runs; {}", plan.runs, machine::processor());
    let mut tables = format!("{about}.\n\n");
    for source in &sources {
        let name = source.name();
        eprintln!("{name} …");
        let mut progress = |line: &str| eprintln!("{name}: {line}");
        match study::measure(source, &plan, traces.path(), &mut progress) {
            Ok(runs) => {
                tables += &report::tables(&runs);
                all.extend(runs);
                // Writes the files after every trace, so that an interrupted study keeps its
                // results.
                fs::write(cli.out.join("runs.csv"), report::csv(&all)?)?;
                fs::write(cli.out.join("tables.md"), &tables)?;
                fs::write(cli.out.join("machine.txt"), machine::describe())?;
            }
            Err(error) => {
                eprintln!("scaling: {name}: {error}");
                failed = true;
            }
        }
    }
    if all.is_empty() {
        return Err("nothing could be measured".into());
    }
    print!("{tables}");
    eprintln!("results are in {}", cli.out.display());
    Ok(ExitCode::from(u8::from(failed)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn plan(words: &[&str]) -> Plan {
        Cli::parse_from([&["scaling"], words].concat()).plan()
    }

    #[test]
    fn the_options_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn lists_of_cpus_are_parsed() {
        let pins = |words: &[&str]| plan(words).pins.iter().map(Pin::to_string).collect::<Vec<_>>();
        assert_eq!(
            pins(&["--pins", "0,2,4-7,compact,none,numa:0,1,scatter"]),
            ["none", "compact", "scatter", "numa:0,1", "0,2,4-7"]
        );
        assert_eq!(
            pins(&["--pins", "1,0", "--pin", "0,1", "--pins", "numa"]),
            ["numa", "0,1", "1,0"]
        );
        for wrong in ["", "none,", "nowhere", "3-1", "compact,x"] {
            assert!(Cli::try_parse_from(["scaling", "--pins", wrong]).is_err(), "{wrong}");
        }
    }

    #[test]
    fn defaults_depend_on_quick() {
        let whole = plan(&["--threads", "6,2"]);
        assert_eq!((whole.threads, whole.runs), (vec![1, 2, 6], 5));
        assert_eq!(whole.pins, [Pin::None, Pin::Compact, Pin::Scatter]);
        assert_eq!((whole.size, whole.weak_size), (160_000_000, 40_000_000));
        let quick = plan(&["--quick", "--threads", "8,2,2", "--pieces", "7,2"]);
        assert_eq!((quick.threads, quick.runs), (vec![1, 2, 8], 2));
        assert_eq!((quick.size, quick.weak_size, quick.pieces), (1_000_000, 500_000, vec![2, 7]));
        for wrong in [["--threads", "0"], ["--pieces", "0"]] {
            assert!(Cli::try_parse_from([&["scaling"][..], &wrong].concat()).is_err());
        }
        let twice = Cli::parse_from(["scaling", "a/x.trace", "b/x.trace"]);
        assert!(twice.sources().unwrap_err().contains("x.trace"));
        for (most, threads) in [(0, &[1][..]), (1, &[1]), (2, &[1, 2]), (12, &[1, 2, 4, 8, 12])] {
            assert_eq!(study::default_threads(most), threads);
        }
    }
}
