//! Hypotheses, which are changes to a run, as written on the command line or in a file.

mod apply;
mod condition;
mod grammar;
mod words;

use std::fmt;
use std::str::FromStr;

use paje_decimal::amounts;
use paje_sim::Glob;

pub use apply::{Applied, Changes};
pub use condition::Condition;
pub use grammar::parse_file;
use words::Words;

/// A change to the run.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum Hypothesis {
    Scale(Scale),
    Balance(Balance),
    /// Removes states together with everything inside them.
    Cut(States),
    CutMessages(Condition),
    Net(Net),
    /// Scales the time that containers spend computing or between states.
    Cpu(Cpu),
}

/// A selection of states.
#[derive(Clone, Debug)]
pub struct States {
    /// Pattern of their values.
    pub state: Glob,
    /// Pattern of their containers. If it is missing, all containers are selected.
    pub container: Option<Glob>,
}

/// Scales the time of states.
#[derive(Clone, Debug)]
pub struct Scale {
    /// States to scale.
    pub states: States,
    /// Factor for their exclusive time.
    pub factor: f64,
    /// Parts of up to this length, in seconds, are not scaled.
    pub min_gap: f64,
}

/// Makes states equally long.
#[derive(Clone, Debug)]
pub struct Balance {
    /// States to balance.
    pub states: States,
    /// Which of the states become equally long.
    pub mode: Mode,
}

/// Sets of states that become equally long. The modes come from section 3.4.2 of Hermanns,
/// *Trace-based performance simulation of large-scale applications* (the thesis on SILAS).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The k-th states of all containers.
    GlobalInstance,
    /// The states of each container.
    ProcessLocal,
    /// All states.
    Global,
    /// All states are scaled so that the sums of all containers become equal.
    Scaled,
}

impl Mode {
    /// Every mode.
    pub const ALL: [Mode; 4] =
        [Mode::GlobalInstance, Mode::ProcessLocal, Mode::Global, Mode::Scaled];

    /// Returns the name of the mode on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Mode::GlobalInstance => "global-instance",
            Mode::ProcessLocal => "process-local",
            Mode::Global => "global",
            Mode::Scaled => "scaled",
        }
    }

    fn parse(text: &str) -> Result<Self, String> {
        // SILAS writes the names with blanks.
        let text = text.replace(' ', "-");
        let mode = Mode::ALL.into_iter().find(|mode| mode.name() == text);
        mode.ok_or_else(|| {
            let known = Mode::ALL.map(Mode::name).join(", ");
            format!("`{text}` is not a balancing mode; modes are {known}")
        })
    }
}

/// Replaces the network.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs)]
pub struct Net {
    pub latency: Option<Amount>,
    /// Bandwidth in bytes per second.
    pub bandwidth: Option<Amount>,
    /// Rendezvous threshold in bytes.
    pub eager: Option<f64>,
    pub sharing: Sharing,
}

/// A number, or a factor for the recorded number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    /// An absolute number, such as `5e-6`.
    Of(f64),
    /// A factor, such as `x10`.
    Times(f64),
}

impl Amount {
    fn parse(key: &str, text: &str) -> Result<Self, String> {
        let read = if key == "latency" { amounts::seconds } else { amounts::rate };
        let (number, make): (_, fn(f64) -> Amount) = match amounts::marked_factor(text) {
            Some(factor) => (Some(factor), Amount::Times),
            None => (read(text).ok(), Amount::Of),
        };
        let least = if key == "bandwidth" { f64::MIN_POSITIVE } else { 0.0 };
        let number = number.filter(|number| number.is_finite() && *number >= least);
        let right = match key {
            "latency" => "a time of 0 or more such as 10us",
            _ => "a rate above 0 such as 10GB/s",
        };
        let wrong = || format!("{key}={text}: expected {right}, or a factor such as x2");
        number.map(make).ok_or_else(wrong)
    }
}

/// Whether messages share links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sharing {
    /// Messages share the links of both ends in a max-min fair way.
    #[default]
    MaxMin,
    /// Messages do not share links.
    None,
}

/// Scales the time that containers spend computing or between states.
#[derive(Clone, Debug)]
pub struct Cpu {
    /// Pattern of the containers. If it is missing, all containers are selected.
    pub container: Option<Glob>,
    /// Factor for computing states, and for the time between states.
    pub factor: f64,
}

/// Random durations.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct Random {
    /// Distribution of the factors. Their mean is 1.
    pub distribution: Distribution,
    /// Coefficient of variation.
    pub cv: f64,
    pub seed: u64,
    pub runs: u32,
}

