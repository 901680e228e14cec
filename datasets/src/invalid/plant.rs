//! Plants a fault in a valid trace.

use super::Fault;
use super::base::Base;
use crate::header::seconds;
use crate::rng::Rng;

/// A trace with one fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidTrace {
    /// The trace.
    pub bytes: Vec<u8>,
    /// Line where the fault must be reported, counted from 1. `None` if the fault concerns the
    /// whole file or its end ([`Fault::EmptyFile`], [`Fault::OpenLinkAtEnd`],
    /// [`Fault::TruncatedDefinition`]).
    pub line: Option<u64>,
}

/// Returns a trace with only this fault, at a place that depends on `seed`.
///
/// ```
/// use datasets::invalid::{Fault, trace};
///
/// let invalid = trace(Fault::PopOnEmptyStack, 5);
/// let lines = String::from_utf8(invalid.bytes).unwrap();
/// let faulty = lines.lines().nth(invalid.line.unwrap() as usize - 1).unwrap();
/// assert!(faulty.starts_with("13 "));
/// ```
pub fn trace(fault: Fault, seed: u64) -> InvalidTrace {
    let mut rng = Rng::new(seed);
    let base = Base::random(&mut rng);
    if fault == Fault::EmptyFile {
        return InvalidTrace { bytes: Vec::new(), line: None };
    }
    let form = forms(fault);
    let form = form[rng.index(form.len())];
    // The blocks are inserted in order, each of them before the event with its index.
    let mut places: Vec<usize> = form.iter().map(|_| rng.index(base.events.len())).collect();
    places.sort_unstable();

    let mut lines = base.start;
    let mut faulty = None;
    let mut blocks = form.iter().zip(&places).peekable();
    for (index, (micros, event)) in base.events.into_iter().enumerate() {
        while let Some((block, _)) = blocks.next_if(|(_, place)| **place == index) {
            for text in block.split('\n') {
                let (text, here) =
                    text.strip_prefix('!').map_or((text, false), |text| (text, true));
                lines.push(text.replace("{t}", &seconds(micros)));
                if here {
                    faulty = Some(lines.len() as u64);
                }
            }
        }
        if fault == Fault::TruncatedDefinition && blocks.peek().is_none() {
            break;
        }
        lines.extend(event.split('\n').map(str::to_owned));
    }
    if fault != Fault::TruncatedDefinition {
        lines.extend(base.end);
    }
    let mut bytes = lines.join("\n").into_bytes();
    bytes.push(b'\n');
    InvalidTrace { bytes, line: faulty }
}

