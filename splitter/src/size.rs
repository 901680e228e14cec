//! Parses sizes with units.

/// Parses a number of bytes such as `1048576`, `512M`, `1.5GiB` or `2GB`: K, M, G and T (and KiB
/// etc.) are powers of 1024, while kB, MB, GB and TB are powers of 1000.
///
/// # Errors
/// Returns a message if the text is not such a number.
pub fn parse_size(text: &str) -> Result<u64, String> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let unit = unit.to_ascii_uppercase();
    let (letter, base) = match (unit.strip_suffix("IB"), unit.strip_suffix('B')) {
        (Some(letter), _) => (letter, 1024.0_f64),
        (None, Some(letter)) => (letter, 1000.0),
        (None, None) => (unit.as_str(), 1024.0),
    };
    let power = ["", "K", "M", "G", "T"].iter().position(|known| *known == letter);
    let bytes = number.parse::<f64>().ok().zip(power);
    let bytes = bytes.map(|(number, power)| number * base.powi(power as i32));
    bytes.map(|bytes| bytes as u64).ok_or_else(|| "expected a number of bytes, such as 512M".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_parsed() {
        for (text, bytes) in [
            ("0", 0),
            ("17", 17),
            ("17B", 17),
            ("2K", 2048),
            ("2kib", 2048),
            ("1.5kB", 1500),
            ("512M", 512 << 20),
            ("3T", 3 << 40),
        ] {
            assert_eq!(parse_size(text), Ok(bytes), "{text}");
        }
        for wrong in ["", "K", "1X", "-1", "1..2", "1 K", "nan", "1e3", "KB"] {
            assert!(parse_size(wrong).is_err(), "{wrong}");
        }
    }
}
