//! Workers of a task-based runtime, as StarPU traces them.
//!
//! Each worker repeats the same cycle: schedule, overhead, fetch input, overhead, execute a task,
//! overhead, push output. A step is a group of lines with the same time: the state and its details
//! (the task's line of 17 fields, counters, a transfer). Times increase strictly from group to
//! group, so that a stable sort by time is unique, as [`super::unsorted`] requires.

mod definitions;

use std::collections::VecDeque;
use std::io;

use self::definitions::{DEFINITIONS, STATES, TASKS};
use crate::header;
use crate::rng::Rng;
use crate::sink::Sink;

/// Step of a worker in a callback, outside of the cycle. It ends the callback and restarts the
/// cycle.
const CALLBACK: u8 = 10;

pub(super) fn write(sink: &mut Sink<'_>, size: u64, rng: Rng) -> io::Result<()> {
    let mut runtime = Runtime::new(sink.containers, size, rng);
    runtime.begin(sink)?;
    while sink.written() + runtime.closing_bytes() < size {
        runtime.group(sink)?;
    }
    runtime.end(sink)
}

#[derive(Clone, Copy, Debug)]
struct Transfer {
    to: u64,
    serial: u64,
}

#[derive(Debug)]
pub(super) struct Runtime {
    rng: Rng,
    /// Time in nanoseconds.
    now: u64,
    steps: Vec<u8>,
    tasks: u64,
    transfers: VecDeque<Transfer>,
    serial: u64,
}

impl Runtime {
    pub(super) fn new(workers: Option<u64>, size: u64, rng: Rng) -> Self {
        let workers = workers.unwrap_or((size / 8192).clamp(2, 32)) as usize;
        Self {
            rng,
            now: 0,
            steps: vec![0; workers],
            tasks: 0,
            transfers: VecDeque::new(),
            serial: 0,
        }
    }

    pub(super) fn closing_bytes(&self) -> u64 {
        self.transfers.len() as u64 * 44 + (self.steps.len() as u64 + 4) * 22
    }

    fn nodes(&self) -> u64 {
        1 + self.steps.len() as u64 / 8
    }

    pub(super) fn begin(&mut self, sink: &mut Sink<'_>) -> io::Result<()> {
        sink.lines(header::definitions(DEFINITIONS).as_bytes())?;
        sink.tabs();
        sink.lines(
            b"1       P      0       \"Program\"                      \t\n1       Mn      P       \"Memory Node\"       \n\
              1       W      Mn       \"Worker\"                               \n1       Sc       P       \"Scheduler State\"\n\
              2       user_event   P       \"user event type\"\t\t\"1.0 1.0 1.0\" \t\t\n3       WS       W       \"Worker State\"    \n\
              4       nready    Sc       \"Number of Ready Tasks\"       \n4       gf      W       \"GFlop/s\"                \n\
              4       use     Mn       \"Used (MB)\"                  \n5       MnL     P       Mn      Mn      \"Memory transfers\"\n",
        )?;
        for [alias, name, color] in STATES {
            sink.event(6).word(alias).word("WS").word(name).word(color).end()?;
        }
        self.timed(sink, 7).word("p").word("P").num(0).word("\"program\"").end()?;
        self.timed(sink, 7).word("sched").word("Sc").word("p").word("\"scheduler\"").end()?;
        for node in 0..self.nodes() {
            self.timed(sink, 7)
                .name("mm", node)
                .word("Mn")
                .word("p")
                .quoted("Memory node ", node)
                .end()?;
            self.timed(sink, 13).name("mm", node).word("use").word("0.000000").end()?;
        }
        for worker in 0..self.steps.len() as u64 {
            self.timed(sink, 7).name("w", worker).word("W").name("mm", worker % self.nodes());
            sink.quoted("CPU ", worker).end()?;
            self.state(sink, 10, worker, "I")?.end()?;
            self.timed(sink, 13).name("w", worker).word("gf").word("0.0").end()?;
        }
        Ok(())
    }

    /// Starts a line with an event number and a time. StarPU writes milliseconds with nine
    /// decimals, of which the last three are 0.
    fn timed<'s, 'a>(&self, sink: &'s mut Sink<'a>, event: u32) -> &'s mut Sink<'a> {
        sink.event(event)
            .num(self.now / 1_000_000)
            .text(".")
            .padded(self.now % 1_000_000, 6)
            .text("000")
    }

    fn state<'s, 'a>(
        &self,
        sink: &'s mut Sink<'a>,
        event: u32,
        worker: u64,
        value: &str,
    ) -> io::Result<&'s mut Sink<'a>> {
        Ok(self.timed(sink, event).name("w", worker).word("WS").word(value))
    }

