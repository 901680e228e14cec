//! Tests damaged packed traces with correct checksums.

use std::io::{Cursor, Read};

use paje_pack::{
    Border, Definitions, Packed, Piece, Reader, Segment, Segments, Settings, Summaries, Text,
    WindowIndex, Writer,
};
use paje_parser::columns::{Asked, HoleKind, Lines, Wanted};

pub fn run(bytes: &[u8]) {
    // The first bytes are changes, which are applied to the packed form of the other bytes.
    let Some((changes, text)) = bytes.split_at_checked(8) else { return };
    let mut settings = Settings::default();
    (settings.segment, settings.level) = (2000, 1);
    let mut packed = packed(text, settings).expect("memory");
    for change in changes.chunks(4) {
        let place = usize::from(u16::from_le_bytes([change[0], change[1]])) % packed.len();
        packed[place] = packed[place].wrapping_add(change[2]) ^ change[3];
    }
    sign(&mut packed);
    let mut back = Vec::new();
    // The result may be an error, since the checksum of the text is not corrected.
    let _ = Text::new(&packed[..]).read_to_end(&mut back);
    assert!(back.len() <= 1 << 27);
    let mut reader = Reader::new(&packed[..]);
    while let Ok(Some(segment)) = reader.next_segment() {
        for choice in changes {
            columns(&segment, *choice);
        }
    }
    if let Ok(mut summaries) = Summaries::new(Cursor::new(&packed)) {
        for name in SUMMARIES {
            let _ = summaries.get(name, 1);
        }
        if let Ok(Some(mut window)) = summaries.window(1.0, 2.0) {
            while let Ok(Some(piece)) = window.next_piece() {
                if let Piece::Segment(segment) = piece {
                    let _ = segment.unpack();
                    columns(&segment, changes[0]);
                }
            }
        }
    }
}

/// Reads a segment as columns. `choice` decides which columns are requested and whether steps are
/// left out.
fn columns(segment: &Packed, choice: u8) {
    let (mut text, mut lines) = (Vec::new(), Lines::default());
    lines.leaves_out = choice % 2 == 0;
    let leaves_out = lines.leaves_out;
    let taken = segment.columns(&mut text, &mut lines, &mut |line, holes| {
        let times = holes.iter().filter(|hole| hole.kind == HoleKind::Time).count();
        let number = line.len() as u8 ^ choice >> 1;
        let hole = holes.iter().position(|hole| hole.kind == HoleKind::Value);
        match number % 4 {
            _ if times != 1 => Wanted::Text,
            0 => Wanted::Text,
            1 if leaves_out => Wanted::Nothing,
            _ => Wanted::Columns(hole.map(|hole| Asked { hole, numbers: number % 8 < 4 })),
        }
    });
    if taken {
        let count = lines.lines.len() as u64 + lines.left_out;
        assert!(count == segment.line_count() && text.len() >= segment.text_len() as usize);
        assert!(lines.contents.iter().all(|content| (content.line as usize) < lines.lines.len()));
        let is_known = |step: u32| (step as usize) < lines.counts.len();
        assert!(lines.lines.iter().all(|line| line.has_text() || is_known(line.step)));
    }
}

const SUMMARIES: [&str; 2] = ["states", "comm"];

fn packed(text: &[u8], settings: Settings) -> std::io::Result<Vec<u8>> {
    let (mut segments, mut definitions) = (Segments::new(text, settings), Definitions::default());
    let (mut writer, mut windows) = (Writer::new(Vec::new())?, WindowIndex::default());
    while let Some(text) = segments.next_text()? {
        writer.put(&Segment::pack(&text, &definitions, settings)?)?;
        windows.times.push((0.0, text.len() as f64));
        definitions.learn(&text);
    }
    for name in SUMMARIES {
        writer.put_summary(name, 1, name.repeat(9).into_bytes(), u64::MAX)?;
    }
    windows.borders.resize_with(windows.times.len().saturating_sub(1), Border::default);
    writer.put_windows(&windows, u64::MAX)?;
    writer.finish()
}

fn sign(packed: &mut [u8]) {
    let (mut at, mut number) = (12, 0_u32);
    while let Some(head) = packed.get(at..at + 14) {
        let len = u32::from_le_bytes([head[6], head[7], head[8], head[9]]) as usize;
        let Some(content) = packed.get(at + 14..at.saturating_add(14).saturating_add(len)) else {
            return;
        };
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&number.to_le_bytes());
        hasher.update(&packed[at..at + 10]);
        hasher.update(content);
        packed[at + 10..at + 14].copy_from_slice(&hasher.finalize().to_le_bytes());
        (at, number) = (at + 14 + len, number + 1);
    }
}
