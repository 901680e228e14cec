//! Lists of numbers as Linux writes its sets of CPUs and nodes: `0,2,4-7`.

use std::collections::HashSet;
use std::fmt;

/// More numbers than this in a list are a mistake: it is eight times what Linux can be built for.
const MOST: usize = 1 << 16;

/// Fault of a list of CPUs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ListError {
    Empty,
    NoNumber(String),
    Backwards { first: u32, last: u32 },
    Twice(u32),
    TooLong,
}

impl fmt::Display for ListError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ListError::Empty => f.write_str("the list is empty"),
            ListError::NoNumber(text) => write!(f, "`{text}` is no number"),
            ListError::Backwards { first, last } => write!(f, "`{first}-{last}` goes backwards"),
            ListError::Twice(number) => write!(f, "{number} is named twice"),
            ListError::TooLong => write!(f, "the list has more than {MOST} numbers"),
        }
    }
}

/// The numbers of a list, in its order. The kernel takes a list for a set; here the order matters,
/// since the first worker runs on the first CPU, and so a number cannot come twice.
pub(crate) fn parse_cpulist(text: &str) -> Result<Vec<u32>, ListError> {
    if text.is_empty() {
        return Err(ListError::Empty);
    }
    let mut numbers = Vec::new();
    let mut seen = HashSet::new();
    for part in text.split(',') {
        let (first, last) = match part.split_once('-') {
            Some((first, last)) => (parse_number(first)?, parse_number(last)?),
            None => (parse_number(part)?, parse_number(part)?),
        };
        if first > last {
            return Err(ListError::Backwards { first, last });
        }
        for number in first..=last {
            if !seen.insert(number) {
                return Err(ListError::Twice(number));
            }
            if numbers.len() == MOST {
                return Err(ListError::TooLong);
            }
            numbers.push(number);
        }
    }
    Ok(numbers)
}

/// Digits only: Rust takes `+1` for a number too, the kernel does not.
fn parse_number(text: &str) -> Result<u32, ListError> {
    if text.bytes().all(|byte| byte.is_ascii_digit())
        && let Ok(number) = text.parse()
    {
        return Ok(number);
    }
    Err(ListError::NoNumber(text.to_owned()))
}

/// Writes numbers as a list that reads back as the same numbers in the same order. Two neighbours
/// stay `0,1`, for that is how people write them.
pub(crate) struct Cpulist<'a, N>(pub(crate) &'a [N]);

impl<N: Copy + TryInto<u64>> fmt::Display for Cpulist<'_, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = |at: usize| self.0.get(at).and_then(|&number| number.try_into().ok());
        let mut at = 0;
        while let Some(first) = number(at) {
            let mut len = 1;
            while number(at + len).and_then(|next| next.checked_sub(len as u64)) == Some(first) {
                len += 1;
            }
            let comma = if at == 0 { "" } else { "," };
            if len > 2 {
                write!(f, "{comma}{first}-{}", first + (len as u64 - 1))?;
            } else {
                // The second of two neighbours comes next.
                len = 1;
                write!(f, "{comma}{first}")?;
            }
            at += len;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_keep_their_order() {
        assert_eq!(parse_cpulist("0,2,4-7"), Ok(vec![0, 2, 4, 5, 6, 7]));
        assert_eq!(parse_cpulist("8-9,0,3-3"), Ok(vec![8, 9, 0, 3]));
        assert_eq!(parse_cpulist("4294967295"), Ok(vec![u32::MAX]));
    }

    #[test]
    fn what_is_no_list() {
        use ListError::*;
        for (text, error) in [
            ("", Empty),
            ("0,,1", NoNumber(String::new())),
            ("0,", NoNumber(String::new())),
            ("-1", NoNumber(String::new())),
            ("1-2-3", NoNumber("2-3".to_owned())),
            ("+1", NoNumber("+1".to_owned())),
            ("0, 1", NoNumber(" 1".to_owned())),
            ("4294967296", NoNumber("4294967296".to_owned())),
            ("7-4", Backwards { first: 7, last: 4 }),
            ("0-3,2", Twice(2)),
            ("0-4294967295", TooLong),
        ] {
            assert_eq!(parse_cpulist(text), Err(error), "{text}");
        }
    }

    #[test]
    fn lists_are_written_as_ranges() {
        for text in ["", "3", "0,1", "0-2", "0,2,4-7", "7,6,5", "1-3,0", "4294967293-4294967295"] {
            let numbers = if text.is_empty() { vec![] } else { parse_cpulist(text).unwrap() };
            assert_eq!(Cpulist(&numbers).to_string(), text);
        }
        assert_eq!(Cpulist(&[u64::MAX]).to_string(), "18446744073709551615");
    }
}
