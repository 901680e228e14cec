//! Pages of the file. `docs/dev/pack-format.md` describes the format.

use std::cell::RefCell;
use std::fmt;
use std::io::{self, Read};

use zstd::bulk::{Compressor, Decompressor};

/// First bytes of a packed trace.
pub(crate) const MAGIC: &[u8; 8] = b"\x89PJP\r\n\x1a\n";
/// Last bytes of a packed trace. They follow the offset of the index.
pub(crate) const END: &[u8; 8] = b"PJP end\n";
/// Version of the format. This library cannot read any other version.
pub(crate) const VERSION: u32 = 3;
pub(crate) const HEADER: u64 = 12;
pub(crate) const HEAD: usize = 14;

pub(crate) const LARGEST_SEGMENT: usize = 1 << 26;
/// Maximum size of a decompressed page. It exceeds the size of a segment, because each text in a
/// page ends with a newline.
pub(crate) const LARGEST_PAGE: u64 = 1 << 28;
pub(crate) const LARGEST_SUMMARY: u64 = 1 << 24;

/// Size below which several compression levels are tried for a page, because this takes little
/// time.
pub(crate) const SHORT: usize = 1 << 18;
/// Compression level for whole texts, and the highest level that is tried.
pub(crate) const HIGH: i32 = 19;
/// Compression level from which size matters more than time. Short traces use at least this level.
/// With it, the pages of a Cholesky trace are no larger than with level 19.
pub(crate) const THOROUGH: i32 = 15;
/// Compression level that makes short pages almost as small as level 19, in a tenth of the time.
pub(crate) const MIDDLE: i32 = 9;
/// Compression level of summaries, which may be large. The result is a few percent larger than with
/// level 9, but takes a fifth of the time.
pub(crate) const SUMMARIES: i32 = 4;

pub(crate) mod kind {
    /// Head of a segment. It has sizes, the number of decimals of times, a bit for each page that
    /// follows, and a checksum.
    pub(crate) const HEAD: u8 = 1;
    /// Columns of the first stream. The next kinds are the texts of this stream, and the columns
    /// and texts of the other streams.
    pub(crate) const STREAMS: u8 = 2;
    pub(crate) const TEXT: u8 = 10;
    pub(crate) const INDEX: u8 = 11;
    /// A summary, which a program stores together with the trace.
    pub(crate) const SUMMARY: u8 = 12;
}

/// Why a packed trace cannot be read.
#[derive(Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The file does not begin with the magic bytes of packed traces.
    NoMagic,
    /// The file has a version that this library cannot read.
    Version(u32),
    /// The file ends too early.
    Truncated,
    /// The checksum of a page is wrong.
    Checksum,
    /// The head of a page gives a size that is too large.
    Size(u64),
    /// A page of this kind is not allowed here.
    Page(u8),
    /// A page cannot be decompressed.
    Zstd(String),
    /// The content of a page is invalid.
    Content(&'static str),
    /// The file continues after its end mark.
    Trailing,
    /// Reading the file failed.
    Io(io::Error),
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ErrorKind::NoMagic => f.write_str("this is not a packed trace"),
            ErrorKind::Version(version) => {
                let advice = match *version < VERSION {
                    true => "unpack it with the program that packed it",
                    false => "use a newer program",
                };
                write!(
                    f,
                    "this program reads version {VERSION} of the packed format, not version {version}: {advice}"
                )
            }
            ErrorKind::Truncated => f.write_str("the packed trace ends too early"),
            ErrorKind::Checksum => f.write_str("the page is damaged: its checksum does not match"),
            ErrorKind::Size(size) => {
                write!(f, "the page claims {size} bytes, more than allowed")
            }
            ErrorKind::Page(kind) => write!(f, "unexpected page of kind {kind}"),
            ErrorKind::Zstd(error) => write!(f, "the page cannot be decompressed: {error}"),
            ErrorKind::Content(why) => f.write_str(why),
            ErrorKind::Trailing => f.write_str("there are bytes after the end of the packed trace"),
            ErrorKind::Io(error) => error.fmt(f),
        }
    }
}

/// Reason why a packed trace cannot be read, and the offset of the faulty page.
#[derive(Debug)]
pub struct Error {
    /// Offset of the faulty page in the file.
    pub at: u64,
    /// Fault of the page.
    pub kind: ErrorKind,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ErrorKind::Io(_) | ErrorKind::Version(_) | ErrorKind::NoMagic => self.kind.fmt(f),
            kind => write!(f, "byte {}: {kind}", self.at),
        }
    }
}

impl std::error::Error for Error {}

