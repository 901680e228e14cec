//! Numbers as text.

pub(super) fn put_short(mut number: u64, out: &mut Vec<u8>) {
    const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    let mut word = [0; 13];
    let mut at = word.len();
    loop {
        at -= 1;
        word[at] = DIGITS[(number % 36) as usize];
        number /= 36;
        if number == 0 {
            break;
        }
    }
    out.extend_from_slice(&word[at..]);
}

/// Appends a space and the shortest decimal that reads back as this number.
pub(super) fn put_float(number: f64, out: &mut Vec<u8>) {
    put(zmij::Buffer::new().format(number), out);
}

/// Appends a space and the shortest decimal that reads back as this number in single precision.
pub(super) fn put_single(number: f64, out: &mut Vec<u8>) {
    put(zmij::Buffer::new().format(number as f32), out);
}

fn put(text: &str, out: &mut Vec<u8>) {
    out.push(b' ');
    out.extend_from_slice(text.strip_suffix(".0").unwrap_or(text).as_bytes());
}

/// Returns parts that add up exactly to the value of a variable.
///
/// Sums of single-precision values are doubles. A sum is written as one set event and some
/// additions at the same time. Together they make one row.
pub(super) fn parts(value: f64, is_single: bool) -> impl Iterator<Item = f64> {
    let first = if is_single { single(value) } else { value };
    let rest = std::iter::successors(Some((first, first)), move |(_, sum)| {
        let part = single(value - sum);
        // Infinite numbers, and remainders too small for single precision, need no more parts.
        (part != 0.0 && part.is_finite() && sum + part != *sum).then_some((part, sum + part))
    });
    // Each part adds 24 bits.
    rest.map(|(part, _)| part).take(MOST)
}

/// Maximum number of parts. Three suffice unless the value is far beyond single precision.
const MOST: usize = 16;

fn single(value: f64) -> f64 {
    let most = f64::from(f32::MAX);
    f64::from(if value.is_finite() { value.clamp(-most, most) } else { value } as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(put: impl Fn(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        put(&mut out);
        String::from_utf8(out).expect("ASCII")
    }

    #[test]
    fn base_36() {
        let short = |number| text(|out| put_short(number, out));
        assert_eq!([0, 35, 36, 36 * 36].map(short), ["0", "z", "10", "100"]);
        assert_eq!(short(u64::MAX), "3w5e11264sgsf");
    }

    #[test]
    fn floats_are_short_and_exact() {
        let expected = [(0.0, " 0"), (1.0, " 1"), (0.5, " 0.5"), (1e15, " 1000000000000000")];
        for (number, expected) in expected {
            assert_eq!(text(|out| put_float(number, out)), expected);
        }
        let mut state = 1_u64;
        for _ in 0..10_000 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let number = f64::from_bits(state);
            if number.is_finite() {
                let text = text(|out| put_float(number, out));
                let read = paje_parser::number::parse_f64(text.trim_start().as_bytes());
                assert_eq!(read, Some(number), "{text}");
            }
        }
    }

    #[test]
    fn parts_of_single_precision_add_up() {
        let sums = [
            0.1,
            16_777_217.0,
            2.0 * f64::from(f32::MAX),
            1e15 + 0.3,
            -9_007_199_254_740_991.0,
            1.0 / 3.0,
            1e300,
        ];
        for value in [0.0, -0.0, 0.5, 16_777_216.0] {
            assert_eq!(parts(value, true).collect::<Vec<_>>(), [value]);
        }
        assert_eq!(parts(0.1, false).collect::<Vec<_>>(), [0.1]);
        assert_eq!(text(|out| put_single(f64::from(0.1_f32), out)), " 0.1");
        for value in sums {
            let parts: Vec<f64> = parts(value, true).collect();
            assert!(parts.iter().all(|part| single(*part) == *part));
            assert!(value == 1e300 || parts.iter().sum::<f64>() == value, "{value} {parts:?}");
        }
        assert_eq!(parts(f64::INFINITY, true).count(), 1);
    }
}
