//! Kinds of columns, page by page.

use hashbrown::HashMap;
use parquet::basic::Encoding;
use parquet::schema::types::ColumnDescPtr;
use rustc_hash::FxBuildHasher;

use super::chunk::{Bounds, Chunk, Encoded};
use super::tools::{Tools, Trial};
use super::values::{TextBound, of_floats, of_integers};
use super::{delta, hybrid, split};
use crate::Error;
use crate::names::Names;

/// Entries of a dictionary of numbers, above which they are written as they are.
const DICTIONARY: usize = 1 << 16;

/// Writes numbers of dictionary entries, as a page's body has them.
fn entries(numbers: &[u32], count: usize, body: &mut Vec<u8>) {
    let width = hybrid::width(count);
    body.clear();
    body.push(width as u8);
    hybrid::numbers(numbers, width, body);
}

/// A column of names: a dictionary of those that are in it, in the order in which they come.
pub(super) struct NamesColumn {
    pub(super) chunk: Chunk<TextBound>,
    /// By code: its entry in the dictionary, from 1, and the page in which it was seen last, from 1.
    seen: Vec<(u32, u32)>,
    /// Codes in the dictionary.
    codes: Vec<i32>,
    page: u32,
    trial: Trial,
}

impl NamesColumn {
    pub(super) fn new(names: &Names) -> Self {
        NamesColumn {
            chunk: Chunk::default(),
            seen: vec![(0, 0); names.len()],
            codes: Vec::new(),
            page: 0,
            trial: Trial::default(),
        }
    }

    /// Adds a page in which the same name comes for many rows.
    pub(super) fn runs(
        &mut self,
        runs: &[(i32, usize)],
        names: &Names,
        tools: &mut Tools,
    ) -> Result<(), Error> {
        let rows: usize = runs.iter().map(|(_, rows)| rows).sum();
        let mut bounds = None;
        self.page += 1;
        let (numbers, body) = (&mut tools.numbers, &mut tools.body);
        numbers.clear();
        if runs.len() > rows / 8 {
            for (code, rows) in runs {
                let entry = self.entry(*code, names, &mut bounds);
                numbers.extend(std::iter::repeat_n(entry, *rows));
            }
            entries(numbers, self.codes.len(), body);
        } else {
            numbers.extend(runs.iter().map(|(code, _)| self.entry(*code, names, &mut bounds)));
            let width = hybrid::width(self.codes.len());
            body.clear();
            body.push(width as u8);
            let both = numbers.iter().zip(runs);
            both.for_each(|(entry, (_, rows))| hybrid::run(*entry, *rows, width, body));
        }
        self.put(rows, bounds, tools)
    }

    /// Adds a page.
    pub(super) fn codes(
        &mut self,
        codes: &[i32],
        names: &Names,
        tools: &mut Tools,
    ) -> Result<(), Error> {
        let mut bounds = None;
        self.page += 1;
        tools.numbers.clear();
        tools.numbers.extend(codes.iter().map(|code| self.entry(*code, names, &mut bounds)));
        entries(&tools.numbers, self.codes.len(), &mut tools.body);
        self.put(codes.len(), bounds, tools)
    }

