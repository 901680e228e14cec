//! A run of the program, and the file of all runs.

use std::fmt::{self, Write as _};

use clap::ValueEnum;
use paje_workers::Pin;

use super::Result;

/// Which of the two questions a run answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, ValueEnum)]
pub enum Kind {
    /// The same trace for any number of threads.
    Strong,
    /// A trace as many times larger as there are threads.
    Weak,
}

/// Where the trace is when a run starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, ValueEnum)]
pub enum Cache {
    /// In memory.
    Cached,
    /// On its device only.
    Dropped,
}

impl Kind {
    /// Its name in records.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Strong => "strong",
            Kind::Weak => "weak",
        }
    }
}

impl Cache {
    /// Its name on command lines and in records.
    pub const fn name(self) -> &'static str {
        match self {
            Cache::Cached => "cached",
            Cache::Dropped => "dropped",
        }
    }
}

impl fmt::Display for Cache {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

/// Figures of a run that the program told with `--stats=json`. All of them may be missing: other versions
/// tell less.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stats {
    /// Seconds by the program's own clock.
    pub total: Option<f64>,
    /// Seconds until everything was replayed.
    pub replay: Option<f64>,
    /// Seconds of making rows.
    pub export: Option<f64>,
    /// Seconds in which one thread worked and the others could not.
    pub serial: Option<f64>,
    /// The busiest worker's time over the mean of all.
    pub imbalance: Option<f64>,
    /// Bytes.
    pub peak_memory: Option<u64>,
}

impl Stats {
    /// The part of the run that no further thread can shorten, from 0 to 1.
    pub fn serial_share(&self) -> Option<f64> {
        Some(self.serial? / self.total.filter(|total| *total > 0.0)?)
    }
}

/// One run.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// The shape of a generated trace, or the name of a file.
    pub shape: String,
    /// Size of the trace.
    pub bytes: u64,
    /// Strong or weak scaling.
    pub kind: Kind,
    /// Threads of the program.
    pub threads: usize,
    /// Placement of these threads.
    pub pin: Pin,
    /// State of the page cache when it starts.
    pub cache: Cache,
    /// The repetition, 1-based.
    pub run: u32,
    /// Wall clock of the whole process, in seconds.
    pub seconds: f64,
    /// The same of the floor, right before.
    pub floor: f64,
    /// Bytes of all rows.
    pub output_bytes: u64,
    /// Figures that the program told.
    pub stats: Stats,
}

/// The first line of the file of all runs.
pub const HEADER: &str = "shape,bytes,kind,threads,pin,cache,run,seconds,serial_share,imbalance,\
                          peak_memory,floor,output_bytes,total,replay,export,serial";

/// All runs, one a line; what is not known is empty.
pub fn csv(runs: &[Run]) -> String {
    let mut text = format!("{HEADER}\n");
    for run in runs {
        let stats = &run.stats;
        let _ = writeln!(
            text,
            "{},{},{},{},{},{},{},{:.6},{},{},{},{:.6},{},{},{},{},{}",
            name(&run.shape),
            run.bytes,
            run.kind.name(),
            run.threads,
            pin(&run.pin),
            run.cache,
            run.run,
            run.seconds,
            decimal(stats.serial_share()),
            decimal(stats.imbalance),
            stats.peak_memory.map(|bytes| bytes.to_string()).unwrap_or_default(),
            run.floor,
            run.output_bytes,
            decimal(stats.total),
            decimal(stats.replay),
            decimal(stats.export),
            decimal(stats.serial),
        );
    }
    text
}

