//! Frames of zstd (RFC 8878) that have as they are, or as runs, what does not get shorter: compressors look at such bytes
//! as long as at others.

use std::io;

use zstd::bulk::Compressor;
use zstd::zstd_safe::{CParameter, compress_bound};

/// Level of compression: the higher ones take twice the time for one per cent.
const LEVEL: i32 = 1;

/// First bytes of a frame.
const MAGIC: [u8; 4] = 0xfd2f_b528_u32.to_le_bytes();

/// Its header's: how long the content is follows in four bytes, and that is also how far back references go.
const SINGLE_SEGMENT: u8 = 0b1010_0000;

/// The longest block.
const BLOCK: usize = 1 << 17;

/// Bytes that need not be tried: what is around them takes more than could be saved.
const SMALL: usize = 64;

/// Kinds of blocks, as their headers have them.
#[derive(Clone, Copy)]
enum Kind {
    Raw = 0,
    Run = 1,
}

/// Maker of frames.
pub(super) struct Frames {
    of_streams: Compressor<'static>,
    of_wholes: Compressor<'static>,
    compressed: Vec<u8>,
}

impl Frames {
    pub(super) fn new() -> io::Result<Self> {
        let mut of_streams = Compressor::new(LEVEL)?;
        of_streams.set_parameter(CParameter::ContentSizeFlag(false))?;
        let mut of_wholes = Compressor::new(LEVEL)?;
        of_wholes.set_parameter(CParameter::ContentSizeFlag(false))?;
        // Of keys, which are mostly digits, fewer and longer matches leave less, in less time.
        of_wholes.set_parameter(CParameter::MinMatch(7))?;
        of_wholes.set_parameter(CParameter::HashLog(12))?;
        Ok(Frames { of_streams, of_wholes, compressed: Vec::new() })
    }

    /// Writes a frame of what is there to compress; tells whether it has become at least a tenth shorter. If not, or if
    /// it is not to be `tried`, the frame has it as it is.
    pub(super) fn whole(
        &mut self,
        content: &[u8],
        tried: bool,
        out: &mut Vec<u8>,
    ) -> io::Result<bool> {
        let mut frame = Frame::begin(content.len(), out);
        let shorter = tried && compress(&mut self.of_wholes, content, &mut self.compressed)?;
        match shorter {
            true => frame.blocks(&self.compressed)?,
            false => frame.raw(content),
        }
        frame.finish();
        Ok(shorter)
    }

    /// Writes a frame of streams of the same length. The first ones are not tried as long as they are noise.
    pub(super) fn streams(
        &mut self,
        content: &[u8],
        each: usize,
        out: &mut Vec<u8>,
    ) -> io::Result<()> {
        let mut frame = Frame::begin(content.len(), out);
        let mut rest = content;
        while let Some((stream, others)) = rest.split_at_checked(each) {
            let Some(first) = stream.first() else { break };
            if is_noise(stream) {
                frame.raw(stream);
            } else if stream.iter().all(|byte| byte == first) {
                frame.run(*first, each);
            } else {
                break;
            }
            rest = others;
        }
        if compress(&mut self.of_streams, rest, &mut self.compressed)? {
            frame.blocks(&self.compressed)?;
        } else {
            frame.raw(rest);
        }
        frame.finish();
        Ok(())
    }
}

/// Compresses bytes as a frame of their own; tells whether that is at least a tenth shorter.
fn compress(
    compressor: &mut Compressor<'static>,
    bytes: &[u8],
    compressed: &mut Vec<u8>,
) -> io::Result<bool> {
    if bytes.len() < SMALL {
        return Ok(false);
    }
    compressed.clear();
    compressed.reserve(compress_bound(bytes.len()));
    let size = compressor.compress_to_buffer(bytes, compressed)?;
    Ok(size < bytes.len() - bytes.len() / 10)
}

/// A frame while it is written.
struct Frame<'a> {
    out: &'a mut Vec<u8>,
    /// Header of the last block.
    last: Option<usize>,
}

impl<'a> Frame<'a> {
    /// The header. Contents are shorter than 4 GiB, as Parquet's pages are.
    fn begin(size: usize, out: &'a mut Vec<u8>) -> Self {
        out.extend_from_slice(&MAGIC);
        out.push(SINGLE_SEGMENT);
        out.extend_from_slice(&(size as u32).to_le_bytes());
        Frame { out, last: None }
    }

    /// The header of a block.
    fn header(&mut self, kind: Kind, size: usize) {
        self.last = Some(self.out.len());
        let header = (size << 3 | (kind as usize) << 1) as u32;
        self.out.extend_from_slice(&header.to_le_bytes()[..3]);
    }

    /// Bytes as they are.
    fn raw(&mut self, bytes: &[u8]) {
        for some in bytes.chunks(BLOCK) {
            self.header(Kind::Raw, some.len());
            self.out.extend_from_slice(some);
        }
    }

