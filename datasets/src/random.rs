//! Random small traces for a live comparison with Debian's PajeNG 1.3.6.
//!
//! [`trace`] draws everything the format leaves open: the tree of types (three container types deep), shared
//! names, aliases or none, identifiers that types and containers share, several numbers for one event, fields
//! in any order, user-defined and superfluous fields, definitions before, between and after their use, values
//! defined or implied, containers created late and events after their destruction, links that end first,
//! equal times, times of many spellings, quotes, comments, blank lines, tabs, CRLF, a missing last line end,
//! the old field names, and the options to replay with. Some 30 % of the traces hold exactly one
//! [`Fault`], at a random place.
//!
//! # What it steers around
//!
//! A comparison is worth something only where both programs mean to agree. Each rule names what PajeNG 1.3.6
//! does otherwise. Every other difference between two replays of such a trace is a bug in one of them.
//!
//! **The end.**
//! 1. *The last event line has the largest time of the trace, in a living container.* PajeNG ends the trace at
//!    the time of the last event in file order, and prints negative durations, or drops rows, beyond it.
//! 2. *The last event line has a time.* After a definition or a type PajeNG ends at time 0.
//!
//! **Lines.**
//! 3. *At most 20 fields on a line.* PajeNG drops the others.
//! 4. *As many fields as the definition has.* With more, PajeNG writes a complaint into its output; with fewer it
//!    aborts. So [`Fault::MissingField`] never occurs.
//! 5. *No empty field.* PajeNG reads `""` as a single quote, or swallows the field after it.
//! 6. *No quote inside a name, and every quote closed.* PajeNG keeps a quote inside a word as text, splits
//!    `"a"b` in two, and closes an open quote at the line's end, behind a carriage return.
//! 7. *No comma in a name, no blank at its ends.* PajeNG prints these bare, in a row nobody can split.
//! 8. *No `Filename` field, no `PajeTraceFile`.* PajeNG ignores them; others read the file.
//!
//! **Numbers.**
//! 9. *The digits of a time, taken as a whole number, stay below 2⁵³, and its power of ten above 10⁻²²*: PajeNG
//!    rounds such a time correctly, as it is one exact number divided once by another. Of other times it gets
//!    every fourth wrong by one unit in the last place.
//! 10. *No negative time but `-0`, no NaN, no infinity.* PajeNG prints 0 as the duration of what starts before 0, and
//!     `-nan` for what never ends. A time that is no number it takes for garbage: no [`Fault::BadTime`].
//! 11. *Variables are set to finite numbers, in full.* PajeNG takes `junk` for 0 and `3x` for 3: no
//!     [`Fault::BadVariableValue`].
//!
//! **Definitions, types, values.**
//! 12. *A definition is complete and not interrupted.* PajeNG takes one cut off by the end of the file, and events
//!     in its middle: no [`Fault::TruncatedDefinition`]. It also takes an empty file: no [`Fault::EmptyFile`].
//! 13. *A field that occurs twice ([`Fault::FieldDefinedTwice`]) is a known one, with one declared type.* PajeNG compares both,
//!     and does not look at user-defined fields.
//! 14. *A defined value's name is not the identifier of another value of its type.* PajeNG refuses this as a redefinition,
//!     though the name is not what identifies a value with an alias.
//! 15. *A bad colour has the wrong number of parts.* PajeNG counts the parts and takes any text for a number.
//!
//! **Containers and links.**
//! 16. *A container is destroyed not before anything below it happened, its children's creation included.* PajeNG
//!     looks at the container's own events only, and ends children before they start.
//! 17. *A container is created not before its parent's first moment.* PajeNG does not look.
//! 18. *No second start, nor second end, with one key.* PajeNG makes a link with a `NULL` end of it, or none: no
//!     [`Fault::TwoStarts`], no [`Fault::TwoEnds`].
//! 19. *Links complete not before either end of the one completed last in their lane.* That is what PajeNG demands,
//!     also of links that end first.
//! 20. *Links stay open only under `-z`.* Without it they are a fault, and one of the faults.
//!
//! **Options.**
//! 21. *No `-s`, `-e`, `-a`, `-o`*: PajeNG loses or invents rows with them. No `-t`, whose output is a duration, and no
//!     `-f`, another reader with other limits.
//! 22. *`-h` only without events*: 1.3.6 prints another header for `Event`.
//! 23. *`-p` never with the name of a link or container type, nor with `-z`*: it bisects a lane by start time, and links
//!     are not in that order; on links that stay open it fails.
//! 24. *At most one of `-c`, `-d` and `-p`*, each of which replaces the dump.
//! 25. *`-n` wherever old names occur*: without it they are user-defined fields.
//!
//! A trace with a fault makes PajeNG fail with status 1. What it prints before is no part of the comparison.

mod faults;
mod schema;
mod spelling;
mod steps;
mod times;
mod trace;
mod world;

use crate::invalid::Fault;
use crate::rng::Rng;
use trace::Writer;
use world::Nature;

/// A random trace and how to replay it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RandomTrace {
    /// The trace.
    pub bytes: Vec<u8>,
    /// Options for `pj_dump`, PajeNG's as well as ours, without the file.
    pub options: Vec<String>,
    /// Fault of the trace; `None` if it is valid under these options.
    pub fault: Option<Fault>,
}

impl RandomTrace {
    /// Tells whether a replay must end well: exit status 0 and an output to compare. Otherwise it must fail with
    /// exit status 1.
    pub fn is_valid(&self) -> bool {
        self.fault.is_none()
    }
}

