use super::masks::{gather, portable};
use super::*;
use crate::token;
use proptest::prelude::*;

/// Compares the fast functions, the search and the reference tokeniser for every line of `text`.
fn check(text: &[u8]) {
    let mut scanner = Scanner::default();
    scanner.scan(text);
    assert_eq!(scanner.newlines(), text.iter().filter(|byte| **byte == b'\n').count() as u64);
    let (mut fast, mut searched) = (Spans::default(), Spans::default());
    let mut start = 0;
    while start < text.len() {
        let mut plain = Vec::new();
        let end = token::fields(text, start, &mut plain);
        if let Some((ends, len)) = scanner.short_lines().usual(start) {
            match ends & 1 {
                0 => check_ends(ends, start, &plain),
                _ => assert!(token::is_white(text[start]) || text[start] == b'#'),
            }
            assert_eq!(Some(len), scanner.short_lines().at(start).map(|line| line.len));
        }
        check_plain(&scanner, start, end, &plain);
        assert_eq!(scanner.fields(text, start, &mut fast), end);
        assert_eq!(scanner.fields_by_search(text, start, &mut searched), end);
        assert_eq!(scanner.line_end(text, start), end);
        let shown = String::from_utf8_lossy(&text[start..end]);
        assert_eq!(fast.as_slice(), plain, "{shown:?}");
        assert_eq!(searched.as_slice(), plain, "{shown:?}");
        start = end + 1;
    }
    let end: &[u8] = if text.ends_with(b"\n") { b"" } else { b"\n" };
    let whole = [b"\n", text, end].concat();
    if !text.is_empty() && !text.iter().any(|byte| matches!(byte, b'"' | b'#')) {
        let doubled = whole.windows(2).any(|pair| pair.iter().copied().all(token::is_white));
        let lines = scanner.short_lines().plain();
        assert_eq!(lines.map(|lines| lines.are_single()), Some(!doubled));
    }
}

/// Compares the functions for this processor with those for all processors.
fn check_portable(text: &[u8]) {
    let (chunks, _) = text.as_chunks::<64>();
    let masks = || (vec![[0; 8]; chunks.len()], vec![[0; 8]; chunks.len()]);
    let ((mut white, mut newline), (mut quote, mut hash)) = (masks(), masks());
    let ((mut white_too, mut newline_too), (mut quote_too, mut hash_too)) = (masks(), masks());
    let found = lines_of(chunks, &mut white, &mut newline);
    assert_eq!(portable::lines_of(chunks, &mut white_too, &mut newline_too), found);
    assert_eq!((&white_too, &newline_too), (&white, &newline));
    signs_of(chunks, &mut quote, &mut hash);
    portable::signs_of(chunks, &mut quote_too, &mut hash_too);
    assert_eq!((quote_too, hash_too), (quote, hash));
    let settled = settle(&mut Quotes::default(), chunks, &mut white, &newline);
    let too = portable::settle(&mut Quotes::default(), chunks, &mut white_too, &newline);
    assert_eq!((too, white_too), (settled, white));
}

fn check_plain(scanner: &Scanner, start: usize, end: usize, fields: &[token::Span]) {
    let lines = scanner.short_lines();
    if let Some(plain) = lines.plain() {
        let (found, expected) = (plain.usual(start), lines.usual(start));
        match expected {
            Some((_, len)) if len < 57 => assert_eq!(found, expected),
            _ => assert!(found.is_none() || found == expected),
        }
        if plain.are_single() {
            assert_eq!(plain.single(start), found);
        }
        match lines.at(start) {
            Some(_) => assert_eq!(plain.longer(start), expected),
            None => {
                let (ends, len) = plain.longer(start).unwrap();
                check_long(ends, len, start, end, fields);
            }
        }
        if let Some(count) = plain.fields(start) {
            assert_eq!(count as usize, fields.len());
        }
    }
}

fn check_long(ends: u64, len: u32, start: usize, end: usize, fields: &[token::Span]) {
    assert_eq!(len as usize, end - start);
    if ends != 0 && ends & 1 == 0 {
        let is_near = |field: &&token::Span| (field.end as usize) < start + 64;
        let near: Vec<_> = fields.iter().take_while(is_near).copied().collect();
        check_ends(ends, start, &near);
    }
}

