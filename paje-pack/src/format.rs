//! The file: a header, pages, and where they are. See `docs/pack.md`.

use std::cell::RefCell;
use std::fmt;
use std::io::{self, Read};

use zstd::bulk::{Compressor, Decompressor};

/// First bytes of a packed trace.
pub(crate) const MAGIC: &[u8; 8] = b"\x89PJP\r\n\x1a\n";
/// Last bytes of it, behind the place of its index.
pub(crate) const END: &[u8; 8] = b"PJP end\n";
/// The version that is written, and the only one that is read.
pub(crate) const VERSION: u32 = 2;
/// Magic and version.
pub(crate) const HEADER: u64 = 12;
/// The head of a page.
pub(crate) const HEAD: usize = 14;

/// Bytes of text in a segment, at most.
pub(crate) const LARGEST_SEGMENT: usize = 1 << 26;
/// Bytes of a page once it is decompressed, at most: texts of a segment have an end each.
pub(crate) const LARGEST_PAGE: u64 = 1 << 28;
/// Bytes of a summary, at most.
pub(crate) const LARGEST_SUMMARY: u64 = 1 << 24;

/// Contents and texts so short that it costs nothing to see how they are kept best.
pub(crate) const SHORT: usize = 1 << 18;
/// zstd's level for what is tried, for whole texts, and for summaries.
pub(crate) const HIGH: i32 = 19;
/// The level from which on time does not count, and what is tried below it: Cholesky's pages are no larger than with 19.
pub(crate) const THOROUGH: i32 = 15;
/// The level from which on short pages are no larger to speak of, while it takes a tenth of the time.
pub(crate) const MIDDLE: i32 = 9;
/// The level of lines of borders, of which there may be many: they are a few hundredths larger than with 9, and take a fifth of the time.
pub(crate) const BORDERS: i32 = 4;

/// Kinds of pages, by their content.
pub(crate) mod kind {
    /// The head of a segment: its sizes, the scale of its times, which pages follow, a checksum.
    pub(crate) const HEAD: u8 = 1;
    /// The bits of the first stream; its texts, then those of the others, follow.
    pub(crate) const STREAMS: u8 = 2;
    /// The text of a segment as it is.
    pub(crate) const TEXT: u8 = 10;
    /// The places of segments and summaries.
    pub(crate) const INDEX: u8 = 11;
    /// A summary that a program keeps with the trace.
    pub(crate) const SUMMARY: u8 = 12;
}

/// Why a packed trace cannot be read.
#[derive(Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// It does not begin as packed traces do.
    NoMagic,
    /// It has another version than this library reads.
    Version(u32),
    /// It ends before its end.
    Truncated,
    /// A page is not what was written.
    Checksum,
    /// A page claims a size that no page has.
    Size(u64),
    /// A page is of another kind than those that can follow here.
    Page(u8),
    /// A page cannot be decompressed.
    Zstd(String),
    /// A page does not say what pages of its kind say.
    Content(&'static str),
    /// Something follows the end.
    Trailing,
    /// The medium failed.
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
                write!(f, "the page claims {size} bytes, more than a page can have")
            }
            ErrorKind::Page(kind) => write!(f, "unexpected page of kind {kind}"),
            ErrorKind::Zstd(error) => write!(f, "the page cannot be decompressed: {error}"),
            ErrorKind::Content(why) => f.write_str(why),
            ErrorKind::Trailing => f.write_str("there are bytes after the end of the packed trace"),
            ErrorKind::Io(error) => error.fmt(f),
        }
    }
}

