//! Packed traces.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use paje_pack::{Error, Packed, Piece as Part, Reader, Summaries, Window};
use paje_parser::columns::{Hole, Lines, Wanted};

use super::compression::{Compression, Decoder, explain};
use super::medium::Placed;
use super::pieces::{Next, Piece, PiecesText};
use super::segments::Segments;
use crate::blocks::ColumnSegment;

/// The part of a packed trace that a time window needs.
#[derive(Debug)]
pub(super) struct PackWindow(Window<Placed>);

impl PackWindow {
    /// Returns the window, and a reader of its text. Returns `None` if the trace must be read as a
    /// whole, for example because it is damaged, which is then reported.
    pub(super) fn new(
        file: File,
        taken: &Arc<AtomicU64>,
        from: f64,
        to: f64,
    ) -> Option<(PackWindow, Decoder)> {
        let again = placed(file.try_clone().ok()?, taken);
        let window = Summaries::new(placed(file, taken)).and_then(|kept| kept.window(from, to));
        let window = window.ok()??;
        let mut again = window.again(again);
        let text = PiecesText::new(move || {
            Ok(match again.next_piece()? {
                Some(Part::Segment(packed)) => Next::Piece(packed),
                Some(Part::Lines(lines)) => Next::Piece(Box::new(PlainLines(lines))),
                None => Next::Rest(Box::new(io::empty())),
            })
        });
        Some((PackWindow(window), Decoder::of_pieces(Compression::Packed, text)))
    }

    pub(super) fn text_bytes(&self) -> u64 {
        self.0.text_bytes()
    }

    /// Returns the segments. Lines between the segments count as segments. Returns `None` if a
    /// segment is longer than `longest`, or may end within a line.
    pub(super) fn segments(self, longest: usize) -> Option<Segments> {
        let PackWindow(mut window) = self;
        let count = window.whole_lines(longest as u64)?;
        Some(segments_of(count, move || window.next_piece()).of_window())
    }
}

/// Returns the segments of a whole trace. Returns `None` if a segment is longer than `longest`, or
/// may end within a line, and if the file is damaged. Its text is then read, which reports the
/// damage.
pub(super) fn segments(file: File, taken: &Arc<AtomicU64>, longest: usize) -> Option<Segments> {
    let again = placed(file.try_clone().ok()?, taken);
    let count = Summaries::new(again).ok()?.whole_lines(longest as u64)?;
    let mut reader = Reader::new(BufReader::new(placed(file, taken)));
    let next = move || Ok(reader.next_segment()?.map(|packed| Part::Segment(Box::new(packed))));
    Some(segments_of(count, next))
}

/// Returns a reader of the text.
pub(super) fn text(medium: impl Read + Send + 'static) -> io::Result<PiecesText> {
    let mut reader = Reader::new(medium);
    Ok(PiecesText::new(move || {
        Ok(match reader.next_segment()? {
            Some(packed) => Next::Piece(Box::new(packed)),
            None => Next::Rest(Box::new(io::empty())),
        })
    }))
}

fn placed(file: File, taken: &Arc<AtomicU64>) -> Placed {
    Placed { file, place: 0, taken: Arc::clone(taken) }
}

fn segments_of(
    count: usize,
    mut next: impl FnMut() -> Result<Option<Part>, Error> + Send + 'static,
) -> Segments {
    let mut left = count;
    Segments::new(count, move || {
        let Some(part) = next().map_err(damaged)? else { return Ok(None) };
        let is_last = left <= 1;
        left = left.saturating_sub(1);
        let lines: Arc<dyn ColumnSegment> = match part {
            Part::Lines(lines) => Arc::new(PlainLines(lines)),
            Part::Segment(packed) => Arc::new(PackedSegment { packed: *packed, is_last }),
        };
        Ok(Some(lines))
    })
}

fn damaged(error: Error) -> io::Error {
    explain(Compression::Packed, error.into())
}

