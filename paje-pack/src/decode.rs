//! Decodes the text of a segment, line by line.

use std::ops::Range;

use paje_parser::columns::HoleKind;

use crate::digits::{SHORT, Short};
use crate::fields::{FieldsIn, Place};
use crate::keys::KeysIn;
use crate::lines::{Line, LinesIn, RAW, holes};
use crate::out::Out;
use crate::patterns::Patterns;
use crate::segment::{EncodedSegment, STREAMS};
use crate::steps::Steps;
use crate::stream::StreamReader;
use crate::times::TimesIn;

/// Bytes that all lines of a step share, and the hole that follows them.
#[derive(Clone, Copy)]
pub(crate) struct Piece {
    pub(crate) text: Short,
    /// Kind of the hole, or 0 if there is no hole.
    pub(crate) hole: u8,
    pub(crate) place: Place,
}

/// Texts of all steps, cut into pieces.
#[derive(Default)]
pub(crate) struct Pieces {
    pub(crate) steps: Steps,
    /// For each step, the range of its pieces.
    ranges: Vec<(u32, u32)>,
    pieces: Vec<Piece>,
    patterns: Patterns,
    /// Next free slot.
    slots: u32,
}

impl Pieces {
    #[inline]
    pub(crate) fn step(&mut self, line: Line, lines: &LinesIn) -> usize {
        let step = self.steps.number(line) as usize;
        if self.ranges.len() == step {
            self.learn(line, lines);
        }
        step
    }

    #[inline]
    pub(crate) fn of(&self, step: usize) -> &[Piece] {
        let (from, to) = self.ranges[step];
        &self.pieces[from as usize..to as usize]
    }

    #[cold]
    fn learn(&mut self, line: Line, lines: &LinesIn) {
        let from = self.pieces.len();
        let text = lines.actions.get(line.action);
        if self.patterns.len() == line.action as usize {
            self.patterns.learn(text);
        }
        let pattern = self.patterns.get(line.action);
        let (mut same, mut copied) = (Vec::new(), 0);
        let mut piece = |same: &mut Vec<u8>, hole, place| {
            let mut chunks = same.chunks(SHORT);
            let last = chunks.next_back().unwrap_or_default();
            let whole = chunks.map(|text| Piece { text: Short::of(text), hole: 0, place });
            self.pieces.extend(whole.chain([Piece { text: Short::of(last), hole, place }]));
            same.clear();
        };
        for ((place, hole), number) in pattern.holes.iter().zip(0..) {
            let before = *place as usize;
            same.extend_from_slice(&text[copied..before]);
            copied = before + 1;
            if *hole == holes::LANE {
                same.extend_from_slice(lines.names.get(line.lane));
            } else {
                piece(&mut same, *hole, pattern.place(*hole, number, &mut self.slots));
            }
        }
        same.extend_from_slice(&text[copied..]);
        same.push(b'\n');
        piece(&mut same, 0, Place { slot: 0, field: 0 });
        self.ranges.push((from as u32, self.pieces.len() as u32));
    }
}

pub(crate) struct LineReader<'a> {
    pub(crate) sides: [StreamReader<'a>; STREAMS],
    pub(crate) lines: LinesIn,
    pub(crate) times: TimesIn,
    pub(crate) values: FieldsIn,
    pub(crate) keys: KeysIn,
    pub(crate) pieces: Pieces,
}

impl LineReader<'_> {
    #[inline]
    fn line(&mut self, out: &mut Out) {
        let line = self.lines.next(&mut self.sides[0]);
        if line.action == RAW {
            out.put(self.sides[0].text());
            out.push(b'\n');
            return;
        }
        let step = self.pieces.step(line, &self.lines);
        self.write(line, step, out, |_, _| {});
    }

    /// Writes a line, and passes the kind and the position of each of its holes to `hole`.
    #[inline]
    pub(crate) fn write(
        &mut self,
        line: Line,
        step: usize,
        out: &mut Out,
        mut hole: impl FnMut(HoleKind, Range<usize>),
    ) {
        let [_, times, values, keys] = &mut self.sides;
        for piece in self.pieces.of(step) {
            out.put_short(piece.text);
            let from = out.len();
            let kind = match piece.hole {
                holes::TIME => {
                    self.times.next(times, line, out);
                    HoleKind::Time
                }
                holes::START => {
                    self.keys.start(keys, piece.place, out);
                    HoleKind::Key
                }
                holes::END => {
                    let at = self.keys.end(keys, piece.place, out);
                    out.repeat_before(from, at);
                    HoleKind::Key
                }
                holes::VALUE => {
                    self.values.value(values, piece.place, out);
                    HoleKind::Value
                }
                _ => continue,
            };
            hole(kind, from..out.len());
        }
    }

    pub(crate) fn failed(&self) -> bool {
        self.sides.iter().any(|side| side.failed)
    }

    /// Returns whether reading went beyond the end of any group.
    pub(crate) fn has_overrun(&self) -> bool {
        self.lines.has_overrun()
            || self.times.table.has_overrun()
            || self.values.has_overrun()
            || self.keys.has_overrun()
    }

    pub(crate) fn new<'a>(encoded: &'a EncodedSegment, length: usize) -> LineReader<'a> {
        let mut sides: [StreamReader<'a>; STREAMS] = std::array::from_fn(|stream| {
            let [columns, texts] = &encoded.streams[stream];
            StreamReader::new(columns, texts, length)
        });
        LineReader {
            lines: LinesIn::new(&mut sides[0], encoded.lines),
            times: TimesIn::new(&mut sides[1], encoded.scale, length),
            values: FieldsIn::new(&mut sides[2], 0, length),
            keys: KeysIn::new(&mut sides[3], length),
            pieces: Pieces::default(),
            sides,
        }
    }
}

/// Decodes the text of a segment, which has `length` bytes.
///
/// # Errors
/// The streams do not encode such a text.
pub(crate) fn decode(encoded: &EncodedSegment, length: usize) -> Result<Vec<u8>, ()> {
    let mut reader = LineReader::new(encoded, length);
    // The text may lack the last newline.
    let mut text = Out::new(length + 1);
    for line in 0..encoded.lines {
        reader.line(&mut text);
        // Checking every 64th line is enough, because all lines after a failure are empty.
        if text.is_full() || (line % 64 == 0 && reader.failed()) {
            return Err(());
        }
    }
    let ends = text.len().checked_sub(length).ok_or(())?;
    if reader.failed() || reader.has_overrun() || ends > 1 {
        Err(())
    } else {
        Ok(text.finish(length))
    }
}
