//! Writes blocks to the files of the pieces.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use paje_workers::Workers;
use rustix::process::{Resource, getrlimit};

use crate::pack::{Compress, Packer};
use crate::root::OwnLines;
use crate::scatter::{Counter, Part, Rules, Sheet};
use crate::survey::Entry;
use paje_console::Failure;

/// Number of blocks per worker that are scattered before they are written. If there are many
/// pieces, there are more blocks, so that each piece gets some kilobytes at once.
const BLOCKS_PER_WORKER: usize = 4;
const PIECES_PER_BLOCK: usize = 4;
const MOST_BLOCKS: usize = 192;
/// Maximum total size of these blocks in bytes. A single block may exceed it.
const MOST_BYTES: u64 = 32 << 20;

const GATHERED: usize = 1 << 17;
const PACKED: usize = 1 << 20;

/// Number of files reserved for standard streams, the trace and temporary files.
const OTHER_FILES: u64 = 32;

#[derive(Debug)]
struct Piece {
    path: PathBuf,
    /// The file, if it is kept open. `None` if there are too many files.
    file: Option<File>,
}

impl Piece {
    fn create(path: PathBuf, keep: bool) -> Result<Self, Failure> {
        let file = File::create_new(&path).map_err(|error| Failure::File(path.clone(), error))?;
        Ok(Piece { path, file: keep.then_some(file) })
    }

    fn append(&mut self, text: &[u8], packer: &mut Packer) -> Result<(), Failure> {
        if text.is_empty() {
            return Ok(());
        }
        let failed = |error| Failure::File(self.path.clone(), error);
        let bytes = packer.pack(text).map_err(failed)?;
        let written = match &mut self.file {
            Some(file) => file.write_all(bytes),
            None => {
                let file = File::options().append(true).open(&self.path);
                file.and_then(|mut file| file.write_all(bytes))
            }
        };
        written.map_err(|error| Failure::File(self.path.clone(), error))
    }
}

fn most_open() -> u64 {
    let limit = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    limit.saturating_sub(OTHER_FILES)
}

pub(crate) struct Blocks<'a> {
    pub(crate) entries: &'a [Entry],
    pub(crate) text: &'a File,
    pub(crate) text_name: &'a Path,
    pub(crate) log: &'a File,
}

/// Writes all pieces and root.trace to `folder`. Returns the number of bytes written. `copied`
/// counts the bytes of the trace that have been processed.
pub(crate) fn write(
    folder: &Path,
    compress: Option<Compress>,
    blocks: &Blocks<'_>,
    rules: &Rules<'_>,
    workers: &Workers,
    copied: &AtomicU64,
) -> Result<u64, Failure> {
    let count = rules.shares.count();
    let open = most_open();
    let piece = |number: usize| {
        let path = folder.join(rules.own.piece(number));
        Ok(Mutex::new(Piece::create(path, (number as u64) < open)?))
    };
    let mut pieces = (0..count).map(piece).collect::<Result<Vec<_>, Failure>>()?;
    // The last writer also writes root.trace.
    let mut root = Piece::create(folder.join("root.trace"), true)?;
    root.append(&rules.own.root_head, &mut Packer::Plain)?;
    root.append(&rules.own.first, &mut Packer::Plain)?;
    pieces.push(Mutex::new(root));

    let team = workers.threads();
    let round = match compress {
        None => (team * BLOCKS_PER_WORKER).max(count / PIECES_PER_BLOCK).min(MOST_BLOCKS),
        Some(_) => MOST_BLOCKS,
    };
    let sheets: Vec<Mutex<Sheet>> = (0..round).map(|_| Mutex::default()).collect();
    let counters: Vec<Mutex<Counter>> =
        (0..team).map(|_| Mutex::new(Counter::new(count))).collect();
    let writer = |_| Ok(Mutex::new(Writer::new(Packer::new(compress)?)));
    let writers: std::io::Result<Vec<Mutex<Writer>>> = (0..team).map(writer).collect();
    let writers = writers.map_err(|error| Failure::File(folder.to_owned(), error))?;
    for piece in &pieces[..count] {
        lock(piece).append(&rules.own.head, &mut lock(&writers[0]).packer)?;
    }
    let failures = Failures::default();
    let mut rest = blocks.entries;
    while let (entries, behind) = rest.split_at(round_of(rest, round))
        && !entries.is_empty()
    {
        rest = behind;
        workers.share_out(entries.len(), |worker, number| {
            let (mut counter, mut sheet) = (lock(&counters[worker]), lock(&sheets[number]));
            let entry = entries[number];
            let filled = sheet.fill(entry, blocks.text, blocks.log, rules, &mut counter);
            failures
                .keep(filled.map_err(|error| Failure::File(blocks.text_name.to_owned(), error)));
        });
        failures.take()?;
        let mut locked: Vec<_> = sheets[..entries.len()].iter().map(lock).collect();
        let filled: Vec<&Sheet> = locked.iter().map(|sheet| &**sheet).collect();
        workers.on_each(|worker| {
            let mut writer = lock(&writers[worker]);
            failures.keep(writer.write(worker, team, &filled, rules, &pieces));
        });
        failures.take()?;
        copied.fetch_add(bytes_of(entries), Ordering::Relaxed);
        locked.iter_mut().for_each(|sheet| sheet.trim());
    }
    for piece in &pieces[..count] {
        lock(piece).append(&rules.own.tail, &mut lock(&writers[0]).packer)?;
    }
    let written = writers.iter().map(|writer| lock(writer).written).sum::<u64>();
    let OwnLines { root_head, head, first, tail, .. } = rules.own;
    let of_root = root_head.len() + first.len();
    Ok(written + (of_root + count * (head.len() + tail.len())) as u64)
}

