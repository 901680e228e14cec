//! Creates lines that set a variable to its value, in place of many changes.

use std::ops::Range;

use paje_parser::{Event, EventKind, FieldName, Line, LineDecoder};

use super::segments::Opener;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Value {
    pub(super) is_set: bool,
    number: f64,
    /// Whether all added numbers are exact in single precision. Some programs read them in that
    /// precision.
    is_single: bool,
}

/// Maximum number of single-precision numbers whose sum gives a number in double precision.
const PARTS: usize = 3;

fn is_single(number: f64) -> bool {
    f64::from(number as f32) == number
}

impl Value {
    pub(super) fn of(number: f64) -> Self {
        Value { is_set: true, number, is_single: is_single(number) }
    }

    #[inline]
    pub(super) fn add(&mut self, number: f64) {
        self.number += number;
        self.is_single &= is_single(number);
    }

    /// Returns lines that set the variable to its value. They replace `changes`: the line that last
    /// set the variable, and the lines that have changed it since then. Returns `None` if no such
    /// lines have the same effect.
    pub(super) fn lines(
        self,
        decoder: &mut LineDecoder,
        changes: &[Opener],
    ) -> Option<Vec<Opener>> {
        let (first, last) = (changes.first()?.text.as_ref()?, changes.last()?);
        let (place, last) = (last.start, last.text.as_ref()?);
        let parts = self.parts()?;
        // The first line has the event that set the variable, but the time of the variable's last
        // change.
        let (_, time, _) = fields(decoder, last)?;
        let time = last[time].to_vec();
        let (kind, ..) = fields(decoder, first)?;
        if kind != EventKind::SetVariable {
            return None;
        }
        let mut lines = vec![changed(decoder, first, &time, parts[0])?];
        for part in &parts[1..] {
            let (kind, ..) = fields(decoder, last)?;
            let part = if kind == EventKind::SubVariable { -part } else { *part };
            lines.push(changed(decoder, last, &time, part)?);
        }
        // Each line is given the offset of a different byte inside the last line, because no other
        // line begins there. The last line has enough bytes for all parts.
        let lines = (place..).zip(lines);
        Some(lines.map(|(start, text)| Opener { start, text: Some(text.into()) }).collect())
    }

    /// Returns single-precision numbers whose sum is exactly the value if they are added in order.
    fn parts(self) -> Option<Vec<f64>> {
        let (mut parts, mut sum) = (Vec::new(), 0.0);
        while self.is_single && self.number.is_finite() && parts.len() < PARTS {
            let part = f64::from((self.number - sum) as f32);
            sum = if parts.is_empty() { part } else { sum + part };
            parts.push(part);
            if sum.to_bits() == self.number.to_bits() {
                return Some(parts);
            }
        }
        None
    }
}

/// Returns the kind of a variable's event, and the positions of its time and its number. Returns
/// `None` if the event has user-defined fields.
fn fields(
    decoder: &mut LineDecoder,
    line: &[u8],
) -> Option<(EventKind, Range<usize>, Range<usize>)> {
    let Ok(Line::Event(event)) = decoder.line(line) else { return None };
    let is_plain = event.def().extras().next().is_none() && event.surplus() == 0;
    let Ok(Event::Entity { .. }) = event.decode() else { return None };
    let place = |field| event.span(field).map(|span| span.start as usize..span.end as usize);
    let (time, number) = (place(FieldName::Time)?, place(FieldName::Value)?);
    is_plain.then_some((event.def().kind(), time, number))
}

/// Returns the line of a variable's event with its time and number replaced.
fn changed(decoder: &mut LineDecoder, line: &[u8], time: &[u8], number: f64) -> Option<Vec<u8>> {
    let (_, old_time, old_number) = fields(decoder, line)?;
    let number = number.to_string().into_bytes();
    let mut both = [(old_time, time), (old_number, &number[..])];
    both.sort_unstable_by_key(|(old, _)| old.start);
    let (mut text, mut copied) = (Vec::new(), 0);
    for (old, new) in both {
        text.extend_from_slice(&line[copied..old.start]);
        text.extend_from_slice(new);
        copied = old.end;
    }
    text.extend_from_slice(&line[copied..]);
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_sums_of_a_few_numbers_in_single_precision() {
        let sum = |parts: Vec<f64>| parts.into_iter().reduce(|sum, part| sum + part);
        for number in [0.0, -0.0, 1.5, 1e9 + 1.0, 9_007_199_254_740_991.0, 1e30, 0.1, -1.0 / 3.0] {
            let value = Value { is_set: true, number, is_single: true };
            let parts = value.parts().unwrap();
            assert!(parts.iter().all(|part| is_single(*part)));
            assert_eq!(sum(parts).map(f64::to_bits), Some(number.to_bits()));
        }
        for number in [1e300, f64::NAN, f64::INFINITY] {
            assert_eq!(Value { is_set: true, number, is_single: true }.parts(), None, "{number}");
        }
        let mut value = Value::of(16_777_216.0);
        value.add(1.0);
        assert_eq!(value.parts(), Some(vec![16_777_216.0, 1.0]));
        value.add(0.1);
        assert_eq!(value.parts(), None);
    }
}
