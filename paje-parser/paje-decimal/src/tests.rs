use proptest::prelude::*;
use testkit::Rng;

use super::*;

/// Returns `%.{precision}f` as the standard library formats it, with C's spelling.
fn fixed(value: f64, precision: usize) -> String {
    if value.is_finite() {
        format!("{value:.precision$}")
    } else {
        String::from_utf8(spell(value).to_vec()).unwrap()
    }
}

/// Formats a number as `%g` does (C17, 7.21.6.1), with a simple implementation.
fn general(value: f64) -> String {
    if !value.is_finite() {
        return fixed(value, 6);
    }
    let scientific = format!("{value:.5e}");
    let (digits, exponent) = scientific.split_once('e').unwrap();
    let exponent: i32 = exponent.parse().unwrap();
    let strip = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if (-4..6).contains(&exponent) {
        strip(&format!("{value:.*}", (5 - exponent) as usize))
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{}e{sign}{:02}", strip(digits), exponent.abs())
    }
}

fn check_fixed(value: f64, precision: usize) {
    let expected = fixed(value, precision);
    let name = || format!("{value:e} ({:#x}) with {precision}", value.to_bits());
    let mut out = b"before".to_vec();
    write_fixed(&mut out, value, precision);
    assert_eq!(&out[..6], b"before");
    assert_eq!(std::str::from_utf8(&out[6..]).unwrap(), expected, "{}", name());
    let mut buffer = [b'?'; 5 + fixed_room(340)];
    if precision <= 340 {
        let end = put_fixed(&mut buffer[..5 + fixed_room(precision)], 5, value, precision);
        assert_eq!(&buffer[..5], b"?????");
        assert_eq!(std::str::from_utf8(&buffer[5..end]).unwrap(), expected, "{}", name());
    }
    if precision == 6
        && let Some(word) = Fixed6::new(value)
    {
        let end = word.len();
        assert_eq!(std::str::from_utf8(&word.bytes()[..end]).unwrap(), expected, "{}", name());
        assert_eq!(&word.bytes()[end..end + 2], b", ", "{}", name());
    }
}

fn check_general(value: f64) {
    let mut out = b"before".to_vec();
    write_general(&mut out, value);
    let text = std::str::from_utf8(&out[6..]).unwrap();
    assert_eq!(text, general(value), "{value:e} ({:#x})", value.to_bits());
}

const fn many(release: usize) -> usize {
    if cfg!(debug_assertions) { release / 8 } else { release }
}

/// Checks a value and its two neighbours. The value may be a tie, but its neighbours are not.
fn check_around(value: f64, precision: usize) {
    for value in [value, value.next_up(), value.next_down()] {
        check_fixed(value, precision);
        check_fixed(-value, precision);
    }
}

#[test]
fn random_bits_print_like_c() {
    let mut random = Rng::new(1);
    for _ in 0..many(150_000) {
        let value = f64::from_bits(random.bits());
        check_fixed(value, (random.bits() % 21) as usize);
        check_general(value);
    }
}

#[test]
fn random_moderate_numbers_print_like_c() {
    let mut random = Rng::new(2);
    for _ in 0..many(750_000) {
        let field = 1023 - 70 + random.bits() % 140;
        let value = f64::from_bits((random.bits() & (1 << 63 | ((1 << 52) - 1))) | field << 52);
        check_fixed(value, (random.bits() % 21) as usize);
        check_fixed(value, 6);
        check_general(value);
    }
}

#[test]
fn decimals_like_times_print_like_c() {
    let mut random = Rng::new(3);
    for _ in 0..many(500_000) {
        let digits = random.bits() % 10u64.pow((random.bits() % 16 + 1) as u32);
        let value = digits as f64 / 10f64.powi((random.bits() % 16) as i32);
        check_fixed(value, 6);
        check_fixed(value, 9);
        check_fixed(value, (random.bits() % 18) as usize);
        check_general(value);
    }
}

/// Tests doubles that are exact ties: odd multiples of half a unit.
#[test]
fn ties_round_to_even() {
    let mut random = Rng::new(4);
    for precision in 0..=20 {
        let unit = 0.5f64.powi(precision as i32 + 1);
        for k in 0..200 {
            check_around(f64::from(k) * unit, precision);
        }
        for _ in 0..many(5_000) {
            let bits = random.bits() % 53 + 1;
            check_fixed((random.bits() >> (64 - bits)) as f64 * unit, precision);
        }
        // Decimal ties that no double represents: the exact binary value decides.
        for k in 0..200 {
            check_around((f64::from(k) + 0.5) / 10f64.powi(precision as i32), precision);
        }
    }
}

