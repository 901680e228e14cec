//! Parses where worker threads should run.

use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;

/// Where worker threads run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Pin {
    /// The system chooses the CPUs.
    #[default]
    None,
    /// Fills one NUMA node before the next, and all cores of a node before their second threads.
    Compact,
    /// Alternates between NUMA nodes, and uses one thread of each core before the second ones.
    Scatter,
    /// Like [`Pin::Scatter`], but only on these NUMA nodes, in this order. An empty list means all
    /// nodes.
    Numa(Vec<u32>),
    /// Each worker runs on one of these CPUs, in this order.
    List(Vec<usize>),
}

/// Error for a text that is not a [`Pin`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParsePinError(String);

impl fmt::Display for ParsePinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ParsePinError {}

impl FromStr for Pin {
    type Err = ParsePinError;

    fn from_str(text: &str) -> Result<Pin, ParsePinError> {
        let explained = |example: &str| {
            let example = example.to_owned();
            move |error| ParsePinError(format!("{error}; {example}"))
        };
        match text {
            "none" => Ok(Pin::None),
            "compact" => Ok(Pin::Compact),
            "scatter" => Ok(Pin::Scatter),
            "numa" => Ok(Pin::Numa(Vec::new())),
            _ if text.starts_with(|first: char| first.is_ascii_digit()) => {
                let cpus = parse_list(text).map_err(explained("CPUs are listed like 0,2,4-7"))?;
                Ok(Pin::List(cpus.into_iter().map(|cpu| cpu as usize).collect()))
            }
            _ => match text.strip_prefix("numa:") {
                Some(nodes) => parse_list(nodes)
                    .map(Pin::Numa)
                    .map_err(explained("NUMA nodes are listed like numa:0,2, and numa means all")),
                None => Err(ParsePinError(format!(
                    "`{text}` is not a pinning policy: expected none, compact, scatter, numa, numa:NODES \
                     or CPUS, where lists are like 0,2,4-7"
                ))),
            },
        }
    }
}

/// Writes a text from which this value can be parsed. An empty [`Pin::List`] has no such text.
impl fmt::Display for Pin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pin::None => f.write_str("none"),
            Pin::Compact => f.write_str("compact"),
            Pin::Scatter => f.write_str("scatter"),
            Pin::Numa(nodes) if nodes.is_empty() => f.write_str("numa"),
            Pin::Numa(nodes) => write!(f, "numa:{}", List(nodes)),
            Pin::List(cpus) => List(cpus).fmt(f),
        }
    }
}

/// Largest number of elements in a list. It is eight times the number of CPUs that Linux supports.
const MOST: usize = 1 << 16;

/// Parses a list such as `0,2,4-7`, as Linux writes sets of CPUs and nodes. Keeps the order and
/// refuses duplicates.
pub(crate) fn parse_list(text: &str) -> Result<Vec<u32>, String> {
    if text.is_empty() {
        return Err("the list is empty".to_owned());
    }
    let number = |text: &str| {
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        let number = text.parse().ok().filter(|_: &u32| digits);
        number.ok_or_else(|| format!("`{text}` is not a number"))
    };
    let (mut numbers, mut seen) = (Vec::new(), HashSet::new());
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (number(first)?, number(last)?);
        if first > last {
            return Err(format!("`{first}-{last}` goes backwards"));
        }
        for number in first..=last {
            if !seen.insert(number) {
                return Err(format!("{number} is listed twice"));
            }
            if numbers.len() == MOST {
                return Err(format!("the list has more than {MOST} numbers"));
            }
            numbers.push(number);
        }
    }
    Ok(numbers)
}

/// Writes numbers as a list for [`parse_list`]. Three or more consecutive numbers become a range
/// such as `4-7`.
pub(crate) struct List<'a, N>(pub(crate) &'a [N]);

impl<N: Copy + TryInto<u64>> fmt::Display for List<'_, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<u64> =
            self.0.iter().filter_map(|&number| number.try_into().ok()).collect();
        let mut comma = "";
        for range in numbers.chunk_by(|a, b| a.checked_add(1) == Some(*b)) {
            match range {
                [first, .., last] if range.len() > 2 => write!(f, "{comma}{first}-{last}")?,
                [first, second] => write!(f, "{comma}{first},{second}")?,
                _ => write!(f, "{comma}{}", range[0])?,
            }
            comma = ",";
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_text_is_parsed() {
        for (text, pin) in [
            ("none", Pin::None),
            ("compact", Pin::Compact),
            ("scatter", Pin::Scatter),
            ("numa", Pin::Numa(vec![])),
            ("numa:1", Pin::Numa(vec![1])),
            ("numa:3,0-2", Pin::Numa(vec![3, 0, 1, 2])),
            ("0,2,4-7", Pin::List(vec![0, 2, 4, 5, 6, 7])),
            ("9,1", Pin::List(vec![9, 1])),
            ("7,6,5", Pin::List(vec![7, 6, 5])),
            ("4294967293-4294967295", Pin::List(vec![4294967293, 4294967294, 4294967295])),
        ] {
            assert_eq!(text.parse(), Ok(pin.clone()));
            assert_eq!(pin.to_string(), text);
        }
        assert_eq!("8-9,3-3".parse(), Ok(Pin::List(vec![8, 9, 3])));
        assert_eq!(Pin::List(vec![usize::MAX]).to_string(), usize::MAX.to_string());
        assert_eq!(Pin::default(), Pin::None);
    }

    #[test]
    fn errors_name_what_is_expected() {
        const WORD: &str = "is not a pinning policy: expected none, compact, scatter, numa, numa:NODES or \
                            CPUS, where lists are like 0,2,4-7";
        const CPUS: &str = "CPUs are listed like 0,2,4-7";
        const NODES: &str = "NUMA nodes are listed like numa:0,2, and numa means all";
        for (text, message) in [
            ("", format!("`` {WORD}")),
            ("Compact", format!("`Compact` {WORD}")),
            ("numa0", format!("`numa0` {WORD}")),
            ("-3", format!("`-3` {WORD}")),
            ("0-", format!("`` is not a number; {CPUS}")),
            ("0,,1", format!("`` is not a number; {CPUS}")),
            ("1-2-3", format!("`2-3` is not a number; {CPUS}")),
            ("0,+1", format!("`+1` is not a number; {CPUS}")),
            ("4294967296", format!("`4294967296` is not a number; {CPUS}")),
            ("7-4", format!("`7-4` goes backwards; {CPUS}")),
            ("0-3,2", format!("2 is listed twice; {CPUS}")),
            ("0-70000", format!("the list has more than 65536 numbers; {CPUS}")),
            ("numa:", format!("the list is empty; {NODES}")),
            ("numa:all", format!("`all` is not a number; {NODES}")),
        ] {
            assert_eq!(text.parse::<Pin>().unwrap_err().to_string(), message);
        }
    }

    proptest! {
        #[test]
        fn written_pins_parse_to_the_same(
            numbers in proptest::collection::hash_set(0..300_u32, 1..100), ascending: bool,
        ) {
            let mut numbers: Vec<u32> = numbers.into_iter().collect();
            if ascending {
                numbers.sort_unstable();
            }
            prop_assert_eq!(parse_list(&List(&numbers).to_string()), Ok(numbers));
        }

        #[test]
        fn parsing_never_panics(text in "(numa:)?[0-9,x-]{0,20}") {
            if let Ok(pin) = text.parse::<Pin>() {
                prop_assert_eq!(pin.to_string().parse(), Ok(pin));
            }
        }
    }
}
