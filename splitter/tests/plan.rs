//! Compares blocks of a file that are read in any order with the same bytes read as a stream.

#![allow(clippy::unwrap_used)] // A panic makes a test fail.

use std::fs::File;
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use proptest::prelude::*;
use splitter::{Block, Blocks, Limits, PADDING, Plan, ReadError};

fn file(text: &[u8]) -> File {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(text).unwrap();
    file
}

fn plan(text: &[u8], limits: Limits) -> Plan {
    Plan::new(file(text), text.len() as u64, limits)
}

type Read = (Vec<u8>, Option<u64>);

fn stopped(result: Result<bool, ReadError>, limit: usize) -> Option<u64> {
    match result {
        Ok(_) => None,
        Err(ReadError::LineTooLong { start, limit: told }) => {
            assert_eq!(told, limit);
            Some(start.0)
        }
        Err(error) => panic!("{error}"),
    }
}

fn from_stream(text: &[u8], limits: Limits) -> Read {
    let mut blocks = Blocks::new(text, limits);
    let (mut block, mut all) = (Block::default(), vec![]);
    loop {
        match blocks.read(&mut block) {
            Ok(true) => all.extend_from_slice(block.text()),
            result => return (all, stopped(result, limits.line)),
        }
    }
}

fn from_plan(plan: &Plan, limits: Limits) -> Read {
    let (mut block, mut all) = (Block::default(), vec![]);
    for i in 0..plan.len() {
        let result = plan.read(i, &mut block);
        let text = block.text();
        assert_eq!(block.padded()[..text.len()], *text);
        assert!(block.padded().len() >= text.len() + PADDING);
        let mut place = block.start().0;
        if text.is_empty() && result.is_ok() {
            assert_eq!(place, i * limits.block as u64, "an empty block has a wrong place");
        } else {
            assert_eq!(place, all.len() as u64, "of block {i}");
        }
        for line in text.split_inclusive(|byte| *byte == b'\n') {
            assert_eq!(place / limits.block as u64, i, "a line is in the wrong block");
            place += line.len() as u64;
        }
        all.extend_from_slice(text);
        if let Some(start) = stopped(result.map(|()| true), limits.line) {
            assert_eq!(
                start / limits.block as u64,
                i,
                "a too long line is reported by the wrong block"
            );
            return (all, Some(start));
        }
    }
    (all, None)
}

fn from_cuts(plan: &Plan, cuts: &[u64], limits: Limits) -> Read {
    let (mut block, mut all, mut begin) = (Block::default(), vec![], 0);
    for end in cuts.iter().copied().chain([plan.bytes()]) {
        let result = plan.read_between(begin..end, &mut block);
        for line in block.text().split_inclusive(|byte| *byte == b'\n') {
            let place = all.len() as u64;
            assert!((begin..end).contains(&place), "the line at {place} is in the wrong block");
            all.extend_from_slice(line);
        }
        if let Some(start) = stopped(result.map(|()| true), limits.line) {
            return (all, Some(start));
        }
        begin = begin.max(end);
    }
    (all, None)
}

fn check(text: &[u8], sizes: impl Iterator<Item = usize>, lines: &[usize]) {
    let file = file(text);
    for block in sizes {
        for &line in lines {
            let limits = Limits { block, line };
            let plan = Plan::new(file.try_clone().unwrap(), text.len() as u64, limits);
            let (all, stop) = from_plan(&plan, limits);
            let stream = from_stream(text, limits);
            assert_eq!((all.as_slice(), stop), (stream.0.as_slice(), stream.1));
            match stop {
                Some(start) => assert_eq!(all, text[..start as usize]),
                None => assert_eq!(all, text),
            }
        }
    }
}

proptest! {
    #[test]
    fn blocks_of_any_size_have_all_lines(text in "[ab\n]{0,80}|[abcde\n]{0,80}|a{0,40}\n?") {
        check(text.as_bytes(), 1..=text.len() + 2, &[0, 1, 4, 20, usize::MAX]);
    }

    #[test]
    fn lines_may_be_longer_than_the_first_read(
        lines in prop::collection::vec(prop_oneof![0..90_usize, 400..600_usize, 0..9000_usize], 0..20),
        newline: bool,
        size in 1..3000_usize,
    ) {
        let mut text = Vec::new();
        for (i, len) in lines.iter().enumerate() {
            text.resize(text.len() + len, b'a' + i as u8);
            text.push(b'\n');
        }
        if !newline {
            text.pop();
        }
        check(&text, [size, size + 512, 1 << 17].into_iter(), &[0, 511, 1500, 9000, 1 << 30]);
    }
}

