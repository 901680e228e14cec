//! A segment, seen from outside: what it closes that was open before it, and what it leaves open.
//!
//! This is for traces that a replay found sound, and asks no more of a line than which lane it is of, and whether it opens or
//! closes something there. A segment is looked at by itself, so that several can be at a time.

use paje_parser::{EventKind, FieldName, Line, LineDecoder};
use rustc_hash::FxHashMap;

use crate::definitions::Definitions;
use crate::template::is_header;

/// Number of a line, in its segment, and its text.
pub(crate) type Numbered = (u64, Kept);

/// A lane of states, or of a variable, as a segment changes it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Change<L = Numbered> {
    /// The line that adds to a value from before the segment, and so ends its row.
    pub(crate) adds: Option<L>,
    /// Lines that pop what was open before the segment, one each.
    pub(crate) pops: Vec<L>,
    /// The line that ends all that was still open.
    pub(crate) ends_all: Option<L>,
    /// The container ended, and what was still open with it.
    pub(crate) gone: bool,
    /// Lines that opened what is open at the end. For variables: those that the value is the sum of.
    pub(crate) opens: Vec<L>,
}

/// Texts of a container and of a type.
pub(crate) type LaneName<T> = (T, T);

/// Key of a link, in its lane.
pub(crate) type LinkKey<T> = (LaneName<T>, T);

/// A text that is kept.
pub(crate) type Kept = Box<[u8]>;

/// The last line of those with the latest time: a row ends, begins, or both, with it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Latest<L = Numbered> {
    /// None for lines that are kept anyway, of containers.
    pub(crate) line: Option<L>,
    /// The line that opened what this one closes, or set what this one adds to.
    pub(crate) opener: Option<L>,
    /// The line is worth nothing without its opener.
    pub(crate) wants_opener: bool,
}

impl Latest {
    /// It is the line of this number.
    pub(crate) fn is(&self, number: u64) -> bool {
        self.line.as_ref().is_some_and(|(latest, _)| *latest == number)
    }
}

/// A segment, seen from outside.
#[derive(Debug)]
pub struct Passage {
    /// Number of its lines.
    pub(crate) lines: u64,
    /// The last of them ends here.
    pub(crate) ends_with_newline: bool,
    /// Its earliest and latest time; the other way round and infinite if it has none.
    pub(crate) times: (f64, f64),
    pub(crate) latest: Latest,
    /// Lines of definitions and containers.
    pub(crate) fixed: Vec<Numbered>,
    /// Names that aliases stand for.
    pub(crate) aliased: Vec<Kept>,
    pub(crate) lanes: Vec<(LaneName<Kept>, Change)>,
    /// Containers that end, as their lines name them.
    pub(crate) ended: Vec<Kept>,
    /// Keys of links of which one end is in the segment, in file order.
    pub(crate) links: Vec<(LinkKey<Kept>, Numbered)>,
}

/// A line on its way, as a number and a part of the text.
type Seen<'t> = (u64, &'t [u8]);

fn keep((number, line): Seen<'_>) -> Numbered {
    (number, line.into())
}

impl<'t> Change<Seen<'t>> {
    fn see(
        &mut self,
        kind: EventKind,
        line: Seen<'t>,
        latest: &mut Latest<Seen<'t>>,
    ) -> Option<()> {
        use EventKind as E;
        match kind {
            E::PushState => self.opens.push(line),
            E::AddVariable | E::SubVariable => {
                if !self.is_of_before() {
                    latest.opener = self.opens.first().copied();
                } else if self.opens.is_empty() {
                    self.adds = Some(line);
                }
                self.opens.push(line);
            }
            E::PopState => {
                latest.opener = self.opens.pop();
                if latest.opener.is_none() {
                    // Such a trace is not sound.
                    if !self.is_of_before() {
                        return None;
                    }
                    self.pops.push(line);
                }
            }
            E::SetState | E::SetVariable | E::ResetState => {
                if self.is_of_before() {
                    self.ends_all = Some(line);
                }
                self.opens.clear();
                if kind != E::ResetState {
                    self.opens.push(line);
                }
            }
            _ => {}
        }
        Some(())
    }

    /// Rows from before the segment may still be open.
    fn is_of_before(&self) -> bool {
        self.ends_all.is_none() && !self.gone
    }

    fn end(&mut self) {
        self.gone |= self.is_of_before();
        self.opens.clear();
    }

    fn keep(self) -> Change {
        let all = |lines: Vec<Seen<'_>>| lines.into_iter().map(keep).collect();
        Change {
            adds: self.adds.map(keep),
            pops: all(self.pops),
            ends_all: self.ends_all.map(keep),
            gone: self.gone,
            opens: all(self.opens),
        }
    }
}

