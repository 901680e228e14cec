use proptest::prelude::*;
use testkit::Rng;

use super::*;

/// `%.{precision}f` by the standard library, spelled as C does.
fn fixed(value: f64, precision: usize) -> String {
    if value.is_finite() {
        format!("{value:.precision$}")
    } else {
        String::from_utf8(spell(value).to_vec()).unwrap()
    }
}

/// `%g`, naively: C17, 7.21.6.1.
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
    if precision == 6 {
        out.clear();
        write_fixed6(&mut out, value);
        assert_eq!(out, expected.as_bytes(), "{}", name());
        if let Some(word) = Fixed6::new(value) {
            let end = word.len();
            assert_eq!(std::str::from_utf8(&word.bytes()[..end]).unwrap(), expected, "{}", name());
            assert_eq!(&word.bytes()[end..end + 2], b", ", "{}", name());
        }
    }
}

fn check_general(value: f64) {
    let mut out = b"before".to_vec();
    write_general(&mut out, value);
    let text = std::str::from_utf8(&out[6..]).unwrap();
    assert_eq!(text, general(value), "{value:e} ({:#x})", value.to_bits());
}

/// Debug builds are slow, and tests there must not be.
const fn many(release: usize) -> usize {
    if cfg!(debug_assertions) { release / 8 } else { release }
}

/// Neighbours matter as much as the value: it may be a tie, they are not.
fn check_around(value: f64, precision: usize) {
    for value in [value, value.next_up(), value.next_down()] {
        check_fixed(value, precision);
        check_fixed(-value, precision);
    }
}

#[test]
fn random_bits() {
    let mut random = Rng::new(1);
    for _ in 0..many(150_000) {
        let value = f64::from_bits(random.bits());
        check_fixed(value, (random.bits() % 21) as usize);
        check_general(value);
    }
}

