//! Some lines of a text, each with its offset.

use crate::format::take_number;

/// Iterator over lines. All lines are checked before the first line is returned.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Excerpt<'p> {
    numbers: &'p [u8],
    text: &'p [u8],
    next: u64,
}

impl<'p> Excerpt<'p> {
    /// Reads the lines at the front of a page. Returns `None` if they are invalid.
    pub(crate) fn take(page: &mut &'p [u8]) -> Option<Excerpt<'p>> {
        let mut part = || {
            let len = usize::try_from(take_number(page)?).ok()?;
            page.split_off(..len)
        };
        let excerpt = Excerpt { numbers: part()?, text: part()?, next: 0 };
        let (mut left, mut next, mut count) = (excerpt.numbers, 0_u64, 0);
        while !left.is_empty() {
            next = next.checked_add(take_number(&mut left)?)?.checked_add(1)?;
            count += 1;
        }
        let ends_well = excerpt.text.last().is_none_or(|last| *last == b'\n');
        let newlines = memchr::memchr_iter(b'\n', excerpt.text).count();
        (ends_well && newlines == count).then_some(excerpt)
    }
}

impl<'p> Iterator for Excerpt<'p> {
    type Item = (u64, &'p [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let number = self.next + take_number(&mut self.numbers)?;
        self.next = number + 1;
        let end = memchr::memchr(b'\n', self.text)?;
        let (line, rest) = self.text.split_at(end);
        self.text = &rest[1..];
        Some((number, line))
    }
}