fn check_ends(ends: u64, start: usize, plain: &[token::Span]) {
    let places = (0..64).filter(|bit| ends >> bit & 1 == 1).map(|bit| start + bit);
    assert!(places.eq(plain.iter().map(|field| field.end as usize)));
    assert_eq!(plain[0].start as usize, start);
    assert!(plain.windows(2).all(|pair| pair[0].end + 1 == pair[1].start));
}

#[test]
fn usual_lines_are_read() {
    for (text, ends) in [
        ("12 3.5 S v\n", 1 << 2 | 1 << 6 | 1 << 8 | 1 << 10),
        ("12\tS\r\n", 1 << 2 | 1 << 4),
        ("12 \"a b\" \n", 1 << 2 | 1 << 8),
        ("12  S\n", 0),
        (" 12 S\n", 1 << 0 | 1 << 3 | 1 << 5),
        ("12 S  \n", 0),
        ("\"a\"b c\n", 0),
        ("12 # S\n", 0),
        ("12 S#\n", 1 << 2 | 1 << 4),
        ("#\n", 1 << 0),
        ("\n", 1 << 0),
        ("\r\n", 1 << 0),
    ] {
        let mut scanner = Scanner::default();
        scanner.scan(text.as_bytes());
        assert_eq!(scanner.short_lines().usual(0).map_or(0, |(ends, _)| ends), ends, "{text:?}");
    }
}

#[test]
fn corner_cases_are_read() {
    for text in [
        "",
        "\n",
        " \n",
        "a",
        "a\n",
        "\"",
        "\"\n",
        "\"a\" \"b\n\"c\"d e\"f # g\n",
        "#\n##\n\"#\"\n",
        "a b c d e f g h i j k l m n o p q r s t u v w x y z 1 2 3 4 5 6\n",
    ] {
        check(text.as_bytes());
    }
    // Miri takes seconds for each length, so it tries only lengths near whole chunks.
    let tried = |length: &usize| !cfg!(miri) || matches!(length % 32, 0 | 1 | 31);
    for length in (0..200).filter(tried) {
        check(format!("{} x\n", "y".repeat(length)).as_bytes());
        check(format!("{}\"a b\" \"{}\"\r\nz", " ".repeat(length), "#".repeat(length)).as_bytes());
    }
}

#[test]
fn plain_lines_are_read_wherever_they_begin() {
    // Miri is slow.
    let (bits, lengths) = if cfg!(miri) { (8, 40) } else { (1, 1) };
    for before in (0..16).step_by(bits) {
        for length in (0..80).step_by(lengths) {
            let words = "ab ".repeat(length);
            check(format!("{}\n{}\n{words} \n", "x".repeat(before), &words[..length]).as_bytes());
        }
    }
    let mut scanner = Scanner::default();
    scanner.scan(b"12 3.5 S\n");
    assert_eq!(scanner.short_lines().plain().and_then(|lines| lines.usual(0)), Some((0x144, 8)));
    scanner.scan(b"12 3.5 S\n# \" 1");
    assert_eq!(scanner.short_lines().plain().and_then(|lines| lines.usual(0)), Some((0x144, 8)));
    scanner.scan(b"12 \"S # 1\"\n");
    assert_eq!(scanner.short_lines().plain().and_then(|lines| lines.usual(0)), Some((0x404, 10)));
}

