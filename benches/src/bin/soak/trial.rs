//! Dumps one trace in several ways and compares the results.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use datasets::mutate::{Change, mutated};
use datasets::{Rng, random};
use paje_parser::FieldNames;
use pj_validate::{Rules, Severity};

use crate::fault;
use crate::program::{Ended, Programs, run};

#[derive(Debug, Default)]
pub(crate) struct Summary(BTreeMap<&'static str, u64>);

impl Summary {
    pub(crate) fn count(&mut self, what: &'static str) {
        *self.0.entry(what).or_default() += 1;
    }

    pub(crate) fn add(&mut self, more: &Summary) {
        for (what, count) in &more.0 {
            *self.0.entry(what).or_default() += count;
        }
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|(what, count)| writeln!(f, "{count:>10} {what}"))
    }
}

pub(crate) struct Trial<'a> {
    pub(crate) programs: &'a Programs,
    pub(crate) folder: &'a Path,
    pub(crate) trace: Vec<u8>,
    pub(crate) options: Vec<String>,
    /// Result of a dump without faults and with one thread.
    pub(crate) reference: Ended,
}

impl Trial<'_> {
    pub(crate) fn ours(&self) -> Command {
        ours(self.programs, self.folder, &self.options)
    }
}

fn ours(programs: &Programs, folder: &Path, options: &[String]) -> Command {
    let mut command = Command::new(&programs.ours);
    command.current_dir(folder).args(options);
    command
}

/// Tests the trace of a seed. If there is a difference, returns the first one and keeps the trace.
pub(crate) fn trial(
    seed: u64,
    programs: &Programs,
    folder: &Path,
    sum: &mut Summary,
) -> Result<(), String> {
    let result = tried(seed, programs, folder, sum);
    result.map_err(|problem| {
        let kept = std::env::temp_dir().join(format!("paje-soak-{seed}.trace"));
        let _ = fs::copy(folder.join("t"), &kept);
        format!("{problem}\n  trace: {}", kept.display())
    })
}

fn tried(seed: u64, programs: &Programs, folder: &Path, sum: &mut Summary) -> Result<(), String> {
    let mut rng = Rng::new(!seed);
    let random = random::trace(seed);
    let (mut trace, mut options) = (random.bytes, random.options);
    let damaged = rng.percent(40);
    if damaged {
        let count = 1 + rng.below(4);
        let changes: Vec<Change> = (0..count)
            .map(|_| Change::from_bytes(std::array::from_fn(|_| rng.below(256) as u8)))
            .collect();
        trace = mutated(&trace, &changes);
    }
    options.extend(["--quotes".into(), rng.pick(&["strip", "strip", "auto", "keep"]).into()]);
    let strip = options.last().is_some_and(|last| last == "strip");
    let written = |error: std::io::Error| format!("{}: {error}", folder.display());
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(folder.join("t"), &trace))
        .map_err(written)?;

    sum.count("traces");
    let mut command = ours(programs, folder, &options);
    let reference = run(command.args(["--threads", "1", "t"]), None)?;
    let trial = Trial { programs, folder, trace, options, reference };
    trial.checked(sum)?;
    if !damaged && strip {
        trial.beside_pajeng(random.fault.is_none(), sum)?;
    }
    trial.other_ways(&mut rng, sum)?;
    if rng.percent(20) {
        trial.in_pieces(&mut rng, sum)?;
    }
    if rng.percent(30) {
        fault::inject(&trial, &mut rng, sum)?;
    }
    Ok(())
}