/// Why a packed trace cannot be read, and where.
#[derive(Debug)]
pub struct Error {
    /// The byte of the packed file, from 0, where the page begins that is at fault.
    pub at: u64,
    /// The fault.
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

/// Appends a number in groups of seven bits, the lowest first.
pub(crate) fn put_number(mut number: u64, out: &mut Vec<u8>) {
    while number > 127 {
        out.push(number as u8 | 128);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Takes such a number off the front.
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

/// Of a page, so many bytes are asked for at once: more may not be there.
const AT_ONCE: u32 = 1 << 16;

/// A page, as it is kept.
pub(crate) struct Page {
    pub(crate) kind: u8,
    /// Kept as it is (0), or compressed with zstd (1).
    how: u8,
    /// Its size when it is not.
    size: u32,
    pub(crate) kept: Vec<u8>,
}

impl Page {
    /// A page of its own content.
    pub(crate) fn plain(kind: u8, content: Vec<u8>) -> Page {
        Page { kind, how: 0, size: content.len() as u32, kept: content }
    }

    /// A page of content that zstd may make smaller. Where it costs little, a higher level is tried, too (19 for 15 and more, else 9): names of what is created
    /// or defined once are mostly better off with it, by up to a fifth, but not always.
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

    /// The same with this level alone.
    ///
    /// # Errors
    /// zstd lacks memory.
    pub(crate) fn of_level(kind: u8, content: Vec<u8>, level: i32) -> io::Result<Page> {
        let kept = compress(&content, level)?;
        Ok(Page::shorter(kind, content, kept))
    }

    /// A page of content, as zstd has it if that is shorter.
    fn shorter(kind: u8, content: Vec<u8>, kept: Vec<u8>) -> Page {
        match kept.len() < content.len() {
            true => Page { kind, how: 1, size: content.len() as u32, kept },
            false => Page::plain(kind, content),
        }
    }

    /// Bytes in the file.
    pub(crate) fn len(&self) -> u64 {
        (HEAD + self.kept.len()) as u64
    }

    /// Its head; `number` is how many pages come before it.
    pub(crate) fn head(&self, number: u32) -> [u8; HEAD] {
        let mut head = [0; HEAD];
        head[0] = self.kind;
        head[1] = self.how;
        head[2..6].copy_from_slice(&self.size.to_le_bytes());
        head[6..10].copy_from_slice(&(self.kept.len() as u32).to_le_bytes());
        head[10..].copy_from_slice(&self.checksum(number).to_le_bytes());
        head
    }

    /// The checksum of a page with `number` pages before it.
    pub(crate) fn checksum(&self, number: u32) -> u32 {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&number.to_le_bytes());
        hasher.update(&[self.kind, self.how]);
        hasher.update(&self.size.to_le_bytes());
        hasher.update(&(self.kept.len() as u32).to_le_bytes());
        hasher.update(&self.kept);
        hasher.finalize()
    }

    /// Reads the page with `number` pages before it.
    pub(crate) fn read(from: &mut impl Read, number: u32) -> Result<Page, ErrorKind> {
        let (page, checksum) = Page::take(from)?;
        match page.checksum(number) == checksum {
            true => Ok(page),
            false => Err(ErrorKind::Checksum),
        }
    }

    /// Takes a page, and the checksum that it should have.
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

    /// Content of the page, if pages of its kind are kept as they are.
    pub(crate) fn plain_content(&self) -> Result<&[u8], ErrorKind> {
        match self.how {
            0 if self.size as usize == self.kept.len() => Ok(&self.kept),
            _ => Err(ErrorKind::Content("the page must not be compressed")),
        }
    }

    /// Content of the page, decompressed, `most` bytes at most if it is right.
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
        // A frame that gives more than the head says is not read to its end.
        decoder.take(u64::from(self.size) + 1).read_to_end(&mut content).map_err(failed)?;
        if content.len() == self.size as usize { Ok(content) } else { Err(other) }
    }
}

/// One zstd frame.
fn compress(content: &[u8], level: i32) -> io::Result<Vec<u8>> {
    with_compressor(level, |compressor| compressor.compress(content))
}

/// Contents of so many bytes have their memory before it is known that they are there.
const PROMPT: u32 = 1 << 20;

/// Highest level whose frames do not depend on what was compressed before with the same compressor.
const QUICK: i32 = 3;

thread_local! {
    /// A decompressor, which takes more memory than what it is used for, mostly.
    static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
    /// A compressor for levels 1 to [`QUICK`]: its tables are made once.
    static COMPRESSOR: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
}

/// Result of `compress` with a compressor of frames that have neither their sizes, which stand elsewhere, nor checksums.
///
/// # Errors
/// zstd lacks memory, or `compress` fails.
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

/// Result of `decompress` with a decompressor of frames.
///
/// # Errors
/// zstd lacks memory, or `decompress` fails.
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