    /// Writes the next step of a worker. All lines of the step have the same time, which is later
    /// than all previous times.
    pub(super) fn group(&mut self, sink: &mut Sink<'_>) -> io::Result<()> {
        self.now += self.rng.between(1, 400);
        let index = self.rng.index(self.steps.len());
        let worker = index as u64;
        let step = self.steps[index];
        self.steps[index] = if step >= 9 { 0 } else { step + 1 };
        match step {
            0 => self.state(sink, 10, worker, "\"Sc\"")?.end(),
            1 => {
                self.state(sink, 10, worker, "\"B\"")?.end()?;
                self.timed(sink, 13)
                    .word("sched")
                    .word("nready")
                    .num(self.rng.below(2000))
                    .text(".000000")
                    .end()
            }
            2 => self.state(sink, 10, worker, "\"Fi\"")?.end(),
            3 if self.rng.percent(30) => self.transfer(sink),
            5 => self.task(sink, worker),
            6 => {
                self.state(sink, 10, worker, "\"B\"")?.end()?;
                let speed = self.rng.below(9_000_000);
                self.timed(sink, 13).name("w", worker).word("gf").micros(speed).end()
            }
            7 => self.state(sink, 10, worker, "\"Po\"")?.end(),
            8 if self.rng.percent(20) => {
                self.steps[index] = CALLBACK;
                self.state(sink, 26, worker, "C")?.num(self.tasks).end()
            }
            CALLBACK => self.timed(sink, 12).name("w", worker).word("WS").end(),
            9 if self.rng.percent(10) => {
                self.timed(sink, 9).word("user_event").word("p").word("\"task # done\"").end()
            }
            _ => self.state(sink, 10, worker, "\"B\"")?.end(),
        }
    }

    /// Writes the state of a task twice. The second line has all details.
    fn task(&mut self, sink: &mut Sink<'_>, worker: u64) -> io::Result<()> {
        self.tasks += 1;
        let (x, y) = (self.rng.below(80), self.rng.below(80));
        let kind = self.rng.pick(&TASKS);
        self.state(sink, 10, worker, kind)?.end()?;
        let full = self.rng.percent(80);
        self.state(sink, if full { 20 } else { 21 }, worker, kind)?
            .num(6912)
            .word("\"M24x24x4_M24x24x4_M24x24x4\"");
        sink.word("43510a4e")
            .word("4000")
            .padded(self.tasks, 12)
            .num(self.tasks)
            .num(self.tasks + self.rng.below(500));
        if full {
            sink.num(0).word("0.000027").num(x).num(y).num(self.tasks % 12).word("-1");
        }
        sink.end()
    }

    /// Starts a transfer between memory nodes, or ends an earlier transfer.
    fn transfer(&mut self, sink: &mut Sink<'_>) -> io::Result<()> {
        if self.transfers.len() >= 8 || !self.transfers.is_empty() && self.rng.percent(50) {
            return self.arrive(sink);
        }
        self.serial += 1;
        let (from, to) = (self.rng.below(self.nodes()), self.rng.below(self.nodes()));
        self.transfers.push_back(Transfer { to, serial: self.serial });
        let known = self.rng.percent(70);
        self.timed(sink, if known { 24 } else { 18 })
            .word("MnL")
            .word("p")
            .word("F")
            .name("mm", from)
            .name("com_", self.serial);
        if known {
            sink.word("0x55d0")
                .padded(self.serial, 8)
                .word("\"A # tile\"")
                .num(self.rng.below(80))
                .num(self.rng.below(80));
        }
        sink.end()?;
        let used = self.rng.below(4_000_000_000);
        self.timed(sink, 13).name("mm", to).word("use").micros(used).end()
    }

    fn arrive(&mut self, sink: &mut Sink<'_>) -> io::Result<()> {
        let Some(Transfer { to, serial }) = self.transfers.pop_front() else {
            return Ok(());
        };
        self.timed(sink, 19)
            .word("MnL")
            .word("p")
            .word("F")
            .name("mm", to)
            .name("com_", serial)
            .end()
    }

    pub(super) fn end(&mut self, sink: &mut Sink<'_>) -> io::Result<()> {
        self.now += 1;
        while !self.transfers.is_empty() {
            self.arrive(sink)?;
        }
        for worker in 0..self.steps.len() as u64 {
            self.timed(sink, 8).name("w", worker).word("W").end()?;
        }
        for node in 0..self.nodes() {
            self.timed(sink, 8).name("mm", node).word("Mn").end()?;
        }
        self.timed(sink, 8).word("sched").word("Sc").end()?;
        self.timed(sink, 8).word("p").word("P").end()
    }
}