    /// One byte again and again.
    fn run(&mut self, byte: u8, mut count: usize) {
        while count > 0 {
            let some = count.min(BLOCK);
            self.header(Kind::Run, some);
            self.out.push(byte);
            count -= some;
        }
    }

    /// The blocks of another frame, which are the only compressed ones of this: what they refer to is among
    /// themselves, and blocks that are not compressed leave no trace in a decoder's state.
    fn blocks(&mut self, frame: &[u8]) -> io::Result<()> {
        let blocks = blocks_of(frame).ok_or(io::ErrorKind::InvalidData)?;
        let mut at = 0;
        loop {
            let header = blocks.get(at..at + 3).ok_or(io::ErrorKind::InvalidData)?;
            let header = u32::from_le_bytes([header[0], header[1], header[2], 0]);
            if header & 1 != 0 {
                break;
            }
            let size = (header >> 3) as usize;
            at += 3 + if header >> 1 & 3 == Kind::Run as u32 { 1 } else { size };
        }
        self.last = Some(self.out.len() + at);
        self.out.extend_from_slice(blocks);
        Ok(())
    }

    /// Says of the last block that it is.
    fn finish(mut self) {
        if self.last.is_none() {
            self.header(Kind::Raw, 0);
        }
        if let Some(last) = self.last {
            self.out[last] |= 1;
        }
    }
}

/// The blocks behind the header of a frame that has no checksum and no dictionary.
fn blocks_of(frame: &[u8]) -> Option<&[u8]> {
    let (magic, rest) = frame.split_first_chunk::<4>()?;
    let (descriptor, rest) = rest.split_first()?;
    let single = descriptor >> 5 & 1 == 1;
    let size = match (descriptor >> 6, single) {
        (0, false) => 0,
        (0, true) => 1,
        (flag, _) => 1 << flag,
    };
    let plain = *magic == MAGIC && descriptor & 0b111 == 0;
    plain.then(|| rest.get(usize::from(!single) + size..)).flatten()
}

/// Tells whether bytes look like noise: at the head and in the middle, all of them come about as often as others. By
/// chance, two of 256 kinds are the same in one of 256 pairs.
fn is_noise(bytes: &[u8]) -> bool {
    const SAMPLE: usize = 512;
    if bytes.len() < 2 * SAMPLE {
        return false;
    }
    [&bytes[..SAMPLE], &bytes[bytes.len() / 2..][..SAMPLE]].iter().all(|sample| {
        let mut counts = [0_u16; 256];
        sample.iter().for_each(|byte| counts[usize::from(*byte)] += 1);
        let same: usize = counts.iter().map(|count| usize::from(*count).pow(2)).sum();
        same - SAMPLE < SAMPLE * SAMPLE / 160
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn noise(seed: u64, length: usize) -> Vec<u8> {
        let mut state = seed | 1;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 32) as u8
        };
        (0..length).map(|_| next()).collect()
    }

    proptest! {
        /// The library reads what is made without it.
        #[test]
        fn frames_are_read(seed: u64, each in 0_usize..5_000, kinds in prop::collection::vec(0..4, 1..9)) {
            let mut content = Vec::new();
            for (number, kind) in kinds.iter().enumerate() {
                match kind {
                    0 => content.extend(noise(seed + number as u64, each)),
                    1 => content.extend(vec![seed as u8; each]),
                    2 => content.extend((0..each).map(|i| (i / 50) as u8)),
                    _ => content.extend((0..each).map(|i| b"paje"[i % 4])),
                }
            }
            let mut frames = Frames::new().expect("a compressor");
            let mut out = Vec::new();
            frames.streams(&content, each, &mut out).expect("compressed");
            prop_assert_eq!(&zstd::bulk::decompress(&out, content.len()).expect("a frame"), &content);
            prop_assert_eq!(&zstd::decode_all(&out[..]).expect("a frame"), &content);
            for tried in [false, true] {
                out.clear();
                frames.whole(&content, tried, &mut out).expect("compressed");
                prop_assert_eq!(&zstd::bulk::decompress(&out, content.len()).expect("a frame"), &content);
            }
        }
    }

    #[test]
    fn long_contents() {
        let mut frames = Frames::new().expect("a compressor");
        let content = [noise(3, 300_000), vec![7; 300_000], b"abcdefgh".repeat(40_000)].concat();
        for each in [100_000, 300_000, content.len()] {
            let mut out = Vec::new();
            frames.streams(&content, each, &mut out).expect("compressed");
            assert!(out.len() < 310_000);
            assert_eq!(zstd::decode_all(&out[..]).expect("a frame"), content);
        }
    }

    #[test]
    fn noise_is_told_from_texts() {
        assert!(is_noise(&noise(1, 20_000)));
        assert!(!is_noise(&b"not at all".repeat(2_000)));
        assert!(!is_noise(&[0; 20_000]));
        let slow: Vec<u8> = (0..20_000).map(|i| (i / 7) as u8).collect();
        assert!(!is_noise(&slow));
    }
}
