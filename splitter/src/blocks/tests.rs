use super::*;

/// A reader that returns one byte at a time. Each byte comes after an interruption.
struct Trickle<'a>(&'a [u8], bool);

impl Read for Trickle<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.1 = !self.1;
        if self.1 {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let (Some((first, rest)), Some(slot)) = (self.0.split_first(), buffer.first_mut()) else {
            return Ok(0);
        };
        *slot = *first;
        self.0 = rest;
        Ok(1)
    }
}

struct Broken;

impl Read for Broken {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::other("broken"))
    }
}

fn cut(input: impl Read, block: usize) -> Vec<Vec<u8>> {
    let limits = Limits { block, ..Limits::default() };
    let (mut blocks, mut block, mut all) = (Blocks::new(input, limits), Block::default(), vec![]);
    let mut position = 0;
    while blocks.read(&mut block).expect("no failure") {
        assert_eq!(block.start().0, position);
        assert!(block.padded().len() >= block.text().len() + PADDING);
        position += block.text().len() as u64;
        all.push(block.text().to_vec());
    }
    assert_eq!(blocks.position().0, position);
    all
}

#[test]
fn every_block_ends_with_a_line() {
    let text = b"one\ntwo\n\nthree is longer\nno newline at the end";
    for size in 1..60 {
        for pieces in [cut(&text[..], size), cut(Trickle(text, false), size)] {
            assert_eq!(pieces.concat(), text);
            let (_, whole) = pieces.split_last().expect("not empty");
            assert!(whole.iter().all(|piece| piece.ends_with(b"\n")), "{size}");
        }
    }
}

#[test]
fn an_empty_input_has_no_block() {
    assert!(cut(&b""[..], 10).is_empty());
}

#[test]
fn a_block_can_be_filled_directly() {
    let mut block = Block::default();
    for lines in [&[&b"one\n"[..], b"two\nthree\n"][..], &[b"four\n"], &[]] {
        let text = lines.concat();
        block.fill(ByteOffset(7), text.len(), lines.iter().copied());
        assert_eq!((block.text(), block.start()), (&text[..], ByteOffset(7)));
        assert!(block.padded().len() >= text.len() + PADDING);
    }
}

#[test]
fn a_byte_order_mark_is_blanked_once() {
    let mut block = Block::default();
    block.fill(ByteOffset(0), 6, std::iter::once("\u{feff}1 a".as_bytes()));
    assert!(block.blank_mark() && !block.blank_mark());
    block.put_behind(7);
    assert_eq!((block.text(), block.start()), (&b"   1 a"[..], ByteOffset(7)));
}

#[test]
fn a_block_is_not_longer_than_the_longest_line() {
    let with = |line| {
        let Limits { block, line } = Limits { block: 50, line: 60 }.with_line(line);
        (block, line)
    };
    assert_eq!([with(70), with(40), with(0)], [(50, 70), (40, 40), (1, 0)]);
    assert_eq!(with(usize::MAX), (50, Limits::LONGEST_LINE));
}

#[test]
fn too_long_lines_are_errors() {
    let limits = Limits { block: 4, line: 10 };
    let text = b"short\n0123456789abcdef\n";
    let mut blocks = Blocks::new(&text[..], limits);
    let mut block = Block::default();
    assert!(blocks.read(&mut block).expect("the first line is fine"));
    let error = blocks.read(&mut block).expect_err("the second is too long");
    assert!(matches!(error, ReadError::LineTooLong { start: ByteOffset(6), limit: 10 }));
    assert_eq!(error.to_string(), "the line that begins at byte 6 is longer than 10 bytes");
}

#[test]
fn reading_continues_after_a_too_long_line() {
    let limits = Limits { block: 4, line: 10 };
    let text = b"short\n0123456789abcdef\nlast\n";
    let mut blocks = Blocks::new(Trickle(text, false), limits).forgiving();
    let mut block = Block::default();
    assert!(blocks.read(&mut block).expect("the first line is fine"));
    let error = blocks.read(&mut block).expect_err("the second is too long");
    assert!(matches!(error, ReadError::LineTooLong { start: ByteOffset(6), limit: 10 }));
    assert!(blocks.read(&mut block).expect("the third line is fine"));
    assert_eq!((block.text(), block.start()), (&b"last\n"[..], ByteOffset(23)));
    assert!(!blocks.read(&mut block).expect("no failure"));
}

#[test]
fn lines_before_a_failure_are_read() {
    for size in 1..30 {
        let limits = Limits { block: size, ..Limits::default() };
        let mut blocks = Blocks::new(b"a line\nand\na pa".chain(Broken), limits).forgiving();
        let (mut block, mut all) = (Block::default(), Vec::new());
        let error = loop {
            match blocks.read(&mut block) {
                Ok(more) => assert!(more),
                Err(error) => break error,
            }
            all.extend_from_slice(block.text());
        };
        assert_eq!((&all[..], error.to_string()), (&b"a line\nand\n"[..], "broken".into()));
    }
}

/// Skipping reads the text, so it finds the input's failures.
#[test]
fn text_is_skipped() {
    let text = b"one\ntwo\nthree\nfour\n";
    let limits = Limits { block: 6, ..Limits::default() };
    let mut blocks = Blocks::new(Trickle(text, false), limits);
    let mut block = Block::default();
    assert!(blocks.read(&mut block).expect("no failure"));
    assert_eq!((block.text(), blocks.position()), (&b"one\n"[..], ByteOffset(4)));
    for (to, position) in [(12, 12), (7, 12), (u64::MAX, 19)] {
        blocks.pass_to(ByteOffset(to)).expect("no failure");
        assert_eq!(blocks.position(), ByteOffset(position));
    }
    assert!(!blocks.read(&mut block).expect("no failure"));
    let mut blocks = Blocks::new(b"one\ntwo".chain(Broken), limits);
    assert!(blocks.pass_to(ByteOffset(7)).is_ok() && blocks.pass_to(ByteOffset(8)).is_err());
    let mut blocks = Blocks::new(b"one\ntwo".chain(Broken), Limits::default()).forgiving();
    assert!(blocks.read(&mut block).expect("a line"));
    assert!(blocks.pass_to(ByteOffset(5)).is_err());
}

#[test]
fn the_largest_limit_does_not_overflow() {
    let limits = Limits { block: 4, line: usize::MAX };
    let mut block = Block::default();
    assert!(Blocks::new(&b"0123456789\n"[..], limits).read(&mut block).expect("no limit"));
    assert_eq!(block.text(), b"0123456789\n");
}

#[test]
fn failures_of_the_input_are_errors() {
    let mut blocks = Blocks::new(b"a\n".chain(Broken), Limits::default());
    let error = blocks.read(&mut Block::default()).expect_err("fails");
    assert_eq!(error.to_string(), "broken");
}
