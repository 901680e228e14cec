//! Damages traces like crashed programs, bad disks and attackers.
//!
//! Swaps, repeats, drops and cuts lines, replaces words and changes bytes. Most of a trace stays
//! unchanged, so that readers reach later parts.

/// Parameters of a change. Each of them is taken modulo the number of possible choices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// Kind of the change.
    pub what: u8,
    /// Index of the line to change.
    pub line: u16,
    /// Index of another line, or of a word or byte of the line.
    pub number: u16,
}

impl Change {
    /// Number of bytes that [`Change::from_bytes`] reads.
    pub const BYTES: usize = 5;

    /// Creates a change from the bytes that a fuzzer provides.
    pub fn from_bytes(bytes: [u8; Change::BYTES]) -> Self {
        let [what, a, b, c, d] = bytes;
        Change { what, line: u16::from_be_bytes([a, b]), number: u16::from_be_bytes([c, d]) }
    }
}

/// Words that have a special meaning somewhere in a trace.
const WORDS: [&[u8]; 24] = [
    b"0",
    b"1",
    b"-1",
    b"\"\"",
    b"\"",
    b"#",
    b"%",
    b"nan",
    b"inf",
    b"-inf",
    b"1e308",
    b"-1e308",
    b"5e-324",
    b"0x1p-1074",
    b"1e400",
    b"18446744073709551616",
    b"4294967295",
    b"\"0\"",
    b"a,b",
    b"\0",
    b"\xff\xfe",
    b"\r",
    b"\x0b",
    b"PajeSetState",
];

/// ```
/// use datasets::mutate::{Change, mutated};
///
/// let swapped = Change { what: 0, line: 0, number: 1 };
/// assert_eq!(mutated(b"a\nb\n", &[swapped]), b"b\na\n");
/// ```
pub fn mutated(trace: &[u8], changes: &[Change]) -> Vec<u8> {
    let mut lines: Vec<Vec<u8>> =
        trace.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    for change in changes {
        if !lines.is_empty() {
            apply(&mut lines, *change);
        }
    }
    lines.concat()
}

fn apply(lines: &mut Vec<Vec<u8>>, change: Change) {
    let number = usize::from(change.number);
    let at = usize::from(change.line) % lines.len();
    let other = number % lines.len();
    match change.what % 12 {
        0 => lines.swap(at, other),
        1 => {
            let copy = lines[other].clone();
            lines.insert(at, copy);
        }
        2 => {
            lines.remove(at);
        }
        3 => {
            let length = lines[at].len();
            lines[at].truncate(number % (length + 1));
        }
        4 => {
            let length = lines[at].len();
            if let Some(byte) = lines[at].get_mut((number >> 8) % length.max(1)) {
                *byte = number as u8;
            }
        }
        5 => lines[at].extend_from_slice(b" \"x\n"),
        6 => {
            let tail = lines[other].clone();
            let end = lines[at].trim_ascii_end().len();
            lines[at].truncate(end);
            lines[at].push(b' ');
            lines[at].extend_from_slice(&tail);
        }
        // Replaces a word of this line by a word of another line.
        7 | 8 => {
            let new = nth_word(&lines[other], number >> 3).to_vec();
            replace_word(&mut lines[at], number, &new);
        }
        9 => lines.truncate(at + 1),
        _ => replace_word(&mut lines[at], number / WORDS.len(), WORDS[number % WORDS.len()]),
    }
}

fn nth_word(line: &[u8], n: usize) -> &[u8] {
    let words: Vec<&[u8]> = line.split(u8::is_ascii_whitespace).filter(|w| !w.is_empty()).collect();
    if words.is_empty() { b"" } else { words[n % words.len()] }
}

fn replace_word(line: &mut Vec<u8>, n: usize, new: &[u8]) {
    let words: Vec<&[u8]> = line.split(|byte| *byte == b' ').collect();
    let at = n % words.len();
    let newline = words[at].ends_with(b"\n");
    let before = words[..at].iter().map(|word| word.len() + 1).sum::<usize>();
    let end = before + words[at].len() - usize::from(newline);
    line.splice(before..end, new.iter().copied());
}

#[cfg(test)]
mod tests {
    use super::{Change, mutated};

    #[test]
    fn words_are_replaced_in_their_line() {
        let change = |number| Change { what: 10, line: 1, number };
        let text = b"1 a b\n2 c d\n";
        assert_eq!(mutated(text, &[change(0)]), b"1 a b\n0 c d\n");
        assert_eq!(mutated(text, &[change(24 * 2 + 7)]), b"1 a b\n2 c nan\n");
        assert_eq!(mutated(text, &[Change { what: 7, line: 1, number: 8 }]), b"1 a b\n2 c a\n");
    }

    #[test]
    fn an_empty_trace_stays_empty() {
        let drop = Change { what: 2, line: 0, number: 0 };
        assert_eq!(mutated(b"a\nb", &[drop; 5]), b"");
    }

    #[test]
    fn every_change_applies_to_every_line() {
        let trace = crate::random::trace(3).bytes;
        for what in 0..12 {
            for line in 0..40u16 {
                let number = line.wrapping_mul(40_503);
                mutated(&trace, &[Change { what, line, number }; 3]);
            }
        }
    }
}
