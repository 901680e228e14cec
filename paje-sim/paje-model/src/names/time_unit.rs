//! Unit of a trace's times. Pajé does not define one, so the writer decides.
//!
//! Writers with a known unit are recognised by the types that they define. Sources are in
//! `docs/time.md`.

use std::fmt;
use std::str::FromStr;

use paje_parser::TypeNature::{self, Container, State};

use crate::model::types::Types;

/// A unit of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum TimeUnit {
    Nanoseconds,
    Microseconds,
    Milliseconds,
    Seconds,
}

/// A writer and the types by which it is recognised: all types of one of the sets.
struct Writer {
    name: &'static str,
    unit: TimeUnit,
    signs: &'static [&'static [(TypeNature, &'static str)]],
}

const WRITERS: [Writer; 5] = [
    Writer {
        name: "StarPU",
        unit: TimeUnit::Milliseconds,
        signs: &[&[(Container, "MPI Program"), (Container, "Memory Node"), (Container, "Worker")]],
    },
    Writer {
        name: "SimGrid",
        unit: TimeUnit::Seconds,
        signs: &[
            &[(State, "MPI_STATE")],
            &[(State, "ACTOR_STATE")],
            &[(Container, "HOST"), (Container, "LINK")],
        ],
    },
    Writer {
        name: "EZTrace",
        unit: TimeUnit::Milliseconds,
        signs: &[&[(Container, "CT_Process"), (Container, "CT_Thread")]],
    },
    Writer {
        name: "Akypuera",
        unit: TimeUnit::Seconds,
        signs: &[&[(Container, "PROCESS"), (State, "STATE"), (TypeNature::Link, "LINK")]],
    },
    Writer {
        name: "the reader of OTF2 archives",
        unit: TimeUnit::Seconds,
        signs: &[&[(Container, "Thread"), (State, "Region")]],
    },
];

/// Reason for a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    Given,
    Writer(usize),
    Assumed,
}

/// Conversion of a trace's times to seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeScale {
    unit: TimeUnit,
    reason: Reason,
}

impl TimeUnit {
    /// Every unit, by size.
    pub const ALL: [TimeUnit; 4] =
        [TimeUnit::Nanoseconds, TimeUnit::Microseconds, TimeUnit::Milliseconds, TimeUnit::Seconds];

    /// Returns the number of units in a second.
    #[must_use]
    pub const fn per_second(self) -> u32 {
        match self {
            TimeUnit::Nanoseconds => 1_000_000_000,
            TimeUnit::Microseconds => 1_000_000,
            TimeUnit::Milliseconds => 1000,
            TimeUnit::Seconds => 1,
        }
    }

    /// Returns the symbol: `ns`, `us`, `ms` or `s`.
    #[must_use]
    pub const fn symbol(self) -> &'static str {
        match self {
            TimeUnit::Nanoseconds => "ns",
            TimeUnit::Microseconds => "us",
            TimeUnit::Milliseconds => "ms",
            TimeUnit::Seconds => "s",
        }
    }

    const fn name(self) -> &'static str {
        match self {
            TimeUnit::Nanoseconds => "nanoseconds",
            TimeUnit::Microseconds => "microseconds",
            TimeUnit::Milliseconds => "milliseconds",
            TimeUnit::Seconds => "seconds",
        }
    }
}

impl FromStr for TimeUnit {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = TimeUnit::ALL.into_iter().find(|unit| unit.symbol() == text);
        found.or((text == "µs").then_some(TimeUnit::Microseconds)).ok_or("expected ns, us, ms or s")
    }
}

impl TimeScale {
    /// Uses the given unit, or that of the trace's writer. If the writer is unknown, assumes seconds.
    #[must_use]
    pub fn new(types: &Types, given: Option<TimeUnit>) -> Self {
        if let Some(unit) = given {
            return TimeScale { unit, reason: Reason::Given };
        }
        let has = |(nature, name): &(TypeNature, &str)| {
            let mut all = types.ids().filter(|id| types.nature(*id) == *nature);
            all.any(|id| types.name(id).text == name.as_bytes())
        };
        let is = |writer: &Writer| writer.signs.iter().any(|sign| sign.iter().all(has));
        match WRITERS.iter().position(is) {
            Some(at) => TimeScale { unit: WRITERS[at].unit, reason: Reason::Writer(at) },
            None => TimeScale { unit: TimeUnit::Seconds, reason: Reason::Assumed },
        }
    }

    /// Returns the unit.
    #[must_use]
    pub const fn unit(self) -> TimeUnit {
        self.unit
    }

    /// Whether the times are seconds, so that nothing is converted.
    #[must_use]
    pub fn is_seconds(self) -> bool {
        self.unit == TimeUnit::Seconds
    }

    /// Converts a time of the trace to seconds.
    #[must_use]
    #[inline]
    pub fn seconds(self, time: f64) -> f64 {
        time / f64::from(self.unit.per_second())
    }

    /// Converts seconds to a time of the trace.
    #[must_use]
    #[inline]
    pub fn time(self, seconds: f64) -> f64 {
        seconds * f64::from(self.unit.per_second())
    }

    /// Encodes the scale of a trace without a given unit.
    #[must_use]
    #[doc(hidden)]
    pub const fn to_byte(self) -> u8 {
        match self.reason {
            Reason::Writer(at) => at as u8 + 1,
            Reason::Given | Reason::Assumed => 0,
        }
    }

    /// Decodes a scale; `None` for a byte of another version.
    #[must_use]
    #[doc(hidden)]
    pub fn from_byte(byte: u8) -> Option<Self> {
        let Some(at) = usize::from(byte).checked_sub(1) else {
            return Some(TimeScale { unit: TimeUnit::Seconds, reason: Reason::Assumed });
        };
        let writer = WRITERS.get(at)?;
        Some(TimeScale { unit: writer.unit, reason: Reason::Writer(at) })
    }
}

/// Formats the unit and its reason, such as `times in milliseconds: written by StarPU`.
impl fmt::Display for TimeScale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "times in {}: ", self.unit.name())?;
        match self.reason {
            Reason::Given => f.write_str("as requested"),
            Reason::Writer(at) => write!(f, "written by {}", WRITERS[at].name),
            Reason::Assumed => f.write_str("assumed"),
        }
    }
}