/// Returns the forms of a fault. A form is a sequence of blocks, which are inserted one after the
/// other. A block consists of one or more consecutive lines. `!` marks the faulty line. `{t}`
/// stands for the time at that position. This time is at least 10 s, so a time below 10 s is too
/// early.
fn forms(fault: Fault) -> &'static [&'static [&'static str]] {
    match fault {
        Fault::UnknownType => &[
            &["!12 {t} 99 v a"],
            &["!8 {t} load v 1"],
            &["!6 {t} x 99 0 name"],
            &["!2 20 99 name"],
            &["!5 x 99 X \"1 0 0\""],
        ],
        Fault::UnknownContainer => &[
            &["!12 {t} 2 nobody a"],
            &["!15 {t} 3 0 m nobody k"],
            &["!7 {t} 1 nobody"],
            &["!6 {t} x 7 nobody name"],
            &["!17 {t} 6 \"victim\" e"],
        ],
        Fault::DuplicateType => {
            &[&["!2 2 1 Again"], &["!0 4 0 Again"], &["2 fresh 1 Fresh", "!3 fresh 1 Again"]]
        }
        Fault::DuplicateContainer => &[
            &["!6 {t} v 1 0 again"],
            &["!6 {t} n 7 1 again"],
            &["6 {t} x 7 v x", "7 {t} 7 x", "!6 {t} x 7 v x"],
        ],
        Fault::WrongNature => &[
            &["!12 {t} 4 v a"],
            &["!8 {t} 2 v 1"],
            &["!17 {t} 1 v e"],
            &["!15 {t} 6 v m v k"],
            &["!6 {t} x 2 v name"],
        ],
        Fault::ForeignType => {
            &[&["!12 {t} 8 v a"], &["!12 {t} 2 n a"], &["!8 {t} 4 0 1"], &["!15 {t} 3 v m v k"]]
        }
        Fault::ForeignContainer => {
            &[&["!6 {t} x 7 0 name"], &["!6 {t} x 1 v name"], &["!6 {t} x 7 n name"]]
        }
        Fault::ForeignLinkEnd => &[
            &["!15 {t} 3 0 m n k"],
            &["15 {t} 3 0 m v k", "!16 {t} 3 0 m 0 k"],
            &["!16 {t} 9 v m v k"],
        ],
        Fault::ReservedContainer => &[&["!6 {t} 0 1 0 name"]],
        Fault::ReservedType => &[&["!0 0 1 name"], &["!2 0 1 name"], &["!4 0 0 1 1 name"]],
        Fault::PopOnEmptyStack => &[
            &["!13 {t} 2 v"],
            &["12 {t} 2 v a", "13 {t} 2 v", "!13 {t} 2 v"],
            &["11 {t} 2 v a", "14 {t} 2 v", "!13 {t} 2 v"],
        ],
        Fault::StateOutOfOrder => &[
            &["12 {t} 2 v a", "!12 9 2 v a"],
            &["11 {t} 2 v a", "!13 9 2 v"],
            &["12 1 2 v a", "13 {t} 2 v", "!11 9 2 v a"],
        ],
        Fault::VariableOutOfOrder => {
            &[&["8 {t} 4 v 1", "!8 9 4 v 2"], &["8 {t} 4 v 1", "!9 9.5 4 v 2"]]
        }
        Fault::EventOutOfOrder => &[&["17 {t} 6 v e", "!17 9 6 v e"]],
        Fault::LinkOutOfOrder => &[
            &["15 {t} 9 v m n k", "16 {t} 9 v m n k", "15 8 9 v m n l", "!16 9 9 v m n l"],
            &["16 {t} 9 v m n k", "15 {t} 9 v m n k", "16 8 9 v m n l", "!15 9 9 v m n l"],
        ],
        Fault::AddBeforeSet => &[&["!9 {t} 4 v 1"], &["!10 {t} 4 v 1"]],
        Fault::LinkKeyReused => &[
            &["15 {t} 3 0 m v k", "16 {t} 3 0 m 1 k", "!15 {t} 3 0 m v k"],
            &["16 {t} 9 v m n k", "15 {t} 9 v m n k", "!16 {t} 9 v m n k"],
        ],
        Fault::LinkValuesDiffer => &[
            &["15 {t} 3 0 m v k", "!16 {t} 3 0 other 1 k"],
            &["16 {t} 9 v m n k", "!15 {t} 9 v other n k"],
        ],
        Fault::TwoStarts => &[&["15 {t} 9 v m n k", "!15 {t} 9 v m n k"]],
        Fault::TwoEnds => &[&["16 {t} 9 v m n k", "!16 {t} 9 v m n k"]],
        Fault::OpenLinkAtEnd => &[&["15 {t} 3 0 m v k"], &["16 {t} 9 v m n k"]],
        Fault::OpenLinkAtDestroy => {
            &[&["15 {t} 9 v m n k", "!7 {t} 1 v"], &["16 {t} 9 v m n k", "!7 {t} 1 v"]]
        }
        Fault::DestroyedEarly => &[
            &["12 {t} 2 v a", "!7 9 1 v"],
            &["8 {t} 4 v 1", "!7 9 1 v"],
            &["17 {t} 6 v e", "!7 9 1 v"],
            &["12 {t} 8 n a", "!7 9 7 n"],
        ],
        Fault::DestroyedAsOtherType => &[&["!7 {t} 7 v"], &["!7 {t} 1 n"]],
        Fault::MissingField => {
            &[&["!12 {t} 2 v"], &["!8 {t}"], &["!16 {t} 3 0 m 1"], &["!6 {t} x 1 0"], &["!17"]]
        }
        Fault::UnknownEventNumber => {
            &[&["!99 {t} 2 v a"], &["!012 {t} 2 v a"], &["!-12 {t} 2 v a"]]
        }
        Fault::RedefinedEventNumber => &[&[
            "!%EventDef PajePushState 12\n% Time date\n% Type string\n% Container string\n% Value string\n%EndEventDef",
        ]],
        Fault::MissingObligatoryField => &[
            &[
                "%EventDef PajePushState 20\n% Time date\n% Type string\n% Container string\n!%EndEventDef",
            ],
            &[
                "%EventDef PajePopState 20\n% Time date\n% EntityType string\n% Container string\n!%EndEventDef",
            ],
        ],
        Fault::UnknownFieldType => &[&[
            "%EventDef PajePopState 20\n% Time date\n% Type string\n% Container string\n!% Tag text\n%EndEventDef",
        ]],
        Fault::FieldDefinedTwice => &[&[
            "%EventDef PajePopState 20\n% Time date\n% Type string\n!% Type string\n% Container string\n%EndEventDef",
        ]],
        Fault::UnknownEventName => &[
            &["!%EventDef PajeSetColor 20\n% Time date\n%EndEventDef"],
            &["!%EventDef SetState 20\n% Time date\n%EndEventDef"],
        ],
        Fault::StrayPercent => &[&["!% Time date"], &["!%EndEventDef"], &["!%12 {t} 2 v a"]],
        Fault::BadTime => {
            &[&["!12 soon 2 v a"], &["!12 {t}s 2 v a"], &["!12 1,5 2 v a"], &["!12 - 2 v a"]]
        }
        Fault::BadVariableValue => {
            &[&["!8 {t} 4 v junk"], &["!8 {t} 4 v 3x"], &["8 {t} 4 v 1", "!9 {t} 4 v +-1"]]
        }
        Fault::BadColor => &[
            &["!5 b 2 B \"1 0\""],
            &["!5 b 2 B \"1 0 0 1 0\""],
            &["!5 b 2 B green"],
            &["!1 20 1 Var ff00f"],
        ],
        Fault::ValueDefinedTwice => {
            &[&["!5 a 2 Again \"1 0 0\""], &["12 {t} 2 v used", "!5 used 2 Again \"1 0 0\""]]
        }
        Fault::ValueOfVariableType => &[&["!5 b 4 B \"1 0 0\""], &["!5 b 1 B \"1 0 0\""]],
        Fault::EmptyFile => &[&[]],
        Fault::TruncatedDefinition => &[
            &["%EventDef PajeSetState 20\n% Time date\n% Type string"],
            &["%EventDef PajeSetState 20"],
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_has_one_line_or_none() {
        for fault in Fault::ALL {
            for seed in 0..40 {
                let invalid = trace(fault, seed);
                assert_eq!(invalid, trace(fault, seed), "{fault}");
                let whole = matches!(
                    fault,
                    Fault::EmptyFile | Fault::OpenLinkAtEnd | Fault::TruncatedDefinition
                );
                assert_eq!(invalid.line.is_none(), whole, "{fault}");
                let lines = invalid.bytes.iter().filter(|&&byte| byte == b'\n').count() as u64;
                assert!(invalid.line.is_none_or(|line| (1..=lines).contains(&line)), "{fault}");
            }
        }
    }

    #[test]
    fn each_form_marks_at_most_one_line_in_its_last_block() {
        for fault in Fault::ALL {
            for form in forms(fault) {
                let marks = form
                    .iter()
                    .map(|block| block.split('\n').filter(|line| line.starts_with('!')).count());
                assert!(marks.clone().sum::<usize>() <= 1, "{fault}: {form:?}");
                assert!(marks.rev().skip(1).all(|count| count == 0), "{fault}: {form:?}");
            }
        }
    }
}
