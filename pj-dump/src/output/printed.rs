use paje_console::Quotes;
use paje_sim::Name;

/// Names, prepared for printing.
#[derive(Debug)]
pub(crate) struct Printed {
    bytes: Vec<u8>,
    /// Start of each text in `bytes`, and end of the last one.
    places: Vec<usize>,
    /// Copies of the first texts, each of the same size.
    first: Vec<Short>,
}

/// A text with its length in the last byte. If the text does not fit, this byte is at least
/// [`SHORT`].
pub(crate) type Short = [u8; SHORT];
const SHORT: usize = 32;

/// Maximum number of copied texts. It is small enough for the copies to stay in a core's
/// second-level cache.
const MOST_FIRST: usize = 1 << 14;

/// Returns a text with its length, if it is short and one of the copied texts.
#[inline(always)]
pub(crate) fn short(first: &[Short], number: usize) -> Option<(&Short, usize)> {
    let short = first.get(number)?;
    let len = usize::from(short[SHORT - 1]);
    (len < SHORT).then_some((short, len))
}

impl Default for Printed {
    fn default() -> Self {
        Printed { bytes: Vec::new(), places: vec![0], first: Vec::new() }
    }
}

impl Printed {
    pub(crate) fn extend<'n>(&mut self, quotes: Quotes, names: impl Iterator<Item = Name<'n>>) {
        self.bytes.truncate(self.places.last().copied().unwrap_or(0));
        names.for_each(|name| self.put(quotes, name));
        self.bytes.resize(self.bytes.len() + PADDING, 0);
    }

    pub(crate) fn push(&mut self, quotes: Quotes, name: Name<'_>) {
        self.extend(quotes, std::iter::once(name));
    }

    fn put(&mut self, quotes: Quotes, name: Name<'_>) {
        let start = self.bytes.len();
        quotes.write(name, &mut self.bytes);
        self.places.push(self.bytes.len());
        if self.first.len() < MOST_FIRST {
            let text = &self.bytes[start..];
            let mut short = [u8::MAX; SHORT];
            if let Some(bytes) = short[..SHORT - 1].get_mut(..text.len()) {
                bytes.copy_from_slice(text);
                short[SHORT - 1] = text.len() as u8;
            }
            self.first.push(short);
        }
    }

    #[inline(always)]
    pub(crate) fn short(&self, number: usize) -> Option<(&Short, usize)> {
        short(&self.first, number)
    }

    pub(crate) fn first(&self) -> &[Short] {
        &self.first
    }

    /// Prepares the texts of all imbrications up to the deepest one, each followed by a separator.
    /// Large imbrications are left out.
    pub(crate) fn levels_to(&mut self, imbrications: &[u32], precision: usize) {
        const MOST: usize = 256;
        let deepest = imbrications.iter().max().map_or(0, |deepest| *deepest as usize);
        while self.len() <= deepest.min(MOST) {
            let mut text = Vec::new();
            paje_decimal::write_fixed(&mut text, self.len() as f64, precision);
            text.extend_from_slice(b", ");
            self.push(Quotes::Strip, Name::bare(&text));
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.places.len() - 1
    }

    #[inline(always)]
    pub(crate) fn text(&self, number: usize) -> Option<Text<'_>> {
        (number < self.len()).then(|| self.get(number))
    }

    #[inline(always)]
    pub(crate) fn get(&self, number: usize) -> Text<'_> {
        let [start, end] = self.places[number..number + 2] else { return Text::new(&[]) };
        Text { padded: &self.bytes[start..], len: end - start }
    }
}

/// A text followed by padding: see [`PADDING`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Text<'a> {
    pub(crate) padded: &'a [u8],
    pub(crate) len: usize,
}

/// Texts of up to this many bytes are copied as blocks of this fixed size, which takes two
/// instructions. A copy of the exact length would need a call.
pub(crate) const PADDING: usize = 32;

impl<'a> Text<'a> {
    pub(crate) const fn new(text: &'a [u8]) -> Self {
        Text { padded: text, len: text.len() }
    }

    pub(crate) fn bytes(self) -> &'a [u8] {
        &self.padded[..self.len]
    }

    /// Copies the text to position `at` of a buffer, perhaps followed by meaningless bytes. Returns
    /// its end.
    #[inline(always)]
    pub(crate) fn put(self, buffer: &mut [u8], at: usize) -> usize {
        let end = at + self.len;
        let room = &mut buffer[at..];
        match (self.padded.first_chunk::<PADDING>(), room.first_chunk_mut::<PADDING>()) {
            (Some(from), Some(to)) if self.len <= PADDING => *to = *from,
            _ => room[..self.len].copy_from_slice(&self.padded[..self.len]),
        }
        end
    }
}