/// The random trace of `seed`: 20 to some 1,500 lines, in three of 100 cases some thousands.
///
/// The same seed gives the same trace on every machine.
///
/// ```
/// let trace = datasets::random::trace(42);
/// assert_eq!(trace, datasets::random::trace(42));
/// assert!(trace.bytes.windows(9).any(|bytes| bytes == b"%EventDef") || !trace.is_valid());
/// ```
pub fn trace(seed: u64) -> RandomTrace {
    drawn(Rng::new(seed))
}

/// The random trace that these choices make: two bytes decide each draw, and when they are used up the
/// rest is drawn from a fixed stream. For fuzzers, which learn which bytes matter.
///
/// ```
/// let trace = datasets::random::from_choices(&[7; 100]);
/// assert_eq!(trace, datasets::random::from_choices(&[7; 100]));
/// assert_ne!(trace, datasets::random::from_choices(&[8; 100]));
/// ```
pub fn from_choices(choices: &[u8]) -> RandomTrace {
    drawn(Rng::from_choices(choices))
}

fn drawn(mut rng: Rng) -> RandomTrace {
    let steps = match rng.below(100) {
        0..3 => rng.between(1500, 4000),
        3..60 => rng.between(10, 80),
        _ => rng.between(80, 320),
    };
    let (old_names, leave_links) = (rng.percent(15), rng.percent(30));
    let faulty = rng.percent(30);
    let at_end = faulty && !leave_links && rng.percent(4);
    let at = rng.below(steps);
    let mut writer = Writer::new(rng, steps, old_names, leave_links);
    writer.header();
    writer.begin();
    let mut fault = None;
    for step in 0..steps {
        writer.step();
        if faulty && !at_end && fault.is_none() && step >= at {
            fault = inject_any(&mut writer);
        }
    }
    if at_end {
        fault = writer.inject(Fault::OpenLinkAtEnd).map(|()| Fault::OpenLinkAtEnd);
    }
    writer.end();
    let options = options(&mut writer, old_names);
    let Writer { mut rng, paper, .. } = writer;
    RandomTrace { bytes: paper.finish(&mut rng), options, fault }
}

/// Tries one fault drawn at random, those of the end aside.
fn inject_any(writer: &mut Writer) -> Option<Fault> {
    let fault = writer.rng.pick(&Fault::ALL);
    (fault != Fault::OpenLinkAtEnd && writer.inject(fault).is_some()).then_some(fault)
}

/// Options under which both programs must print the same.
fn options(writer: &mut Writer, old_names: bool) -> Vec<String> {
    let mut options: Vec<String> = Vec::new();
    let rng = &mut writer.rng;
    if writer.leave_links {
        options.push(rng.pick(&["-z", "--ignore-incomplete-links"]).into());
    }
    if old_names || rng.percent(10) {
        options.push(rng.pick(&["-n", "--no-strict"]).into());
    }
    if rng.percent(30) {
        options.extend(["-l".into(), rng.below(16).to_string()]);
    }
    for (chance, spellings) in
        [(20, ["-i", "--no-imbrication"]), (30, ["-u", "--user-defined"]), (3, ["-q", "--quiet"])]
    {
        if rng.percent(chance) {
            options.push(rng.pick(&spellings).into());
        }
    }
    match rng.below(100) {
        0..5 => options.push(rng.pick(&["-c", "--container"]).into()),
        5..10 => options.push(rng.pick(&["-d", "--dot"]).into()),
        10..13 if !writer.leave_links => {
            let types = &writer.world.types;
            let name = types[rng.index(types.len())].name.clone();
            let usable = |other: &world::Type| {
                other.name != name || !matches!(other.nature, Nature::Link | Nature::Container)
            };
            if types.iter().all(usable) {
                options.extend(["-p".into(), name]);
            }
        }
        _ => {}
    }
    if !writer.wrote_event && rng.percent(50) {
        options.push(rng.pick(&["-h", "--header"]).into());
    }
    options
}

#[cfg(test)]
mod tests {
    use super::trace;
    use crate::testing::fnv;

    #[test]
    fn traces_never_change() {
        let sum = (0..50)
            .fold(0, |sum: u64, seed| sum.wrapping_mul(31).wrapping_add(fnv(&trace(seed).bytes)));
        assert_eq!(
            sum, 2930987794604708831,
            "random traces changed: was that meant? Then write the new sum here"
        );
    }

    #[test]
    fn most_traces_are_valid_and_many_faults_occur() {
        let faults: Vec<_> = (0..2000).map(|seed| trace(seed).fault).collect();
        let valid = faults.iter().filter(|fault| fault.is_none()).count();
        assert!((1200..1700).contains(&valid), "{valid}");
        let mut kinds: Vec<_> = faults.into_iter().flatten().collect();
        kinds.sort_unstable();
        kinds.dedup();
        assert!(kinds.len() >= 30, "{kinds:?}");
    }

    #[test]
    fn no_line_has_more_than_twenty_fields() {
        for seed in 0..200 {
            for line in trace(seed).bytes.split(|&byte| byte == b'\n') {
                let mut quoted = false;
                let (mut fields, mut inside) = (0, false);
                for &byte in line {
                    if byte == b'"' {
                        quoted = !quoted;
                    }
                    if byte == b'#' && !quoted {
                        break;
                    }
                    let blank = byte.is_ascii_whitespace() || byte == 0x0b;
                    fields += usize::from(!inside && !blank);
                    inside = quoted || !blank;
                }
                assert!(fields <= 20, "seed {seed}: {}", String::from_utf8_lossy(line));
            }
        }
    }
}