impl From<Error> for io::Error {
    fn from(error: Error) -> io::Error {
        let kind = match error.kind {
            ErrorKind::Io(error) => return error,
            ErrorKind::Truncated => io::ErrorKind::UnexpectedEof,
            ErrorKind::Version(_) => io::ErrorKind::Unsupported,
            _ => io::ErrorKind::InvalidData,
        };
        io::Error::new(kind, error)
    }
}

/// Appends a number in groups of seven bits, lowest group first.
pub(crate) fn put_number(mut number: u64, out: &mut Vec<u8>) {
    while number > 127 {
        out.push(number as u8 | 128);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Reads a number in groups of seven bits from the front of `from`.
pub(crate) fn take_number(from: &mut &[u8]) -> Option<u64> {
    let mut number = 0_u64;
    for place in (0..64).step_by(7) {
        let byte = from.split_off_first()?;
        let group = u64::from(byte & 127);
        if place == 63 && group > 1 {
            return None;
        }
        number |= group << place;
        if byte & 128 == 0 {
            return Some(number);
        }
    }
    None
}

/// Number of bytes of a page that are allocated before its content has been read.
const AT_ONCE: u32 = 1 << 16;

pub(crate) struct Page {
    pub(crate) kind: u8,
    /// 0 for uncompressed content, 1 for content compressed with zstd.
    how: u8,
    /// Size of the decompressed content.
    size: u32,
    pub(crate) kept: Vec<u8>,
}

impl Page {
    pub(crate) fn plain(kind: u8, content: Vec<u8>) -> Page {
        Page { kind, how: 0, size: content.len() as u32, kept: content }
    }

    /// Creates a page, and compresses its content if that makes the page smaller. For short pages,
    /// also tries a higher level: 19 if `level` is at least 15, and otherwise 9. Pages with the
    /// names of created objects become up to a fifth smaller with the higher level.
    ///
    /// # Errors
    /// zstd lacks memory.
    pub(crate) fn compressed(kind: u8, content: Vec<u8>, level: i32) -> io::Result<Page> {
        let mut kept = compress(&content, level)?;
        let higher = if level < THOROUGH { MIDDLE } else { HIGH };
        if level < higher && (1 << 10..SHORT).contains(&content.len()) {
            let other = compress(&content, higher)?;
            kept = if other.len() < kept.len() { other } else { kept };
        }
        Ok(Page::shorter(kind, content, kept))
    }

    /// Creates a page, and compresses it with exactly this level if that makes it smaller.
    ///
    /// # Errors
    /// zstd lacks memory.
    pub(crate) fn of_level(kind: u8, content: Vec<u8>, level: i32) -> io::Result<Page> {
        let kept = compress(&content, level)?;
        Ok(Page::shorter(kind, content, kept))
    }

    /// Creates a page from its content or its compressed content, whichever is shorter.
    fn shorter(kind: u8, content: Vec<u8>, kept: Vec<u8>) -> Page {
        match kept.len() < content.len() {
            true => Page { kind, how: 1, size: content.len() as u32, kept },
            false => Page::plain(kind, content),
        }
    }

    pub(crate) fn len(&self) -> u64 {
        (HEAD + self.kept.len()) as u64
    }

    pub(crate) fn head(&self, number: u32) -> [u8; HEAD] {
        let mut head = [0; HEAD];
        head[0] = self.kind;
        head[1] = self.how;
        head[2..6].copy_from_slice(&self.size.to_le_bytes());
        head[6..10].copy_from_slice(&(self.kept.len() as u32).to_le_bytes());
        head[10..].copy_from_slice(&self.checksum(number).to_le_bytes());
        head
    }

    pub(crate) fn checksum(&self, number: u32) -> u32 {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&number.to_le_bytes());
        hasher.update(&[self.kind, self.how]);
        hasher.update(&self.size.to_le_bytes());
        hasher.update(&(self.kept.len() as u32).to_le_bytes());
        hasher.update(&self.kept);
        hasher.finalize()
    }

    /// Reads the next page, and checks its checksum. `number` is the number of preceding pages.
    pub(crate) fn read(from: &mut impl Read, number: u32) -> Result<Page, ErrorKind> {
        let (page, checksum) = Page::take(from)?;
        match page.checksum(number) == checksum {
            true => Ok(page),
            false => Err(ErrorKind::Checksum),
        }
    }

    /// Reads a page and its stored checksum, which is not verified.
    pub(crate) fn take(from: &mut impl Read) -> Result<(Page, u32), ErrorKind> {
        let mut head = [0; HEAD];
        read_exact(from, &mut head)?;
        let [kind, how, sizes @ ..] = head;
        let word = |at: usize| {
            u32::from_le_bytes([sizes[at], sizes[at + 1], sizes[at + 2], sizes[at + 3]])
        };
        let (size, len) = (word(0), word(4));
        if let Some(size) = [size, len].into_iter().find(|size| u64::from(*size) > LARGEST_PAGE) {
            return Err(ErrorKind::Size(size.into()));
        }
        let mut kept = Vec::with_capacity(len.min(AT_ONCE) as usize);
        from.take(len.into()).read_to_end(&mut kept).map_err(ErrorKind::Io)?;
        if kept.len() < len as usize {
            return Err(ErrorKind::Truncated);
        }
        Ok((Page { kind, how, size, kept }, word(8)))
    }

    /// Returns the content of a page, which must not be compressed.
    pub(crate) fn plain_content(&self) -> Result<&[u8], ErrorKind> {
        match self.how {
            0 if self.size as usize == self.kept.len() => Ok(&self.kept),
            _ => Err(ErrorKind::Content("the page must not be compressed")),
        }
    }

    /// Returns the decompressed content, which may have at most `most` bytes.
    pub(crate) fn content(self, most: u64) -> Result<Vec<u8>, ErrorKind> {
        if u64::from(self.size) > most {
            return Err(ErrorKind::Size(self.size.into()));
        }
        let other = ErrorKind::Content("the page does not have its stated size");
        match self.how {
            0 if self.size as usize == self.kept.len() => return Ok(self.kept),
            0 => return Err(other),
            1 => {}
            _ => return Err(ErrorKind::Content("the page has an unknown encoding")),
        }
        let failed = |error: io::Error| ErrorKind::Zstd(error.to_string());
        if self.size <= PROMPT {
            let mut content = Vec::with_capacity(self.size as usize);
            with_decompressor(|all| all.decompress_to_buffer(&self.kept, &mut content))
                .map_err(failed)?;
            return if content.len() == self.size as usize { Ok(content) } else { Err(other) };
        }
        let decoder = zstd::Decoder::with_buffer(&self.kept[..]).map_err(failed)?;
        let mut content = Vec::new();
        // Reading stops if the frame contains more than the head says.
        decoder.take(u64::from(self.size) + 1).read_to_end(&mut content).map_err(failed)?;
        if content.len() == self.size as usize { Ok(content) } else { Err(other) }
    }
}

fn compress(content: &[u8], level: i32) -> io::Result<Vec<u8>> {
    with_compressor(level, |compressor| compressor.compress(content))
}

/// Memory up to this size is allocated before the content is known to be valid.
const PROMPT: u32 = 1 << 20;

/// Highest level at which a frame does not depend on previous frames of the same compressor.
const QUICK: i32 = 3;

thread_local! {
    /// Decompressor of the thread. Creating a decompressor often takes longer than using it.
    static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
    /// Compressor of the thread for levels 1 to [`QUICK`]. Its tables are allocated only once.
    static COMPRESSOR: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
}

/// Calls `compress` with a compressor that writes frames without sizes and checksums, because pages
/// have their own.
///
/// # Errors
/// zstd runs out of memory, or `compress` fails.
pub(crate) fn with_compressor<T>(
    level: i32,
    compress: impl FnOnce(&mut Compressor<'static>) -> io::Result<T>,
) -> io::Result<T> {
    let new = || -> io::Result<Compressor<'static>> {
        let mut compressor = Compressor::new(level)?;
        compressor.include_contentsize(false)?;
        compressor.include_checksum(false)?;
        Ok(compressor)
    };
    if !(1..=QUICK).contains(&level) {
        return compress(&mut new()?);
    }
    COMPRESSOR.with_borrow_mut(|kept| {
        let compressor = match kept {
            Some(compressor) => compressor,
            none => none.insert(new()?),
        };
        compressor.set_compression_level(level)?;
        compress(compressor)
    })
}

pub(crate) fn read_exact(from: &mut impl Read, into: &mut [u8]) -> Result<(), ErrorKind> {
    from.read_exact(into).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => ErrorKind::Truncated,
        _ => ErrorKind::Io(error),
    })
}

/// Calls `decompress` with the decompressor of the thread.
///
/// # Errors
/// zstd runs out of memory, or `decompress` fails.
pub(crate) fn with_decompressor<T>(
    decompress: impl FnOnce(&mut Decompressor<'static>) -> io::Result<T>,
) -> io::Result<T> {
    DECOMPRESSOR.with_borrow_mut(|kept| {
        decompress(match kept {
            Some(decompressor) => decompressor,
            none => none.insert(Decompressor::new()?),
        })
    })
}