impl Trial<'_> {
    fn has(&self, short: &str, long: &str) -> bool {
        self.options.iter().any(|option| option == short || option == long)
    }

    /// Compares the error with the checker's: either both report the same position and sentence, or
    /// neither finds an error.
    fn checked(&self, sum: &mut Summary) -> Result<(), String> {
        let code = self.reference.code();
        sum.count(match code {
            0 => "traces dumped",
            1 => "traces refused",
            _ => return Err(format!("status {code}: {}", self.reference.said)),
        });
        let imbrication = self.has("-i", "--no-imbrication");
        // The checker does not implement two things that affect the order of lanes: new rows of
        // popped states, and kept quotes.
        if imbrication || self.options.iter().any(|option| option == "keep") {
            return Ok(());
        }
        let mut options = pj_validate::Options::default();
        options.rules = Rules::Replay;
        options.ignore_incomplete_links = self.has("-z", "--ignore-incomplete-links");
        if self.has("-n", "--no-strict") {
            options.field_names = FieldNames::Old;
        }
        let report = pj_validate::check(&self.trace[..], &options);
        let report = report.map_err(|error| error.to_string())?;
        sum.count("verdicts compared with the checker's");
        let first = report.findings.iter().find(|found| found.severity == Severity::Error);
        let Some(first) = first else {
            let said = &self.reference.said;
            return if code == 0 { Ok(()) } else { Err(format!("the checker accepts it: {said}")) };
        };
        let place = first.position.map_or("t".into(), |at| format!("t:{}:{}", at.line, at.column));
        let wanted = format!("pj_dump: {place}: {}", first.cause);
        if code != 1 || !self.reference.said.starts_with(&wanted) || !self.reference.rows.is_empty()
        {
            return Err(format!("the checker reports {wanted}, pj_dump: {}", self.reference.said));
        }
        Ok(())
    }

    /// Compares with PajeNG: both must print the same rows, or both must refuse the trace.
    fn beside_pajeng(&self, sound: bool, sum: &mut Summary) -> Result<(), String> {
        let Some(pajeng) = &self.programs.pajeng else { return Ok(()) };
        // For lines out of order, PajeNG's intervals depend on the line at which PajeNG begins to
        // inspect them.
        if self.has("-p", "-p") {
            return Ok(());
        }
        let theirs: Vec<&String> = self.options[..self.options.len() - 2].iter().collect();
        let mut command = Command::new(pajeng);
        let theirs = run(command.current_dir(self.folder).args(theirs).arg("t"), None)?;
        sum.count("dumps compared with PajeNG's");
        if theirs.status.success() != sound || sound != (self.reference.code() == 0) {
            let (theirs, ours) = (theirs.code(), self.reference.code());
            return Err(format!("sound: {sound}; PajeNG's status {theirs}, ours {ours}"));
        }
        if sound && theirs.rows != self.reference.rows {
            return Err("rows differ from PajeNG's".into());
        }
        Ok(())
    }

    fn in_pieces(&self, rng: &mut Rng, sum: &mut Summary) -> Result<(), String> {
        let Some(split) = &self.programs.split else { return Ok(()) };
        let shared = [("-z", "--ignore-incomplete-links"), ("-n", "--no-strict")].into_iter();
        let shared = shared.filter(|(short, long)| self.has(short, long)).map(|(short, _)| short);
        let shared: Vec<&str> = shared.collect();
        let mut command = Command::new(split);
        command.current_dir(self.folder).args(["--no-warnings", "t", "-o", "pieces"]).args(&shared);
        command.args(["--pieces", rng.pick(&["1", "2", "3", "9"])]);
        let found = run(&mut command, None)?;
        sum.count("dumps of pieces");
        let root = run(self.ours().arg("pieces/root.trace"), None)?;
        let together = run(self.ours().args(self.pieces()), None)?;
        // The folder may not exist.
        let _ = fs::remove_dir_all(self.folder.join("pieces"));
        if self.reference.code() != 0 {
            return Ok(());
        }
        if found.code() != 0 {
            // Other options of pj_dump (--quotes keep, -a) can make an invalid trace valid.
            let mut plain = Command::new(&self.programs.ours);
            plain.current_dir(self.folder).args(["-q", "t"]).args(&shared);
            return match run(&mut plain, None)?.code() {
                0 => Err(format!("{command:?}: {}", found.said)),
                _ => Ok(()),
            };
        }
        for (what, dumped) in [("the root", root), ("the pieces", together)] {
            if dumped.code() != 0 || dumped.rows != self.reference.rows {
                let (code, said) = (dumped.code(), &dumped.said);
                return Err(format!("{command:?}, other rows of {what}, status {code}: {said}"));
            }
        }
        Ok(())
    }

    fn pieces(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.folder.join("pieces")).into_iter().flatten().flatten();
        let path = |entry: fs::DirEntry| Path::new("pieces").join(entry.file_name());
        let mut pieces: Vec<PathBuf> = entries.map(path).collect();
        pieces.retain(|path| !path.ends_with("root.trace"));
        pieces.sort();
        pieces
    }

    fn other_ways(&self, rng: &mut Rng, sum: &mut Summary) -> Result<(), String> {
        let mut command = self.ours();
        command.args(["--threads", rng.pick(&["1", "2", "3", "4", "7"])]);
        // Blocks are at most as long as the longest accepted line.
        let longest = self.trace.split(|byte| *byte == b'\n').map(<[u8]>::len).max().unwrap_or(0);
        let line = rng.pick(&["1K", "1K", "2K", "5000", "64K"]);
        if longest < 1000 {
            command.args(["--max-line", line]);
        }
        let found = match rng.below(4) {
            0 => run(command.arg("t"), None)?,
            1 => run(&mut command, Some(&self.trace))?,
            _ => {
                let (packed, how) = (self.folder.join("packed"), rng.pick(&testkit::COMPRESSIONS));
                fs::write(&packed, testkit::pack(how, &self.trace))
                    .map_err(|error| error.to_string())?;
                let found = run(command.arg("packed"), None)?;
                let _ = fs::remove_file(packed);
                found
            }
        };
        sum.count("dumps with other blocks, threads and media");
        let said = found.said.replace("<stdin>", "t").replace(" packed:", " t:");
        if found.code() != self.reference.code() || said != self.reference.said {
            return Err(format!("{command:?}: {said}; before: {}", self.reference.said));
        }
        if found.rows != self.reference.rows {
            return Err(format!("{command:?}: other rows"));
        }
        self.without_effect(sum)
    }

    /// Dumps a valid trace with an option that changes nothing: `--recover`, or `-o` for a trace of a single portion. With
    /// stripped quotes, `-o` shows rows that PajeNG leaves out.
    fn without_effect(&self, sum: &mut Summary) -> Result<(), String> {
        if self.reference.code() != 0 {
            return Ok(());
        }
        let option = if self.has("strip", "strip") { "--recover" } else { "-o" };
        let mut command = self.ours();
        let found = run(command.args([option, "t"]), None)?;
        sum.count("dumps with -o or --recover");
        if found.code() != 0 || found.rows != self.reference.rows {
            return Err(format!("{command:?}: status {}, {}", found.code(), found.said));
        }
        Ok(())
    }
}
