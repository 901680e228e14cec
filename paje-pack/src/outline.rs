//! Actions of the lines of a packed trace, without their times and numbers: of these, nothing is read.

use paje_parser::EventKind;

use crate::format::{Error, ErrorKind};
use crate::lines::{LinesIn, RAW};
use crate::reader::Packed;
use crate::stream::StreamReader;
use crate::template::{Cut, Roles, is_header};

/// A line without its times, keys and numbers.
#[derive(Clone, Copy, Debug)]
pub struct OutlinedLine<'a> {
    /// Which event it is; none for comments, definitions of events, and whatever is not understood.
    pub kind: Option<EventKind>,
    /// The container that it is in, as the trace calls it; empty if there is none.
    pub lane: &'a [u8],
    /// Its text. What differs from line to line is a byte of 1 to 5: see `docs/pack.md`.
    pub action: &'a [u8],
}

/// Goes through the lines of a packed trace, segment by segment, in order.
pub struct Outline(Roles);

impl Default for Outline {
    fn default() -> Self {
        Outline(Roles::new())
    }
}

impl Outline {
    /// Gives the lines of the next segment to `visit`.
    ///
    /// # Errors
    /// The segment does not encode its lines.
    pub fn visit(
        &mut self,
        packed: &Packed,
        mut visit: impl FnMut(OutlinedLine<'_>),
    ) -> Result<(), Error> {
        let roles = &mut self.0;
        if let Some(text) = packed.whole() {
            let mut cut = Cut::default();
            let text = text.strip_suffix(b"\n").unwrap_or(text);
            for line in text.split(|byte| *byte == b'\n') {
                match cut.cut(line, roles) {
                    true => visit(outlined(roles, &line[cut.lane.clone()], &cut.action)),
                    false => raw(roles, line, &mut visit),
                }
            }
            return Ok(());
        }
        let ([columns, texts], count, length) = packed.lines();
        let mut side = StreamReader::new(columns, texts, length);
        let mut lines = LinesIn::new(&mut side, count);
        let mut bytes = 0;
        for _ in 0..count {
            let line = lines.next(&mut side);
            if line.action == RAW {
                let text = side.text();
                bytes += text.len();
                raw(roles, text, &mut visit);
            } else {
                visit(outlined(roles, lines.names.get(line.lane), lines.actions.get(line.action)));
            }
            if side.failed || bytes > length {
                let kind = ErrorKind::Content("the segment does not tell its lines");
                return Err(Error { at: packed.at(), kind });
            }
        }
        Ok(())
    }
}

fn raw(roles: &mut Roles, line: &[u8], visit: &mut impl FnMut(OutlinedLine<'_>)) {
    if is_header(line) {
        roles.learn(line);
    }
    visit(outlined(roles, b"", line));
}

fn outlined<'a>(roles: &Roles, lane: &'a [u8], action: &'a [u8]) -> OutlinedLine<'a> {
    let code = action.split(|byte| byte.is_ascii_whitespace()).find(|word| !word.is_empty());
    OutlinedLine { kind: code.and_then(|code| roles.kind(code)), lane, action }
}
