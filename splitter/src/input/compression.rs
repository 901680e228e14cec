//! Recognises and reads compressed traces.

use std::fmt;
use std::io::{self, BufRead, BufReader, Read};

use liblzma::stream::{CONCATENATED, Stream};

use super::frames::{Format, Frames};
use super::pack;
use super::pieces::{PiecesText, Unpacking};

const BUFFER: usize = 256 << 10;

/// Compression of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Compression {
    /// `.gz`: RFC 1952, one or more members (`bgzip` writes many).
    Gzip,
    /// `.zst`: RFC 8878, one or more frames.
    Zstd,
    /// `.xz`: one or more streams, with padding between and after the streams.
    Xz,
    /// `.bz2`: one or more streams (`pbzip2` writes many).
    Bzip2,
    /// `.pjp`: a packed trace, made by `pj_pack`.
    Packed,
    /// `.otf2`: the anchor file of an OTF2 archive.
    Otf2,
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Compression::Gzip => "gzip",
            Compression::Zstd => "zstd",
            Compression::Xz => "xz",
            Compression::Bzip2 => "bzip2",
            Compression::Packed => "pjp",
            Compression::Otf2 => "otf2",
        })
    }
}

/// First bytes of compressed files. A zstd file may begin with a skippable frame, whose first byte
/// is between `P` and `_`.
const MAGIC: [(&[u8], Compression); 8] = [
    (b"\x1f\x8b", Compression::Gzip),
    (b"\x28\xb5\x2f\xfd", Compression::Zstd),
    (b"P\x2a\x4d\x18", Compression::Zstd),
    (b"\xfd7zXZ\0", Compression::Xz),
    (b"BZh", Compression::Bzip2),
    (b"\x89PJP\r\n", Compression::Packed),
    (OTF2[0], Compression::Otf2),
    (OTF2[1], Compression::Otf2),
];

pub(super) const OTF2: [&[u8]; 2] = [b"\x03\x42OTF2", b"\x03\x23OTF2"];

pub(super) const HEAD: usize = 6;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Guess {
    Plain,
    Compressed(Compression),
    Open,
}

/// Guesses the compression of an input that begins with `head`. If `ended` is true, the input has
/// no more bytes.
///
/// An input that ends within the signature of a compression format counts as compressed, unless it
/// could be text. Reading it then reports damage.
pub(super) fn guess(head: &[u8], ended: bool) -> Guess {
    let mut head = head.to_owned();
    if let Some(first @ b'P'..=b'_') = head.first_mut() {
        *first = b'P';
    }
    for (magic, compression) in MAGIC {
        if head.starts_with(magic) {
            return Guess::Compressed(compression);
        }
        if magic.starts_with(&head) {
            if !ended {
                return Guess::Open;
            }
            if !head.iter().all(u8::is_ascii_graphic) {
                return Guess::Compressed(compression);
            }
        }
    }
    Guess::Plain
}

/// Decompresses to the end of the medium.
///
/// Only compressed data or the padding of xz may follow compressed data. Anything else is an error,
/// even zeros, which gzip accepts. A file with other data was assembled wrongly, and a part of the
/// trace may be missing.
pub(super) struct Decoder {
    compression: Compression,
    reader: Box<dyn Read + Send>,
    /// Handle with which other threads can help to decompress, if the data consists of pieces.
    pub(super) unpacking: Option<Unpacking>,
    /// The first error. Later reads return it again, because some decoders would report the end of
    /// the input.
    failed: Option<(io::ErrorKind, String)>,
}

impl Decoder {
    pub(super) fn new(
        compression: Compression,
        medium: impl Read + Send + 'static,
    ) -> io::Result<Decoder> {
        let text = match compression {
            Compression::Gzip => {
                PiecesText::new(Frames::new(Format::Gzip, medium).pieces(|rest| {
                    Ok(Box::new(flate2::bufread::MultiGzDecoder::new(buffered(rest))))
                }))
            }
            Compression::Zstd => PiecesText::new(
                Frames::new(Format::Zstd, medium)
                    .pieces(|rest| Ok(Box::new(zstd_decoder(buffered(rest))?))),
            ),
            Compression::Packed => pack::text(buffered(medium))?,
            Compression::Otf2 => {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidInput,
                    "this is the anchor file of an OTF2 archive, which has other files; name its path",
                ));
            }
            Compression::Xz => {
                let stream = Stream::new_stream_decoder(MOST_MEMORY, CONCATENATED)?;
                let reader = liblzma::bufread::XzDecoder::new_stream(buffered(medium), stream);
                return Ok(Decoder::alone(compression, reader));
            }
            Compression::Bzip2 => {
                let reader = bzip2::bufread::MultiBzDecoder::new(buffered(medium));
                return Ok(Decoder::alone(compression, reader));
            }
        };
        Ok(Decoder::of_pieces(compression, text))
    }

    fn alone(compression: Compression, reader: impl Read + Send + 'static) -> Decoder {
        Decoder { compression, reader: Box::new(reader), unpacking: None, failed: None }
    }

    pub(super) fn of_pieces(compression: Compression, text: PiecesText) -> Decoder {
        let unpacking = Some(text.unpacking());
        Decoder { unpacking, ..Decoder::alone(compression, text) }
    }
}

/// Maximum memory for decompressing xz. The tool `xz` makes no file that needs more, but any file may claim to.
const MOST_MEMORY: u64 = 2 << 30;

fn buffered<R: Read>(medium: R) -> BufReader<R> {
    BufReader::with_capacity(BUFFER, medium)
}

pub(super) fn zstd_decoder<'d, R: BufRead>(medium: R) -> io::Result<zstd::Decoder<'d, R>> {
    let mut decoder = zstd::Decoder::with_buffer(medium)?;
    // Accepts files compressed with `--long`. By default, zstd refuses such files to limit memory.
    decoder.window_log_max(if cfg!(target_pointer_width = "64") { 31 } else { 30 })?;
    Ok(decoder)
}

/// Adds an explanation to the error of a decompressor. Errors of the file stay as they are.
pub(super) fn explain(compression: Compression, error: io::Error) -> io::Error {
    let of_xz = error.get_ref().and_then(|error| error.downcast_ref());
    if of_xz == Some(&liblzma::stream::Error::MemLimit) {
        let message = format!("{compression}: decompressing would take more than 2 GiB of memory");
        io::Error::new(io::ErrorKind::Unsupported, message)
    } else if error.raw_os_error().is_some() || compression == Compression::Otf2 {
        error
    } else if error.kind() == io::ErrorKind::Unsupported {
        let message = format!("{compression}: {error}");
        io::Error::new(io::ErrorKind::Unsupported, message)
    } else if error.kind() == io::ErrorKind::UnexpectedEof {
        let message = format!("{compression}: the compressed data end too early");
        io::Error::new(io::ErrorKind::UnexpectedEof, message)
    } else {
        let message = format!("{compression}: the compressed data are damaged ({error})");
        io::Error::new(io::ErrorKind::InvalidData, message)
    }
}

impl Read for Decoder {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some((kind, message)) = &self.failed {
            return Err(io::Error::new(*kind, message.clone()));
        }
        self.reader.read(buffer).map_err(|error| {
            let error = explain(self.compression, error);
            self.failed = Some((error.kind(), error.to_string()));
            error
        })
    }
}
