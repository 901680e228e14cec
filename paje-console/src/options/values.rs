//! Values of options: numbers with and without units. Errors say what was expected.

use std::num::NonZeroUsize;
use std::ops::RangeInclusive;

use clap::builder::TypedValueParser;
use paje_decimal::amounts;

/// Parses a number of at least 1.
pub fn count(text: &str) -> Result<NonZeroUsize, String> {
    text.parse().map_err(|_| "expected a whole number, 1 or more".into())
}

/// Returns a parser of whole numbers in this range.
pub fn whole<N>(range: RangeInclusive<u64>) -> impl TypedValueParser<Value = N>
where
    N: TryFrom<u64> + Clone + Send + Sync + 'static,
{
    move |text: &str| {
        let number = text.parse().ok().filter(|number| range.contains(number));
        number.and_then(|number| N::try_from(number).ok()).ok_or_else(|| match range.end() {
            &u64::MAX => format!("expected a whole number, {} or more", range.start()),
            end => format!("expected a whole number from {} to {end}", range.start()),
        })
    }
}

/// Parses a time of a trace, in its unit.
pub fn time(text: &str) -> Result<f64, String> {
    let time = text.parse::<f64>().ok().filter(|time| !time.is_nan());
    time.ok_or_else(|| "expected a number in the trace's unit of time, such as 1.5".into())
}

/// Parses a time of at least 0.
pub fn positive_time(text: &str) -> Result<f64, String> {
    let time = amounts::seconds(text)?;
    if time >= 0.0 { Ok(time) } else { Err("expected a time of 0 or more".into()) }
}

/// Returns a parser of sizes in this range, which is also given as text.
pub fn size<N>(
    range: RangeInclusive<u64>,
    expected: &'static str,
) -> impl TypedValueParser<Value = N>
where
    N: TryFrom<u64> + Clone + Send + Sync + 'static,
{
    move |text: &str| {
        let size = amounts::size(text)?;
        let size = Some(size).filter(|size| range.contains(size));
        size.and_then(|size| N::try_from(size).ok()).ok_or_else(|| format!("expected {expected}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_outside_of_a_range_are_refused() {
        let command = clap::Command::new("it");
        let parse =
            |text: &str, range| whole::<u32>(range).parse_ref(&command, None, text.as_ref());
        assert_eq!(parse("7", 1..=9).expect("a number"), 7);
        for (wrong, range) in [("0", 1..=9), ("10", 1..=9), ("x", 1..=9), ("-1", 0..=u64::MAX)] {
            assert!(parse(wrong, range).is_err(), "{wrong}");
        }
        assert!(positive_time("-1ms").is_err());
    }
}
