//! Compressed traces, made with the libraries that read them.

use std::io::Read;

use paje_pack::{Borders, Definitions, Segment, Segments, Settings, Writer};

/// Compressions that traces can have.
pub const COMPRESSIONS: [&str; 5] = ["gzip", "zstd", "xz", "bzip2", "pjp"];

/// Compresses a text into one member, frame or stream, with a checksum.
pub fn pack(compression: &str, text: &[u8]) -> Vec<u8> {
    if compression == "pjp" {
        return paje_pack::pack(text, Vec::new(), Settings::default()).expect("memory");
    }
    let mut encoder: Box<dyn Read + '_> = match compression {
        "gzip" => Box::new(flate2::read::GzEncoder::new(text, flate2::Compression::new(6))),
        "zstd" => {
            let mut encoder = zstd::stream::read::Encoder::new(text, 3).expect("memory");
            encoder.include_checksum(true).expect("it can");
            Box::new(encoder)
        }
        "xz" => Box::new(liblzma::read::XzEncoder::new(text, 1)),
        "bzip2" => Box::new(bzip2::read::BzEncoder::new(text, bzip2::Compression::new(1))),
        _ => unreachable!("{compression} is none of COMPRESSIONS"),
    };
    let mut packed = Vec::new();
    encoder.read_to_end(&mut packed).expect("memory can be read");
    packed
}

/// Packs a text in segments of `segment` bytes, and keeps what windows of time need, as if the trace were sound: whether
/// it is, only a replay can say.
pub fn pack_with_borders(
    text: &[u8],
    segment: usize,
    summaries: &[(&str, u64, Vec<u8>)],
) -> Vec<u8> {
    let mut settings = Settings::default();
    (settings.segment, settings.level) = (segment, 1);
    let (mut segments, mut definitions) = (Segments::new(text, settings), Definitions::default());
    let (mut borders, memory) = (Borders::default(), "memory");
    let mut writer = Writer::new(Vec::new()).expect(memory);
    while let Some(text) = segments.next_text().expect("memory can be read") {
        let packed = Segment::pack_and_look(&text, &definitions, settings);
        let (segment, passage) = packed.expect(memory);
        borders.pass(passage);
        writer.put(&segment).expect(memory);
        definitions.learn(&text);
    }
    writer.put_borders(borders, u64::MAX).expect(memory);
    for (name, version, content) in summaries {
        writer.put_summary(name, *version, content.clone(), u64::MAX).expect(memory);
    }
    writer.finish().expect(memory)
}
