mod hexadecimal;
mod shape;

use std::fmt::Write as _;

use proptest::prelude::*;

use super::*;

/// Checks every function for one text: alone, at both ends of a block, and between misleading
/// bytes.
fn check(text: &str, double: Option<f64>, single: Option<f32>) {
    let bytes = text.as_bytes();
    let bits = |value: Option<f64>| value.map(f64::to_bits);
    let bits32 = |value: Option<f32>| value.map(f32::to_bits);
    assert_eq!(bits(parse_f64(bytes)), bits(double), "parse_f64({text:?})");
    assert_eq!(bits32(parse_f32(bytes)), bits32(single), "parse_f32({text:?})");
    let finite = bits(double.filter(|value| value.is_finite()));
    assert_eq!(bits(parse_time(bytes)), finite, "parse_time({text:?})");
    for filler in *b" 9.e-" {
        for start in [0, 7, 63usize.saturating_sub(text.len())] {
            check_plain(text, start, filler, double, single);
        }
    }
    for (before, after) in [(16, 32), (20, 40), (0, 0), (0, 32), (16, 31), (15, 32)] {
        for filler in *b" 9.e-" {
            let mut block = vec![filler; before];
            block.extend_from_slice(bytes);
            block.resize(block.len() + after, filler);
            let (start, end) = (before, before + bytes.len());
            let place = || format!("{text:?} between {:?}", filler as char);
            assert_eq!(bits(parse_f64_at(&block, start, end)), bits(double), "{}", place());
            assert_eq!(bits32(parse_f32_at(&block, start, end)), bits32(single), "{}", place());
            assert_eq!(bits(parse_time_at(&block, start, end)), finite, "{}", place());
        }
    }
}

/// Checks a number in a line. The fast path must accept numbers of the usual shape, and may accept
/// others.
fn check_plain(text: &str, start: usize, filler: u8, double: Option<f64>, single: Option<f32>) {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let is_usual = text.starts_with(|first: char| first.is_ascii_digit())
        && digits + text.matches('.').count() == text.len()
        && text.len() - digits <= 1
        && text.len() <= 15;
    let end = start + text.len();
    if end > 63 {
        return;
    }
    let mut window = [filler; 128];
    window[LINE_START + start..LINE_START + end].copy_from_slice(text.as_bytes());
    let found = plain_f64(&window, start, end);
    assert!(found.is_some() || !is_usual, "{text:?} at {start}");
    let bits = found.map(f64::to_bits);
    assert!(bits.is_none_or(|bits| Some(bits) == double.map(f64::to_bits)), "{text:?}");
    let bits = plain_f32(&window, start, end).map(f32::to_bits);
    assert!(bits.is_none_or(|bits| Some(bits) == single.map(f32::to_bits)), "{text:?}");
}

fn check_std(text: &str) {
    check(text, text.parse().ok(), text.parse().ok());
}