/// The name of a trace, as a field. A line is a run, whatever a file is called.
pub(crate) fn name(trace: &str) -> String {
    quoted(&trace.replace(['\n', '\r'], " "))
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

/// In quotes only where it is a list: records read as they did before there were any.
pub(crate) fn pin(pin: &Pin) -> String {
    let text = pin.to_string();
    if text.contains(',') { quoted(&text) } else { text }
}

fn decimal(number: Option<f64>) -> String {
    number.map(|number| format!("{number:.6}")).unwrap_or_default()
}

/// Reads what [`csv`] wrote.
///
/// # Errors
///
/// Another header, or the number of a line that cannot be read.
pub fn parse_csv(text: &str) -> Result<Vec<Run>> {
    let mut lines = text.lines();
    if lines.next() != Some(HEADER) {
        return Err(format!("the first line is not `{HEADER}`").into());
    }
    let runs = lines.enumerate().map(|(index, line)| {
        parse_run(line).ok_or_else(|| format!("line {} is no run: {line}", index + 2).into())
    });
    runs.collect()
}

fn parse_run(line: &str) -> Option<Run> {
    let fields = split_fields(line)?;
    let [
        shape,
        bytes,
        kind,
        threads,
        pin,
        cache,
        run,
        seconds,
        _serial_share,
        imbalance,
        peak_memory,
        floor,
        output_bytes,
        total,
        replay,
        export,
        serial,
    ] = <[String; 17]>::try_from(fields).ok()?;
    Some(Run {
        shape,
        bytes: bytes.parse().ok()?,
        kind: Kind::from_str(&kind, false).ok()?,
        threads: threads.parse().ok().filter(|threads| *threads > 0)?,
        pin: pin.parse().ok()?,
        cache: Cache::from_str(&cache, false).ok()?,
        run: run.parse().ok()?,
        seconds: seconds.parse().ok()?,
        floor: floor.parse().ok()?,
        output_bytes: output_bytes.parse().ok()?,
        stats: Stats {
            total: optional(&total)?,
            replay: optional(&replay)?,
            export: optional(&export)?,
            serial: optional(&serial)?,
            imbalance: optional(&imbalance)?,
            peak_memory: optional(&peak_memory)?,
        },
    })
}

/// `Some(None)` for an empty field, `None` for one that cannot be read.
fn optional<T: std::str::FromStr>(field: &str) -> Option<Option<T>> {
    if field.is_empty() { Some(None) } else { field.parse().ok().map(Some) }
}

/// Splits a line at its commas outside of quotes; `None` if a quote stays open.
fn split_fields(line: &str) -> Option<Vec<String>> {
    let (mut fields, mut field, mut quoted) = (Vec::new(), String::new(), false);
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if quoted && letters.next_if_eq(&'"').is_some() => field.push('"'),
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(std::mem::take(&mut field)),
            letter => field.push(letter),
        }
    }
    fields.push(field);
    (!quoted).then_some(fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run() -> Run {
        Run {
            shape: "mpi".into(),
            bytes: 160_000_000,
            kind: Kind::Strong,
            threads: 2,
            pin: Pin::Compact,
            cache: Cache::Dropped,
            run: 3,
            seconds: 0.5,
            floor: 0.0625,
            output_bytes: 200_000_000,
            stats: Stats {
                total: Some(0.5),
                replay: Some(0.25),
                export: Some(0.25),
                serial: Some(0.125),
                imbalance: Some(1.0625),
                peak_memory: Some(9_000_000),
            },
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        let odd = Run { shape: "a \"b\", c.trace".into(), kind: Kind::Weak, ..run() };
        let silent = Run { stats: Stats::default(), cache: Cache::Cached, ..run() };
        let runs = ["none", "numa:0,2", "0,2,4-7"]
            .map(|pin| Run { pin: pin.parse().unwrap(), ..silent.clone() });
        let runs = [&[run(), odd][..], &runs].concat();
        let text = csv(&runs);
        assert_eq!(parse_csv(&text).unwrap(), runs);
        let line = "\"mpi\",160000000,strong,2,compact,dropped,3,0.500000,0.250000,1.062500,\
                    9000000,0.062500,200000000,0.500000,0.250000,0.250000,0.125000";
        assert_eq!(text.lines().nth(1).unwrap(), line);
        assert!(text.ends_with(",0.062500,200000000,,,,\n"), "{text}");
    }

    #[test]
    fn broken_records_are_refused() {
        assert!(parse_csv("").is_err());
        assert!(parse_csv("shape,bytes\n").is_err());
        let good = csv(&[run()]);
        for (from, to) in [("strong", "medium"), (",2,", ",0,"), ("0.0625", "x"), ("mpi\"", "mpi")]
        {
            let error = parse_csv(&good.replace(from, to)).unwrap_err().to_string();
            assert!(error.starts_with("line 2 is no run"), "{error}");
        }
    }

    #[test]
    fn names_are_those_of_command_lines() {
        for cache in Cache::value_variants() {
            assert_eq!(cache.to_possible_value().unwrap().get_name(), cache.name());
        }
        for kind in Kind::value_variants() {
            assert_eq!(kind.to_possible_value().unwrap().get_name(), kind.name());
        }
    }
}
