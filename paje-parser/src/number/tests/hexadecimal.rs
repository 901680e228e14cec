use super::*;

/// Exact values, midpoints and limits, with the bits that glibc's `strtod` and `strtof` return.
#[rustfmt::skip]
const HEX: [(&str, u64, u32); 49] = [
    ("0x0", 0x0000000000000000, 0x00000000),
    ("-0x0", 0x8000000000000000, 0x80000000),
    ("0x1", 0x3ff0000000000000, 0x3f800000),
    ("0x1.8p3", 0x4028000000000000, 0x41400000),
    ("0X1.8P+3", 0x4028000000000000, 0x41400000),
    ("-0xA.8p-1", 0xc015000000000000, 0xc0a80000),
    ("0x.8", 0x3fe0000000000000, 0x3f000000),
    ("0x8.", 0x4020000000000000, 0x41000000),
    ("0x1.fffffffffffff8p0", 0x4000000000000000, 0x40000000),
    ("0x1.fffffffffffff7p0", 0x3fffffffffffffff, 0x40000000),
    ("0x1.00000000000008p0", 0x3ff0000000000000, 0x3f800000),
    ("0x1.000000000000080000000000000000001p0", 0x3ff0000000000001, 0x3f800000),
    ("0x1.0000000000000800000p0", 0x3ff0000000000000, 0x3f800000),
    ("0x1.00000000000018p0", 0x3ff0000000000002, 0x3f800000),
    ("0x1.000001p0", 0x3ff0000010000000, 0x3f800000),
    ("0x1.0000010000000000001p0", 0x3ff0000010000000, 0x3f800001),
    ("0x1.000003p0", 0x3ff0000030000000, 0x3f800002),
    ("0x1.0000030p0", 0x3ff0000030000000, 0x3f800002),
    ("0x1.fffffep127", 0x47efffffe0000000, 0x7f7fffff),
    ("0x1.ffffffp127", 0x47effffff0000000, 0x7f800000),
    ("0x1.fffffeffffp127", 0x47efffffeffff000, 0x7f7fffff),
    ("0x1p128", 0x47f0000000000000, 0x7f800000),
    ("0x1p-149", 0x36a0000000000000, 0x00000001),
    ("0x1p-150", 0x3690000000000000, 0x00000000),
    ("0x1.8p-150", 0x3698000000000000, 0x00000001),
    ("0x1.0000000000000000001p-150", 0x3690000000000000, 0x00000001),
    ("0x1p-151", 0x3680000000000000, 0x00000000),
    ("0x1.8p-149", 0x36a8000000000000, 0x00000002),
    ("0x1p-1074", 0x0000000000000001, 0x00000000),
    ("0x1p-1075", 0x0000000000000000, 0x00000000),
    ("0x1.8p-1075", 0x0000000000000001, 0x00000000),
    ("0x1p-1076", 0x0000000000000000, 0x00000000),
    ("0x1.00000000000000000001p-1075", 0x0000000000000001, 0x00000000),
    ("0x1.fffffffffffffp1023", 0x7fefffffffffffff, 0x7f800000),
    ("0x1.fffffffffffff8p1023", 0x7ff0000000000000, 0x7f800000),
    ("0x1p1024", 0x7ff0000000000000, 0x7f800000),
    ("0x1p99999999999999999999", 0x7ff0000000000000, 0x7f800000),
    ("0x1p-99999999999999999999", 0x0000000000000000, 0x00000000),
    ("0x0p99999999999999999999", 0x0000000000000000, 0x00000000),
    ("0x0.fffffffffffff8p-1022", 0x0010000000000000, 0x00000000),
    ("0x0.fffffffffffff7p-1022", 0x000fffffffffffff, 0x00000000),
    ("0x1.8p-1074", 0x0000000000000002, 0x00000000),
    ("0x123456789abcdef0123456789p-40", 0x43723456789abcdf, 0x5b91a2b4),
    ("0x0000000000000000000000001.8", 0x3ff8000000000000, 0x3fc00000),
    ("0x.00000000000000000000000000001p100", 0x3ef0000000000000, 0x37800000),
    ("0xffffffffffffffff", 0x43f0000000000000, 0x5f800000),
    ("0xfffffffffffffbff", 0x43efffffffffffff, 0x5f800000),
    ("0xfffffffffffffc00", 0x43f0000000000000, 0x5f800000),
    ("0x1.123456789abcdep-1040", 0x0000000448d159e2, 0x00000000),
];

/// Tests random doubles that are written as hexadecimal floats, which are exact.
#[test]
fn hexadecimal_floats_round_trip() {
    let mut random = Random(4);
    for _ in 0..many(50_000) {
        let bits = random.next();
        let value = f64::from_bits(bits);
        let field = (bits >> 52 & 0x7ff) as i32;
        let fraction = bits & ((1 << 52) - 1);
        let sign = if value.is_sign_negative() { "-" } else { "" };
        if (1..0x7ff).contains(&field) {
            let text = format!("{sign}0x1.{fraction:013x}p{}", field - 1023);
            assert_eq!(parse_f64(text.as_bytes()), Some(value), "{text}");
            assert_eq!(
                parse_f32(text.as_bytes()).map(f32::to_bits),
                Some((value as f32).to_bits()),
                "{text}"
            );
        }
    }
}

#[test]
fn hexadecimal_floats_are_rounded_like_glibc() {
    for (text, double, single) in HEX {
        check(text, Some(f64::from_bits(double)), Some(f32::from_bits(single)));
    }
    check("nan(12_ab)", Some(f64::NAN), Some(f32::NAN));
    check("NAN()", Some(f64::NAN), Some(f32::NAN));
    check("-nan(0)", Some(-f64::NAN), Some(-f32::NAN));
}
