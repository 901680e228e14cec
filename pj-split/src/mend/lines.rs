//! Rewrites the lines of a block of a damaged trace for the pieces.

use std::io;

use paje_parser::{EventKind, FieldName, Quoting, Span, token};
use paje_sim::{ContainerId, LineRemedy};

use super::Mending;
use super::head::spell;
use crate::log::{self, Run};
use crate::survey::Mend;

#[derive(Default)]
struct Written {
    text: Vec<u8>,
    log: Vec<u8>,
}

impl Written {
    fn add(&mut self, run: Run, write: impl FnOnce(&mut Vec<u8>)) {
        let before = self.text.len();
        write(&mut self.text);
        let len = self.text.len() - before;
        if len > 0 {
            run.write(len as u64, &mut self.log);
        }
    }

    fn copy(&mut self, run: Run, lines: &[u8]) {
        self.add(run, |out| out.extend_from_slice(lines));
    }
}

impl Mending<'_> {
    /// Rewrites a block that begins at byte `start`, and its log. If `unfinished` is true, the last
    /// newline of `text` was added, and `log` does not count it.
    pub(crate) fn rewrite(
        &self,
        start: u64,
        text: &mut Vec<u8>,
        log: &mut Vec<u8>,
        unfinished: bool,
    ) -> io::Result<()> {
        let mut written = Written::default();
        let (mut rest, mut at) = (log.as_slice(), 0);
        while let Some((run, mut len)) = log::read(&mut rest) {
            len += usize::from(unfinished && rest.is_empty());
            let lines = text.get(at..at + len).ok_or(io::ErrorKind::InvalidData)?;
            self.run(run, start + at as u64, lines, &mut written);
            at += len;
        }
        if at != text.len() {
            return Err(io::ErrorKind::InvalidData.into());
        }
        (*text, *log) = (written.text, written.log);
        Ok(())
    }

    fn run(&self, run: Run, start: u64, lines: &[u8], written: &mut Written) {
        let until = start + lines.len() as u64;
        let within = |list: &[(u64, Mend)]| {
            let first = list.partition_point(|(at, _)| *at < start);
            first..first + list[first..].partition_point(|(at, _)| *at < until)
        };
        let first = self.created.partition_point(|(at, _)| *at < start);
        let mut created = self.created[first..].iter().take_while(|(at, _)| *at < until).peekable();
        let mends = match run {
            Run::Events(_) => &self.mends[within(&self.mends)],
            _ => &[],
        };
        // Offsets of lines that cannot simply be copied.
        let mut marks: Vec<u64> = mends.iter().map(|(at, _)| *at).collect();
        marks.extend(created.clone().map(|(at, _)| *at));
        marks.sort_unstable();
        marks.dedup();
        let mut done = start;
        let part = |from: u64, to: u64| &lines[(from - start) as usize..(to - start) as usize];
        for mark in marks {
            self.lines(run, done, part(done, mark), written);
            while let Some((_, container)) = created.next_if(|(at, _)| *at == mark) {
                written.add(Run::Creation(*container), |out| self.create(*container, out));
            }
            done = mark;
            let about = mends.iter().filter(|(at, _)| *at == mark).map(|(_, mend)| *mend);
            let rest = part(mark, until);
            let len = memchr(rest);
            if matches!(run, Run::Events(_)) && about.clone().next().is_some() {
                written.add(run, |out| self.mend(&rest[..len], about, out));
                done = mark + len as u64;
            }
        }
        self.lines(run, done, part(done, until), written);
    }

    /// Adds lines that need no repair. Leaves out definitions, which are in the head.
    fn lines(&self, run: Run, start: u64, lines: &[u8], written: &mut Written) {
        let containers = self.trace.containers();
        match run {
            Run::Nobody | Run::Shared => {}
            Run::Events(_) | Run::Value(..) => written.copy(run, lines),
            Run::Creation(container) if self.moved.contains(&container) => {}
            Run::Creation(container) => {
                let parent = containers.identifier(containers.parent(container));
                let is_there = |field: &[u8]| field == parent.text;
                written.add(run, |out| {
                    self.replace(lines, FieldName::Container, is_there, out, |out| {
                        spell(parent, out)
                    });
                });
            }
            Run::Destruction(container) => {
                let Some((at, true)) = containers.destruction(container) else { return };
                if at.0 != start {
                    return;
                }
                let (said, end) = (containers.said_end(container), containers.end(container));
                let holds = |_: &[u8]| said == end || self.split_ends.contains(&start);
                written.add(run, |out| {
                    self.replace(lines, FieldName::Time, holds, out, |out| {
                        out.extend_from_slice(end.to_string().as_bytes());
                    });
                });
            }
        }
    }

    /// Writes a line in which `write` replaces the word of a field. If `holds` returns true for the
    /// word, the line is only copied.
    fn replace(
        &self,
        line: &[u8],
        field: FieldName,
        holds: impl Fn(&[u8]) -> bool,
        out: &mut Vec<u8>,
        write: impl FnOnce(&mut Vec<u8>),
    ) {
        let words = words(line);
        let def = words.first().and_then(|first| self.defs.get(first.of(line).bare()));
        let word = def.and_then(|def| words.get(def.word_of(field)?));
        match word {
            Some(word) if !holds(word.of(line).bare()) => {
                out.extend_from_slice(&line[..word.start as usize]);
                write(out);
                out.extend_from_slice(&line[word.end as usize..]);
            }
            _ => out.extend_from_slice(line),
        }
    }

    fn mend(&self, line: &[u8], mends: impl Iterator<Item = Mend>, out: &mut Vec<u8>) {
        let mut line = line.to_vec();
        for mend in mends {
            let mut changed = Vec::new();
            match mend {
                Mend::As(LineRemedy::Skipped) => return,
                Mend::Keyless => {
                    let last = words(&line).last().copied().unwrap_or_default();
                    let end = last.end as usize;
                    changed.extend_from_slice(&line[..end]);
                    if last.of(&line).quoting() == Quoting::Unclosed {
                        changed.push(b'"');
                    }
                    changed.extend_from_slice(b" \"\"");
                    changed.extend_from_slice(&line[end..]);
                }
                Mend::As(LineRemedy::OtherValue(type_, value)) => {
                    let value = self.trace.types().value_identifier(type_, value);
                    self.replace(
                        &line,
                        FieldName::Value,
                        |_| false,
                        &mut changed,
                        |out| {
                            spell(value, out);
                        },
                    );
                }
                Mend::As(LineRemedy::Unset) => self.set(&line, &mut changed),
                Mend::As(_) => continue,
            }
            line = changed;
        }
        out.extend_from_slice(&line);
    }

    /// Writes a change of an unset variable as an event that sets it.
    fn set(&self, line: &[u8], out: &mut Vec<u8>) {
        let words = words(line);
        let first = words.first().copied().unwrap_or_default();
        let number = first.of(line).bare();
        let (Some(def), Some(setter)) = (self.defs.get(number), self.setters.get(number)) else {
            return out.extend_from_slice(line);
        };
        let mut changed = setter.as_bytes().to_vec();
        changed.extend_from_slice(&line[first.end as usize..]);
        if def.kind() != EventKind::SubVariable {
            return out.extend_from_slice(&changed);
        }
        let value = def.word_of(FieldName::Value).and_then(|word| words.get(word));
        let value = value.map_or(&[][..], |word| word.of(line).bare()).to_vec();
        let negated = match value.split_first() {
            Some((b'-', rest)) => rest.to_vec(),
            Some((b'+', rest)) => [b"-", rest].concat(),
            _ => [b"-", &value[..]].concat(),
        };
        // Any event number with the same fields can be used.
        let mut words = Vec::new();
        token::fields(&changed, 0, &mut words);
        match def.word_of(FieldName::Value).and_then(|word| words.get(word)) {
            Some(word) => {
                out.extend_from_slice(&changed[..word.start as usize]);
                out.extend_from_slice(&negated);
                out.extend_from_slice(&changed[word.end as usize..]);
            }
            None => out.extend_from_slice(&changed),
        }
    }

    /// Writes the creation of a container that no line creates early enough.
    fn create(&self, container: ContainerId, out: &mut Vec<u8>) {
        let (containers, types) = (self.trace.containers(), self.trace.types());
        out.extend_from_slice(self.creation.as_bytes());
        out.extend_from_slice(format!(" {}", containers.start(container)).as_bytes());
        let type_ = types.identifier(containers.type_of(container));
        let parent = containers.identifier(containers.parent(container));
        for name in [containers.name(container), containers.identifier(container), type_, parent] {
            out.push(b' ');
            spell(name, out);
        }
        out.push(b'\n');
    }
}

fn words(line: &[u8]) -> Vec<Span> {
    let mut words = Vec::new();
    token::fields(line, 0, &mut words);
    words
}

fn memchr(lines: &[u8]) -> usize {
    lines.iter().position(|byte| *byte == b'\n').map_or(lines.len(), |newline| newline + 1)
}