struct PackedSegment {
    packed: Packed,
    is_last: bool,
}

impl ColumnSegment for PackedSegment {
    fn text_len(&self) -> usize {
        self.packed.text_len() as usize
    }

    fn columns(
        &self,
        text: &mut Vec<u8>,
        lines: &mut Lines,
        judge: &mut dyn FnMut(&[u8], &[Hole]) -> Wanted,
    ) -> bool {
        self.packed.columns(text, lines, judge)
    }

    fn text(&self) -> io::Result<Vec<u8>> {
        let text = self.packed.unpack().map_err(damaged)?;
        if self.is_last || text.ends_with(b"\n") {
            Ok(text)
        } else {
            Err(damaged(self.packed.cuts_a_line()))
        }
    }

    fn unchecked_text(&self) -> Vec<u8> {
        self.packed.unchecked().unwrap_or_default()
    }
}

/// Lines of a time window that are stored uncompressed.
struct PlainLines(Vec<u8>);

impl ColumnSegment for PlainLines {
    fn text_len(&self) -> usize {
        self.0.len()
    }

    fn unchecked_text(&self) -> Vec<u8> {
        self.0.clone()
    }
}

impl Piece for Packed {
    fn most(&self) -> u64 {
        self.text_len()
    }

    fn unpack(self: Box<Self>, _: Vec<u8>) -> (Vec<u8>, io::Result<()>) {
        match Packed::unpack(&self) {
            Ok(text) => (text, Ok(())),
            Err(error) => (Vec::new(), Err(error.into())),
        }
    }
}

impl Piece for PlainLines {
    fn most(&self) -> u64 {
        self.0.len() as u64
    }

    fn unpack(self: Box<Self>, _: Vec<u8>) -> (Vec<u8>, io::Result<()>) {
        (self.0, Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    fn packed(text: &[u8]) -> Vec<u8> {
        let mut settings = paje_pack::Settings::default();
        settings.segment = 1000;
        paje_pack::pack(text, Vec::new(), settings).unwrap()
    }

    fn read(packed: Vec<u8>, helpers: usize) -> (Vec<u8>, io::Result<()>) {
        let mut text = text(Cursor::new(packed)).unwrap();
        let unpacking = text.unpacking();
        let stopped = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..helpers {
                scope.spawn(|| {
                    while !stopped.load(Ordering::Relaxed) {
                        unpacking.help(helpers + 1);
                    }
                });
            }
            let (mut read, mut some) = (Vec::new(), [0; 700]);
            let ended = loop {
                match text.read(&mut some) {
                    Ok(0) => break Ok(()),
                    Ok(count) => read.extend_from_slice(&some[..count]),
                    Err(error) => break Err(error),
                }
            };
            stopped.store(true, Ordering::Relaxed);
            assert!(matches!(text.read(&mut some), Ok(0)), "there is text after the end");
            (read, ended)
        })
    }

    #[test]
    fn helping_threads_do_not_change_the_text() {
        let text: String = (0..2000).map(|line| format!("line {line}\n")).collect();
        let packed = packed(text.as_bytes());
        for helpers in 0..4 {
            let (read, ended) = read(packed.clone(), helpers);
            assert!(read == text.as_bytes() && ended.is_ok(), "{helpers}");
        }
    }

    #[test]
    fn damage_is_reported_after_the_text_before_it() {
        let text: String = (0..2000).map(|line| format!("line {line}\n")).collect();
        let mut packed = packed(text.as_bytes());
        let middle = packed.len() / 2;
        packed[middle] ^= 1;
        let (alone, ended) = read(packed.clone(), 0);
        let message = ended.unwrap_err().to_string();
        assert!(!alone.is_empty() && text.as_bytes().starts_with(&alone));
        for helpers in 1..4 {
            let (read, ended) = read(packed.clone(), helpers);
            assert_eq!(
                (read.len(), ended.unwrap_err().to_string()),
                (alone.len(), message.clone())
            );
        }
    }
}
