//! Pages of columns. Bytes of the same kind are adjacent, so that zstd finds repetitions.

use std::io::{self, Cursor};

use crate::format::{put_number, take_number, with_compressor, with_decompressor};

/// Columns of at least this many bytes are compressed separately. Shorter columns are compressed
/// together.
const ALONE: usize = 512;

/// Encodes a page of columns: the number of columns, the number and the size of each column, and
/// their contents.
///
/// # Errors
/// zstd lacks memory.
pub(crate) fn write_columns(columns: &[Vec<u8>], level: i32) -> io::Result<Vec<u8>> {
    let filled = columns.iter().enumerate().filter(|(_, column)| !column.is_empty());
    let count = filled.clone().count();
    if count == 0 {
        return Ok(Vec::new());
    }
    let (mut head, mut bodies, mut shared) = (Vec::new(), Vec::new(), Vec::new());
    put_number(count as u64, &mut head);
    let mut next = 0;
    let mut body = |column: &[u8], head: &mut Vec<u8>| -> io::Result<()> {
        let kept = with_compressor(level, |compressor| compressor.compress(column))?;
        let kept = if kept.len() < column.len() { &kept[..] } else { column };
        put_number(kept.len() as u64, head);
        bodies.extend_from_slice(kept);
        Ok(())
    };
    for (number, column) in filled {
        put_number((number - next) as u64, &mut head);
        next = number + 1;
        put_number(column.len() as u64, &mut head);
        if column.len() < ALONE {
            shared.extend_from_slice(column);
        } else {
            body(column, &mut head)?;
        }
    }
    body(&shared, &mut head)?;
    head.extend_from_slice(&bodies);
    Ok(head)
}

/// Upper limit of the numbers of columns.
const NUMBERS: u64 = 1 << 16;

#[derive(Default)]
pub(crate) struct ColumnPage {
    bytes: Vec<u8>,
    /// Start and end of the unread bytes of each column.
    columns: Vec<(u32, u32)>,
}

impl ColumnPage {
    /// Reads the page of a segment whose text has `length` bytes. Returns `None` if the page is
    /// invalid.
    pub(crate) fn read(mut page: &[u8], length: usize) -> Option<ColumnPage> {
        let mut sheet = ColumnPage::default();
        if page.is_empty() {
            return Some(sheet);
        }
        // A segment never needs more, because its columns grow in proportion to its text.
        let most = 32 * length as u64 + 1024;
        let count = take_number(&mut page).filter(|count| *count <= NUMBERS)?;
        let (mut parts, mut total, mut together) = (Vec::new(), 0, 0);
        let mut number = 0_u64;
        for _ in 0..count {
            number = number.checked_add(take_number(&mut page)?).filter(|it| *it < NUMBERS)?;
            let size = take_number(&mut page).filter(|size| *size <= most)?;
            let kept = if size < ALONE as u64 { None } else { Some(take_number(&mut page)?) };
            total += size;
            if kept.is_none() {
                together += size;
            }
            parts.push((number as usize, size as usize, kept));
            number += 1;
        }
        if total > most {
            return None;
        }
        let kept = take_number(&mut page)?;
        let mut bytes = Vec::with_capacity(total as usize);
        let mut body = |size: usize, kept: u64, bytes: &mut Vec<u8>| -> Option<()> {
            let (content, rest) = page.split_at_checked(usize::try_from(kept).ok()?)?;
            page = rest;
            if content.len() == size {
                bytes.extend_from_slice(content);
            } else {
                let at = bytes.len();
                let mut behind = Cursor::new(&mut *bytes);
                behind.set_position(at as u64);
                with_decompressor(|all| all.decompress_to_buffer(content, &mut behind)).ok()?;
                if bytes.len() != at + size {
                    return None;
                }
            }
            Some(())
        };
        sheet.columns = vec![(0, 0); parts.last().map_or(0, |part| part.0 + 1)];
        for (number, size, kept) in &parts {
            if let Some(kept) = kept {
                let at = bytes.len();
                body(*size, *kept, &mut bytes)?;
                sheet.columns[*number] = (at as u32, (at + size) as u32);
            }
        }
        let mut at = bytes.len();
        body(together as usize, kept, &mut bytes)?;
        for (number, size, kept) in parts {
            if kept.is_none() {
                sheet.columns[number] = (at as u32, (at + size) as u32);
                at += size;
            }
        }
        if !page.is_empty() {
            return None;
        }
        sheet.bytes = bytes;
        Some(sheet)
    }

    pub(crate) fn all(&self, column: usize) -> &[u8] {
        let (at, end) = self.columns.get(column).map_or((0, 0), |(at, end)| (*at, *end));
        self.bytes.get(at as usize..end as usize).unwrap_or_default()
    }

    #[inline]
    pub(crate) fn next(&mut self, column: usize) -> Option<u8> {
        let (at, end) = self.columns.get_mut(column)?;
        if at == end {
            return None;
        }
        let byte = self.bytes.get(*at as usize).copied();
        *at += 1;
        byte
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_columns_do_not_wrap() {
        let page = |next: u64| {
            let mut page = Vec::new();
            [2, 10, 0, next, 0, 0].iter().for_each(|number| put_number(*number, &mut page));
            page
        };
        assert!(ColumnPage::read(&page(3), 0).is_some());
        // The second column would be number 5.
        assert!(ColumnPage::read(&page(u64::MAX - 5), 0).is_none());
    }
}
