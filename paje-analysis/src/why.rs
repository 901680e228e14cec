//! Why a run is slow: the causes that its measured quantities show, in words.
//!
//! Runs of ranks that pass messages are judged by the efficiencies of the POP centre of excellence,
//! by wait states, and by how both change over time. `docs/why.md` has the model and its rules. A
//! rule names a cause only if the cause takes a tenth of the run. Other runs are summarised by the
//! time in their states.

mod lateness;
mod measures;
mod messages;
mod phases;
mod rules;
pub mod scaling;
mod suggest;
mod tasks;
mod workers;

use std::cmp::Reverse;

use paje_decimal::amounts::{duration, percent};

use crate::states::Row;
use crate::waits::Waits;
use crate::waits::rest::{Efficiency, Rest};
use crate::{Data, Label, Table};
use lateness::Lateness;
use measures::Measures;
use rules::Losses;
pub use tasks::of_tasks;
pub use workers::of_workers;

/// Smallest share of the run that a cause takes. POP calls efficiencies of 80 % or more acceptable,
/// and parallel efficiency is the product of two of them.
pub(crate) const LEAST: f64 = 0.1;

/// Why a run is slow.
#[derive(Clone, Debug, Default)]
pub struct Verdict {
    /// Causes, the most expensive one first. Empty if nothing stands out.
    pub causes: Vec<Cause>,
    /// Names and texts of measured facts.
    pub facts: Vec<(&'static str, String)>,
    /// Facts that the trace does not show, and how to record more.
    pub doubts: Vec<String>,
    /// Whether causes were looked for.
    pub is_judged: bool,
}

/// A cause.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Cause {
    pub kind: Kind,
    /// Share of the run that it takes.
    pub cost: f64,
    /// Measured quantities, in words.
    pub text: String,
    /// Report of `pj_profile` that shows more, with its options.
    pub next: &'static str,
    /// Options of `pj_whatif` that predict the run without the cause.
    pub whatif: Option<String>,
}

/// Kind of a cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Kind {
    LateSender,
    LateReceiver,
    Imbalance,
    Serialisation,
    SlowNetwork,
    SmallMessages,
    SlowNode,
    Phase,
    Files,
    OtherCalls,
    Unrecorded,
    Idle,
    FewTasks,
    Dependencies,
    Submission,
    LastTasks,
    SlowKernel,
    Misplaced,
    Scheduling,
    Transfers,
    Overhead,
}

impl Kind {
    /// Returns the name in reports.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Kind::LateSender => "late sender",
            Kind::LateReceiver => "late receiver",
            Kind::Imbalance => "imbalance",
            Kind::Serialisation => "serialisation",
            Kind::SlowNetwork => "slow network",
            Kind::SmallMessages => "too many small messages",
            Kind::SlowNode => "slow node or imbalance",
            Kind::Phase => "a phase differs",
            Kind::Files => "input and output",
            Kind::OtherCalls => "other calls",
            Kind::Unrecorded => "communication that is not recorded",
            Kind::FewTasks => "too few tasks",
            Kind::Dependencies => "chains of dependencies",
            Kind::Submission => "slow submission",
            Kind::LastTasks => "the last tasks",
            Kind::SlowKernel => "a kernel is slow on accelerators",
            Kind::Misplaced => "tasks on unsuitable workers",
            Kind::Scheduling => "idle beside ready tasks",
            Kind::Transfers => "data transfers",
            Kind::Idle => "idle workers",
            Kind::Overhead => "overhead",
        }
    }
}

impl Cause {
    const fn new(kind: Kind, cost: f64, text: String, next: &'static str) -> Self {
        Cause { kind, cost, text, next, whatif: None }
    }

    fn with_whatif(self, whatif: Option<String>) -> Self {
        Cause { whatif, ..self }
    }
}

/// Result of predicting the run with a network that takes no time: its length in the trace's unit,
/// or why there is no prediction.
pub type Ideal = Result<f64, String>;

/// Efficiencies of a run, including those that need a prediction.
#[derive(Clone, Debug)]
pub struct Pop {
    /// Number of ranks that communicate.
    pub ranks: usize,
    /// Length of the run in seconds.
    pub length: f64,
    /// Computing time of all ranks in seconds.
    pub computing: f64,
    /// Efficiencies that the trace shows.
    pub all: Efficiency,
    /// Transfer efficiency: the length with an ideal network, divided by the length.
    pub transfer: Result<f64, String>,
}

impl Pop {
    /// Returns the efficiencies of a run. Returns `None` if no rank computes, or if most messages
    /// are not in calls, so that time in calls would count as computing.
    #[must_use]
    pub fn new(waits: &Waits<'_>, ideal: Ideal) -> Option<Self> {
        Pop::of(&Measures::new(waits, waits.whole()), ideal)
    }