/// Distribution of random factors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Distribution {
    Lognormal,
    /// Normal distribution. Negative values are replaced by 0.
    Normal,
}

impl FromStr for Random {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, rest) = text.split_once(',').unwrap_or((text, ""));
        let distribution = match name {
            "lognormal" => Distribution::Lognormal,
            "normal" => Distribution::Normal,
            _ => {
                return Err(format!(
                    "`{name}` is not a distribution; expected lognormal or normal"
                ));
            }
        };
        let mut words = Words::parse(rest, &["cv", "seed", "runs"])?;
        let cv = words.amount("cv", amounts::factor)?.unwrap_or(0.1);
        let seed = words.integer("seed")?.unwrap_or(1);
        let runs = words.integer("runs")?.unwrap_or(100);
        let runs = u32::try_from(runs).ok().filter(|runs| (2..=100_000).contains(runs));
        let runs = runs.ok_or("runs: expected a number from 2 to 100000")?;
        Ok(Random { distribution, cv, seed, runs })
    }
}

impl fmt::Display for Random {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.distribution {
            Distribution::Lognormal => "lognormal",
            Distribution::Normal => "normal",
        };
        write!(f, "{name},cv={},seed={},runs={}", self.cv, self.seed, self.runs)
    }
}

const NO_FACTOR: &str = "factor=NUMBER is missing";

const KINDS: [(&str, &[&str]); 5] = [
    ("scale", &["state", "container", "factor", "min-gap"]),
    ("balance", &["state", "container", "mode"]),
    ("cut", &["state", "container"]),
    ("net", &["latency", "bandwidth", "eager", "sharing"]),
    ("cpu", &["container", "factor"]),
];

/// Parses a factor of times. `2x` could mean twice as fast, so it is refused.
fn factor(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| "expected a number, by which times are multiplied".into())
}

impl Hypothesis {
    /// Parses a hypothesis in the form that the option of its kind takes (`scale`, `net`, …).
    ///
    /// # Errors
    /// Fails with a message that says what was expected.
    pub fn parse(kind: &str, text: &str) -> Result<Self, String> {
        if kind == "cut-messages" {
            return Ok(Hypothesis::CutMessages(text.parse()?));
        }
        let Some((_, known)) = KINDS.iter().find(|(name, _)| *name == kind) else {
            let names: Vec<_> = KINDS.iter().map(|(name, _)| *name).collect();
            let names = names.join(", ");
            return Err(format!(
                "`{kind}` is not a kind of change; kinds are {names}, cut-messages"
            ));
        };
        let mut words = Words::parse(text, known)?;
        let container = words.glob("container")?;
        Ok(match kind {
            "scale" => Hypothesis::Scale(Scale {
                states: words.states(container)?,
                factor: words.amount("factor", factor)?.ok_or(NO_FACTOR)?,
                min_gap: words.amount("min-gap", amounts::seconds)?.unwrap_or(0.0),
            }),
            "balance" => Hypothesis::Balance(Balance {
                states: words.states(container)?,
                mode: Mode::parse(&words.take("mode").ok_or_else(|| {
                    format!("mode=MODE is missing, one of {}", Mode::ALL.map(Mode::name).join(", "))
                })?)?,
            }),
            "cut" => Hypothesis::Cut(words.states(container)?),
            "net" => {
                let mut amount =
                    |key| words.take(key).map(|text| Amount::parse(key, &text)).transpose();
                let (latency, bandwidth) = (amount("latency")?, amount("bandwidth")?);
                let sharing = match words.take("sharing").as_deref() {
                    None | Some("maxmin") => Sharing::MaxMin,
                    Some("none") => Sharing::None,
                    Some(other) => {
                        return Err(format!("sharing={other}: expected maxmin or none"));
                    }
                };
                let eager =
                    words.amount("eager", |text| amounts::size(text).map(|size| size as f64))?;
                if latency.is_none() && bandwidth.is_none() && eager.is_none() {
                    return Err(
                        "expected latency=, bandwidth= or eager=; sharing= alone changes nothing"
                            .into(),
                    );
                }
                Hypothesis::Net(Net { latency, bandwidth, eager, sharing })
            }
            // The only other kind is `cpu`.
            _ => Hypothesis::Cpu(Cpu {
                container,
                factor: words.amount("factor", factor)?.ok_or(NO_FACTOR)?,
            }),
        })
    }

    /// Returns whether hypotheses of a kind have this key.
    #[must_use]
    pub fn has_word(kind: &str, word: &str) -> bool {
        KINDS.iter().any(|(name, words)| *name == kind && words.contains(&word))
    }
}