/// Compares only the fast path. This is cheap enough for many numbers.
fn check_short(block: &mut Vec<u8>, text: &str) {
    block.truncate(BEFORE);
    block.extend_from_slice(text.as_bytes());
    let end = block.len();
    block.resize(end + PADDING, b' ');
    let double = parse_f64_at(block, BEFORE, end).map(f64::to_bits);
    assert_eq!(double, text.parse().ok().map(f64::to_bits), "{text:?}");
    check_plain(text, 7, b' ', text.parse().ok(), text.parse().ok());
    let single = parse_f32_at(block, BEFORE, end).map(f32::to_bits);
    assert_eq!(single, text.parse().ok().map(f32::to_bits), "{text:?}");
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

const fn many(release: usize) -> usize {
    if cfg!(miri) {
        release / 20_000
    } else if cfg!(debug_assertions) {
        release / 10
    } else {
        release
    }
}

#[test]
fn usual_numbers_are_read() {
    for text in [
        "50.543261",
        "618.727124000",
        "0",
        "1.0187500000000e+01",
        "-0.000000",
        "327.018655000",
        "1",
        "-1",
        "+1",
        "5.",
        ".5",
        "-.5",
        "+5.",
        "0.",
        ".0",
        "00012",
        "000000000000000000001",
        "1e5",
        "1E5",
        "1e+5",
        "1e-5",
        "1.5e0",
        "1e0005",
        "1e00005",
        "1e22",
        "1e23",
        "1e-22",
        "1e-23",
        "9007199254740992",
        "9007199254740993",
        "900719925474099.3",
        "9007199254740.991",
        "99999999999999.99",
        "9999999999999999",
        "99999999.99999999",
        "1234567890123456.5",
        "123456789012345.6",
        "123456789012345.67",
        "0.123456789012345",
        "0.12345678901234",
        "1e308",
        "1e309",
        "-1e309",
        "1e-400",
        "-1e-400",
        "5e-324",
        "2e-324",
        "3e-324",
        "1e99999",
        "1e-99999",
        "0e99999",
        "1e99999999999999999999",
        "1e-99999999999999999999",
        "2.2250738585072011e-308",
        "1.7976931348623157e308",
        "1.7976931348623159e308",
        "inf",
        "INF",
        "-inf",
        "+Infinity",
        "infinity",
        "nan",
        "NaN",
        "-nan",
        "16777217",
        "16777216",
        "16777219",
        "3.4028235e38",
        "3.4028236e38",
        "3.4e39",
        "1e-45",
        "7.0064923216240853e-46",
        "7.0064923216240854e-46",
        "1.17549435e-38",
    ] {
        check_std(text);
        assert!(parse_f64(text.as_bytes()).is_some(), "{text:?}");
    }
}

#[test]
fn garbage_is_refused() {
    for text in [
        "",
        ".",
        "-",
        "+",
        "-.",
        "e5",
        ".e5",
        "1e",
        "1e+",
        "1.5abc",
        "1..5",
        "1.2.3",
        "--1",
        "+-1",
        "1e5.",
        "1e5e5",
        "1,5",
        "1_000",
        " 1",
        "1 ",
        "\t1",
        "0x",
        "0x.",
        "0xp3",
        "0x1p",
        "0x1p+",
        "0x1.2.3",
        "0x1g",
        "x1",
        "in",
        "infi",
        "infinit",
        "infinityy",
        "na",
        "nan(",
        "nan)",
        "nan(a b)",
        "nan()x",
        "1d5",
        "1f",
        "12:34",
        "é",
        "1é",
        "12345678é",
        "1/2",
        "1\0",
        "123456:",
        "0x1p3.",
        "1e5x",
        "1e:",
        "1xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "1.5e+x1",
        "1-",
        "1+1",
    ] {
        check(text, None, None);
    }
    assert_eq!(parse_f64(b"\xff"), None);
    assert_eq!(parse_f64(b"1\xff"), None);
    let block = [b'1'; 64];
    assert_eq!(parse_f64_at(&block, 20, 19), None);
    assert_eq!(parse_f64_at(&block, 64, 65), None);
    assert_eq!(parse_f64_at(&block, 60, 65), None);
    assert_eq!(parse_f64_at(&block, usize::MAX, usize::MAX), None);
    assert_eq!(parse_f64_at(&block, 20, usize::MAX), None);
}

#[test]
fn every_byte_in_every_place_is_read_right() {
    let mut block = vec![b' '; BEFORE];
    for place in 0..17 {
        for byte in 0..=127 {
            let mut text = *b"123.45678901234567";
            text[place] = byte;
            for length in [place + 1, 9, 15, 16, 17] {
                if length > place {
                    let text = std::str::from_utf8(&text[..length]).unwrap();
                    if !text.contains(['x', 'X', '(']) {
                        check_short(&mut block, text);
                    }
                }
            }
        }
    }
}

#[test]
fn every_length_and_place_of_the_point_is_read_right() {
    let mut block = vec![b' '; BEFORE];
    for digits in ["1234567890123456789012345678901234567890", &"9".repeat(40), &"0".repeat(40)] {
        for length in 1..=40 {
            check_std(&digits[..length]);
            for point in 0..=length {
                let (integer, fraction) = digits[..length].split_at(point);
                for sign in ["", "-", "+"] {
                    check_short(&mut block, &format!("{sign}{integer}.{fraction}"));
                    check_short(&mut block, &format!("{sign}{integer}.{fraction}e+01"));
                    check_short(&mut block, &format!("{sign}{integer}.{fraction}e-17"));
                }
            }
        }
    }
}

#[test]
fn random_decimals_are_read_right() {
    let mut random = Random(1);
    let mut block = vec![b' '; BEFORE];
    let mut text = String::new();
    for _ in 0..many(1_000_000) {
        let digits = random.next() % 10u64.pow((random.next() % 19 + 1) as u32);
        let place = (random.next() % 20) as usize;
        text.clear();
        if random.next().is_multiple_of(4) {
            text.push('-');
        }
        let _ = write!(text, "{digits:0place$}");
        if !random.next().is_multiple_of(8) {
            let at = text.len() - (random.next() as usize % text.len());
            text.insert(at.max(usize::from(text.starts_with('-'))), '.');
        }
        if random.next().is_multiple_of(4) {
            let range = if random.next().is_multiple_of(2) { 30 } else { 400 };
            let _ = write!(text, "e{}", (random.next() % (2 * range)) as i64 - range as i64);
        }
        check_short(&mut block, &text);
    }
}

#[test]
fn random_doubles_are_read_right() {
    let mut random = Random(2);
    let mut block = vec![b' '; BEFORE];
    for _ in 0..many(250_000) {
        let value = f64::from_bits(random.next());
        if value.is_finite() {
            check_short(&mut block, &format!("{value:e}"));
            check_short(&mut block, &format!("{value:.17e}"));
        }
    }
}

/// Tests the exact decimals of the midpoint between two neighbouring `f32`, and decimals slightly
/// below and above, where rounding to `f64` first gives the wrong result.
#[test]
fn middles_of_f32_are_rounded_once() {
    let mut random = Random(3);
    let mut block = vec![b' '; BEFORE];
    let mut double_rounding = 0;
    for _ in 0..many(250_000) {
        let single = f32::from_bits(random.next() as u32 & 0x7fff_ffff);
        let middle = (f64::from(single) + f64::from(single.next_up())) / 2.0;
        if !middle.is_finite() {
            continue;
        }
        let exact = format!("{middle:.120}");
        let above = format!("{exact}1");
        check_short(&mut block, &exact);
        check_short(&mut block, &above);
        let once: f32 = above.parse().unwrap();
        double_rounding += usize::from(once != middle as f32);
        check_short(&mut block, &format!("{middle:e}"));
        check_short(&mut block, &format!("{:e}", middle.next_down()));
        check_short(&mut block, &format!("{:e}", middle.next_up()));
    }
    assert!(
        cfg!(miri) || double_rounding > 100,
        "too few cases need a single rounding: {double_rounding}"
    );
    // Tests numbers with few digits near 2^24.
    for integer in 16_777_210..16_777_230_u64 {
        for tail in ["", ".0", ".000001", ".99999999", ".0000000001", ".00000000001"] {
            check_short(&mut block, &format!("{integer}{tail}"));
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn both_implementations_of_a_row_agree() {
    let mut random = Random(5);
    for _ in 0..many(250_000) {
        let mut window: Window = std::array::from_fn(|_| b'0' + (random.next() % 10) as u8);
        let first = BEFORE + (random.next() % 2) as usize;
        let stop = 1 + (random.next() % 16) as usize;
        let gap = (random.next() % 2) as usize;
        let after = random.next() as usize % (stop + 1 - gap);
        let count = stop - gap;
        assert_eq!(
            sse2::digits(&window, first + stop, count, after, gap),
            swar::digits(&window, first + stop, count, after, gap),
        );
        window[random.next() as usize % window.len()] = random.next() as u8;
        window[random.next() as usize % window.len()] = random.next() as u8;
        assert_eq!(sse2::non_digits(&window, first), swar::non_digits(&window, first));
    }
}

proptest! {
    #[test]
    fn any_decimal(text in "[+-]?[0-9]{0,20}(\\.[0-9]{0,20})?([eE][+-]?[0-9]{1,4})?") {
        check_std(&text);
    }

    #[test]
    fn nearly_a_number(text in "[-+.e0-9]{0,20}") {
        check_std(&text);
    }

    #[test]
    fn any_bytes(block in prop::collection::vec(any::<u8>(), 0..80), start in 0..90usize, end in 0..90usize) {
        let expected = block.get(start..end).and_then(parse_f64).map(f64::to_bits);
        prop_assert_eq!(parse_f64_at(&block, start, end).map(f64::to_bits), expected);
    }
}
