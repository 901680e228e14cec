//! Parts of packed traces.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use paje_analysis::Data;
use paje_analysis::kept::{self, Kept, LANES, Lanes, REPORTS};
use paje_pack::{Error, ErrorKind, Summaries};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors;
use crate::keywords::Arguments;
use crate::options::{Size, wrong};

/// Number of bytes that are requested at once outside of segments.
const AT_ONCE: u64 = 16 << 10;

/// Opens a file, unless it is a pipe, which cannot be read twice.
fn open(path: &Path) -> io::Result<Option<File>> {
    Ok(if std::fs::metadata(path)?.is_file() { Some(File::open(path)?) } else { None })
}

fn summaries(path: &Path) -> Option<Summaries<File>> {
    Summaries::new(open(path).ok()??).ok()
}

/// Returns the lanes with states of a packed trace.
pub(crate) fn lanes(path: &Path) -> Option<Lanes> {
    Lanes::parse(&summaries(path)?.get(LANES, kept::VERSION).ok()??)
}

/// Returns a size in bytes, given as a number or a string such as '4G'.
#[pyfunction]
pub(crate) fn size(size: &Bound<'_, PyAny>) -> PyResult<u64> {
    let asked = PyDict::new(size.py());
    asked.set_item("size", size)?;
    let size: Size = Arguments(&asked).get("size", "a number of bytes or a string such as '4G'")?;
    paje_bindings::Size::from(size).bytes().map_err(wrong)
}

/// Times and sizes of a segment: earliest and latest time, bytes in the file, and lines.
type Segment = (f64, f64, u64, u64, u64);

/// Returns the segments of a packed trace: earliest time, latest time, bytes in the file, bytes of
/// text, lines. Returns None if the trace cannot be read in parts.
#[pyfunction]
pub(crate) fn segments(py: Python<'_>, path: PathBuf) -> PyResult<Option<Vec<Segment>>> {
    let found = py.detach(|| {
        let Some(file) = open(&path)? else { return Ok(None) };
        let infos = match Summaries::new(file).and_then(|mut kept| kept.segment_infos()) {
            Ok(infos) => infos,
            Err(error) if matches!(error.kind, ErrorKind::NoMagic) => None,
            Err(error) => return Err(io::Error::from(error)),
        };
        let list =
            |it: paje_pack::SegmentInfo| (it.first, it.last, it.bytes, it.text_bytes, it.lines);
        Ok(infos.map(|infos| infos.into_iter().map(list).collect()))
    });
    found.map_err(|error: io::Error| errors::of_file(py, &path, &error))
}

/// Returns the values that the stored reports of a packed trace list: those of states, and those of
/// links. Returns None if it has no reports.
#[pyfunction]
pub(crate) fn values(py: Python<'_>, path: PathBuf) -> Option<(Vec<String>, Vec<String>)> {
    py.detach(|| {
        let mut summaries = summaries(&path)?;
        let [states, links] = REPORTS.map(|report| {
            let found = summaries.get(report, kept::VERSION).ok()??;
            let Kept { table, .. } = Kept::parse(report, &found)?;
            match table.column("value")? {
                Data::Text(all) => Some(all.iter().map(ToString::to_string).collect()),
                _ => None,
            }
        });
        Some((states?, links?))
    })
}

/// A file that has only some of its bytes.
struct Holes {
    file: File,
    size: u64,
    place: u64,
    have: Vec<(u64, u64)>,
}

/// Error of a read of missing bytes.
#[derive(Debug, thiserror::Error)]
#[error("bytes from {0} are missing")]
struct Missing(u64, u64);

impl Read for Holes {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let held = self.have.iter().find(|(from, to)| (*from..*to).contains(&self.place));
        let Some((_, to)) = held else {
            if self.place >= self.size {
                return Ok(0);
            }
            let to = self.place + (buffer.len() as u64).max(AT_ONCE);
            return Err(io::Error::other(Missing(self.place, to.min(self.size))));
        };
        let most = buffer.len().min((to - self.place) as usize);
        self.file.seek(SeekFrom::Start(self.place))?;
        let count = self.file.read(&mut buffer[..most])?;
        self.place += count as u64;
        Ok(count)
    }
}

impl Seek for Holes {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.place = match to {
            SeekFrom::Start(place) => place,
            SeekFrom::End(by) => self.size.saturating_add_signed(by),
            SeekFrom::Current(by) => self.place.saturating_add_signed(by),
        };
        Ok(self.place)
    }
}

/// Returns the ranges of bytes that a copy of a packed trace with these bytes still lacks, so that
/// its window can be read, or its index if there is no window. Returns None if the whole file is
/// needed. After the ranges have been added, more may be needed.
#[pyfunction]
pub(crate) fn missing(
    py: Python<'_>,
    path: PathBuf,
    have: Vec<(u64, u64)>,
    window: Option<(f64, f64)>,
) -> PyResult<Option<Vec<(u64, u64)>>> {
    let lacking = py.detach(|| -> io::Result<Option<Vec<(u64, u64)>>> {
        let file = File::open(&path)?;
        let size = file.metadata()?.len();
        let holes = Holes { file, size, place: 0, have: have.clone() };
        match places(holes, window) {
            Ok(None) => Ok(None),
            Ok(Some(places)) => {
                let ranges = places.into_iter().map(|(at, len)| (at, at + len));
                Ok(Some(ranges.filter(|(from, to)| !holds(&have, *from, *to)).collect()))
            }
            Err(error) => {
                let error = io::Error::from(error);
                let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<Missing>());
                match inner {
                    Some(Missing(from, to)) => Ok(Some(vec![(*from, *to)])),
                    None => Err(error),
                }
            }
        }
    });
    lacking.map_err(|error| errors::of_file(py, &path, &error))
}

fn holds(have: &[(u64, u64)], from: u64, to: u64) -> bool {
    have.iter().any(|(first, last)| *first <= from && to <= *last)
}

fn places(holes: Holes, window: Option<(f64, f64)>) -> Result<Option<Vec<(u64, u64)>>, Error> {
    let mut summaries = Summaries::new(holes)?;
    if summaries.segment_infos()?.is_none() {
        return Ok(None);
    }
    summaries.get(LANES, kept::VERSION)?;
    let Some((from, to)) = window else {
        for report in REPORTS {
            summaries.get(report, kept::VERSION)?;
        }
        return Ok(Some(Vec::new()));
    };
    Ok(summaries.window(from, to)?.map(|window| window.places().collect()))
}
