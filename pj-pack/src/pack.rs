//! Packing and unpacking with all workers.

use std::io::{self, BufWriter, Read, Write};
use std::sync::Mutex;

use paje_analysis::kept;
use paje_pack::{Definitions, Error, Packed, Reader, Segment, Segments, Settings, Writer};
use workers::Workers;

use crate::witness::Witness;

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

/// Of what the segments take, which part a summary may take at most. Smaller traces are soon replayed.
const SHARE_OF_SUMMARY: u64 = 64;

/// Packs a text: so many segments at a time as there are workers, read while nobody packs. The witness is shown
/// all of it, and what it reports is kept.
pub(crate) fn pack(
    text: impl Read,
    out: impl Write,
    settings: Settings,
    workers: &Workers,
    mut witness: Option<Witness>,
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
        if let Some(witness) = &mut witness {
            texts.into_iter().for_each(|(text, _)| witness.see(text));
        }
    }
    let most = writer.position() / SHARE_OF_SUMMARY;
    for kept in witness.map(Witness::reports).unwrap_or_default() {
        let content = kept.to_bytes();
        let kept = writer.put_summary(kept.table.name, kept::VERSION, content, most);
        kept.map_err(Trouble::Output)?;
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
