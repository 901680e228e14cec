//! A segment, seen from outside: what it closes that was open before it, and what it leaves open.

use crate::rows::Rows;

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

/// A segment, seen from outside; [`Segment::pack_and_look`](crate::Segment::pack_and_look) finds it.
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
    /// Lines that tell what is new about others, with those that they cannot do without.
    pub(crate) samples: Vec<Numbered>,
    pub(crate) rows: Option<Rows>,
}

impl Passage {
    /// The rows of the segment, once; none if they were not asked for, or there is something about them that only a replay of
    /// all lines tells.
    pub fn rows(&mut self) -> Option<Rows> {
        self.rows.take()
    }
}

impl<L> Change<L> {
    /// The same for lines in another form.
    pub(crate) fn map<K>(self, keep: impl Fn(L) -> K) -> Change<K> {
        let all = |lines: Vec<L>| lines.into_iter().map(&keep).collect();
        Change {
            adds: self.adds.map(&keep),
            pops: all(self.pops),
            ends_all: self.ends_all.map(&keep),
            gone: self.gone,
            opens: all(self.opens),
        }
    }
}
