//! The anchor file, which describes an archive.

use crate::bytes::{Cursor, Found, Order};
use crate::chunks::mark;

/// First bytes of an anchor file, in both orders of bytes.
pub const MAGIC: [&[u8]; 2] = [b"\x03\x42OTF2", b"\x03\x23OTF2"];

/// Contents of an anchor file.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Anchor {
    /// Version of the library that wrote the archive.
    pub version: [u8; 3],
    /// Size of a chunk of events, in bytes.
    pub event_chunk: u64,
    /// Size of a chunk of definitions, in bytes.
    pub definition_chunk: u64,
    /// Number of locations.
    pub locations: u64,
    /// Number of global definitions.
    pub definitions: u64,
    /// Machine, creator and description.
    pub texts: [Vec<u8>; 3],
    /// Names and values of properties.
    pub properties: Vec<(Vec<u8>, Vec<u8>)>,
    /// Number of the trace.
    pub trace: u64,
    /// Numbers of snapshots and thumbnails.
    pub others: [u32; 2],
}

impl Anchor {
    /// Reads the bytes of an anchor file.
    pub(crate) fn read(bytes: &[u8]) -> Found<Anchor> {
        const POSIX: u8 = 1;
        const SION: u8 = 2;
        const NO_COMPRESSION: u8 = 1;
        const ZLIB: u8 = 2;
        const CHUNKS: std::ops::RangeInclusive<u64> = 256 << 10..=16 << 20;
        let mut cursor = Cursor::new(bytes, 0, Order::Little);
        let start = cursor.clone();
        if !MAGIC.iter().any(|magic| bytes.starts_with(magic)) {
            return Err(start.damage("this is no anchor file of an OTF2 archive"));
        }
        cursor.byte()?;
        let order = Order::of(cursor.byte()?);
        cursor.set_order(order.unwrap_or(Order::Little));
        if cursor.text()? != b"OTF2" {
            return Err(start.damage("this is no anchor file of an OTF2 archive"));
        }
        let place = cursor.clone();
        let format = cursor.byte()?;
        if format == 0 {
            return Err(place.damage("there is no version 0 of anchor files"));
        }
        let place = cursor.clone();
        if cursor.byte()? > 2 {
            return Err(
                place.damage("the archive is newer than what is read: its trace format is above 2")
            );
        }
        let mut anchor = Anchor::default();
        for part in &mut anchor.version {
            *part = cursor.byte()?;
        }
        for size in [&mut anchor.event_chunk, &mut anchor.definition_chunk] {
            let place = cursor.clone();
            *size = cursor.fixed64()?;
            if !CHUNKS.contains(size) {
                return Err(place.damage("the size of chunks is not from 256 KiB to 16 MiB"));
            }
        }
        let place = cursor.clone();
        match cursor.byte()? {
            POSIX => {}
            SION => {
                return Err(place.damage(
                    "the archive is in SION files, which are not read; write it as POSIX files",
                ));
            }
            _ => return Err(place.damage("the files of the archive are of an unknown kind")),
        }
        let place = cursor.clone();
        match cursor.byte()? {
            NO_COMPRESSION => {}
            ZLIB => {
                return Err(place.damage(
                    "the archive is compressed with zlib, which OTF2 has given up; write it without",
                ));
            }
            _ => return Err(place.damage("the compression of the archive is unknown")),
        }
        anchor.locations = cursor.fixed64()?;
        anchor.definitions = cursor.fixed64()?;
        for text in &mut anchor.texts {
            *text = cursor.text()?.to_vec();
        }
        if format >= 2 {
            for _ in 0..cursor.fixed32()? {
                anchor.properties.push((cursor.text()?.to_vec(), cursor.text()?.to_vec()));
            }
            anchor.trace = cursor.fixed64()?;
        }
        if format >= 3 {
            for count in &mut anchor.others {
                *count = cursor.fixed32()?;
            }
            let place = cursor.clone();
            if cursor.byte()? != mark::END_OF_FILE {
                return Err(place.damage(crate::chunks::CUT));
            }
        }
        Ok(anchor)
    }
}
