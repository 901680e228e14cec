//! By their first bytes, recognises files that are not traces or that must be unpacked first. A
//! trace begins with a comment or a definition, so it cannot begin with any of these bytes.

use std::io::{self, Read};

use super::Compression;

pub(super) const HEAD: usize = 512;

const UNPACK: &str = "unpack it first";
const DECOMPRESS: &str = "decompress it first (gzip, zstd, xz and bzip2 are read as they are)";
const RECODE: &str = "convert it to UTF-8 first, with iconv for example";
const NOTHING: &str = "";

/// First bytes of other kinds of files, with a description of such files and advice for the user.
const MAGIC: [(&[u8], &str, &str); 31] = [
    (b"PK\x03\x04", "a zip archive", UNPACK),
    (b"PK\x05\x06", "a zip archive", UNPACK),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", UNPACK),
    (b"Rar!\x1a\x07", "a rar archive", UNPACK),
    (b"\x04\x22\x4d\x18", "compressed with lz4", DECOMPRESS),
    (b"\x02\x21\x4c\x18", "compressed with lz4", DECOMPRESS),
    (b"LZIP\x01", "compressed with lzip", DECOMPRESS),
    (b"\x89LZO\0\r\n\x1a\n", "compressed with lzop", DECOMPRESS),
    (b"\x1f\x9d", "compressed with compress", DECOMPRESS),
    (b"\xff\x06\0\0sNaPpY", "compressed with snappy", DECOMPRESS),
    (b"\xff\xfe\0\0", "text in UTF-32", RECODE),
    (b"\0\0\xfe\xff", "text in UTF-32", RECODE),
    (b"%\0E\0", "text in UTF-16", RECODE),
    (b"\0%\0E", "text in UTF-16", RECODE),
    (b"%PDF-", "a PDF document", NOTHING),
    (b"\x89PNG\r\n\x1a\n", "a picture (PNG)", NOTHING),
    (b"\xff\xd8\xff", "a picture (JPEG)", NOTHING),
    (b"GIF8", "a picture (GIF)", NOTHING),
    (b"PAR1", "a Parquet file", NOTHING),
    (b"ARROW1\0\0", "an Arrow file", NOTHING),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file", NOTHING),
    (b"SQLite format 3\0", "an SQLite database", NOTHING),
    (b"\xcf\xfa\xed\xfe", "a program (Mach-O)", NOTHING),
    (b"MZ\x90\0", "a program (Windows)", NOTHING),
    (b"!<arch>\n", "a library (ar)", NOTHING),
    (b"<!DOCTYPE html", "an HTML page", NOTHING),
    (b"<!doctype html", "an HTML page", NOTHING),
    (b"<html", "an HTML page", NOTHING),
    (b"<?xml", "an XML document", NOTHING),
    (b"\x03\x42OTF2", "the anchor file of an OTF2 archive", UNPACK),
    (b"\x03\x23OTF2", "the anchor file of an OTF2 archive", UNPACK),
];

/// Returns a description of a file that begins with `head`, and advice for the user. Returns `None`
/// if the file may be a trace.
fn foreign(head: &[u8]) -> Option<(&'static str, &'static str)> {
    if let Some((_, what, advice)) = MAGIC.iter().find(|(magic, ..)| head.starts_with(magic)) {
        return Some((what, advice));
    }
    if head.starts_with(b"\x7fELF") {
        // These two bytes are the type of the file, in either byte order. Type 4 is a core dump.
        let is_core = matches!(head.get(16..18), Some([4, 0] | [0, 4]));
        return Some((
            if is_core { "a core dump" } else { "a program or a library (ELF)" },
            NOTHING,
        ));
    }
    // The first two bytes alone could be damage in a trace.
    if matches!(head, [0xff, 0xfe, _, 0, ..] | [0xfe, 0xff, 0, _, ..]) {
        return Some(("text in UTF-16", RECODE));
    }
    // A tar archive begins with a file name padded with zeros. The word `ustar` alone could also be
    // part of a comment.
    let is_tar = head.get(257..262) == Some(b"ustar") && head[99] == 0 && head[0] != b'#';
    is_tar.then_some(("a tar archive", UNPACK))
}