#[test]
fn an_empty_file_has_no_block() {
    let plan = plan(b"", Limits::default());
    assert!(plan.is_empty());
    assert_eq!(plan.len(), 0);
}

#[test]
fn blocks_after_the_end_are_empty() {
    let plan = plan(b"a\nb", Limits { block: 2, ..Limits::default() });
    assert_eq!(plan.len(), 2);
    let mut block = Block::default();
    for i in [2, 3, u64::MAX] {
        plan.read(i, &mut block).unwrap();
        assert_eq!((block.text(), block.start().0), (&b""[..], 3));
    }
}

#[test]
fn the_smallest_block_has_one_byte() {
    let plan = plan(b"a\nb\n", Limits { block: 0, ..Limits::default() });
    assert_eq!(plan.len(), 4);
}

#[test]
fn several_threads_can_read() {
    let text: String =
        (0..50_000).map(|i| format!("{i} {}\n", "x".repeat(i % 97 * (i % 13)))).collect();
    let plan = plan(text.as_bytes(), Limits { block: 1 << 12, ..Limits::default() });
    let next = AtomicU64::new(0);
    let work = || {
        let (mut block, mut mine) = (Block::default(), vec![]);
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            if i >= plan.len() {
                return mine;
            }
            plan.read(i, &mut block).unwrap();
            mine.push((i, block.text().to_vec()));
        }
    };
    let mut all: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    all.sort_unstable();
    let all: Vec<u8> = all.into_iter().flat_map(|(_, text)| text).collect();
    assert!(all == text.as_bytes());
}

#[test]
fn a_file_that_becomes_shorter_is_an_error() {
    let text = b"12345678\n".repeat(1000);
    let file = file(&text);
    let limits = Limits { block: 900, ..Limits::default() };
    let plan = Plan::new(file.try_clone().unwrap(), text.len() as u64, limits);
    let mut block = Block::default();
    plan.read(5, &mut block).unwrap();
    assert_eq!(block.text().len(), 900);

    file.set_len(5000).unwrap();
    plan.read(3, &mut block).unwrap();
    assert_eq!(block.text().len(), 900);
    for i in 5..plan.len() {
        let error = plan.read(i, &mut block).unwrap_err();
        assert!(matches!(error, ReadError::Io(_)));
        assert_eq!(error.to_string(), "the file became shorter while it was being read");
        assert!(block.text().is_empty());
    }
}

#[test]
fn a_file_that_ends_within_a_long_line_is_an_error() {
    let text = [b'x'; 10_000];
    let file = file(&text);
    let limits = Limits { block: 900, ..Limits::default() };
    let plan = Plan::new(file.try_clone().unwrap(), text.len() as u64, limits);
    file.set_len(5000).unwrap();
    let error = plan.read(0, &mut Block::default()).unwrap_err();
    assert!(matches!(error, ReadError::Io(_)));
}

#[test]
fn appended_lines_are_not_read() {
    let mut file = file(b"one\ntw");
    let plan = Plan::new(file.try_clone().unwrap(), 6, Limits::default());
    file.write_all(b"o\nthree\n").unwrap();
    let mut block = Block::default();
    plan.read(0, &mut block).unwrap();
    assert_eq!(block.text(), b"one\ntw");
}

#[test]
fn a_block_can_be_filled_from_both() {
    let limits = Limits { block: 4, ..Limits::default() };
    let plan = plan(b"ab\ncd\nef\n", limits);
    let mut block = Block::default();
    plan.read(1, &mut block).unwrap();
    assert_eq!(block.text(), b"ef\n");
    Blocks::new(&b"gh\n"[..], limits).read(&mut block).unwrap();
    assert_eq!((block.text(), block.start().0), (&b"gh\n"[..], 0));
    plan.read(0, &mut block).unwrap();
    assert_eq!((block.text(), block.start().0), (&b"ab\ncd\n"[..], 0));
}

proptest! {
    #[test]
    fn blocks_may_be_cut_anywhere(
        text in "[ab\n]{0,60}",
        mut cuts in proptest::collection::vec(0..70u64, 0..8),
        line in 1..40usize,
    ) {
        let limits = Limits { block: 64, line };
        cuts.sort_unstable();
        let plan = plan(text.as_bytes(), limits);
        prop_assert_eq!(from_cuts(&plan, &cuts, limits), from_plan(&plan, limits));
        prop_assert_eq!(plan.size(), 64);
    }
}
