//! Finds pieces of compressed data: zstd frames, and gzip members with known lengths, as `pzstd`
//! and `bgzip` write them.
//!
//! If a piece is too large, cut off or unexpected, the decompressor reads it and everything after
//! it.

use std::io::{self, Cursor, Read};

use super::compression::zstd_decoder;
use super::pieces::{Next, Piece};

const BUFFER: usize = 256 << 10;

/// Largest length in bytes of a piece. It applies both to the text and to the compressed data.
/// `pzstd -19` writes frames of 32 MiB.
const MOST: u64 = 32 << 20;

/// Length in bytes of a text that is enough for a piece. Shorter frames and members are combined.
const ENOUGH: u64 = 1 << 20;

/// Largest length in bytes of the text of a zstd block, or of a member written by `bgzip`.
const BLOCK: u64 = 128 << 10;
const MEMBER: u64 = 64 << 10;

#[derive(Clone, Copy, Debug)]
pub(super) enum Format {
    Zstd,
    Gzip,
}

pub(super) struct Frames<R> {
    format: Format,
    medium: R,
    /// Bytes that have been read. The bytes before `start` have already been used.
    buffer: Vec<u8>,
    start: usize,
    failure: Option<io::Error>,
}

#[derive(Clone, Copy)]
struct Frame {
    len: usize,
    most: u64,
}

impl<R: Read> Frames<R> {
    pub(super) const fn new(format: Format, medium: R) -> Self {
        Frames { format, medium, buffer: Vec::new(), start: 0, failure: None }
    }

    fn bytes(&mut self, at: usize, count: usize) -> io::Result<Option<&[u8]>> {
        let from = self.start + at;
        while self.buffer.len() < from + count {
            let more = (from + count - self.buffer.len()).max(BUFFER) as u64;
            if self.medium.by_ref().take(more).read_to_end(&mut self.buffer)? == 0 {
                return Ok(None);
            }
        }
        Ok(Some(&self.buffer[from..from + count]))
    }

    fn array<const N: usize>(&mut self, at: usize) -> io::Result<Option<[u8; N]>> {
        let bytes = self.bytes(at, N)?;
        Ok(bytes.and_then(|bytes| bytes.try_into().ok()))
    }

    /// Returns the next piece, or `None` if the remaining data cannot be decompressed in pieces.
    fn piece(&mut self) -> io::Result<Option<Part>> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        let (mut len, mut most) = (0, 0);
        while most < ENOUGH && (len as u64) < MOST {
            let frame = match self.format {
                Format::Zstd => self.frame(len),
                Format::Gzip => self.member(len),
            };
            let frame = match frame {
                Ok(Some(frame)) if len == 0 || most + frame.most <= MOST => frame,
                // The next call looks at this frame again.
                Ok(_) if len > 0 => break,
                Ok(_) => return Ok(None),
                Err(error) if len > 0 => {
                    self.failure = Some(error);
                    break;
                }
                Err(error) => return Err(error),
            };
            len += frame.len;
            most += frame.most;
        }
        let data = self.buffer[self.start..self.start + len].to_vec();
        self.start += len;
        if self.start > self.buffer.len() / 2 {
            self.buffer.drain(..self.start);
            self.start = 0;
        }
        Ok(Some(Part { format: self.format, data, most }))
    }

    /// Returns the zstd frame that begins at `at` (RFC 8878, 3.1).
    fn frame(&mut self, at: usize) -> io::Result<Option<Frame>> {
        let Some([magic @ .., descriptor]) = self.array::<5>(at)? else { return Ok(None) };
        let magic = u32::from_le_bytes(magic);
        if magic & !15 == 0x184d_2a50 {
            // This is a skippable frame.
            let Some([_, _, _, _, len @ ..]) = self.array::<8>(at)? else { return Ok(None) };
            return self.whole(at, 8 + u64::from(u32::from_le_bytes(len)), 0);
        }
        let names_dictionary = descriptor & 3 != 0;
        if magic != 0xfd2f_b528 || names_dictionary {
            return Ok(None);
        }
        let is_single = descriptor & 32 != 0;
        let place = at + 5 + usize::from(!is_single);
        let (size_len, added) = match descriptor >> 6 {
            0 => (usize::from(is_single), 0),
            1 => (2, 256),
            2 => (4, 0),
            _ => (8, 0),
        };
        let Some(size) = self.bytes(place, size_len)? else { return Ok(None) };
        let told = size.iter().rev().fold(0u64, |sum, &byte| sum << 8 | u64::from(byte));
        let told = if size_len == 0 { u64::MAX } else { told.saturating_add(added) };
        if size_len > 0 && told > MOST {
            return Ok(None);
        }
        let (mut place, mut most) = (place + size_len, 0);
        loop {
            let Some([a, b, c]) = self.array(place)? else { return Ok(None) };
            let header = u32::from_le_bytes([a, b, c, 0]);
            let size = header >> 3;
            let (len, text) = match header >> 1 & 3 {
                0 => (size, u64::from(size)),
                1 => (1, u64::from(size)),
                2 => (size, BLOCK),
                _ => return Ok(None),
            };
            place += 3 + len as usize;
            most += text;
            if most.min(told) > MOST || (place - at) as u64 > MOST {
                return Ok(None);
            }
            if header & 1 != 0 {
                break;
            }
        }
        let checksum = if descriptor & 4 != 0 { 4 } else { 0 };
        self.whole(at, (place - at) as u64 + checksum, most.min(told))
    }

    /// Returns the gzip member that begins at `at`, if `bgzip` wrote it (SAM specification, 4.1).
    fn member(&mut self, at: usize) -> io::Result<Option<Frame>> {
        let Some(head) = self.array::<12>(at)? else { return Ok(None) };
        // The member must have an extra field and no other flags.
        if head[..4] != [0x1f, 0x8b, 8, 4] {
            return Ok(None);
        }
        let extra_len = usize::from(u16::from_le_bytes([head[10], head[11]]));
        let Some(mut extra) = self.bytes(at + 12, extra_len)? else { return Ok(None) };
        let len = loop {
            let [a, b, c, d, rest @ ..] = extra else { return Ok(None) };
            match ([*a, *b], usize::from(u16::from_le_bytes([*c, *d])), rest) {
                ([b'B', b'C'], 2, [low, high, ..]) => break u16::from_le_bytes([*low, *high]),
                (_, len, rest) if len <= rest.len() => extra = &rest[len..],
                _ => return Ok(None),
            }
        };
        let len = usize::from(len) + 1;
        // The header and trailer around the deflated data.
        if len < 12 + extra_len + 8 {
            return Ok(None);
        }
        let Some(size) = self.array(at + len - 4)? else { return Ok(None) };
        match u64::from(u32::from_le_bytes(size)) {
            most @ 0..=MEMBER => self.whole(at, len as u64, most),
            _ => Ok(None),
        }
    }

    /// Returns a frame with these lengths, unless it is too long or cut off.
    fn whole(&mut self, at: usize, len: u64, most: u64) -> io::Result<Option<Frame>> {
        if len > MOST {
            return Ok(None);
        }
        let len = len as usize;
        Ok(self.bytes(at, len)?.is_some().then_some(Frame { len, most }))
    }
}

