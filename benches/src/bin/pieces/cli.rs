//! The command line, and what is printed and written.

use std::error::Error;
use std::fs;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;

use benches::pieces::record::{Points, Run, csv};
use benches::pieces::study::{self, Plan, Tools};
use benches::pieces::{plots, table};
use benches::scaling::machine;
use benches::scaling::study::default_threads;
use benches::scaling::words::{self, Asked, Pins, unique};
use clap::Parser;
use datasets::{Shape, Size};
use paje_workers::Pin;

/// Measures what cutting a trace into pieces costs, and the replay of the pieces.
///
/// Beside cp of the trace: pj_split into each number of pieces. Beside the single file: pj_dump -q and
/// pj_dump, rows to /dev/null, of the root that names the pieces. Each with every number of threads,
/// free and pinned. Times are wall clock of whole processes; medians and minima of the runs.
///
/// Before anything is timed, the dump of every root must be that of the trace. Then all combinations
/// take turns in each repetition. Everything is in the page cache. pj_dump and pj_split are built
/// first. Prints tables in Markdown; writes them, every run and plots into a folder. A trace whose runs fail is
/// left out; the exit status is 1 then, 2 if nothing could be measured.
#[derive(Debug, Parser)]
#[command(name = "pieces")]
struct Cli {
    #[command(flatten)]
    asked: Asked,

    /// Shapes of the generated traces (`datasets --list`)
    #[arg(long, value_delimiter = ',', default_value = "mpi,many-containers")]
    shapes: Vec<Shape>,

    /// Size of a generated trace [default: 160MB, quick: 1MB]
    #[arg(long)]
    size: Option<Size>,

    /// Numbers of pieces; a trace has no more than containers with events
    #[arg(long, value_delimiter = ',', value_name = "N,…", default_value = "1,8,64,512")]
    pieces: Vec<NonZeroUsize>,

    /// Numbers of threads [default: powers of two up to the CPUs that this process may use, and that;
    /// quick: at most 4]
    #[arg(long, value_delimiter = ',', value_name = "N,…", value_parser = words::threads)]
    threads: Vec<usize>,

    /// Where threads run, as pj_dump --pin takes it; lists as in `scaling --help` [default: none,
    /// compact]
    #[arg(long, value_name = "POLICY,…", value_parser = words::pins)]
    pins: Vec<Pins>,

    /// Options for both programs, such as "-n -z"
    #[arg(long, value_name = "WORDS", default_value = "", allow_hyphen_values = true)]
    options: String,

    /// A pj_dump to run instead of this source tree's
    #[arg(long, value_name = "PROGRAM")]
    dump: Option<PathBuf>,

    /// A pj_split to run instead of this source tree's
    #[arg(long, value_name = "PROGRAM")]
    split: Option<PathBuf>,

    /// Where traces and pieces are meanwhile: for each number of pieces as much as the trace, and once or
    /// twice as much again [default: the folder for temporary files]
    #[arg(long, value_name = "DIR")]
    temp_dir: Option<PathBuf>,

    /// Where runs.csv, tables.md, machine.txt and the plots go
    #[arg(long, value_name = "DIR", default_value = "target/pieces")]
    out: PathBuf,
}

impl Cli {
    fn plan(&self) -> Plan {
        let cpus = std::thread::available_parallelism().map_or(1, usize::from);
        let mut threads = self.threads.clone();
        if threads.is_empty() {
            threads = default_threads(if self.asked.quick { cpus.min(4) } else { cpus });
        }
        let mut pins = words::all(&self.pins);
        if pins.is_empty() {
            pins = vec![Pin::None, Pin::Compact];
        }
        let pieces: Vec<usize> = self.pieces.iter().map(|count| count.get()).collect();
        let size = if self.asked.quick { 1_000_000 } else { 160_000_000 };
        Plan {
            threads: unique(&threads),
            pins: unique(&pins),
            pieces: unique(&pieces),
            runs: self.asked.runs(),
            size: self.size.map_or(size, Size::bytes),
        }
    }
}

pub(super) fn main() -> ExitCode {
    match measure(&Cli::parse()) {
        Ok(status) => status,
        Err(error) => {
            eprintln!("pieces: {error}");
            ExitCode::from(2)
        }
    }
}

fn measure(cli: &Cli) -> Result<ExitCode, Box<dyn Error>> {
    let (plan, sources) = (cli.plan(), cli.asked.sources(&cli.shapes)?);
    let tools = Tools::find(cli.dump.clone(), cli.split.clone(), &cli.options)?;
    fs::create_dir_all(&cli.out).map_err(|error| format!("{}: {error}", cli.out.display()))?;
    let temporary = cli.temp_dir.clone().unwrap_or_else(std::env::temp_dir);
    let folder = tempfile::Builder::new()
        .prefix("paje-pieces-")
        .tempdir_in(&temporary)
        .map_err(|error| format!("{}: {error}", temporary.display()))?;
    let before = machine::load();
    let (mut runs, mut measured, mut failed): (Vec<Run>, Vec<Points>, _) = (vec![], vec![], 0);
    for source in &sources {
        let name = source.name();
        eprintln!("{name} …");
        let mut tell = |what: &str| eprintln!("{name}: {what}");
        match study::measure(source, &plan, &tools, folder.path(), &mut tell) {
            Ok(more) => {
                measured.extend(Points::new(&more));
                runs.extend(more);
                // After every trace: a study that is broken off keeps what it has.
                fs::write(cli.out.join("runs.csv"), csv(&runs))?;
                let machine = machine::describe() + &busy(before, machine::load());
                fs::write(cli.out.join("machine.txt"), machine)?;
            }
            Err(error) => {
                eprintln!("pieces: {name}: {error}");
                failed += 1;
            }
        }
    }
    if measured.is_empty() {
        return Err("nothing could be measured".into());
    }
    let about = format!("{} runs; {}", plan.runs, machine::label(&machine::describe()));
    let tables: Vec<String> = measured.iter().map(table::tables).collect();
    let tables = format!("{about}\n\n{}\n{}", busy(before, machine::load()), tables.join("\n"));
    print!("{tables}");
    fs::write(cli.out.join("tables.md"), tables)?;
    for plot in plots::plots(&measured, &format!("medians of {about}"))? {
        fs::write(cli.out.join(plot.file), plot.svg)?;
    }
    eprintln!("runs.csv, tables.md and plots are in {}", cli.out.display());
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Load of the machine; other programs show in it, as this study runs one at a time.
fn busy(before: Option<f64>, after: Option<f64>) -> String {
    let told = |load: Option<f64>| load.map_or_else(|| "?".into(), |load| format!("{load:.1}"));
    format!("load: {} at the beginning, {} at the end\n", told(before), told(after))
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
    fn defaults() {
        let plan = |words: &[&str]| Cli::parse_from([&["pieces"], words].concat()).plan();
        let whole = plan(&["--threads", "2,1,2"]);
        assert_eq!((whole.threads, whole.runs, whole.size), (vec![1, 2], 5, 160_000_000));
        assert_eq!(
            (whole.pieces, whole.pins),
            (vec![1, 8, 64, 512], vec![Pin::None, Pin::Compact])
        );
        let quick = plan(&["--quick", "--pieces", "7,2", "--pins", "scatter"]);
        assert_eq!((quick.runs, quick.size, quick.pieces), (2, 1_000_000, vec![2, 7]));
        assert_eq!(quick.pins, [Pin::Scatter]);
        assert!(Cli::try_parse_from(["pieces", "--pieces", "0"]).is_err());
    }
}
