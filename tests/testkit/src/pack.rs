//! Compresses traces with the libraries that read them.

use std::io::Read;

use paje_pack::Settings;

/// Kinds of compression that traces can have.
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
        _ => unreachable!("unknown compression {compression}"),
    };
    let mut packed = Vec::new();
    encoder.read_to_end(&mut packed).expect("memory can be read");
    packed
}

/// Decompresses a text that was compressed by xz.
pub fn unpack_xz(packed: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    liblzma::read::XzDecoder::new(packed).read_to_end(&mut text).expect("a valid stream");
    text
}
