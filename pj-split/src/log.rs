//! Compact log that has the owner of each line of a block.
//!
//! A log is a sequence of runs of lines in file order. A run consists of a number for the owner of
//! its lines, their length in bytes and, for definitions, the ids of the defined object. All are
//! variable-length integers: seven bits per byte, least significant first, with the top bit set in
//! all bytes but the last.

use paje_sim::{ContainerId, LineOf, TypeId, ValueId};

const NOBODY: u32 = 0;
const SHARED: u32 = 1;
const VALUE: u32 = 2;
const CREATION: u32 = 3;
const DESTRUCTION: u32 = 4;
const EVENTS: u32 = 5;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Run {
    /// Lines that no piece needs.
    Nobody,
    /// Lines that all pieces need.
    Shared,
    Value(TypeId, ValueId),
    Creation(ContainerId),
    Destruction(ContainerId),
    Events(ContainerId),
}

impl From<LineOf> for Run {
    fn from(line: LineOf) -> Self {
        match line {
            // Traces that name files have been refused earlier.
            LineOf::Nobody | LineOf::File => Run::Nobody,
            LineOf::Header | LineOf::Type => Run::Shared,
            LineOf::Value(type_, value) => Run::Value(type_, value),
            LineOf::Creation(container) => Run::Creation(container),
            LineOf::Destruction(container) => Run::Destruction(container),
            LineOf::Event(container) => Run::Events(container),
        }
    }
}

impl Run {
    /// Returns whether another line with the same owner extends the run.
    const fn goes_on(self) -> bool {
        matches!(self, Run::Nobody | Run::Shared | Run::Events(_))
    }

    pub(crate) fn write(self, len: u64, out: &mut Vec<u8>) {
        let mut put = |first: u64, more: &[u32]| {
            push(out, first);
            push(out, len);
            more.iter().for_each(|number| push(out, u64::from(*number)));
        };
        match self {
            Run::Nobody => put(u64::from(NOBODY), &[]),
            Run::Shared => put(u64::from(SHARED), &[]),
            Run::Value(type_, value) => put(u64::from(VALUE), &[type_.0, value.0]),
            Run::Creation(container) => put(u64::from(CREATION), &[container.0]),
            Run::Destruction(container) => put(u64::from(DESTRUCTION), &[container.0]),
            Run::Events(container) => put(u64::from(container.0) + u64::from(EVENTS), &[]),
        }
    }
}

pub(crate) fn write(lines: impl Iterator<Item = (usize, LineOf)>, out: &mut Vec<u8>) {
    let (mut run, mut len) = (Run::Nobody, 0);
    for (bytes, line) in lines {
        let next = Run::from(line);
        if next != run || !next.goes_on() {
            if len > 0 {
                run.write(len, out);
            }
            (run, len) = (next, 0);
        }
        len += bytes as u64;
    }
    if len > 0 {
        run.write(len, out);
    }
}

/// Removes the next run from the log. Returns the run and its length in bytes, or `None` at the end
/// or if the log is damaged.
pub(crate) fn read(log: &mut &[u8]) -> Option<(Run, usize)> {
    let first = pull(log)?;
    let len = pull(log)? as usize;
    let run = match u32::try_from(first) {
        Ok(NOBODY) => Run::Nobody,
        Ok(SHARED) => Run::Shared,
        Ok(VALUE) => Run::Value(TypeId(pull(log)? as u32), ValueId(pull(log)? as u32)),
        Ok(CREATION) => Run::Creation(ContainerId(pull(log)? as u32)),
        Ok(DESTRUCTION) => Run::Destruction(ContainerId(pull(log)? as u32)),
        _ => Run::Events(ContainerId((first - u64::from(EVENTS)) as u32)),
    };
    Some((run, len))
}

#[inline]
pub(crate) fn push(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Removes the variable-length integer at the front and returns it, or `None` if it is incomplete.
#[inline]
pub(crate) fn pull(from: &mut &[u8]) -> Option<u64> {
    let (mut number, mut shift) = (0, 0);
    loop {
        let (byte, rest) = from.split_first()?;
        *from = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if *byte < 0x80 {
            return Some(number);
        }
        shift += 7;
        if shift > 63 {
            return None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_round_trip() {
        let all = [0, 1, 127, 128, 300, 1 << 14, u64::from(u32::MAX), u64::MAX];
        let mut bytes = Vec::new();
        all.iter().for_each(|number| push(&mut bytes, *number));
        let mut rest = bytes.as_slice();
        assert_eq!(all.map(|_| pull(&mut rest)), all.map(Some));
        assert_eq!(pull(&mut rest), None);
        assert_eq!(pull(&mut &bytes[bytes.len() - 1..bytes.len() - 1]), None);
        assert_eq!(pull(&mut &[0xff; 20][..]), None);
    }

    #[test]
    fn runs_round_trip() {
        let (one, two) = (ContainerId(0), ContainerId(70_000));
        let value = LineOf::Value(TypeId(3), ValueId(200));
        let lines = [
            (4, LineOf::Header),
            (5, LineOf::Type),
            (3, value),
            (3, value),
            (1, LineOf::Creation(one)),
            (1, LineOf::Nobody),
            (9, LineOf::Event(one)),
            (8, LineOf::Event(one)),
            (7, LineOf::Event(two)),
            (6, LineOf::Destruction(two)),
            (2, LineOf::File),
            (2, LineOf::Nobody),
        ];
        let mut bytes = Vec::new();
        write(lines.into_iter(), &mut bytes);
        let mut rest = bytes.as_slice();
        let found: Vec<_> = std::iter::from_fn(|| read(&mut rest)).collect();
        let value = Run::Value(TypeId(3), ValueId(200));
        let wanted = [
            (Run::Shared, 9),
            (value, 3),
            (value, 3),
            (Run::Creation(one), 1),
            (Run::Nobody, 1),
            (Run::Events(one), 17),
            (Run::Events(two), 7),
            (Run::Destruction(two), 6),
            (Run::Nobody, 4),
        ];
        assert_eq!(found, wanted);
    }
}
