//! Sizes with units.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

/// A number of bytes, read from text such as `64K`, `166MB` or `1.5GiB`.
///
/// A letter alone or with `iB` stands for a power of 1024, and a letter with `B` for a power of
/// 1000:
///
/// ```
/// use datasets::Size;
///
/// assert_eq!("2K".parse::<Size>()?.bytes(), 2048);
/// assert_eq!("2KiB".parse::<Size>()?.bytes(), 2048);
/// assert_eq!("2.5kB".parse::<Size>()?.bytes(), 2500);
/// assert_eq!("17".parse::<Size>()?.bytes(), 17);
/// assert!("2X".parse::<Size>().is_err());
/// # Ok::<(), datasets::ParseSizeError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size(u64);

impl Size {
    /// Returns the number of bytes.
    pub fn bytes(self) -> u64 {
        self.0
    }
}

impl FromStr for Size {
    type Err = ParseSizeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || ParseSizeError(text.to_owned());
        let split = text
            .find(|letter: char| !letter.is_ascii_digit() && letter != '.')
            .unwrap_or(text.len());
        let (number, unit) = text.split_at(split);
        let unit = unit.to_ascii_uppercase();
        let (letter, base) = match unit.strip_suffix("IB").map(|letter| (letter, 1024.0)) {
            Some(binary) => binary,
            None => match unit.strip_suffix('B') {
                Some(letter) => (letter, 1000.0),
                None => (unit.as_str(), 1024.0),
            },
        };
        let power = match letter {
            "" => 0,
            "K" => 1,
            "M" => 2,
            "G" => 3,
            "T" => 4,
            _ => return Err(error()),
        };
        let bytes = number.parse::<f64>().map_err(|_| error())? * f64::powi(base, power);
        Ok(Self(bytes as u64))
    }
}

/// Error for a text that is not a size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseSizeError(String);

impl fmt::Display for ParseSizeError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "`{}` is not a size such as 64K, 166MB or 1.5GiB", self.0)
    }
}

impl Error for ParseSizeError {}