/// Checks whether a file that begins with `head` may be a trace.
///
/// # Errors
/// The file is not a trace.
pub(super) fn check(head: &[u8], compression: Option<Compression>) -> io::Result<()> {
    let Some((what, advice)) = foreign(head) else { return Ok(()) };
    let inside = compression.map_or(String::new(), |compression| format!("{compression}: "));
    let advice = if advice.is_empty() { String::new() } else { format!("; {advice}") };
    let message = format!("{inside}this is {what}, not a Pajé trace{advice}");
    Err(io::Error::new(io::ErrorKind::InvalidData, message))
}

/// A stream whose first bytes are checked when they are read.
pub(super) struct Checked<R> {
    reader: R,
    compression: Option<Compression>,
    head: Option<Vec<u8>>,
    failure: Option<io::Error>,
}

impl<R: Read> Checked<R> {
    pub(super) const fn new(reader: R, compression: Option<Compression>) -> Self {
        Checked { reader, compression, head: None, failure: None }
    }

    fn look(&mut self) -> Vec<u8> {
        let mut head = Vec::with_capacity(HEAD);
        self.failure = self.reader.by_ref().take(HEAD as u64).read_to_end(&mut head).err();
        head
    }
}

impl<R: Read> Read for Checked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut head = match self.head.take() {
            Some(head) => head,
            None => {
                let head = self.look();
                check(&head, self.compression)?;
                head
            }
        };
        if head.is_empty() {
            self.head = Some(head);
            return match self.failure.take() {
                Some(failure) => Err(failure),
                None => self.reader.read(buffer),
            };
        }
        let count = head.len().min(buffer.len());
        buffer[..count].copy_from_slice(&head[..count]);
        head.drain(..count);
        self.head = Some(head);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_magic_is_the_start_of_another() {
        for (index, (magic, what, _)) in MAGIC.iter().enumerate() {
            assert!(magic.len() <= HEAD);
            let first = MAGIC.iter().position(|(other, ..)| magic.starts_with(other));
            assert_eq!(first, Some(index), "{what}");
        }
    }

    #[test]
    fn a_byte_order_mark_alone_may_be_damage() {
        assert_eq!(foreign(b"\xff\xfe%\0E\0"), Some(("text in UTF-16", RECODE)));
        assert_eq!(foreign(b"\xfe\xff\0%\0E"), Some(("text in UTF-16", RECODE)));
        for damaged in [&b"\xff\xfe\n%EventDef"[..], b"\xfe\xff%EventDef", b"\xff\xfe"] {
            assert_eq!(foreign(damaged), None);
        }
    }

    #[test]
    fn foreign_files_are_recognised() {
        let mut tar = vec![0; 512];
        tar[..5].copy_from_slice(b"trace");
        tar[257..262].copy_from_slice(b"ustar");
        assert_eq!(foreign(&tar), Some(("a tar archive", UNPACK)));
        tar[..5].copy_from_slice(b"#race");
        assert_eq!(foreign(&tar), None);
        let elf = |kind: u8| [b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0", &[kind, 0][..]].concat();
        assert_eq!(foreign(&elf(4)), Some(("a core dump", "")));
        assert_eq!(foreign(&elf(2)).map(|(what, _)| what), Some("a program or a library (ELF)"));
        for text in
            [&b""[..], b"%EventDef", b"%", b"% PDF", b"# PK", b"\xef\xbb\xbf%E", b"\n", b"P"]
        {
            assert_eq!(foreign(text), None);
        }
    }

    #[test]
    fn a_checked_stream_has_the_same_bytes() {
        for len in [0, 1, HEAD - 1, HEAD, HEAD + 1, 5 * HEAD] {
            let text = vec![b'x'; len];
            let mut checked = Checked::new(&text[..], None);
            let (mut found, mut some) = (Vec::new(), [0; 100]);
            loop {
                let count = checked.read(&mut some).unwrap();
                found.extend_from_slice(&some[..count]);
                if count == 0 {
                    break;
                }
            }
            assert_eq!(found, text);
        }
    }
}
