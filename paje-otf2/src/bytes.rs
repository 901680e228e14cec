//! Reads numbers and texts from the bytes of a file.

/// Byte order of a chunk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// The lowest byte comes first.
    #[default]
    Little,
    /// The highest byte comes first.
    Big,
}

impl Order {
    #[inline(always)]
    pub(crate) const fn number64(self, bytes: [u8; 8]) -> u64 {
        match self {
            Order::Little => u64::from_le_bytes(bytes),
            Order::Big => u64::from_be_bytes(bytes),
        }
    }

    /// Returns the byte order for a mark in the file.
    pub(crate) const fn of(mark: u8) -> Option<Order> {
        match mark {
            0x42 => Some(Order::Little),
            0x23 => Some(Order::Big),
            _ => None,
        }
    }

    /// Returns the compressed integer at the start of nine bytes, and how many bytes it takes,
    /// unless it is damaged or has more than `most` bytes.
    #[inline(always)]
    pub(crate) const fn compressed(self, bytes: &[u8; 9], most: u8) -> Option<(u64, usize)> {
        let [count, number @ ..] = bytes;
        let unused = 64_u32.wrapping_sub(8 * *count as u32);
        match *count {
            0 => Some((0, 1)),
            count if count <= most => {
                let number = match self {
                    Order::Little => u64::from_le_bytes(*number) << unused >> unused,
                    Order::Big => u64::from_be_bytes(*number) >> unused,
                };
                Some((number, 1 + count as usize))
            }
            u8::MAX => Some((u64::MAX, 1)),
            _ => None,
        }
    }
}

/// A fault in a file, and its offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Offset in the file.
    pub at: u64,
    /// The fault.
    pub what: &'static str,
}

pub(crate) type Found<T> = Result<T, Damage>;

/// A position in the bytes of a file.
#[derive(Clone, Debug)]
pub struct Cursor<'b> {
    bytes: &'b [u8],
    at: usize,
    /// End of the part that may be read.
    end: usize,
    /// Offset of `bytes` in the file.
    base: u64,
    order: Order,
}

const TOO_WIDE: &str = "an integer has more bytes than its type";
pub(crate) const ENDS_EARLY: &str = "the record ends within a field";

impl<'b> Cursor<'b> {
    /// Creates a cursor at the beginning of `bytes`, which begin at byte `base` of the file.
    pub(crate) const fn new(bytes: &'b [u8], base: u64, order: Order) -> Self {
        Cursor { bytes, at: 0, end: bytes.len(), base, order }
    }

    /// Returns the offset of the next byte in the file.
    pub(crate) const fn place(&self) -> u64 {
        self.base + self.at as u64
    }

    pub(crate) const fn damage(&self, what: &'static str) -> Damage {
        Damage { at: self.place(), what }
    }

    pub(crate) const fn is_at_end(&self) -> bool {
        self.at >= self.end
    }

    pub(crate) const fn left(&self) -> usize {
        self.end - self.at
    }

    pub(crate) const fn order(&self) -> Order {
        self.order
    }

    pub(crate) const fn set_order(&mut self, order: Order) {
        self.order = order;
    }

    #[inline(always)]
    pub(crate) fn byte(&mut self) -> Found<u8> {
        if self.at >= self.end {
            return Err(self.damage(ENDS_EARLY));
        }
        self.at += 1;
        Ok(self.bytes[self.at - 1])
    }

    pub(crate) fn take(&mut self, count: u64, what: &'static str) -> Found<Cursor<'b>> {
        if count > self.left() as u64 {
            return Err(self.damage(what));
        }
        let start = self.at;
        self.at += count as usize;
        Ok(Cursor { at: start, end: self.at, ..self.clone() })
    }

    /// Returns the next `N` bytes without advancing, or `None` if fewer bytes follow. These bytes may
    /// lie after the end of the part that may be read.
    #[inline(always)]
    pub(crate) fn ahead<const N: usize>(&self) -> Option<&'b [u8; N]> {
        self.bytes[self.at..].first_chunk()
    }

    /// Advances past bytes that [`Cursor::ahead`] has returned.
    #[inline(always)]
    pub(crate) const fn pass(&mut self, count: usize) {
        self.at += count;
    }