    fn of(measures: &Measures<'_, '_>, ideal: Ideal) -> Option<Self> {
        let waits = measures.waits;
        let (sent, received) = waits.facts.messages.without_state();
        let has_states = sent + received <= waits.facts.messages.list().len() as u64;
        let all = measures.efficiency().filter(|_| waits.has_dependences() && has_states)?;
        let scale = waits.scale();
        let between = measures.share_of(measures.between().to_f64());
        let ideal = match waits.lacks_messages() {
            true => Err("SMPI does not record the messages of Sendrecv".into()),
            false if between >= LEAST / 10.0 => {
                Err("the calls of some messages are not recorded".into())
            }
            false => ideal,
        };
        let transfer = ideal.map(|ideal| (ideal / measures.length).min(1.0).max(all.communication));
        Some(Pop {
            ranks: measures.ranks.len(),
            length: scale.seconds(measures.length),
            computing: scale.seconds(measures.computing().iter().sum()),
            all,
            transfer,
        })
    }

    /// Returns the part of the communication efficiency that remains with an ideal network.
    pub(crate) fn serialisation(&self) -> Option<f64> {
        self.transfer.as_ref().ok().map(|transfer| self.all.communication / transfer)
    }

    fn text(&self) -> String {
        let Efficiency { parallel, load_balance, communication } = self.all;
        let [parallel, balance, communication] =
            [parallel, load_balance, communication].map(percent);
        let divided = match (self.serialisation(), &self.transfer) {
            (Some(serialisation), Ok(transfer)) => {
                format!(
                    "serialisation {} x transfer {}",
                    percent(serialisation),
                    percent(*transfer)
                )
            }
            _ => format!("communication {communication}"),
        };
        format!("parallel {parallel} = load balance {balance} x {divided}")
    }
}

/// Judges a run of ranks that pass messages. Returns `None` if it has no efficiencies: see
/// [`Pop::new`].
#[must_use]
pub fn of_ranks(waits: &Waits<'_>, ideal: Ideal) -> Option<Verdict> {
    let measures = Measures::new(waits, waits.whole());
    let pop = Pop::of(&measures, ideal)?;
    let mut verdict = Verdict {
        causes: causes(&measures, &pop.all, pop.transfer.as_ref().ok()),
        is_judged: true,
        ..Verdict::default()
    };
    if let Some(phase) = phases::find(&measures) {
        verdict.add_phase(&measures, phase);
    }
    verdict.facts.push(("efficiency (POP)", pop.text()));
    // Waits lead the path from rank to rank.
    let path = (!waits.lacks_messages()).then(|| rules::path(&measures)).flatten();
    verdict.facts.extend(path.map(|text| ("critical path", text)));
    let between = measures.between();
    if !between.is_zero() {
        verdict.doubts.push(format!(
            "{} between states, {} of the time, has messages of calls that are not recorded, so it does not count as \
             computing",
            measures.duration(between.to_f64()),
            percent(measures.share_of(between.to_f64())),
        ));
    }
    if let Err(why) = &pop.transfer {
        verdict.doubts.push(format!("serialisation and transfer are not told apart: {why}"));
    }
    let unexplained = measures.share(&[Rest::Unexplained]) - measures.share_of(between.to_f64());
    if unexplained >= LEAST / 2.0 {
        let share = percent(unexplained);
        verdict
            .doubts
            .push(format!("{share} of the time is in calls for which the trace has no message"));
    }
    Some(verdict)
}

/// Returns the causes in a window, the most expensive one first.
fn causes(measures: &Measures<'_, '_>, all: &Efficiency, transfer: Option<&f64>) -> Vec<Cause> {
    let mut losses = Losses::new(measures, all, transfer.copied());
    if measures.waits.lacks_messages() {
        // Waiting and transfer cannot be told apart.
        losses.unexplained += losses.serialisation + losses.transfer;
        (losses.serialisation, losses.transfer) = (0.0, 0.0);
    }
    let mut causes = Vec::new();
    if losses.balance.max(losses.serialisation) >= LEAST {
        let late = Lateness::new(measures);
        let first = rules::slow_node(measures, &losses)
            .or_else(|| rules::bottleneck(measures, &losses, &late))
            .or_else(|| rules::one_way(measures, &losses, &late))
            .or_else(|| rules::imbalance(measures, &losses, &late));
        let is_one_way =
            |cause: &Cause| matches!(cause.kind, Kind::LateSender | Kind::LateReceiver);
        let is_late = first.as_ref().is_some_and(is_one_way);
        let chains = || rules::serialisation(measures, &losses, &late);
        let chains = (!is_late).then(chains).flatten();
        causes.extend(first.into_iter().chain(chains));
    }
    causes.extend(messages::transfer(measures, &losses));
    causes.extend(rules::elsewhere(measures, &losses));
    causes.sort_by(|a, b| b.cost.total_cmp(&a.cost));
    causes
}

