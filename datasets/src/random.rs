//! Random small traces for comparisons with Debian's PajeNG 1.3.6.
//!
//! [`trace`] varies everything that the format leaves open: the tree of types (up to three
//! container types deep), equal names, aliases, identifiers shared by types and containers, several
//! numbers for one event, the order of fields, user-defined and superfluous fields, the places of
//! definitions, defined and implied values, late creations, events after destructions, links that
//! end first, equal times, spellings of times, quotes, comments, blank lines, tabs, CRLF, a missing
//! final newline, old field names, and the options of the replay. About 30 % of the traces contain
//! exactly one [`Fault`] at a random position.
//!
//! # Exclusions
//!
//! The comparison covers only what both programs define in the same way. Each rule states how
//! PajeNG 1.3.6 differs. Any other difference between two replays of such a trace is a bug.
//!
//! **The end.**
//! 1. *The last event line has the latest time of the trace and a living container.* PajeNG ends
//!    the trace at the time of the last event in the file. Later rows have negative durations or
//!    are missing.
//! 2. *The last event line has a time.* After a definition, PajeNG ends the trace at time 0.
//!
//! **Lines.**
//! 3. *A line has at most 20 fields.* PajeNG drops all further fields.
//! 4. *A line has as many fields as its definition.* If there are more fields, PajeNG writes a
//!    complaint into its output. If there are fewer, it aborts. So [`Fault::MissingField`] never
//!    occurs.
//! 5. *No field is empty.* PajeNG reads `""` as a single quote or swallows the next field.
//! 6. *No quote is inside a name, and every quote is closed.* PajeNG keeps a quote inside a word as
//!    text, splits `"a"b` in two, and closes an open quote at the line's end, after a carriage
//!    return.
//! 7. *No name contains a comma, or begins or ends with a blank.* PajeNG prints these unquoted, so
//!    rows become ambiguous.
//! 8. *There is no `Filename` field and no `PajeTraceFile`.* PajeNG ignores them.
//!
//! **Numbers.**
//! 9. *The digits of a time, as an integer, are below 2⁵³, and its power of ten is above 10⁻²²*.
//!    PajeNG rounds such times correctly. It rounds a quarter of all other times incorrectly, by
//!    one unit in the last place.
//! 10. *No time is negative (except `-0`), NaN or infinite.* PajeNG prints duration 0 for things
//!     that start before 0, and `-nan` for those that never end. It accepts times that are no
//!     numbers, so [`Fault::BadTime`] never occurs.
//! 11. *Variables have finite numbers without other text.* PajeNG reads `junk` as 0 and `3x` as 3,
//!     so [`Fault::BadVariableValue`] never occurs.
//!
//! **Definitions, types, values.**
//! 12. *Definitions are complete and not interrupted.* PajeNG accepts a definition cut off by the
//!     end of the file and events inside a definition, so [`Fault::TruncatedDefinition`] never
//!     occurs. It also accepts an empty file, so neither does [`Fault::EmptyFile`].
//! 13. *A field that occurs twice ([`Fault::FieldDefinedTwice`]) is a standard field, with the same
//!     type.* PajeNG compares both and ignores user-defined fields.
//! 14. *The name of a defined value is not the identifier of another value of its type.* PajeNG
//!     refuses this as a redefinition, although the alias identifies a value.
//! 15. *A bad colour has the wrong number of parts.* PajeNG counts the parts and accepts any text
//!     as a number.
//!
//! **Containers and links.**
//! 16. *A container is destroyed after everything below it, including the creation of children.*
//!     PajeNG considers only the events of the container itself, and ends children before they
//!     start.
//! 17. *A container is not created before its parent.* PajeNG does not check this.
//! 18. *No key is started or ended twice.* PajeNG makes a link with a `NULL` end or no link, so
//!     [`Fault::TwoStarts`] and [`Fault::TwoEnds`] never occur.
//! 19. *Neither end of a completed link is before an end of the previously completed link in its
//!     lane.* PajeNG requires this, even for links that end first.
//! 20. *Links stay open only with `-z`.* Otherwise this is a fault.
//!
//! **Options.**
//! 21. *`-s`, `-e`, `-a` and `-o` are not given*: PajeNG loses or invents rows with them. Neither
//!     are `-t`, which prints a duration, and `-f`, which selects another reader with other limits.
//! 22. *`-h` is only given for traces without events*: 1.3.6 prints another header for `Event`.
//! 23. *`-p` is not given with the name of a link or container type, nor with `-z`*: PajeNG
//!     searches a lane by bisection of start times, but links are in another order, and it fails on
//!     open links.
//! 24. *At most one of `-c`, `-d` and `-p` is given*, because each of them replaces the dump.
//! 25. *`-n` is given if old names occur*: without it, they are user-defined fields.
//!
//! PajeNG fails with status 1 on a trace with a fault. Its output before the fault is not compared.

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

/// A random trace, and the options for its replay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RandomTrace {
    /// Bytes of the trace.
    pub bytes: Vec<u8>,
    /// Options for `pj_dump`, both for PajeNG's and for ours, without the file.
    pub options: Vec<String>,
    /// Fault of the trace, or `None` if it is valid with these options.
    pub fault: Option<Fault>,
}

impl RandomTrace {
    /// Returns whether a replay must succeed with exit status 0. Otherwise it must fail with status
    /// 1.
    pub fn is_valid(&self) -> bool {
        self.fault.is_none()
    }
}

/// Returns the random trace of `seed`. It usually has 20 to 1,500 lines. In 3 % of all cases, it
/// has a few thousand lines.
///
/// ```
/// let trace = datasets::random::trace(42);
/// assert_eq!(trace, datasets::random::trace(42));
/// assert!(trace.bytes.windows(9).any(|bytes| bytes == b"%EventDef") || !trace.is_valid());
/// ```
pub fn trace(seed: u64) -> RandomTrace {
    drawn(Rng::new(seed))
}

/// Returns the random trace that these choices determine. A choice takes two bytes. After the last
/// choice, a fixed stream of choices follows. Fuzzers can thus find out which bytes matter.
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

fn inject_any(writer: &mut Writer) -> Option<Fault> {
    let fault = writer.rng.pick(&Fault::ALL);
    (fault != Fault::OpenLinkAtEnd && writer.inject(fault).is_some()).then_some(fault)
}

/// Returns options with which both programs must print the same output.
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
    fn random_traces_never_change() {
        let sum = (0..50)
            .fold(0, |sum: u64, seed| sum.wrapping_mul(31).wrapping_add(fnv(&trace(seed).bytes)));
        assert_eq!(sum, 2930987794604708831, "random traces changed; if intended, update the sum");
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
