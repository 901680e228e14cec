//! Packing and unpacking with all workers.

use std::io::{self, BufWriter, Read, Write};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use paje_analysis::kept;
use paje_analysis::parts::{Part, Parts};
use paje_pack::{
    Borders, Definitions, Error, Packed, Passage, Reader, Segment, Segments, Settings, Writer,
};
use paje_workers::{Workers, in_order};

use crate::witness::{Beside, Testimony, Witness};

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

/// The same for what windows of time need: here it is many questions that are answered sooner.
const SHARE_OF_BORDERS: u64 = 8;

/// Texts that are needed no longer, whose memory is used again.
#[derive(Clone, Default)]
pub(crate) struct Spare(Arc<Mutex<Vec<Vec<u8>>>>);

impl Spare {
    /// Takes a text from who may be the last that needs it.
    pub(crate) fn put(&self, text: Arc<Vec<u8>>) {
        if let Some(text) = Arc::into_inner(text) {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(text);
        }
    }

    fn take(&self) -> Option<Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }
}

/// Teller of what is kept with a trace, beside its segments.
pub(crate) enum Teller<'p> {
    /// Nothing is.
    Nobody,
    /// A replay beside packing.
    Witness(Witness),
    /// Those who pack; where they cannot tell, a replay of this file from then on, or when all is packed.
    Packers(&'p Path),
}

/// Packs a text: who is free reads the next segment, and packs it. The teller's reports are kept.
pub(crate) fn pack(
    text: impl Read + Send,
    out: impl Write + Send,
    settings: Settings,
    workers: &Workers,
    spare: &Spare,
    mut teller: Teller<'_>,
) -> Result<(), Trouble> {
    let file = if let Teller::Packers(file) = teller { Some(file) } else { None };
    let mut segments = Segments::new(text, settings);
    let mut definitions = Definitions::default();
    let mut writer = Writer::new(BufWriter::new(out)).map_err(Trouble::Output)?;
    let (keeps, mut bytes) = (!matches!(teller, Teller::Nobody), 0);
    // Until somebody finds that they are of no use.
    let wants_rows = AtomicBool::new(matches!(teller, Teller::Packers(_)));
    let wants_borders = AtomicBool::new(keeps);
    let next = || {
        if let Some(text) = spare.take() {
            segments.give_back(text);
        }
        let Some(text) = segments.next_text().map_err(Trouble::Input)? else { return Ok(None) };
        bytes += text.len() as u64;
        let (text, before) = (Arc::new(text), definitions.clone());
        definitions.learn(&text);
        if let Teller::Witness(witness) = &mut teller {
            witness.see(Arc::clone(&text));
        }
        Ok(Some((text, before)))
    };
    let pack = |(text, before): (Arc<Vec<u8>>, Definitions)| {
        let packed = if wants_rows.load(Relaxed) {
            Segment::pack_with_rows(&text, &before, settings)
        } else if wants_borders.load(Relaxed) {
            Segment::pack_and_look(&text, &before, settings)
        } else {
            Segment::pack(&text, &before, settings).map(|segment| (segment, None))
        };
        spare.put(text);
        let (segment, mut passage) = packed.map_err(Trouble::Output)?;
        let part = passage.as_mut().and_then(Passage::rows).map(Part::of);
        Ok((segment, passage, part))
    };
    let (mut borders, mut parts, mut beside) = (Borders::default(), Parts::default(), None);
    let put = |(segment, passage, part): (Segment, Option<Passage>, Option<Part>)| {
        writer.put(&segment).map_err(Trouble::Output)?;
        borders.pass(passage);
        borders.fit_in(writer.position() / SHARE_OF_BORDERS);
        // Samples are from both.
        parts.add(part.filter(|_| !borders.have_failed()));
        wants_rows.fetch_and(!parts.have_failed(), Relaxed);
        let are_kept = !borders.have_failed() && !borders.are_left_out();
        wants_borders.fetch_and(are_kept, Relaxed);
        if let Some(file) = file.filter(|_| parts.have_failed() && beside.is_none()) {
            beside = Some(Beside::begin(file).map_err(Trouble::Input)?);
        }
        Ok(())
    };
    each(workers, next, pack, put)?;
    let size = writer.position();
    let seen = match teller {
        Teller::Nobody => Testimony::default(),
        Teller::Witness(witness) => witness.testimony(),
        Teller::Packers(file) => {
            let told = Testimony::of_parts(parts, &borders, bytes, workers);
            let replayed = || match beside {
                Some(beside) => beside.testimony(bytes),
                None => Testimony::of_file(file, bytes, workers),
            };
            told.map_or_else(|| replayed().map_err(Trouble::Input), Ok)?
        }
    };
    let most = size / SHARE_OF_SUMMARY;
    for kept in seen.reports {
        let content = kept.to_bytes();
        let kept = writer.put_summary(kept.table.name, kept::VERSION, content, most);
        kept.map_err(Trouble::Output)?;
    }
    if seen.is_plain
        && writer.put_borders(borders, size / SHARE_OF_BORDERS).map_err(Trouble::Output)?
        && let Some(lanes) = seen.lanes
    {
        let kept = writer.put_summary(kept::LANES, kept::VERSION, lanes.to_bytes(), most);
        kept.map_err(Trouble::Output)?;
    }
    writer.finish().map_err(Trouble::Output)?;
    Ok(())
}