    fn put<'n>(
        &mut self,
        rows: usize,
        bounds: Option<(&'n str, &'n str)>,
        tools: &mut Tools,
    ) -> Result<(), Error> {
        self.trial.frame(tools)?;
        let both = bounds.map(|(least, most)| (TextBound::lower(least), TextBound::upper(most)));
        let bounds = Bounds { both, nans: None };
        self.chunk.page(&tools.frame, tools.body.len(), rows, Encoding::RLE_DICTIONARY, bounds)
    }

    /// The entry of a code. Names that are new on the page are seen in its bounds.
    #[inline]
    fn entry<'n>(
        &mut self,
        code: i32,
        names: &'n Names,
        bounds: &mut Option<(&'n str, &'n str)>,
    ) -> u32 {
        let (entry, page) = self.seen[code as usize];
        if page == self.page { entry - 1 } else { self.new_entry(code, names, bounds) }
    }

    #[cold]
    fn new_entry<'n>(
        &mut self,
        code: i32,
        names: &'n Names,
        bounds: &mut Option<(&'n str, &'n str)>,
    ) -> u32 {
        let (entry, page) = &mut self.seen[code as usize];
        if *entry == 0 {
            self.codes.push(code);
            *entry = self.codes.len() as u32;
        }
        *page = self.page;
        let text = names.text(code);
        let (least, most) = bounds.unwrap_or((text, text));
        *bounds = Some((least.min(text), most.max(text)));
        *entry - 1
    }

    /// The column; another one begins.
    pub(super) fn finish(
        &mut self,
        column: &ColumnDescPtr,
        names: &Names,
        tools: &mut Tools,
    ) -> Result<Encoded, Error> {
        let body = &mut tools.body;
        body.clear();
        for code in &self.codes {
            let text = names.text(*code);
            body.extend_from_slice(&(text.len() as u32).to_le_bytes());
            body.extend_from_slice(text.as_bytes());
            self.seen[*code as usize] = (0, 0);
        }
        let count = self.codes.len();
        self.codes.clear();
        self.page = 0;
        self.trial = Trial::default();
        let chunk = std::mem::take(&mut self.chunk);
        chunk.finish(column, Some((body, count)), &mut tools.frames)
    }
}

/// A column of times or values.
pub(super) struct FloatsColumn {
    pub(super) chunk: Chunk<f64>,
    dictionary: Dictionary,
    may_repeat: bool,
}

/// The distinct numbers of a column, if they are few.
#[derive(Default)]
struct Dictionary {
    entries: HashMap<u64, u32, FxBuildHasher>,
    body: Vec<u8>,
    full: bool,
    trial: Trial,
}

impl Dictionary {
    /// Forgets all but its room.
    fn clear(&mut self) {
        self.entries.clear();
        self.body.clear();
        self.full = false;
        self.trial = Trial::default();
    }

    /// Gives all numbers of a page entries; tells whether they have some. On the first page, at most half of the
    /// numbers may be distinct: else a dictionary would be longer than they are.
    fn number(&mut self, page: &[f64], numbers: &mut Vec<u32>) -> bool {
        let most = if self.entries.is_empty() { page.len() / 2 } else { DICTIONARY };
        numbers.clear();
        for number in page {
            let next = self.entries.len() as u32;
            let entry = *self.entries.entry(number.to_bits()).or_insert(next);
            if entry == next {
                self.body.extend_from_slice(&number.to_le_bytes());
            }
            numbers.push(entry);
            if self.entries.len() > most {
                self.full = true;
                return false;
            }
        }
        true
    }
}

impl FloatsColumn {
    /// A column; of some, values come again and again.
    pub(super) fn new(may_repeat: bool) -> Self {
        FloatsColumn { chunk: Chunk::default(), dictionary: Dictionary::default(), may_repeat }
    }

    /// Adds a page.
    pub(super) fn page(&mut self, page: &[f64], tools: &mut Tools) -> Result<(), Error> {
        let bounds = of_floats(page);
        let dictionary = &mut self.dictionary;
        let size = split::BYTES * page.len();
        if self.may_repeat && !dictionary.full && dictionary.number(page, &mut tools.numbers) {
            entries(&tools.numbers, dictionary.entries.len(), &mut tools.body);
            dictionary.trial.frame(tools)?;
            let (size, encoding) = (tools.body.len(), Encoding::RLE_DICTIONARY);
            return self.chunk.page(&tools.frame, size, page.len(), encoding, bounds);
        }
        split::split(page, &mut tools.body);
        tools.frames.streams(&tools.body, page.len(), Tools::empty(&mut tools.frame))?;
        self.chunk.page(&tools.frame, size, page.len(), Encoding::BYTE_STREAM_SPLIT, bounds)
    }

    /// The column; another one begins.
    pub(super) fn finish(
        &mut self,
        column: &ColumnDescPtr,
        tools: &mut Tools,
    ) -> Result<Encoded, Error> {
        let Dictionary { entries, body, .. } = &self.dictionary;
        let dictionary =
            self.chunk.has(Encoding::RLE_DICTIONARY).then_some((&body[..], entries.len()));
        let chunk = std::mem::take(&mut self.chunk);
        let encoded = chunk.finish(column, dictionary, &mut tools.frames);
        self.dictionary.clear();
        encoded
    }
}

