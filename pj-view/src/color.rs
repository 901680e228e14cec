//! Colours of values: those that the trace gives, else such that people tell apart, with any eyes.

use std::collections::BTreeMap;

use paje_parser::TypeNature;
use paje_sim::{TypeId, Types, ValueId};

/// A colour: red, green, blue.
pub(crate) type Rgb = [u8; 3];

/// Colours that colour-blind people tell apart: those of Okabe and Ito, and of Tol's muted scheme where they
/// differ from these.
const PALETTE: [Rgb; 14] = [
    [0x56, 0xb4, 0xe9],
    [0xe6, 0x9f, 0x00],
    [0x00, 0x9e, 0x73],
    [0xcc, 0x79, 0xa7],
    [0x00, 0x72, 0xb2],
    [0xd5, 0x5e, 0x00],
    [0xf0, 0xe4, 0x42],
    [0x33, 0x22, 0x88],
    [0x99, 0x99, 0x33],
    [0x88, 0x22, 0x55],
    [0x44, 0xaa, 0x99],
    [0xcc, 0x66, 0x77],
    [0x11, 0x77, 0x33],
    [0xaa, 0x44, 0x99],
];

/// The colours of all names of values.
#[derive(Clone, Debug, Default)]
pub(crate) struct Colors {
    by_name: BTreeMap<Vec<u8>, Rgb>,
}

impl Colors {
    /// A name has the colour that its text makes of it, or the next that is free: so it has the same in
    /// other traces, but for names that meet.
    pub(crate) fn of(types: &Types) -> Self {
        let mut by_name = BTreeMap::new();
        for id in types.ids() {
            if types.nature(id) == TypeNature::Variable {
                by_name.insert(types.name(id).text.to_vec(), [0; 3]);
            }
            for value in 0..types.value_count(id) as u32 {
                by_name.insert(types.value_name(id, ValueId(value)).text.to_vec(), [0; 3]);
            }
        }
        let mut taken = [0; PALETTE.len()];
        for (name, color) in &mut by_name {
            let first = hash(name) as usize % PALETTE.len();
            let least = taken.iter().min().copied().unwrap_or(0);
            let free = (0..PALETTE.len()).map(|i| (first + i) % PALETTE.len());
            let place = free.into_iter().find(|place| taken[*place] == least).unwrap_or(first);
            *color = shade(PALETTE[place], least);
            taken[place] += 1;
        }
        Colors { by_name }
    }

    /// The colour of a value.
    pub(crate) fn value(&self, types: &Types, id: TypeId, value: ValueId) -> Rgb {
        match types.value_color(id, value) {
            Some(color) => [0, 1, 2].map(|i| (color.0[i].clamp(0.0, 1.0) * 255.0).round() as u8),
            None => self.name(types.value_name(id, value).text),
        }
    }

    /// The colour of a variable.
    pub(crate) fn variable(&self, types: &Types, id: TypeId) -> Rgb {
        self.name(types.name(id).text)
    }

    fn name(&self, name: &[u8]) -> Rgb {
        self.by_name.get(name).copied().unwrap_or([0x88; 3])
    }
}

/// As style sheets and drawings have it.
pub(crate) fn hex([red, green, blue]: Rgb) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// Where the palette is used again, its colours become lighter, then darker.
fn shade(color: Rgb, round: usize) -> Rgb {
    let to = |part: u8, goal: f64, by: f64| (f64::from(part) + (goal - f64::from(part)) * by) as u8;
    match round % 3 {
        0 => color,
        1 => color.map(|part| to(part, 255.0, 0.45)),
        _ => color.map(|part| to(part, 0.0, 0.35)),
    }
}

/// FNV-1a.
fn hash(name: &[u8]) -> u64 {
    let start = 0xcbf2_9ce4_8422_2325;
    name.iter()
        .fold(start, |hash: u64, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colors_are_those_of_the_trace_or_differ() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../datasets/examples/mpi.trace");
        let trace = paje_sim::Trace::open(path).expect("an example");
        let (types, colors) = (trace.types(), Colors::of(trace.types()));
        let mut seen = BTreeMap::new();
        for id in types.ids() {
            for value in (0..types.value_count(id) as u32).map(ValueId) {
                let (name, color) =
                    (types.value_name(id, value).to_string(), colors.value(types, id, value));
                if types.value_color(id, value).is_none() {
                    assert!(
                        seen.insert(color, name.clone()).is_none_or(|other| other == name),
                        "{name}"
                    );
                }
            }
        }
        assert_eq!(hex([1, 0xab, 255]), "#01abff");
    }
}
