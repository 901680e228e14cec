//! Compressed pieces.
//!
//! Each text is compressed separately, as a gzip member or a zstd frame, so earlier texts need not
//! be kept. Readers join the texts.

use std::io::{self, Write};

use clap::ValueEnum;
use zstd::zstd_safe::CParameter;

/// Compression formats of pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Compress {
    /// piece-000.trace.gz, …
    Gzip,
    /// piece-000.trace.zst, …
    Zstd,
}

impl Compress {
    pub(crate) const fn suffix(self) -> &'static str {
        match self {
            Compress::Gzip => ".gz",
            Compress::Zstd => ".zst",
        }
    }
}

pub(crate) enum Packer {
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

    /// Returns whether texts are compressed. Each is compressed separately, so they should be long.
    pub(crate) const fn compresses(&self) -> bool {
        !matches!(self, Packer::Plain)
    }

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
