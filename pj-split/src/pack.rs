//! Compressed pieces.
//!
//! Each text that is appended to a piece is compressed by itself, as a member (gzip) or a frame (zstd) of its
//! own: what reads these formats reads them one after the other as one text. So pieces, however many,
//! need no memory of what was written before.

use std::io::{self, Write};

use clap::ValueEnum;
use zstd::zstd_safe::CParameter;

/// Compression of pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Compress {
    /// piece-000.trace.gz, …
    Gzip,
    /// piece-000.trace.zst, …
    Zstd,
}

impl Compress {
    /// Suffix of the names of pieces.
    pub(crate) const fn suffix(self) -> &'static str {
        match self {
            Compress::Gzip => ".gz",
            Compress::Zstd => ".zst",
        }
    }
}

/// Packs texts, one after the other; for one worker.
pub(crate) enum Packer {
    /// As they are.
    Plain,
    Gzip(Vec<u8>),
    Zstd(Box<zstd::bulk::Compressor<'static>>, Vec<u8>),
}

impl Packer {
    pub(crate) fn new(how: Option<Compress>) -> io::Result<Self> {
        Ok(match how {
            None => Packer::Plain,
            Some(Compress::Gzip) => Packer::Gzip(Vec::new()),
            Some(Compress::Zstd) => {
                let mut compressor = zstd::bulk::Compressor::new(zstd::DEFAULT_COMPRESSION_LEVEL)?;
                compressor.set_parameter(CParameter::ChecksumFlag(true))?;
                Packer::Zstd(Box::new(compressor), Vec::new())
            }
        })
    }

    /// Returns whether texts should be long: each is compressed by itself.
    pub(crate) const fn compresses(&self) -> bool {
        !matches!(self, Packer::Plain)
    }

    /// Returns the bytes to write for a text.
    pub(crate) fn pack<'a>(&'a mut self, text: &'a [u8]) -> io::Result<&'a [u8]> {
        match self {
            Packer::Plain => Ok(text),
            Packer::Gzip(packed) => {
                packed.clear();
                let level = flate2::Compression::default();
                let mut encoder = flate2::write::GzEncoder::new(packed, level);
                encoder.write_all(text)?;
                Ok(encoder.finish()?)
            }
            Packer::Zstd(compressor, packed) => {
                *packed = compressor.compress(text)?;
                Ok(packed)
            }
        }
    }
}