/// Tests quotes at unusual places after quoted fields and comments, around the ends of chunks of 64
/// bytes.
#[test]
fn quotes_at_odd_places_are_found() {
    let odd = ["a\"b", "\"a\"b", "\"a\"\"b\"", "\"a", "\"", "\"a\"\"# b"];
    let comments = ["a#", "#a", "\"a\"# b", "# \"a", "#a\"b \"c\"#"];
    // Miri is slow.
    for length in (0..140).filter(|length| !cfg!(miri) || matches!(length % 64, 0 | 1 | 63)) {
        let fine = format!("1 \"{}\" \"# b\"\t\"\"\n", "a ".repeat(length));
        for fine in [&fine, &fine[..2 * length + 4]] {
            let mut scanner = Scanner::default();
            scanner.scan(fine.as_bytes());
            assert!(scanner.short_lines().plain().is_some(), "{fine:?}");
            check(fine.as_bytes());
            for comment in comments {
                let text = format!("{fine} {comment}\n{fine}");
                scanner.scan(text.as_bytes());
                assert!(scanner.short_lines().plain().is_some(), "{text:?}");
                check(text.as_bytes());
            }
            for odd in odd {
                let text = format!("{fine} {odd}\n{fine}");
                scanner.scan(text.as_bytes());
                assert!(scanner.short_lines().plain().is_none(), "{text:?}");
                check(text.as_bytes());
            }
        }
    }
}

#[test]
fn a_final_comment_needs_no_newline() {
    for text in ["a#", "12 3.5 S v#", "a #", "a\n#", "#", "a \"b c\"#"] {
        check(text.as_bytes());
        check(format!("{}{text}", "12 S v\n".repeat(9)).as_bytes());
    }
    let filled = format!("{}#", "a".repeat(63));
    check(filled.as_bytes());
}

#[test]
fn a_scanner_keeps_nothing_of_the_last_text() {
    let mut scanner = Scanner::default();
    let mut spans = Spans::default();
    let long = "1 \"a b\" ".repeat(20);
    for text in
        [format!("{long}# c"), long.clone(), format!("{long}\n\"d e"), "f g".to_owned(), long]
    {
        scanner.scan(text.as_bytes());
        let mut plain = Vec::new();
        let end = token::fields(text.as_bytes(), 0, &mut plain);
        assert_eq!(scanner.fields(text.as_bytes(), 0, &mut spans), end);
        assert_eq!(spans.as_slice(), plain, "{text:?}");
    }
}

/// Tests all bytes, or only special bytes under Miri, which is slow.
#[test]
fn every_byte_has_its_class() {
    let few = |byte: &u8| !cfg!(miri) || b"\t\n\r \"#0az".contains(byte);
    for byte in (0..=255u8).filter(few) {
        let mut chunk = [b'x'; 64];
        chunk[byte as usize % 64] = byte;
        let mut scanner = Scanner::default();
        scanner.scan(&chunk);
        let masks = scanner.short_lines().far(0).expect("there is a chunk");
        // A comment counts as white space up to the end of its line.
        let comment = if byte == b'#' { u64::MAX << (byte % 64) } else { 0 };
        let expected = Masks {
            white: gather(&chunk, token::is_white) | comment,
            newline: gather(&chunk, |byte| byte == b'\n'),
            quote: gather(&chunk, |byte| byte == b'"'),
            hash: gather(&chunk, |byte| byte == b'#'),
        };
        // Quote and comment signs are computed only for special blocks.
        let expected = match scanner.special {
            true => expected,
            false => Masks { quote: 0, hash: 0, ..expected },
        };
        assert_eq!(masks, expected, "byte {byte}");
        assert_eq!(scanner.special, byte == b'"', "byte {byte}");
    }
}

proptest! {
    #[test]
    fn fields_are_those_of_the_reference_tokeniser(text in "[ab\"# \t\r\n]{0,300}") {
        check(text.as_bytes());
    }

    #[test]
    fn long_words_are_read(text in "([a-z]{0,90}|\"[a-z #]{0,90}\"?|[ \n#\"])*") {
        check(text.as_bytes());
    }

    #[test]
    fn quoted_fields_are_read(text in "(([a-z]{1,40}|\"[a-z #]{0,90}\")[ \t\n]){0,40}") {
        check(text.as_bytes());
    }

    #[test]
    fn any_bytes_are_read(text in proptest::collection::vec(any::<u8>(), 0..400)) {
        check(&text);
        check_portable(&text);
    }

    #[test]
    fn all_processors_find_the_same(text in "(([a-z]{0,40}|\"[a-z #]{0,90}\"|a\"|#)[ \t\n]){0,40}") {
        check_portable(text.as_bytes());
    }
}