/// Random bits with exponents near those of times: -70 to 70.
#[test]
fn random_moderate() {
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
fn decimals_like_times() {
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

/// Ties: odd multiples of a half unit that are doubles, that is of 5^k / 2^... with few bits.
#[test]
fn exact_halves() {
    let mut random = Rng::new(4);
    for precision in 0..=20 {
        // A half unit is 5 / 10^(precision + 1); its multiples by 5^precision are k / 2^(precision + 1).
        let unit = 0.5f64.powi(precision as i32 + 1);
        for k in 0..200 {
            check_around(f64::from(k) * unit, precision);
        }
        for _ in 0..many(5_000) {
            let bits = random.bits() % 53 + 1;
            check_fixed((random.bits() >> (64 - bits)) as f64 * unit, precision);
        }
        // Not representable ties: which side they fall on is up to the binary value.
        for k in 0..200 {
            check_around((f64::from(k) + 0.5) / 10f64.powi(precision as i32), precision);
        }
    }
}

#[test]
fn powers_and_limits() {
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
fn general_powers_and_carries() {
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
    // Six digits and an exact half.
    for k in 0..2000 {
        check_general(f64::from(k) + 100_000.5);
        check_general(f64::from(k) / 4.0 + 10_000.125);
    }
}

#[test]
fn what_c_prints() {
    for (value, precision, text) in FIXED {
        let mut out = Vec::new();
        write_fixed(&mut out, f64::from_bits(value), precision);
        assert_eq!(std::str::from_utf8(&out).unwrap(), text, "{value:#x} with {precision}");
    }
    for (value, text) in GENERAL {
        let mut out = Vec::new();
        write_general(&mut out, f64::from_bits(value));
        assert_eq!(std::str::from_utf8(&out).unwrap(), text, "{value:#x}");
    }
}

/// Bits, precision, and what glibc's `printf` makes of them.
#[rustfmt::skip]
const FIXED: [(u64, usize, &str); 204] = [
    (0x0000000000000000, 0, "0"),
    (0x0000000000000000, 1, "0.0"),
    (0x0000000000000000, 2, "0.00"),
    (0x0000000000000000, 6, "0.000000"),
    (0x0000000000000000, 9, "0.000000000"),
    (0x0000000000000000, 17, "0.00000000000000000"),
    (0x0000000000000000, 25, "0.0000000000000000000000000"),
    (0x8000000000000000, 0, "-0"),
    (0x8000000000000000, 1, "-0.0"),
    (0x8000000000000000, 2, "-0.00"),
    (0x8000000000000000, 6, "-0.000000"),
    (0x8000000000000000, 9, "-0.000000000"),
    (0x8000000000000000, 17, "-0.00000000000000000"),
    (0x8000000000000000, 25, "-0.0000000000000000000000000"),
    (0x3fe0000000000000, 0, "0"),
    (0x3fe0000000000000, 1, "0.5"),
    (0x3fe0000000000000, 2, "0.50"),
    (0x3fe0000000000000, 6, "0.500000"),
    (0x3fe0000000000000, 9, "0.500000000"),
    (0x3fe0000000000000, 17, "0.50000000000000000"),
    (0x3fe0000000000000, 25, "0.5000000000000000000000000"),
    (0x3ff8000000000000, 0, "2"),
    (0x3ff8000000000000, 1, "1.5"),
    (0x3ff8000000000000, 2, "1.50"),
    (0x3ff8000000000000, 6, "1.500000"),
    (0x3ff8000000000000, 9, "1.500000000"),
    (0x3ff8000000000000, 17, "1.50000000000000000"),
    (0x3ff8000000000000, 25, "1.5000000000000000000000000"),
    (0x4004000000000000, 0, "2"),
    (0x4004000000000000, 1, "2.5"),
    (0x4004000000000000, 2, "2.50"),
    (0x4004000000000000, 6, "2.500000"),
    (0x4004000000000000, 9, "2.500000000"),
    (0x4004000000000000, 17, "2.50000000000000000"),
    (0x4004000000000000, 25, "2.5000000000000000000000000"),
    (0xbfe0000000000000, 0, "-0"),
    (0xbfe0000000000000, 1, "-0.5"),
    (0xbfe0000000000000, 2, "-0.50"),
    (0xbfe0000000000000, 6, "-0.500000"),
    (0xbfe0000000000000, 9, "-0.500000000"),
    (0xbfe0000000000000, 17, "-0.50000000000000000"),
    (0xbfe0000000000000, 25, "-0.5000000000000000000000000"),
    (0x3fc0000000000000, 0, "0"),
    (0x3fc0000000000000, 1, "0.1"),
    (0x3fc0000000000000, 2, "0.12"),
    (0x3fc0000000000000, 6, "0.125000"),
    (0x3fc0000000000000, 9, "0.125000000"),
    (0x3fc0000000000000, 17, "0.12500000000000000"),
    (0x3fc0000000000000, 25, "0.1250000000000000000000000"),
    (0x3fd8000000000000, 0, "0"),
    (0x3fd8000000000000, 1, "0.4"),
    (0x3fd8000000000000, 2, "0.38"),
    (0x3fd8000000000000, 6, "0.375000"),
    (0x3fd8000000000000, 9, "0.375000000"),
    (0x3fd8000000000000, 17, "0.37500000000000000"),
    (0x3fd8000000000000, 25, "0.3750000000000000000000000"),
    (0x3ea0c6f7a0b5ed8d, 0, "0"),
    (0x3ea0c6f7a0b5ed8d, 1, "0.0"),
    (0x3ea0c6f7a0b5ed8d, 2, "0.00"),
    (0x3ea0c6f7a0b5ed8d, 6, "0.000000"),
    (0x3ea0c6f7a0b5ed8d, 9, "0.000000500"),
    (0x3ea0c6f7a0b5ed8d, 17, "0.00000050000000000"),
    (0x3ea0c6f7a0b5ed8d, 25, "0.0000004999999999999999774"),
    (0x3eb92a737110e454, 0, "0"),
    (0x3eb92a737110e454, 1, "0.0"),
    (0x3eb92a737110e454, 2, "0.00"),
    (0x3eb92a737110e454, 6, "0.000002"),
    (0x3eb92a737110e454, 9, "0.000001500"),
    (0x3eb92a737110e454, 17, "0.00000150000000000"),
    (0x3eb92a737110e454, 25, "0.0000015000000000000000380"),
    (0x3ec4f8b588e368f1, 0, "0"),
    (0x3ec4f8b588e368f1, 1, "0.0"),
    (0x3ec4f8b588e368f1, 2, "0.00"),
    (0x3ec4f8b588e368f1, 6, "0.000003"),
    (0x3ec4f8b588e368f1, 9, "0.000002500"),
    (0x3ec4f8b588e368f1, 17, "0.00000250000000000"),
    (0x3ec4f8b588e368f1, 25, "0.0000025000000000000002045"),
    (0x408355d126634118, 0, "619"),
    (0x408355d126634118, 1, "618.7"),
    (0x408355d126634118, 2, "618.73"),
    (0x408355d126634118, 6, "618.727124"),
    (0x408355d126634118, 9, "618.727124000"),
    (0x408355d126634118, 17, "618.72712400000000343"),
    (0x408355d126634118, 25, "618.7271240000000034342519939"),
    (0x4074704c692f6e83, 0, "327"),
    (0x4074704c692f6e83, 1, "327.0"),
    (0x4074704c692f6e83, 2, "327.02"),
    (0x4074704c692f6e83, 6, "327.018655"),
    (0x4074704c692f6e83, 9, "327.018655000"),
    (0x4074704c692f6e83, 17, "327.01865500000002385"),
    (0x4074704c692f6e83, 25, "327.0186550000000238469510805"),
    (0x3fb999999999999a, 0, "0"),
    (0x3fb999999999999a, 1, "0.1"),
    (0x3fb999999999999a, 2, "0.10"),
    (0x3fb999999999999a, 6, "0.100000"),
    (0x3fb999999999999a, 9, "0.100000000"),
    (0x3fb999999999999a, 17, "0.10000000000000001"),
    (0x3fb999999999999a, 25, "0.1000000000000000055511151"),
    (0x3fd3333333333333, 0, "0"),
    (0x3fd3333333333333, 1, "0.3"),
    (0x3fd3333333333333, 2, "0.30"),
    (0x3fd3333333333333, 6, "0.300000"),
    (0x3fd3333333333333, 9, "0.300000000"),
    (0x3fd3333333333333, 17, "0.29999999999999999"),
    (0x3fd3333333333333, 25, "0.2999999999999999888977698"),
    (0x444b1ae4d6e2ef50, 0, "1000000000000000000000"),
    (0x444b1ae4d6e2ef50, 1, "1000000000000000000000.0"),
    (0x444b1ae4d6e2ef50, 2, "1000000000000000000000.00"),
    (0x444b1ae4d6e2ef50, 6, "1000000000000000000000.000000"),
    (0x444b1ae4d6e2ef50, 9, "1000000000000000000000.000000000"),
    (0x444b1ae4d6e2ef50, 17, "1000000000000000000000.00000000000000000"),
    (0x444b1ae4d6e2ef50, 25, "1000000000000000000000.0000000000000000000000000"),
    (0x419d6f3457f35ba8, 0, "123456790"),
    (0x419d6f3457f35ba8, 1, "123456790.0"),
    (0x419d6f3457f35ba8, 2, "123456789.99"),
    (0x419d6f3457f35ba8, 6, "123456789.987654"),
    (0x419d6f3457f35ba8, 9, "123456789.987654328"),
    (0x419d6f3457f35ba8, 17, "123456789.98765432834625244"),
    (0x419d6f3457f35ba8, 25, "123456789.9876543283462524414062500"),
    (0x4330000000000000, 0, "4503599627370496"),
    (0x4330000000000000, 1, "4503599627370496.0"),
    (0x4330000000000000, 2, "4503599627370496.00"),
    (0x4330000000000000, 6, "4503599627370496.000000"),
    (0x4330000000000000, 9, "4503599627370496.000000000"),
    (0x4330000000000000, 17, "4503599627370496.00000000000000000"),
    (0x4330000000000000, 25, "4503599627370496.0000000000000000000000000"),
    (0x4340000000000000, 0, "9007199254740992"),
    (0x4340000000000000, 1, "9007199254740992.0"),
    (0x4340000000000000, 2, "9007199254740992.00"),
    (0x4340000000000000, 6, "9007199254740992.000000"),
    (0x4340000000000000, 9, "9007199254740992.000000000"),
    (0x4340000000000000, 17, "9007199254740992.00000000000000000"),
    (0x4340000000000000, 25, "9007199254740992.0000000000000000000000000"),
    (0x3fd5555555555555, 0, "0"),
    (0x3fd5555555555555, 1, "0.3"),
    (0x3fd5555555555555, 2, "0.33"),
    (0x3fd5555555555555, 6, "0.333333"),
    (0x3fd5555555555555, 9, "0.333333333"),
    (0x3fd5555555555555, 17, "0.33333333333333331"),
    (0x3fd5555555555555, 25, "0.3333333333333333148296163"),
    (0x3e7ad7f29abcaf48, 0, "0"),
    (0x3e7ad7f29abcaf48, 1, "0.0"),
    (0x3e7ad7f29abcaf48, 2, "0.00"),
    (0x3e7ad7f29abcaf48, 6, "0.000000"),
    (0x3e7ad7f29abcaf48, 9, "0.000000100"),
    (0x3e7ad7f29abcaf48, 17, "0.00000010000000000"),
    (0x3e7ad7f29abcaf48, 25, "0.0000000999999999999999955"),
    (0x4023ffffef39085f, 0, "10"),
    (0x4023ffffef39085f, 1, "10.0"),
    (0x4023ffffef39085f, 2, "10.00"),
    (0x4023ffffef39085f, 6, "9.999999"),
    (0x4023ffffef39085f, 9, "9.999999500"),
    (0x4023ffffef39085f, 17, "9.99999949999999949"),
    (0x4023ffffef39085f, 25, "9.9999994999999994860218067"),
    (0x3fefffffca501acb, 0, "1"),
    (0x3fefffffca501acb, 1, "1.0"),
    (0x3fefffffca501acb, 2, "1.00"),
    (0x3fefffffca501acb, 6, "1.000000"),
    (0x3fefffffca501acb, 9, "0.999999900"),
    (0x3fefffffca501acb, 17, "0.99999990000000005"),
    (0x3fefffffca501acb, 25, "0.9999999000000000526355848"),
    (0x412e847ffffffca5, 0, "1000000"),
    (0x412e847ffffffca5, 1, "1000000.0"),
    (0x412e847ffffffca5, 2, "1000000.00"),
    (0x412e847ffffffca5, 6, "1000000.000000"),
    (0x412e847ffffffca5, 9, "999999.999999900"),
    (0x412e847ffffffca5, 17, "999999.99999989999923855"),
    (0x412e847ffffffca5, 25, "999999.9999998999992385506629944"),
    (0x3eb0000000000000, 0, "0"),
    (0x3eb0000000000000, 1, "0.0"),
    (0x3eb0000000000000, 2, "0.00"),
    (0x3eb0000000000000, 6, "0.000001"),
    (0x3eb0000000000000, 9, "0.000000954"),
    (0x3eb0000000000000, 17, "0.00000095367431641"),
    (0x3eb0000000000000, 25, "0.0000009536743164062500000"),
    (0x3ea0000000000000, 0, "0"),
    (0x3ea0000000000000, 1, "0.0"),
    (0x3ea0000000000000, 2, "0.00"),
    (0x3ea0000000000000, 6, "0.000000"),
    (0x3ea0000000000000, 9, "0.000000477"),
    (0x3ea0000000000000, 17, "0.00000047683715820"),
    (0x3ea0000000000000, 25, "0.0000004768371582031250000"),
    (0x43f0000000000000, 0, "18446744073709551616"),
    (0x43f0000000000000, 1, "18446744073709551616.0"),
    (0x43f0000000000000, 2, "18446744073709551616.00"),
    (0x43f0000000000000, 6, "18446744073709551616.000000"),
    (0x43f0000000000000, 9, "18446744073709551616.000000000"),
    (0x43f0000000000000, 17, "18446744073709551616.00000000000000000"),
    (0x43f0000000000000, 25, "18446744073709551616.0000000000000000000000000"),
    (0x0000000000000001, 0, "0"),
    (0x0000000000000001, 1, "0.0"),
    (0x0000000000000001, 2, "0.00"),
    (0x0000000000000001, 6, "0.000000"),
    (0x0000000000000001, 9, "0.000000000"),
    (0x0000000000000001, 17, "0.00000000000000000"),
    (0x0000000000000001, 25, "0.0000000000000000000000000"),
    (0x7ff0000000000000, 0, "inf"),
    (0x7ff0000000000000, 6, "inf"),
    (0xfff0000000000000, 0, "-inf"),
    (0xfff0000000000000, 6, "-inf"),
    (0x7ff8000000000000, 0, "nan"),
    (0x7ff8000000000000, 6, "nan"),
    (0xfff8000000000000, 0, "-nan"),
    (0xfff8000000000000, 6, "-nan"),
];

/// Bits, and what glibc's `printf("%g")` makes of them.
#[rustfmt::skip]
const GENERAL: [(u64, &str); 39] = [
    (0x0000000000000000, "0"),
    (0x8000000000000000, "-0"),
    (0x4132d68740000000, "1.23457e+06"),
    (0x3f1a36e2eb1c432d, "0.0001"),
    (0x3ee4f8b588e368f1, "1e-05"),
    (0x7ff0000000000000, "inf"),
    (0xfff0000000000000, "-inf"),
    (0x7ff8000000000000, "nan"),
    (0xfff8000000000000, "-nan"),
    (0x40f86a0000000000, "100000"),
    (0x412e848000000000, "1e+06"),
    (0x412e847e00000000, "999999"),
    (0x412e847f00000000, "1e+06"),
    (0x412e847efff2e48f, "999999"),
    (0x40f869ff33333333, "99999.9"),
    (0x3f202e85aa468b90, "0.000123457"),
    (0x3f1a36e2139b2abe, "0.0001"),
    (0x3f1a36e1334e458f, "9.99999e-05"),
    (0x404945899392189c, "50.5433"),
    (0x408355d126634118, "618.727"),
    (0xc00c000000000000, "-3.5"),
    (0x54b249ad2594c37d, "1e+100"),
    (0xab2bff2ee48e0530, "-1e-100"),
    (0x0000000000000001, "4.94066e-324"),
    (0x7fefffffffffffff, "1.79769e+308"),
    (0x40fe240000000000, "123456"),
    (0x4132d68500000000, "1.23456e+06"),
    (0x4132d68f00000000, "1.23458e+06"),
    (0x40c81cd333333333, "12345.6"),
    (0x3fe0000000000000, "0.5"),
    (0x4059200000000000, "100.5"),
    (0x430c6bf526340000, "1e+15"),
    (0x4170000000000000, "1.67772e+07"),
    (0x3fb999999999999a, "0.1"),
    (0x3f847ae147ae147b, "0.01"),
    (0x3f50624dd2f1a9fc, "0.001"),
    (0x4023ffff583a53b9, "10"),
    (0x4023ffff5b95520c, "10"),
    (0x400921fb54442d11, "3.14159"),
];

#[test]
fn unsigned_integers() {
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
fn words_are_of_most_numbers() {
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
    fn any_double(value in any::<f64>(), precision in 0..80usize) {
        check_fixed(value, precision);
        check_general(value);
    }

    #[test]
    fn any_moderate_double(value in -1e6..1e6f64, precision in 0..18usize) {
        check_fixed(value, precision);
        check_general(value);
    }
}
