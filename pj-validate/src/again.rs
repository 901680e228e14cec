//! Reads files a second time, for excerpts of lines that were no longer in memory when their
//! finding was made.

use std::io::{self, BufReader, Cursor, Read};

use paje_parser::{ByteOffset, Position};
use splitter::{Input, Kind};

use crate::check::FileRead;
use crate::excerpt::Excerpt;
use crate::finding::Finding;

/// Fetches the missing excerpts of findings, opening one file at a time. Failures are ignored.
pub(crate) fn excerpts(findings: &mut [Finding], files: &[FileRead]) {
    let late = findings.iter_mut().filter_map(|finding| {
        let is_missing = finding.excerpt.is_none() && finding.may_be_shown();
        let position = finding.position.filter(|_| is_missing)?;
        Some((finding.file, position, &mut finding.excerpt))
    });
    let mut late: Vec<_> = late.collect();
    late.sort_by_key(|(file, position, _)| (*file, *position));
    for of_file in late.chunk_by_mut(|a, b| a.0 == b.0) {
        let file = of_file.first().and_then(|first| files.get(first.0));
        if let Some(file) = file.filter(|file| file.again) {
            let late = of_file.iter_mut().map(|(_, position, excerpt)| (*position, &mut **excerpt));
            excerpts_of_file(late, file);
        }
    }
}

fn excerpts_of_file<'a>(
    late: impl Iterator<Item = (Position, &'a mut Option<Excerpt>)>,
    file: &FileRead,
) {
    match file.open().map(Input::into_kind) {
        Ok(Kind::File(file, _)) => {
            let mut file = BufReader::new(file);
            late.for_each(|(position, excerpt)| *excerpt = Excerpt::read(&mut file, position).ok());
        }
        Ok(Kind::Stream(stream)) => {
            let mut stream = Forward::new(stream);
            late.for_each(|(position, excerpt)| *excerpt = stream.excerpt(position).ok());
        }
        Err(_) => {}
    }
}

/// Input that can only be read forward, such as a compressed trace.
struct Forward<R> {
    input: R,
    /// The bytes that were read last, and their offset in the trace. The next excerpt may begin in
    /// these bytes.
    held: Vec<u8>,
    start: u64,
}

impl<R: Read> Forward<R> {
    const fn new(input: R) -> Self {
        Forward { input, held: Vec::new(), start: 0 }
    }

    /// Returns the excerpt at a position. Positions must not decrease between calls.
    fn excerpt(&mut self, position: Position) -> io::Result<Excerpt> {
        let range = Excerpt::range(position);
        let ahead = range.start.checked_sub(self.start).ok_or(io::ErrorKind::InvalidInput)?;
        let beyond = ahead.saturating_sub(self.held.len() as u64);
        self.held.drain(..(ahead - beyond) as usize);
        io::copy(&mut self.input.by_ref().take(beyond), &mut io::sink())?;
        self.start = range.start;
        let missing = (range.end - range.start).saturating_sub(self.held.len() as u64);
        self.input.by_ref().take(missing).read_to_end(&mut self.held)?;
        let byte = ByteOffset(position.byte.0 - self.start);
        Excerpt::read(&mut Cursor::new(&self.held), Position { byte, ..position })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forward_reading_gives_the_same_excerpts_as_seeking() {
        let long = "a".repeat(500);
        let text = format!("first\n{long} here {long}\n\nlast {long}");
        let mut places = Vec::new();
        for (index, line) in text.split('\n').enumerate() {
            let start = line.as_ptr() as usize - text.as_ptr() as usize;
            places.extend((0..=line.len()).map(|at| Position {
                byte: ByteOffset((start + at) as u64),
                line: index as u64 + 1,
                column: at as u64 + 1,
            }));
        }
        for step in [1, 2, 7, 150, 163, 164, 320, 321, 700] {
            let mut forward = Forward::new(text.as_bytes());
            for position in places.iter().step_by(step) {
                let wanted = Excerpt::read(&mut Cursor::new(&text), *position).unwrap();
                assert_eq!(forward.excerpt(*position).unwrap(), wanted, "{position}, {step}");
            }
        }
        let mut forward = Forward::new(text.as_bytes());
        assert!(forward.excerpt(places[900]).is_ok());
        assert!(forward.excerpt(places[3]).is_err(), "going back should fail");
    }
}
