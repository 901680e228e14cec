//! Dumps random traces, many of them damaged, with random options, threads, blocks, inputs and
//! faults. `PAJE_SEEDS=100000 cargo test --release -p pj-dump --test it soak` tries more of them.

use std::fs::File;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use datasets::mutate::{Change, mutated};
use datasets::random::{self, RandomTrace};
use testkit::signal::{INT, KILL, TERM, send};
use testkit::{Rng, Sandbox, failing_input, fed, number, said};

use crate::world::sandbox;

struct Trial {
    folder: Sandbox,
    trace: Vec<u8>,
    options: Vec<String>,
}

const TYPES: [&str; 4] = ["--type-hierarchy=types.csv", "--threads", "3", "t"];

/// Returns the exit status. After a signal, returns the status that a shell would report.
fn status(output: &Output) -> i32 {
    output.status.code().unwrap_or_else(|| 128 + output.status.signal().unwrap_or(0))
}

impl Trial {
    fn random(seed: u64, rng: &mut Rng) -> Self {
        let RandomTrace { bytes: mut trace, mut options, .. } = random::trace(seed);
        if rng.percent(40) {
            let change = |_| Change::from_bytes(std::array::from_fn(|_| rng.below(256) as u8));
            trace = mutated(&trace, &(0..=seed % 4).map(change).collect::<Vec<_>>());
        }
        options.extend(["--quotes".into(), rng.pick(&["strip", "auto", "keep"]).into()]);
        Trial { folder: sandbox(&[("t", &trace)]), trace, options }
    }