/// Unpacks a packed trace likewise; what `put` is given are texts, in order.
pub(crate) fn unpack(
    packed: impl Read + Send,
    workers: &Workers,
    mut put: impl FnMut(&[u8]) -> io::Result<()> + Send,
) -> Result<(), Trouble> {
    let mut reader = Reader::new(packed);
    let next = || Ok(reader.next_segment()?);
    let put = |text: Vec<u8>| put(&text).map_err(Trouble::Output);
    each(workers, next, |packed: Packed| Ok(packed.unpack()?), put)
}

/// Gives each segment that `next` has to `make`, with all workers, and what that makes to `put`, in order.
fn each<I, T: Send>(
    workers: &Workers,
    next: impl FnMut() -> Result<Option<I>, Trouble> + Send,
    make: impl Fn(I) -> Result<T, Trouble> + Sync,
    mut put: impl FnMut(T) -> Result<(), Trouble> + Send,
) -> Result<(), Trouble> {
    let turns = Turns { line: Mutex::new((0, Some(next))), moved: Condvar::new() };
    // None is the end.
    let make =
        |job| turns.take(job).map_err(Some).and_then(|item| make(item.ok_or(None)?).map_err(Some));
    let done = in_order(workers, usize::MAX, make, |_, made| put(made).map_err(Some));
    done.or_else(|trouble| trouble.map_or(Ok(()), Err))
}

/// Pieces that are read one by one, by those whose turn it is.
struct Turns<F> {
    /// The next turn, and who reads, until there is no more.
    line: Mutex<(usize, Option<F>)>,
    moved: Condvar,
}

impl<I, F: FnMut() -> Result<Option<I>, Trouble>> Turns<F> {
    /// Reads when `turn` has come; all before it have been taken, or are being taken.
    fn take(&self, turn: usize) -> Result<Option<I>, Trouble> {
        // Those who wait go on even if reading panics.
        let _wake = Wake(&self.moved);
        let locked = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.moved.wait_while(locked, |(now, _)| *now < turn);
        let mut line = waited.unwrap_or_else(PoisonError::into_inner);
        line.0 += 1;
        let Some(mut next) = line.1.take() else { return Ok(None) };
        let item = next()?;
        line.1 = item.is_some().then_some(next);
        Ok(item)
    }
}

/// Wakes all who wait when it is dropped.
struct Wake<'a>(&'a Condvar);

impl Drop for Wake<'_> {
    fn drop(&mut self) {
        self.0.notify_all();
    }
}