impl<R: Read + Send + 'static> Frames<R> {
    /// Returns a function that returns the pieces one by one, and finally the rest of the data,
    /// which `decoder` decompresses.
    pub(super) fn pieces(
        self,
        decoder: impl Fn(Box<dyn Read + Send>) -> io::Result<Box<dyn Read + Send>> + Send + 'static,
    ) -> impl FnMut() -> io::Result<Next> + Send + 'static {
        let mut frames = Some(self);
        move || {
            let found = frames.as_mut().map_or(Ok(None), Frames::piece);
            if let Ok(Some(piece)) = found {
                return Ok(Next::Piece(Box::new(piece)));
            }
            let Some(Frames { mut buffer, start, medium, .. }) = frames.take() else {
                return Ok(Next::Rest(Box::new(io::empty())));
            };
            buffer.drain(..start);
            // Decompressors fail on empty input.
            if buffer.is_empty() && matches!(found, Ok(None)) {
                return Ok(Next::Rest(Box::new(io::empty())));
            }
            let front = Front { bytes: Cursor::new(buffer), failure: found.err() };
            Ok(Next::Rest(decoder(Box::new(front.chain(medium)))?))
        }
    }
}

/// Bytes that were read ahead, and the error that followed them. The memory is freed when all bytes
/// have been used.
struct Front {
    bytes: Cursor<Vec<u8>>,
    failure: Option<io::Error>,
}

impl Read for Front {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.bytes.read(buffer)?;
        if count > 0 {
            return Ok(count);
        }
        self.bytes = Cursor::default();
        self.failure.take().map_or(Ok(0), Err)
    }
}

struct Part {
    format: Format,
    data: Vec<u8>,
    most: u64,
}

impl Piece for Part {
    fn most(&self) -> u64 {
        self.most
    }

    fn unpack(self: Box<Self>, mut memory: Vec<u8>) -> (Vec<u8>, io::Result<()>) {
        memory.clear();
        let end = match self.format {
            Format::Zstd => self.unpack_zstd(&mut memory),
            Format::Gzip => self.unpack_gzip(&mut memory),
        };
        (memory, end)
    }
}

impl Part {
    fn unpack_zstd(&self, text: &mut Vec<u8>) -> io::Result<()> {
        text.reserve(self.most as usize);
        let mut decompressor = zstd::bulk::Decompressor::new()?;
        if decompressor.decompress_to_buffer(&self.data, text).is_ok() {
            return Ok(());
        }
        // Reads the text before the damage.
        text.clear();
        zstd_decoder(&self.data[..])?.read_to_end(text).map(|_| ())
    }

    fn unpack_gzip(&self, text: &mut Vec<u8>) -> io::Result<()> {
        let damaged =
            |what: &str| io::Error::new(io::ErrorKind::InvalidInput, format!("corrupt {what}"));
        text.reserve(self.most as usize + 32);
        // A damaged member may have much more text than it declares.
        let mut decoder = flate2::bufread::MultiGzDecoder::new(&self.data[..]).take(self.most + 1);
        match decoder.read_to_end(text) {
            Ok(count) if count as u64 > self.most => {
                Err(damaged("gzip stream does not have a matching checksum"))
            }
            // The data is complete, so it must be damaged.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                Err(damaged("deflate stream"))
            }
            result => result.map(|_| ()),
        }
    }
}

#[cfg(test)]
mod tests;