/// Returns how many of these blocks are scattered together. `most` and the sizes of the blocks
/// limit the number.
fn round_of(entries: &[Entry], most: usize) -> usize {
    let fits = |count: &usize| bytes_of(&entries[..*count]) <= MOST_BYTES;
    (1..=most.min(entries.len())).rev().find(fits).unwrap_or(entries.len().min(1))
}

fn bytes_of(entries: &[Entry]) -> u64 {
    entries.iter().map(|entry| u64::from(entry.len)).sum()
}

struct Writer {
    packer: Packer,
    /// For each piece of this writer, its parts. Each part has the index of its sheet.
    lists: Vec<Vec<(u32, Part)>>,
    gathered: Vec<u8>,
    written: u64,
}

impl Writer {
    const fn new(packer: Packer) -> Self {
        Writer { packer, lists: Vec::new(), gathered: Vec::new(), written: 0 }
    }

    fn write(
        &mut self,
        worker: usize,
        team: usize,
        sheets: &[&Sheet],
        rules: &Rules<'_>,
        pieces: &[Mutex<Piece>],
    ) -> Result<(), Failure> {
        let count = pieces.len() - 1;
        self.lists.resize_with(count.div_ceil(team), Vec::new);
        for (number, sheet) in (0..).zip(sheets) {
            for part in &sheet.parts {
                match *part {
                    Part::Own { piece, .. } if piece as usize % team == worker => {
                        self.lists[piece as usize / team].push((number, *part));
                    }
                    Part::Own { .. } => {}
                    Part::Shared { recipients, .. } => {
                        recipients.each(rules.needs, count, |piece| {
                            if piece % team == worker {
                                self.lists[piece / team].push((number, *part));
                            }
                        })
                    }
                }
            }
        }
        let Writer { packer, lists, gathered, written } = self;
        for (index, list) in lists.iter_mut().enumerate() {
            if list.is_empty() {
                continue;
            }
            let mut piece = lock(&pieces[index * team + worker]);
            let bytes = list.drain(..).map(|(number, part)| {
                let sheet = sheets[number as usize];
                match part {
                    Part::Own { start, end, .. } => &sheet.out[start as usize..end as usize],
                    Part::Shared { start, end, .. } => &sheet.text[start as usize..end as usize],
                }
            });
            *written += gather(&mut piece, packer, bytes, gathered)?;
        }
        if count % team == worker {
            let bytes = sheets.iter().map(|sheet| sheet.root.as_slice());
            let root = &mut lock(&pieces[count]);
            *written += gather(root, &mut Packer::Plain, bytes, gathered)?;
        }
        Ok(())
    }
}

/// Appends texts to a piece. Joins small texts before writing them. Returns the number of bytes.
fn gather<'t>(
    piece: &mut Piece,
    packer: &mut Packer,
    texts: impl Iterator<Item = &'t [u8]>,
    gathered: &mut Vec<u8>,
) -> Result<u64, Failure> {
    gathered.clear();
    let most = if packer.compresses() { PACKED } else { GATHERED };
    let mut written = 0;
    for text in texts {
        written += text.len() as u64;
        if gathered.len() + text.len() > most {
            piece.append(gathered, packer)?;
            gathered.clear();
        }
        if text.len() > most / 2 {
            piece.append(gathered, packer)?;
            gathered.clear();
            piece.append(text, packer)?;
        } else {
            gathered.extend_from_slice(text);
        }
    }
    piece.append(gathered, packer)?;
    Ok(written)
}

#[derive(Default)]
struct Failures(Mutex<Option<Failure>>);

impl Failures {
    fn keep(&self, result: Result<(), Failure>) {
        if let Err(failure) = result {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(failure);
        }
    }

    fn take(&self) -> Result<(), Failure> {
        let failure = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        failure.map_or(Ok(()), Err)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_make_shorter_rounds() {
        let entry = |len: u64| Entry { start: 0, len: len as u32, log_len: 0, log_at: 0 };
        let entries = |lens: &[u64]| lens.iter().map(|len| entry(*len)).collect::<Vec<_>>();
        assert_eq!(round_of(&[], 9), 0);
        assert_eq!(round_of(&entries(&[1; 20]), 9), 9);
        assert_eq!(round_of(&entries(&[1; 5]), 9), 5);
        let (half, more) = (MOST_BYTES / 2, MOST_BYTES + 1);
        assert_eq!(round_of(&entries(&[half, half, 1]), 9), 2);
        assert_eq!(round_of(&entries(&[more, 1]), 9), 1);
        assert_eq!(round_of(&entries(&[1, more]), 9), 1);
    }

    #[test]
    fn files_that_are_reopened_are_appended_to() -> std::io::Result<()> {
        let folder = tempfile::tempdir()?;
        let mut scratch = Vec::new();
        let long = vec![b'x'; GATHERED];
        let texts = [&b"one\n"[..], b"two\n", &long, b"", b"three\n"];
        for keep in [true, false] {
            let path = folder.path().join(keep.to_string());
            let mut piece = Piece::create(path.clone(), keep).expect("a new file");
            for _ in 0..2 {
                let written =
                    gather(&mut piece, &mut Packer::Plain, texts.into_iter(), &mut scratch);
                assert_eq!(written.ok(), Some(texts.concat().len() as u64));
            }
            assert!(std::fs::read(&path)? == texts.concat().repeat(2));
            assert!(Piece::create(path, keep).is_err());
        }
        Ok(())
    }
}