    #[inline(always)]
    fn array<const N: usize>(&mut self) -> Found<[u8; N]> {
        match self.bytes[self.at..self.end].first_chunk::<N>() {
            Some(bytes) => {
                self.at += N;
                Ok(*bytes)
            }
            None => Err(self.damage(ENDS_EARLY)),
        }
    }

    /// Reads eight bytes.
    #[inline(always)]
    pub(crate) fn fixed64(&mut self) -> Found<u64> {
        Ok(self.order.number64(self.array::<8>()?))
    }

    /// Reads four bytes.
    pub(crate) fn fixed32(&mut self) -> Found<u32> {
        let bytes = self.array::<4>()?;
        Ok(match self.order {
            Order::Little => u32::from_le_bytes(bytes),
            Order::Big => u32::from_be_bytes(bytes),
        })
    }

    /// Reads two bytes.
    pub(crate) fn fixed16(&mut self) -> Found<u16> {
        let bytes = self.array::<2>()?;
        Ok(match self.order {
            Order::Little => u16::from_le_bytes(bytes),
            Order::Big => u16::from_be_bytes(bytes),
        })
    }

    /// Reads a compressed integer of 32 bits.
    #[inline(always)]
    pub(crate) fn word(&mut self) -> Found<u32> {
        self.compressed(4).map(|value| value as u32)
    }

    /// Reads a compressed integer of 64 bits.
    #[inline(always)]
    pub(crate) fn long(&mut self) -> Found<u64> {
        self.compressed(8)
    }

    #[inline(always)]
    fn compressed(&mut self, most: u8) -> Found<u64> {
        if let Some(bytes) = self.ahead() {
            let Some((number, length)) = self.order.compressed(bytes, most) else {
                return Err(self.damage(TOO_WIDE));
            };
            if length > self.left() {
                return Err(self.damage(ENDS_EARLY));
            }
            self.at += length;
            return Ok(number);
        }
        self.last_compressed(most)
    }

    /// Reads a compressed integer near the end, where fewer than nine bytes follow.
    fn last_compressed(&mut self, most: u8) -> Found<u64> {
        let start = self.at;
        let count = self.byte()?;
        if count == 0xff {
            return Ok(u64::MAX);
        }
        if count > most {
            self.at = start;
            return Err(self.damage(TOO_WIDE));
        }
        let count = usize::from(count);
        let Some(bytes) = self.bytes[..self.end].get(self.at..self.at + count) else {
            return Err(self.damage(ENDS_EARLY));
        };
        self.at += count;
        let value = match self.order {
            Order::Little => {
                bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
            }
            Order::Big => bytes.iter().fold(0, |value, byte| value << 8 | u64::from(*byte)),
        };
        Ok(value)
    }

    /// Reads a text up to a zero.
    pub(crate) fn text(&mut self) -> Found<&'b [u8]> {
        let rest = &self.bytes[self.at..self.end];
        let Some(end) = memchr::memchr(0, rest) else {
            return Err(self.damage("a text does not end"));
        };
        self.at += end + 1;
        Ok(&rest[..end])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_read_in_both_orders() {
        let bytes = [2, 0x34, 0x12, 0, 0xff, 4, 1, 2, 3, 4];
        for (order, first, last) in
            [(Order::Little, 0x1234, 0x0403_0201), (Order::Big, 0x3412, 0x0102_0304)]
        {
            let mut cursor = Cursor::new(&bytes, 100, order);
            assert_eq!(cursor.long(), Ok(first));
            assert_eq!((cursor.word(), cursor.word()), (Ok(0), Ok(u32::MAX)));
            assert_eq!((cursor.word(), cursor.place()), (Ok(last), 110));
            assert_eq!(cursor.byte(), Err(Damage { at: 110, what: ENDS_EARLY }));
        }
    }

    #[test]
    fn wrong_integers_are_refused_where_they_begin() {
        let mut cursor = Cursor::new(&[5, 1, 2, 3, 4, 5], 0, Order::Little);
        assert_eq!(cursor.word().map_err(|damage| damage.at), Err(0));
        assert_eq!(cursor.long(), Ok(0x05_0403_0201));
        assert!(Cursor::new(&[3, 1], 0, Order::Big).long().is_err());
        assert!(Cursor::new(b"no end", 0, Order::Big).text().is_err());
    }
}