impl Passage {
    /// Looks at a segment, with the definitions that stand before it; none if no part of the trace may be read by itself:
    /// it names other files, has lines that cannot be understood, or one that is not whole.
    #[must_use]
    pub fn of(text: &[u8], definitions: &Definitions) -> Option<Passage> {
        Look::default().at(text, LineDecoder::after(definitions.strict().clone()))
    }
}

/// A look at a segment.
#[derive(Default)]
struct Look<'t> {
    times: Option<(f64, f64)>,
    latest: Latest<Seen<'t>>,
    fixed: Vec<Numbered>,
    aliased: Vec<Kept>,
    ended: Vec<Kept>,
    of_container: FxHashMap<&'t [u8], Vec<usize>>,
    places: FxHashMap<LaneName<&'t [u8]>, usize>,
    lanes: Vec<(LaneName<&'t [u8]>, Change<Seen<'t>>)>,
    links: FxHashMap<LinkKey<&'t [u8]>, Seen<'t>>,
}

impl<'t> Look<'t> {
    fn at(mut self, text: &'t [u8], mut decoder: LineDecoder) -> Option<Passage> {
        let mut lines = 0;
        let mut rest = text;
        while !rest.is_empty() {
            let len = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
            let seen = (lines, &rest[..len]);
            self.line(seen, &mut decoder)?;
            rest = rest.get(len + 1..).unwrap_or_default();
            lines += 1;
        }
        let owned = |(one, other): LaneName<&[u8]>| (one.into(), other.into());
        let mut links: Vec<_> = self.links.into_iter().collect();
        links.sort_unstable_by_key(|(_, (number, _))| *number);
        let links =
            links.into_iter().map(|((lane, key), line)| ((owned(lane), key.into()), keep(line)));
        let changed = self.lanes.into_iter().filter(|(_, change)| *change != Change::default());
        let Latest { line, opener, wants_opener } = self.latest;
        Some(Passage {
            lines,
            ends_with_newline: text.ends_with(b"\n"),
            times: self.times.unwrap_or((f64::INFINITY, f64::NEG_INFINITY)),
            latest: Latest { line: line.map(keep), opener: opener.map(keep), wants_opener },
            fixed: self.fixed,
            aliased: self.aliased,
            ended: self.ended,
            lanes: changed.map(|(lane, change)| (owned(lane), change.keep())).collect(),
            links: links.collect(),
        })
    }

    fn line(&mut self, seen: Seen<'t>, decoder: &mut LineDecoder) -> Option<()> {
        use EventKind as E;
        let line = seen.1;
        let event = match decoder.line(line).ok()? {
            Line::Blank => return Some(()),
            Line::Header => {
                debug_assert!(is_header(line));
                self.fixed.push(keep(seen));
                return Some(());
            }
            Line::Event(event) => event,
        };
        let field = |name| event.span(name).map(|span| span.of(line).bare());
        let kind = event.def().kind();
        let mut latest = Latest { line: Some(seen), opener: None, wants_opener: false };
        match kind {
            E::TraceFile => return None,
            E::SetState
            | E::PushState
            | E::PopState
            | E::ResetState
            | E::SetVariable
            | E::AddVariable
            | E::SubVariable => {
                let name = (field(FieldName::Container)?, field(FieldName::Type)?);
                let place = *self.places.entry(name).or_insert(self.lanes.len());
                if place == self.lanes.len() {
                    self.lanes.push((name, Change::default()));
                    self.of_container.entry(name.0).or_default().push(place);
                }
                latest.wants_opener = matches!(kind, E::PopState | E::AddVariable | E::SubVariable);
                self.lanes[place].1.see(kind, seen, &mut latest)?;
            }
            E::StartLink | E::EndLink => {
                let lane = (field(FieldName::Container)?, field(FieldName::Type)?);
                let key = (lane, field(FieldName::Key)?);
                latest.wants_opener = true;
                latest.opener = self.links.remove(&key);
                if latest.opener.is_none() {
                    self.links.insert(key, seen);
                }
            }
            E::NewEvent => {}
            _ => {
                if field(FieldName::Filename).is_some_and(|file| !file.is_empty()) {
                    return None;
                }
                latest.line = None;
                self.fixed.push(keep(seen));
                let (name, alias) = (field(FieldName::Name)?, field(FieldName::Alias));
                if kind == E::DestroyContainer {
                    for place in self.of_container.get(name).into_iter().flatten() {
                        self.lanes[*place].1.end();
                    }
                    self.ended.push(name.into());
                } else if kind != E::DefineEntityValue
                    && alias.is_some_and(|alias| !alias.is_empty() && alias != name)
                {
                    self.aliased.push(name.into());
                }
            }
        }
        if event.span(FieldName::Time).is_some() {
            let time = event.time().ok()?;
            let (first, last) = self.times.unwrap_or((time, time));
            if time >= last {
                self.latest = latest;
            }
            self.times = Some((first.min(time), last.max(time)));
        }
        Some(())
    }
}
