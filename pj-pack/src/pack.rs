//! Packing and unpacking with all workers.

use std::io::{self, BufWriter, Read, Write};
use std::sync::Mutex;

use paje_pack::{Definitions, Error, Packed, Reader, Segment, Segments, Settings, Writer};
use workers::Workers;

/// Which side fails.
#[derive(Debug)]
pub(crate) enum Trouble {
    Input(io::Error),
    Output(io::Error),
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Trouble::Input(error.into())
    }
}

/// Packs a text: so many segments at a time as there are workers, read while nobody packs.
pub(crate) fn pack(
    text: impl Read,
    out: impl Write,
    settings: Settings,
    workers: &Workers,
) -> Result<(), Trouble> {
    let mut segments = Segments::new(text, settings);
    let mut definitions = Definitions::default();
    let mut writer = Writer::new(BufWriter::new(out)).map_err(Trouble::Output)?;
    loop {
        let mut texts = Vec::new();
        while texts.len() < workers.threads()
            && let Some(text) = segments.next_text().map_err(Trouble::Input)?
        {
            let before = definitions.clone();
            definitions.learn(&text);
            texts.push((text, before));
        }
        if texts.is_empty() {
            break;
        }
        let pack = |number: usize| {
            let (text, before) = &texts[number];
            Segment::pack(text, before, settings)
        };
        let packed = workers.run(|| workers.map(texts.len(), pack));
        for segment in packed {
            writer.put(&segment.map_err(Trouble::Output)?).map_err(Trouble::Output)?;
        }
    }
    writer.finish().map_err(Trouble::Output)?;
    Ok(())
}

/// Unpacks a packed trace likewise; what `put` is given are texts, in order.
pub(crate) fn unpack(
    packed: impl Read,
    workers: &Workers,
    mut put: impl FnMut(&[u8]) -> io::Result<()>,
) -> Result<(), Trouble> {
    let mut reader = Reader::new(packed);
    loop {
        let mut some: Vec<Mutex<Option<Packed>>> = Vec::new();
        while some.len() < workers.threads()
            && let Some(segment) = reader.next_segment()?
        {
            some.push(Mutex::new(Some(segment)));
        }
        if some.is_empty() {
            return Ok(());
        }
        let unpack = |number: usize| {
            let segment = some[number].lock().ok().and_then(|mut segment| segment.take());
            segment.map(Packed::unpack)
        };
        for text in workers.run(|| workers.map(some.len(), unpack)).into_iter().flatten() {
            put(&text?).map_err(Trouble::Output)?;
        }
    }
}