/// A column of imbrications: all numbers from 0 are its dictionary, but for those that nobody expects.
#[derive(Default)]
pub(super) struct LevelsColumn {
    pub(super) chunk: Chunk<i32>,
    /// Entries of the dictionary.
    count: usize,
    trial: Trial,
}

impl LevelsColumn {
    /// Adds a page.
    pub(super) fn page(&mut self, page: &[i32], tools: &mut Tools) -> Result<(), Error> {
        let bounds = of_integers(page);
        let (least, greatest) = bounds.both.unwrap_or_default();
        let in_dictionary = least >= 0 && (greatest as usize) < DICTIONARY;
        let encoding = if in_dictionary {
            self.count = self.count.max(greatest as usize + 1);
            tools.numbers.clear();
            tools.numbers.extend(page.iter().map(|level| *level as u32));
            entries(&tools.numbers, self.count, &mut tools.body);
            Encoding::RLE_DICTIONARY
        } else {
            tools.body.clear();
            tools.body.extend(page.iter().flat_map(|level| level.to_le_bytes()));
            Encoding::PLAIN
        };
        self.trial.frame(tools)?;
        self.chunk.page(&tools.frame, tools.body.len(), page.len(), encoding, bounds)
    }

    /// The column; another one begins.
    pub(super) fn finish(
        &mut self,
        column: &ColumnDescPtr,
        tools: &mut Tools,
    ) -> Result<Encoded, Error> {
        let body = &mut tools.body;
        body.clear();
        body.extend((0..self.count as i32).flat_map(i32::to_le_bytes));
        let dictionary = (self.count > 0).then_some((&body[..], self.count));
        std::mem::take(self).chunk.finish(column, dictionary, &mut tools.frames)
    }
}

/// A column of texts, most of which are different.
#[derive(Default)]
pub(super) struct TextsColumn {
    pub(super) chunk: Chunk<TextBound>,
    trial: Trial,
}

impl TextsColumn {
    /// Adds a page of texts, of which these are the ends in one.
    pub(super) fn page(
        &mut self,
        texts: &str,
        ends: &[i32],
        tools: &mut Tools,
    ) -> Result<(), Error> {
        let bounds = bounds_of(texts, ends);
        let both = bounds.map(|(least, most)| (TextBound::lower(least), TextBound::upper(most)));
        tools.body.clear();
        delta::texts(texts.as_bytes(), ends, &mut tools.body);
        self.trial.frame(tools)?;
        let encoding = Encoding::DELTA_LENGTH_BYTE_ARRAY;
        let bounds = Bounds { both, nans: None };
        self.chunk.page(&tools.frame, tools.body.len(), ends.len(), encoding, bounds)
    }

    /// The column; another one begins.
    pub(super) fn finish(
        &mut self,
        column: &ColumnDescPtr,
        tools: &mut Tools,
    ) -> Result<Encoded, Error> {
        std::mem::take(self).chunk.finish(column, None, &mut tools.frames)
    }
}

/// The least and the greatest of some texts, of which these are the ends in one. Most are told from both by their first
/// bytes.
fn bounds_of<'t>(texts: &'t str, ends: &[i32]) -> Option<(&'t str, &'t str)> {
    let head = |text: &str| {
        let mut head = [0; 8];
        let length = text.len().min(8);
        head[..length].copy_from_slice(&text.as_bytes()[..length]);
        u64::from_be_bytes(head)
    };
    let first = &texts[..*ends.first()? as usize];
    let mut bounds = (first, first);
    let mut heads = (head(first), head(first));
    let mut from = first.len();
    for end in &ends[1..] {
        let text = &texts[from..*end as usize];
        from = *end as usize;
        let head = head(text);
        if head <= heads.0 && text < bounds.0 {
            (bounds.0, heads.0) = (text, head);
        }
        if head >= heads.1 && text > bounds.1 {
            (bounds.1, heads.1) = (text, head);
        }
    }
    Some(bounds)
}
