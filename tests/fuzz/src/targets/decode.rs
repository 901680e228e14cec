//! Tests the decoding of lines: positions are inside the line, and numbers equal those of the
//! standard library.

use std::sync::LazyLock;

use paje_parser::event::EventKind;
use paje_parser::{FieldNames, Line, LineDecoder, number, token};

/// A decoder that knows all events. Event numbers are letters from `a` on. Definitions have unused
/// fields between the others.
static DECODER: LazyLock<LineDecoder> = LazyLock::new(|| {
    let mut decoder = LineDecoder::new(FieldNames::Strict);
    let mut define = |line: String| {
        decoder.line(line.as_bytes()).expect("a definition");
    };
    for (kind, letter) in EventKind::ALL.into_iter().zip('a'..) {
        define(format!("%EventDef {} {letter}", kind.name()));
        for field in kind.obligatory() {
            define(format!("% {} string", field.name()));
        }
        define("% Extra string".into());
        define("%EndEventDef".into());
    }
    decoder
});

pub fn run(text: &[u8]) {
    let mut decoder = DECODER.clone();
    for line in text.split(|byte| *byte == b'\n') {
        let mut words = Vec::new();
        token::fields(line, 0, &mut words);
        for word in &words {
            numbers(line, word.start as usize, word.end as usize);
        }
        let fault = match decoder.line(line) {
            Ok(Line::Event(event)) => {
                let extras = event.extras().filter(|(_, field)| field.is_some()).count();
                assert!(extras <= words.len());
                match event.decode() {
                    Ok(decoded) => {
                        let time = decoded.time();
                        assert!(time.is_none_or(f64::is_finite));
                        if let Some(time) = time {
                            assert_eq!(event.time().ok(), Some(time));
                        }
                        continue;
                    }
                    Err(fault) => fault,
                }
            }
            Ok(_) => continue,
            Err(fault) => fault,
        };
        let word = fault.word(line);
        assert!(word.start <= word.end && word.end as usize <= line.len(), "{fault:?}");
        assert!(!fault.kind.sentence(&line[word.start as usize..word.end as usize]).is_empty());
    }
}

/// Reads a word as a number, alone and in its line, and compares decimals with the standard
/// library.
fn numbers(line: &[u8], start: usize, end: usize) {
    let word = &line[start..end];
    let padded = [line, &[b'7'; 64]].concat();
    let bits = |number: Option<f64>| number.map(f64::to_bits);
    assert_eq!(bits(number::parse_f64(word)), bits(number::parse_f64_at(&padded, start, end)));
    assert_eq!(bits(number::parse_time(word)), bits(number::parse_time_at(&padded, start, end)));
    let single = number::parse_f32(word).map(f32::to_bits);
    assert_eq!(single, number::parse_f32_at(&padded, start, end).map(f32::to_bits));
    if word.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-')) {
        let text = str::from_utf8(word).expect("digits");
        assert_eq!(bits(number::parse_f64(word)), bits(text.parse().ok()), "{text}");
        assert_eq!(single, text.parse().ok().map(f32::to_bits), "{text}");
    }
}
