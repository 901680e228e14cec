//! The value definitions, creations and destructions that each piece needs.

use std::io::{self, BufReader};

use paje_sim::{ContainerId, Trace, TypeId, Used, ValueId};
use rustc_hash::FxHashMap;

use crate::log;
use crate::shares::{NONE, Shares};
use crate::survey::{self, Surveyed};

/// The pieces of each number. Most numbers have one piece, so a table has the first piece of each
/// number, and a separate map has the others.
#[derive(Debug, Default)]
pub(crate) struct PiecesOf {
    first: Vec<u32>,
    more: FxHashMap<u32, Vec<u32>>,
}

impl PiecesOf {
    fn new(numbers: usize) -> Self {
        PiecesOf { first: vec![NONE; numbers], more: FxHashMap::default() }
    }

    fn add(&mut self, number: usize, piece: u32) -> bool {
        let first = &mut self.first[number];
        if *first == NONE {
            *first = piece;
            return true;
        }
        if *first == piece {
            return false;
        }
        let more = self.more.entry(number as u32).or_default();
        match more.binary_search(&piece) {
            Ok(_) => false,
            Err(at) => {
                more.insert(at, piece);
                true
            }
        }
    }

    pub(crate) fn get(&self, number: usize) -> (u32, &[u32]) {
        let first = self.first.get(number).copied().unwrap_or(NONE);
        if first == NONE || self.more.is_empty() {
            return (first, &[]);
        }
        (first, self.more.get(&(number as u32)).map_or(&[], Vec::as_slice))
    }
}

#[derive(Debug)]
pub(crate) struct Needs {
    pub(crate) containers: PiecesOf,
    /// Pieces that define each value. The values of all types are numbered together.
    pub(crate) values: PiecesOf,
    first_values: Vec<u32>,
}

impl Needs {
    #[inline]
    pub(crate) fn value(&self, type_: TypeId, value: ValueId) -> usize {
        let first = self.first_values.get(type_.index()).copied().unwrap_or(0);
        first as usize + value.index()
    }

    pub(crate) fn new(trace: &Trace, shares: &Shares, surveyed: &Surveyed) -> io::Result<Self> {
        let types = trace.types();
        let mut values = 0;
        let mut first_values = Vec::with_capacity(types.len());
        for type_ in types.ids() {
            first_values.push(values);
            values += types.value_count(type_) as u32;
        }
        let mut needs = Needs {
            containers: PiecesOf::new(trace.containers().len()),
            values: PiecesOf::new(values as usize),
            first_values,
        };
        for container in trace.containers().ids() {
            let piece = shares.of(container);
            if piece != NONE {
                needs.create(trace, container, piece);
            }
        }
        let lanes: Vec<(u32, TypeId)> =
            trace.lanes().map(|lane| (shares.of(lane.container()), lane.type_id())).collect();
        // The file was written at given offsets, so its own offset is still 0.
        let mut uses = Pairs { bytes: BufReader::with_capacity(1 << 16, &surveyed.uses) };
        while let Some((lane, number)) = uses.next()? {
            let Some((piece, type_)) = lanes.get(lane as usize).copied() else { continue };
            match survey::used(number) {
                Used::Value(value) => {
                    let value = needs.value(type_, value);
                    needs.values.add(value, piece);
                }
                Used::End(container) => needs.create(trace, container, piece),
            }
        }
        Ok(needs)
    }

    fn create(&mut self, trace: &Trace, mut container: ContainerId, piece: u32) {
        while self.containers.add(container.index(), piece) {
            container = trace.containers().parent(container);
        }
    }
}

struct Pairs<R> {
    bytes: R,
}

impl<R: io::BufRead> Pairs<R> {
    fn next(&mut self) -> io::Result<Option<(u64, u64)>> {
        let Some(first) = self.number()? else { return Ok(None) };
        let second = self.number()?.ok_or(io::ErrorKind::UnexpectedEof)?;
        Ok(Some((first, second)))
    }

    fn number(&mut self) -> io::Result<Option<u64>> {
        let buffer = self.bytes.fill_buf()?;
        if let (mut rest, len) = (buffer, buffer.len())
            && let Some(number) = log::pull(&mut rest)
        {
            let taken = len - rest.len();
            self.bytes.consume(taken);
            return Ok(Some(number));
        }
        // Here the buffer ends, perhaps inside a number.
        let mut bytes = Vec::new();
        loop {
            let Some(byte) = self.bytes.fill_buf()?.first().copied() else {
                return if bytes.is_empty() {
                    Ok(None)
                } else {
                    Err(io::ErrorKind::UnexpectedEof.into())
                };
            };
            self.bytes.consume(1);
            bytes.push(byte);
            if byte < 0x80 {
                return Ok(log::pull(&mut bytes.as_slice()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_stored_by_number() {
        let mut pieces = PiecesOf::new(3);
        for piece in [5, 2, 9, 5, 2, 7] {
            pieces.add(1, piece);
        }
        assert!(pieces.add(2, 0) && !pieces.add(2, 0) && !pieces.add(1, 9));
        assert_eq!(pieces.get(0), (NONE, &[][..]));
        assert_eq!(pieces.get(1), (5, &[2, 7, 9][..]));
        assert_eq!(pieces.get(2), (0, &[][..]));
        assert_eq!(pieces.get(3), (NONE, &[][..]));
    }

    #[test]
    fn pairs_may_cross_buffers() {
        let numbers: Vec<u64> = (0..200).map(|i| 1 << (i % 40)).collect();
        let mut bytes = Vec::new();
        numbers.iter().for_each(|number| log::push(&mut bytes, *number));
        for size in 1..9 {
            let mut pairs = Pairs { bytes: BufReader::with_capacity(size, bytes.as_slice()) };
            let mut found = Vec::new();
            while let Some((first, second)) = pairs.next().unwrap() {
                found.extend([first, second]);
            }
            assert_eq!(found, numbers);
        }
        let mut pairs = Pairs { bytes: &bytes[..1] };
        assert!(pairs.next().is_err());
    }
}