impl Verdict {
    /// Adds a phase. If it has most of the lost time, its own causes replace those of the run.
    fn add_phase(&mut self, measures: &Measures<'_, '_>, phase: phases::Phase) {
        let share = |time: f64| time / measures.length;
        let cost = share(phase.excess);
        let is_lost = phase.lost >= phases::LOST && !self.causes.is_empty();
        let is_longer = self.causes.iter().all(|cause| cause.cost < share(phase.computing));
        if cost < LEAST {
            return;
        }
        let (from, until) = phase.window;
        let begin = measures.window.0;
        let mut text = format!(
            "from {} to {} after the start, {} of the calls take {} of the time",
            measures.duration(from - begin),
            measures.duration(until - begin),
            percent(phase.states),
            percent(share(until - from)),
        );
        let mut whatif = None;
        if is_lost {
            let inner = Measures::new(measures.waits, phase.window);
            let found = inner.efficiency().map(|all| causes(&inner, &all, None));
            if let Some(cause) = found.iter().flatten().next() {
                text += &format!(
                    ", with {} of all lost time. {}: {}",
                    percent(phase.lost),
                    capital(cause.kind.name()),
                    cause.text
                );
                whatif.clone_from(&cause.whatif);
            }
        } else {
            text += &format!(
                ", because ranks compute {} longer there",
                measures.duration(phase.computing)
            );
        }
        let cause = Cause::new(Kind::Phase, cost, text, "time --svg time.svg").with_whatif(whatif);
        if is_lost {
            let is_other = |it: &Cause| matches!(it.kind, Kind::Files | Kind::OtherCalls);
            self.causes.retain(is_other);
            self.causes.insert(self.causes.partition_point(|other| other.cost > cost), cause);
            return;
        }
        let place = self.causes.partition_point(|other| other.cost > cost);
        self.causes.insert(if is_longer { 0 } else { place.max(1) }, cause);
    }

    /// Adds notes to the doubts, without the word before the colon.
    pub fn add_notes(&mut self, notes: impl IntoIterator<Item = String>) {
        let plain = |note: String| match note.split_once(": ") {
            Some((_, text)) => text.to_owned(),
            None => note,
        };
        self.doubts.extend(notes.into_iter().map(plain));
    }

    /// Converts the verdict to a table: `kind,name,share,text,next,whatif`. `file` is the trace's
    /// name in commands.
    #[must_use]
    pub fn table(&self, file: &str) -> Table {
        let mut rows: Vec<([Label; 3], Option<f64>, [Label; 2])> = Vec::new();
        let none = || ["", ""].map(Label::from);
        for cause in &self.causes {
            let next = format!("pj_profile {} {file}", cause.next);
            let whatif = cause.whatif.as_ref().map(|options| format!("pj_whatif {options} {file}"));
            let labels = ["cause", cause.kind.name(), &cause.text].map(Label::from);
            let commands = [next.as_str(), whatif.as_deref().unwrap_or("")].map(Label::from);
            rows.push((labels, Some(cause.cost), commands));
        }
        if self.causes.is_empty() && self.is_judged {
            let text = format!("nothing stands out: no cause takes {} of the run", percent(LEAST));
            rows.push((["cause", "balanced", &text].map(Label::from), None, none()));
        }
        for (name, text) in &self.facts {
            rows.push((["fact", name, text].map(Label::from), None, none()));
        }
        for text in &self.doubts {
            rows.push((["doubt", "doubt", text].map(Label::from), None, none()));
        }
        Table::new("why")
            .with("kind", Data::text(&rows, |row| &row.0[0]))
            .with("name", Data::text(&rows, |row| &row.0[1]))
            .with("share", Data::number(&rows, |row| row.1))
            .with("text", Data::text(&rows, |row| &row.0[2]))
            .with("next", Data::text(&rows, |row| &row.2[0]))
            .with("whatif", Data::text(&rows, |row| &row.2[1]))
    }
}

/// Returns a name with a capital letter.
#[must_use]
pub fn capital(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}

/// Summarises a run by its states alone. `why` says what the trace lacks.
#[must_use]
pub fn of_states(rows: &[Row], why: &str) -> Verdict {
    let mut rows: Vec<&Row> = rows.iter().filter(|row| row.share >= 0.01).collect();
    rows.sort_by_key(|row| Reverse(row.exclusive));
    let facts = rows.iter().take(4).map(|row| {
        let imbalance = match row.lanes > 1 && row.imbalance >= LEAST {
            true => format!(
                "; the longest of {} is {} above the mean",
                row.lanes,
                percent(row.imbalance)
            ),
            false => String::new(),
        };
        let (time, share) = (duration(row.exclusive.to_f64()), percent(row.share));
        ("time in states", format!("{} {}: {time}, {share}{imbalance}", row.type_, row.value))
    });
    Verdict { facts: facts.collect(), doubts: vec![why.into()], ..Verdict::default() }
}
