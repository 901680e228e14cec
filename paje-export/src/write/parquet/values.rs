//! Values as bounds of pages and columns.

use parquet::basic::Type;
use parquet::data_type::ByteArray;
use parquet::file::statistics::{Statistics, ValueStatistics};

use super::chunk::{Bounds, Value};

/// Bytes of a text's bound: names may be long, and each page says its own.
const LENGTH: usize = 64;

impl Value for f64 {
    const TYPE: Type = Type::DOUBLE;

    fn to_bytes(&self) -> Vec<u8> {
        self.to_le_bytes().to_vec()
    }

    fn statistics(bounds: Option<(f64, f64)>, nans: u64) -> Statistics {
        let (least, greatest) = bounds.unzip();
        let statistics = ValueStatistics::new(least, greatest, None, Some(0), false);
        statistics.with_nan_count(Some(nans)).with_backwards_compatible_min_max(true).into()
    }
}

impl Value for i32 {
    const TYPE: Type = Type::INT32;

    fn to_bytes(&self) -> Vec<u8> {
        self.to_le_bytes().to_vec()
    }

    fn statistics(bounds: Option<(i32, i32)>, _: u64) -> Statistics {
        let (least, greatest) = bounds.unzip();
        let statistics = ValueStatistics::new(least, greatest, None, Some(0), false);
        statistics.with_backwards_compatible_min_max(true).into()
    }
}

/// Bound of texts: one of them, or, where that is long, the first letters of one just below or above.
#[derive(Clone, Debug, PartialEq, PartialOrd)]
pub(super) struct TextBound {
    bytes: Vec<u8>,
    exact: bool,
}

/// The first letters of a text, in at most so many bytes.
fn head(text: &str) -> &str {
    let end = (0..=LENGTH.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
    &text[..end.unwrap_or(0)]
}

impl TextBound {
    /// The lower bound of texts of which this is the least.
    pub(super) fn lower(least: &str) -> Self {
        let some = head(least);
        TextBound { bytes: some.as_bytes().to_vec(), exact: some.len() == least.len() }
    }

    /// The upper bound of texts of which this is the greatest. Texts are in the order of their letters' numbers, so
    /// that with a greater last letter, what is behind it does not matter.
    pub(super) fn upper(greatest: &str) -> Self {
        let exact = TextBound { bytes: greatest.as_bytes().to_vec(), exact: true };
        if greatest.len() <= LENGTH {
            return exact;
        }
        let some = head(greatest);
        let next = some.char_indices().rev().find_map(|(at, letter)| {
            let next = (letter..=char::MAX).nth(1)?;
            Some(format!("{}{next}", &some[..at]))
        });
        next.map_or(exact, |next| TextBound { bytes: next.into_bytes(), exact: false })
    }
}

impl Value for TextBound {
    const TYPE: Type = Type::BYTE_ARRAY;

    fn to_bytes(&self) -> Vec<u8> {
        self.bytes.clone()
    }

    fn statistics(bounds: Option<(TextBound, TextBound)>, _: u64) -> Statistics {
        let (least, greatest) = bounds.unzip();
        let exact = |bound: &Option<TextBound>| bound.as_ref().is_some_and(|bound| bound.exact);
        let exact = (exact(&least), exact(&greatest));
        let bytes = |bound: TextBound| ByteArray::from(bound.bytes);
        let statistics =
            ValueStatistics::new(least.map(bytes), greatest.map(bytes), None, Some(0), false);
        statistics.with_min_is_exact(exact.0).with_max_is_exact(exact.1).into()
    }
}

/// Bounds of numbers. Zeros have the sign that makes them the widest, as the format asks.
pub(super) fn of_floats(numbers: &[f64]) -> Bounds<f64> {
    /// Numbers that are compared side by side.
    const LANES: usize = 8;
    let mut least = [f64::INFINITY; LANES];
    let mut greatest = [f64::NEG_INFINITY; LANES];
    let mut nans = [0_u64; LANES];
    let mut see = |block: &[f64; LANES]| {
        for i in 0..LANES {
            least[i] = if block[i] < least[i] { block[i] } else { least[i] };
            greatest[i] = if block[i] > greatest[i] { block[i] } else { greatest[i] };
            nans[i] += u64::from(block[i].is_nan());
        }
    };
    let (blocks, rest) = numbers.as_chunks();
    blocks.iter().for_each(&mut see);
    if let Some(last) = rest.last() {
        // A number that is seen twice changes no bounds.
        let mut block = [*last; LANES];
        block[..rest.len()].copy_from_slice(rest);
        see(&block);
        if last.is_nan() {
            nans[0] = nans[0].wrapping_sub((LANES - rest.len()) as u64);
        }
    }
    let least = least.into_iter().fold(f64::INFINITY, f64::min);
    let greatest = greatest.into_iter().fold(f64::NEG_INFINITY, f64::max);
    let nans = nans.into_iter().fold(0_u64, u64::wrapping_add);
    let least = if least == 0.0 { -0.0 } else { least };
    let greatest = if greatest == 0.0 { 0.0 } else { greatest };
    Bounds { both: (nans < numbers.len() as u64).then_some((least, greatest)), nans: Some(nans) }
}

/// Bounds of integers.
pub(super) fn of_integers(numbers: &[i32]) -> Bounds<i32> {
    let least = numbers.iter().copied().fold(i32::MAX, i32::min);
    let greatest = numbers.iter().copied().fold(i32::MIN, i32::max);
    Bounds { both: (!numbers.is_empty()).then_some((least, greatest)), nans: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_of_long_texts() {
        let short = "é".repeat(32);
        assert_eq!(TextBound::lower(&short), TextBound::upper(&short));
        for letters in ["a", "é", "\u{10ffff}a", "x\u{d7ff}", "語"] {
            let long = letters.repeat(70);
            let (lower, upper) = (TextBound::lower(&long), TextBound::upper(&long));
            assert!(lower.bytes < long.clone().into_bytes() && long.into_bytes() < upper.bytes);
            assert!(!lower.exact && !upper.exact);
            for bound in [lower, upper] {
                assert!(bound.bytes.len() <= LENGTH + 1);
                assert!(std::str::from_utf8(&bound.bytes).is_ok());
            }
        }
        let last = "\u{10ffff}".repeat(20);
        assert_eq!(TextBound::upper(&last).bytes, last.as_bytes());
    }

    #[test]
    fn bounds_of_numbers() {
        let mut numbers = vec![1.5; 20];
        let both =
            |numbers: &[f64]| of_floats(numbers).both.map(|(a, b)| (a.to_bits(), b.to_bits()));
        let bits = |least: f64, greatest: f64| Some((least.to_bits(), greatest.to_bits()));
        assert_eq!(both(&numbers), bits(1.5, 1.5));
        numbers[19] = f64::NAN;
        numbers[3] = 0.0;
        assert_eq!((both(&numbers), of_floats(&numbers).nans), (bits(-0.0, 1.5), Some(1)));
        numbers[17] = f64::NEG_INFINITY;
        assert_eq!(both(&numbers), bits(f64::NEG_INFINITY, 1.5));
        assert_eq!(both(&[-0.0]), bits(-0.0, 0.0));
        assert_eq!((both(&[f64::NAN; 9]), both(&[])), (None, None));
    }
}