#[test]
fn powers_and_limits_print_like_c() {
    for precision in (0..=20).chain([30, 60, 100, 340]) {
        for exponent in (-1074..1024).step_by(if cfg!(debug_assertions) { 7 } else { 1 }) {
            check_around(2f64.powi(exponent), precision);
        }
        for exponent in -25..25 {
            check_around(10f64.powi(exponent), precision);
            check_around(10f64.powi(exponent) - 10f64.powi(exponent - 7), precision);
        }
        for exponent in 50..70 {
            check_around(2f64.powi(exponent) - 1.0, precision);
        }
        for value in [0.0, f64::MAX, f64::MIN_POSITIVE, f64::from_bits(1), f64::INFINITY] {
            check_fixed(value, precision);
            check_fixed(-value, precision);
        }
        check_fixed(f64::NAN.copysign(1.0), precision);
        check_fixed(f64::NAN.copysign(-1.0), precision);
    }
    for value in [1.5, 5e-324, f64::MAX] {
        for precision in [1074, 1075, 70_000] {
            let mut out = Vec::new();
            write_fixed(&mut out, value, precision);
            let exact = format!("{value:.1074}") + &"0".repeat(precision - 1074);
            assert!(out == exact.as_bytes(), "{value:e} with {precision}");
        }
    }
}

#[test]
fn general_format_of_powers_and_carries() {
    for exponent in -330..309 {
        let power: f64 = format!("1e{exponent}").parse().unwrap();
        for digits in [1.0, 9.999994, 9.999995, 9.9999951, 9.999996, 1.000005, 1.23456, 5.5] {
            let value = power * digits;
            for value in [value, value.next_up(), value.next_down()] {
                check_general(value);
                check_general(-value);
            }
        }
    }
    // Tests six digits followed by exactly half a unit.
    for k in 0..2000 {
        check_general(f64::from(k) + 100_000.5);
        check_general(f64::from(k) / 4.0 + 10_000.125);
    }
}

#[test]
fn the_output_is_that_of_glibc() {
    let lines = include_str!("printf.txt").lines().filter(|line| !line.starts_with('#'));
    let mut checked = 0;
    for line in lines {
        let words: Vec<&str> = line.split(' ').collect();
        let [bits, format, text] = words[..] else { panic!("{line}") };
        let value = f64::from_bits(u64::from_str_radix(bits, 16).unwrap());
        let mut out = Vec::new();
        match format.strip_prefix('.') {
            Some(precision) => write_fixed(&mut out, value, precision.parse().unwrap()),
            None => write_general(&mut out, value),
        }
        assert_eq!(std::str::from_utf8(&out).unwrap(), text, "{line}");
        checked += 1;
    }
    assert_eq!(checked, 204 + 39);
}

#[test]
fn unsigned_integers_are_written() {
    let mut random = Rng::new(5);
    let check = |value: u64| {
        let mut out = b"before".to_vec();
        write_u64(&mut out, value);
        assert_eq!(std::str::from_utf8(&out[6..]).unwrap(), value.to_string());
    };
    for power in 0..20 {
        let power = 10u64.pow(power);
        for value in [power - 1, power, power + 1] {
            check(value);
        }
    }
    check(u64::MAX);
    for _ in 0..many(250_000) {
        check(random.bits() >> (random.bits() % 64));
    }
}

#[test]
fn most_numbers_fit_a_word() {
    let fits = |value: f64| Fixed6::new(value).is_some();
    for value in [0.0, 0.000001, 0.999999, 1.0, 9.5, 99.0, 999.999999, 1000.0, 999_999.999999] {
        check_fixed(value, 6);
        assert!(fits(value), "{value}");
    }
    for value in [-0.0, -1.0, 1e6, 999_999.9999999, 1e300, 0.0000005, f64::INFINITY, f64::NAN] {
        assert!(!fits(value), "{value}");
    }
    let mut random = Rng::new(6);
    let fit = (0..10_000).filter(|_| fits((random.bits() >> 11) as f64 * 1e-10)).count();
    assert!(fit > 9_980, "{fit} of 10,000");
}

#[test]
#[should_panic(expected = "room for a number")]
fn too_little_room_never_depends_on_the_value() {
    put_fixed(&mut [0; fixed_room(6) - 1], 0, 0.0, 6);
}

proptest! {
    #[test]
    fn any_double_prints_like_c(value in any::<f64>(), precision in 0..80usize) {
        check_fixed(value, precision);
        check_general(value);
    }

    #[test]
    fn any_moderate_double_prints_like_c(value in -1e6..1e6f64, precision in 0..18usize) {
        check_fixed(value, precision);
        check_general(value);
    }
}
