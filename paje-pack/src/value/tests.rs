//! Tests numbers and their texts.

use super::*;
use crate::out::Out;
use crate::texts::Texts;

#[test]
fn a_number_converts_back_to_its_text() {
    for text in [
        "0",
        "7",
        "-7",
        "0.0",
        "0.5",
        "-0.5",
        "12.340",
        "618.726959000",
        "999999999999999999",
        "-0.01",
        "43510a4e43510a4e",
    ] {
        let mut back = Out::new(text.len());
        back.put_value(Value::of(text.as_bytes()).unwrap(), &Texts::default());
        assert_eq!(back.finish(text.len()), text.as_bytes());
    }
}

/// Tries numbers of every length, with points and other bytes at any position.
#[test]
fn a_number_is_the_same_in_words_and_by_its_digits() {
    for len in 0..=18 {
        for point in 0..=len {
            for odd in 0..=len {
                for byte in [b'0', b'9', b'.', b'/', b':', b'-', b'a', b' ', 0, 128, 0xb0, 255] {
                    let mut text: Vec<u8> =
                        (0..len).map(|at| b'0' + (at * 7 + 3) as u8 % 10).collect();
                    [(point, b'.'), (odd, byte)].into_iter().for_each(|(at, byte)| {
                        text.get_mut(at).into_iter().for_each(|it| *it = byte);
                    });
                    let slow = Value::decimal(&text);
                    let kind = |after| Some(Kind::Decimal(after as u8));
                    for after in 1..=8 {
                        let known = slow.filter(|value| Some(value.kind) == kind(after));
                        let whole = usize::checked_sub(len, after + 1);
                        let known = known.filter(|_| whole.is_some_and(|whole| whole <= 8));
                        let known = known.filter(|_| !text.starts_with(b"-"));
                        assert_eq!(with_point(&text, after), known.map(|value| value.bits));
                    }
                }
            }
        }
    }
}

#[test]
fn other_spellings_are_texts() {
    for text in [
        "",
        "-",
        ".",
        "1.",
        ".5",
        "00",
        "01",
        "-0",
        "-0.0",
        "+1",
        "1e5",
        "1.2.3",
        "1000000000000000000",
        "9999999999999999999",
        "0x1",
        "43510A4E43510A4E",
    ] {
        assert_eq!(Value::of(text.as_bytes()), None, "{text}");
    }
}
