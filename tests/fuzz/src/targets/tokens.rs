//! Tests that the fast tokeniser agrees with the reference tokeniser.

use paje_parser::scan::{Scanner, Spans};
use paje_parser::token;

pub fn run(text: &[u8]) {
    let mut scanner = Scanner::default();
    scanner.scan(text);
    let (mut fast, mut searched) = (Spans::default(), Spans::default());
    let mut start = 0;
    while start < text.len() {
        let mut plain = Vec::new();
        let end = token::fields(text, start, &mut plain);
        assert_eq!(scanner.fields(text, start, &mut fast), end);
        assert_eq!(fast.as_slice(), plain);
        assert_eq!(scanner.fields_by_search(text, start, &mut searched), end);
        assert_eq!(searched.as_slice(), plain);
        // The line continues up to its newline, even if its fields end earlier.
        start = scanner.line_end(text, start) + 1;
    }
}
