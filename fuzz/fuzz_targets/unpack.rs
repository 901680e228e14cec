//! Damaged packed traces whose checksums are right.

#![no_main]

use std::io::{Cursor, Read};

use libfuzzer_sys::fuzz_target;
use paje_pack::{
    Borders, Definitions, Outline, Reader, Segment, Segments, Settings, Summaries, Text, Writer,
};

fuzz_target!(|bytes: &[u8]| {
    // The first bytes say what is changed in what the others are packed to.
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
    // The text has a checksum of its own.
    let _ = Text::new(&packed[..]).read_to_end(&mut back);
    assert!(back.len() <= 1 << 27);
    let (mut reader, mut outline) = (Reader::new(&packed[..]), Outline::default());
    while let Ok(Some(segment)) = reader.next_segment() {
        let _ = outline.visit(&segment, |_| ());
    }
    if let Ok(mut summaries) = Summaries::new(Cursor::new(&packed)) {
        for name in SUMMARIES {
            let _ = summaries.get(name, 1);
        }
        if let Ok(Some(mut window)) = summaries.window(1.0, 2.0) {
            while let Ok(Some(segment)) = window.segments.next_segment() {
                let _ = segment.unpack();
            }
        }
    }
});

const SUMMARIES: [&str; 2] = ["states", "comm"];

/// A packed text with summaries.
fn packed(text: &[u8], settings: Settings) -> std::io::Result<Vec<u8>> {
    let (mut segments, mut definitions) = (Segments::new(text, settings), Definitions::default());
    let (mut writer, mut borders) = (Writer::new(Vec::new())?, Borders::default());
    while let Some(text) = segments.next_text()? {
        let (segment, passage) = Segment::pack_and_look(&text, &definitions, settings)?;
        borders.pass(passage);
        writer.put(&segment)?;
        definitions.learn(&text);
    }
    for name in SUMMARIES {
        writer.put_summary(name, 1, name.repeat(9).into_bytes(), u64::MAX)?;
    }
    writer.put_borders(borders, u64::MAX)?;
    writer.finish()
}

/// Makes the checksums of all pages right.
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
