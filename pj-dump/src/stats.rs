//! Statistics of a run, for `--stats`.
//!
//! With `--stats=json`, the last line of standard error is this object. Unknown values are omitted.
//! New members may be added, but existing ones do not change. Times are in seconds.
//!
//! | member | |
//! |---|---|
//! | `version` | version of the program |
//! | `threads` | number of workers |
//! | `pin` | placement of the workers, as for `--pin` |
//! | `cpus` | the CPU of each worker; absent if workers were not pinned |
//! | `bytes`, `lines`, `events` | amounts of the trace's uncompressed text; definitions of types and values count as events, as in PajeNG |
//! | `contents` | contents of the trace: `time` (earliest and latest), `event_definitions`, `types`, `containers`, `states`, `variables`, `events`, `links`, `values`. Objects that are not kept (`-o`, unselected rows) are not counted |
//! | `packed` | for a packed trace in a file, its bytes (`size`) and how many were read (`read`) |
//! | `rows`, `output_bytes` | rows on standard output, without header; 0 for other output |
//! | `seconds.total` | time from the beginning of the program to the end of its output |
//! | `seconds.replay` | part of `seconds.total` for reading, decoding and replaying |
//! | `seconds.export` | part of `seconds.total` for formatting and writing rows |
//! | `seconds.write` | part of `seconds.export` for writing, including waiting for the reader |
//! | `seconds.serial` | time during replay and export in which the other workers waited for one worker |
//! | `workers` | an array of `{read, decode, replay, export, idle}`. The serial part of the replay, which worker 0 runs, is not included |
//! | `imbalance` | longest busy time of a worker divided by the mean of all workers; 1 is best |
//! | `bytes_per_second`, `events_per_second` | rates over the whole run |
//! | `spilled` | bytes of the temporary file for objects beyond `--memory-limit`, if any |
//! | `peak_memory` | peak resident memory in bytes, if the system reports it |

use std::fmt;
use std::time::Duration;

use paje_console::contents::{Contents, fact};
use paje_console::memory::peak_memory;
use paje_console::options::StatsFormat;
use paje_console::reading::{PackedBytes, read_of};
use paje_sim::Trace;
use paje_sim::progress::Times;
use paje_workers::{Pin, Workers};
use serde::{Serialize, Serializer};

use crate::output::export::Exported;
use paje_console::Voice;

#[derive(Debug, Serialize)]
pub(crate) struct Stats {
    version: &'static str,
    threads: usize,
    pin: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    cpus: Option<Vec<usize>>,
    bytes: u64,
    lines: u64,
    events: u64,
    contents: Contents,
    #[serde(skip_serializing_if = "Option::is_none")]
    packed: Option<Packed>,
    rows: u64,
    output_bytes: u64,
    seconds: Phases,
    workers: Vec<Worker>,
    #[serde(serialize_with = "rounded")]
    imbalance: f64,
    bytes_per_second: u64,
    events_per_second: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    spilled: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    peak_memory: Option<u64>,
}

#[derive(Debug, Serialize)]
struct Packed {
    size: u64,
    read: u64,
}

#[derive(Debug, Serialize)]
struct Phases {
    total: Seconds,
    replay: Seconds,
    export: Seconds,
    write: Seconds,
    serial: Seconds,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
struct Worker {
    read: Seconds,
    decode: Seconds,
    replay: Seconds,
    export: Seconds,
    idle: Seconds,
}

impl Worker {
    fn busy(&self) -> Duration {
        self.read.0 + self.decode.0 + self.replay.0 + self.export.0
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Seconds(Duration);

impl Serialize for Seconds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        rounded(&self.0.as_secs_f64(), serializer)
    }
}

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3} s", self.0.as_secs_f64())
    }
}

fn rounded<S: Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64((number * 1e6).round() / 1e6)
}

impl Stats {
    pub(crate) fn new(
        workers: &Workers,
        pin: &Pin,
        trace: &Trace,
        exported: &Exported,
        packed: Option<PackedBytes>,
        total: Duration,
    ) -> Self {
        let times = trace.times();
        let by_worker = by_worker(workers.threads(), times, exported);
        let each = |count: u64| (count as f64 / total.as_secs_f64().max(1e-9)).round() as u64;
        Stats {
            version: env!("CARGO_PKG_VERSION"),
            threads: workers.threads(),
            pin: pin.to_string(),
            cpus: workers.cpus().map(<[usize]>::to_vec),
            bytes: trace.bytes(),
            lines: trace.lines(),
            events: trace.event_lines(),
            contents: Contents::of(trace),
            packed: packed.map(|packed| Packed { size: packed.size, read: packed.read() }),
            rows: exported.rows,
            output_bytes: exported.bytes,
            seconds: Phases {
                total: Seconds(total),
                replay: Seconds(times.wall),
                export: Seconds(exported.wall),
                write: Seconds(exported.writing),
                serial: Seconds(times.serial + exported.serial),
            },
            imbalance: imbalance(&by_worker),
            workers: by_worker,
            bytes_per_second: each(trace.bytes()),
            events_per_second: each(trace.event_lines()),
            spilled: Some(trace.spilled()).filter(|bytes| *bytes > 0),
            peak_memory: peak_memory(),
        }
    }