    fn command(&self, more: &[&str]) -> Command {
        let mut command = self.folder.command(&[]);
        command.args(&self.options).args(more).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn dump(&self, more: &[&str]) -> Output {
        self.command(more).output().expect("the program starts")
    }

    /// Dumps the trace with other threads and blocks, from a file or a pipe.
    fn in_another_way(&self, rng: &mut Rng) -> Output {
        let mut more = vec!["--threads", rng.pick(&["1", "2", "3", "4", "7"])];
        // Blocks are at most as long as the longest accepted line.
        let lines = self.trace.split(|byte| *byte == b'\n');
        if lines.map(<[u8]>::len).max().is_none_or(|longest| longest < 1000) {
            more.extend(["--max-line", rng.pick(&["1K", "1K", "2K", "5000", "64K"])]);
        }
        match rng.below(4) {
            0 => self.dump(&[&more[..], &["t"]].concat()),
            1 => fed(&mut self.command(&more), &self.trace),
            _ => {
                let how = rng.pick(&testkit::COMPRESSIONS);
                self.folder.write("packed", testkit::pack(how, &self.trace));
                let found = self.dump(&[&more[..], &["packed"]].concat());
                self.folder.remove("packed");
                found
            }
        }
    }

    /// Dumps a valid trace with an option that changes nothing: `--recover`, or `-o` for a trace of
    /// a single portion. With stripped quotes, `-o` shows rows that PajeNG leaves out.
    fn without_effect(&self) -> Output {
        let is_stripped = self.options.iter().any(|option| option == "strip");
        self.dump(&[if is_stripped { "--recover" } else { "-o" }, "t"])
    }

    fn limited(&self, limit: String) -> Output {
        let words = self.options.iter().map(String::as_str).chain(TYPES);
        let quoted = words.map(|word| format!(" '{}'", word.replace('\'', "'\\''")));
        self.folder.shell(&format!("ulimit {limit}; exec \"$0\"{}", quoted.collect::<String>()))
    }

    /// Injects a fault. Returns the output, and whether it is right.
    fn with_fault(&self, fault: u64, wanted: &Output, rng: &mut Rng) -> (Output, bool) {
        match fault {
            0 => {
                let mut child = self.command(&["--threads", "2", "t"]).spawn().expect("it starts");
                // The output may be shorter than that.
                let mut some = vec![0; rng.index(2000)];
                let _ = child.stdout.take().expect("a pipe").read_exact(&mut some);
                let found = child.wait_with_output().expect("it ends");
                let is_right = status(&found) == status(wanted);
                (found, is_right)
            }
            1 => {
                let full = File::options().write(true).open("/dev/full").expect("it exists");
                let child = self.command(&["t"]).stdout(full).spawn().expect("it starts");
                let found = child.wait_with_output().expect("it ends");
                let is_right = match wanted.stdout.is_empty() {
                    true => status(&found) == status(wanted),
                    false => status(&found) == 2 && said(&found).contains("No space left"),
                };
                (found, is_right)
            }
            2 => {
                let part = &self.trace[..rng.index(self.trace.len() + 1)];
                let found = failing_input(self.command(&[]), part);
                let is_right = match status(&found) {
                    2 => said(&found).ends_with("Connection reset by peer\n"),
                    // The text before the failure may be invalid.
                    status => status == 1,
                };
                let is_empty = found.stdout.is_empty();
                (found, is_right && is_empty)
            }
            3 => {
                let signal = rng.pick(&[INT, TERM, KILL]);
                let child = self.command(&TYPES).spawn().expect("it starts");
                std::thread::sleep(Duration::from_micros(rng.below(6000)));
                send(&child, signal);
                let found = child.wait_with_output().expect("it ends");
                // The program may have ended before the signal.
                let is_right = [128 + signal, status(wanted)].contains(&status(&found));
                (found, is_right)
            }
            4 => {
                // With less memory, the system cannot load the program and kills it.
                let found = self.limited(format!("-v {}", 40_000 + rng.below(48_000)));
                let told = said(&found).contains("pj_dump: ") || said(&found).contains("memory");
                let is_right = match status(&found) {
                    126 | 127 => true,
                    // Libraries abort if a thread cannot allocate its first bytes.
                    2 | 134 => told && found.stdout.is_empty(),
                    status => status == self::status(wanted) && found.stdout == wanted.stdout,
                };
                (found, is_right)
            }
            _ => {
                let found = self.limited(format!("-f {}", rng.below(3)));
                let is_right = [2, status(wanted)].contains(&status(&found));
                (found, is_right)
            }
        }
    }
}

#[test]
fn random_traces_are_dumped_in_any_way_and_with_any_fault() {
    let first = number("PAJE_SEED").unwrap_or(0);
    for seed in first..first + number("PAJE_SEEDS").unwrap_or(60) {
        let rng = &mut Rng::new(!seed);
        let trial = Trial::random(seed, rng);
        let about = || format!("seed {seed}, {:?}", trial.options.join(" "));
        let wanted = trial.dump(&["--threads", "1", "t"]);
        assert!([0, 1].contains(&status(&wanted)), "{}: {wanted:?}", about());
        for _ in 0..2 {
            let found = trial.in_another_way(rng);
            let said_of_t = said(&found).replace("<stdin>", "t").replace(" packed:", " t:");
            assert_eq!(said_of_t, said(&wanted), "{}", about());
            assert_eq!(status(&found), status(&wanted), "{}", about());
            assert!(found.stdout == wanted.stdout, "{}: other rows", about());
        }
        if status(&wanted) == 0 {
            let found = trial.without_effect();
            assert_eq!(status(&found), 0, "{}: {found:?}", about());
            assert!(found.stdout == wanted.stdout, "{}: rows of an option", about());
        }
        let fault = seed % 6;
        let (found, is_right) = trial.with_fault(fault, &wanted, rng);
        assert!(is_right, "{}, fault {fault}: {found:?}", about());
        let names = trial.folder.names();
        assert!(names.iter().all(|name| ["t", "types.csv"].contains(&&**name)), "{names:?}");
        if names.len() > 1 {
            let types = trial.folder.read("types.csv");
            trial.dump(&TYPES);
            assert!(trial.folder.read("types.csv") == types, "{}: types.csv is cut", about());
        }
    }
}