    pub(crate) fn say(&self, voice: Voice, format: StatsFormat) {
        let text = match format {
            StatsFormat::Text => self.text(),
            StatsFormat::Json => serde_json::to_string(self).expect("all keys are strings") + "\n",
        };
        voice.print(&text);
    }

    fn text(&self) -> String {
        let mut text = String::new();
        let mut line = |what: &str, value: fmt::Arguments<'_>| text += &fact(what, value);
        line("version", format_args!("{}", self.version));
        line("threads", format_args!("{}", self.threads));
        match &self.cpus {
            Some(cpus) => {
                line("pinned", format_args!("{}: CPUs {}", self.pin, Pin::List(cpus.clone())));
            }
            None => line("pinned", format_args!("no")),
        }
        line("bytes", format_args!("{}", self.bytes));
        line("lines", format_args!("{}", self.lines));
        line("event lines", format_args!("{}", self.events));
        text += &self.contents.table();
        if let Some(Packed { size, read }) = self.packed {
            text += &read_of(read, size);
        }
        let mut line = |what: &str, value: fmt::Arguments<'_>| text += &fact(what, value);
        line("rows", format_args!("{}", self.rows));
        line("output bytes", format_args!("{}", self.output_bytes));
        let seconds = &self.seconds;
        line("total", format_args!("{}", seconds.total));
        line("replay", format_args!("{}", seconds.replay));
        line("export", format_args!("{}", seconds.export));
        line("  writing", format_args!("{}", seconds.write));
        line("serial", format_args!("{}", seconds.serial));
        for (i, worker) in self.workers.iter().enumerate() {
            let Worker { read, decode, replay, export, idle } = worker;
            line(
                &format!("worker {i}"),
                format_args!(
                    "read {read}, decode {decode}, replay {replay}, export {export}, idle {idle}"
                ),
            );
        }
        line("imbalance", format_args!("{:.2}", self.imbalance));
        line("events/s", format_args!("{}", self.events_per_second));
        line("MB/s", format_args!("{:.1}", self.bytes_per_second as f64 / 1e6));
        if let Some(bytes) = self.spilled {
            line("spilled", format_args!("{:.1} MB", bytes as f64 / 1e6));
        }
        if let Some(bytes) = self.peak_memory {
            line("peak memory", format_args!("{:.1} MB", bytes as f64 / 1e6));
        }
        text
    }
}

fn by_worker(threads: usize, times: &Times, exported: &Exported) -> Vec<Worker> {
    let one = |i: usize| {
        let replayed = times.workers.get(i).copied().unwrap_or_default();
        let export = exported.workers.get(i).copied().unwrap_or_default();
        let serial = if i == 0 { times.serial } else { Duration::ZERO };
        let busy = replayed.busy() + export + serial;
        Worker {
            read: Seconds(replayed.read),
            decode: Seconds(replayed.decode),
            replay: Seconds(replayed.replay),
            export: Seconds(export),
            idle: Seconds((times.wall + exported.wall).saturating_sub(busy)),
        }
    };
    (0..threads).map(one).collect()
}

/// Returns the longest busy time of a worker divided by the mean of all.
fn imbalance(workers: &[Worker]) -> f64 {
    let busy = || workers.iter().map(Worker::busy);
    let mean = busy().sum::<Duration>().as_secs_f64() / workers.len() as f64;
    let most = busy().max().unwrap_or_default().as_secs_f64();
    if mean > 0.0 { most / mean } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use paje_sim::progress::WorkerTimes;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn times_are_attributed_to_workers() {
        let times = Times {
            wall: ms(100),
            serial: ms(20),
            workers: vec![
                WorkerTimes { read: ms(10), decode: ms(40), replay: ms(30) },
                WorkerTimes { read: ms(10), decode: ms(30), replay: ms(30) },
            ],
        };
        let exported = Exported { wall: ms(50), workers: vec![ms(50)], ..Exported::default() };
        let workers = by_worker(2, &times, &exported);
        let seconds = |ms: u64| Seconds(Duration::from_millis(ms));
        let all = |[read, decode, replay, export, idle]: [u64; 5]| Worker {
            read: seconds(read),
            decode: seconds(decode),
            replay: seconds(replay),
            export: seconds(export),
            idle: seconds(idle),
        };
        assert_eq!(workers, [all([10, 40, 30, 50, 0]), all([10, 30, 30, 0, 80])]);
        assert_eq!(imbalance(&workers), 1.3);
        // Without any work, the imbalance is 1.
        let exported = Exported { workers: vec![ms(90)], ..Exported::default() };
        assert_eq!(by_worker(1, &times, &exported)[0].idle, seconds(0));
        assert_eq!(imbalance(&by_worker(3, &Times::default(), &Exported::default())), 1.0);
    }
}
