//! The chunks of a file, and the records in them.

use crate::bytes::{Cursor, Damage, Found, Order};

/// Bytes before the records of a chunk.
pub(crate) const HEADER: u64 = 18;

/// Numbers of records that are neither definitions nor events.
pub(crate) mod mark {
    pub(crate) const END_OF_CHUNK: u8 = 0;
    pub(crate) const END_OF_BUFFER: u8 = 1;
    pub(crate) const END_OF_FILE: u8 = 2;
    pub(crate) const HEADER: u8 = 3;
    pub(crate) const TIME: u8 = 5;
    pub(crate) const ATTRIBUTES: u8 = 6;
}

pub(crate) const CUT: &str = "the file ends before its end mark";
pub(crate) const TOO_LONG: &str = "a record is longer than the rest of its chunk";

/// Reads the header of a chunk.
pub(crate) fn header(cursor: &mut Cursor<'_>) -> Found<()> {
    let damage = cursor.damage("no chunk begins here");
    if cursor.byte().ok() != Some(mark::HEADER) {
        return Err(damage);
    }
    let damage = cursor.damage("this byte gives no order of bytes");
    let order = cursor.byte().ok().and_then(Order::of).ok_or(damage)?;
    cursor.set_order(order);
    // The numbers of the first and last events are wrong in some traces.
    cursor.take(HEADER - 2, CUT).map(|_| ())
}

/// Reads the length of a record, and returns its fields.
#[inline]
pub(crate) fn payload<'b>(cursor: &mut Cursor<'b>) -> Found<Cursor<'b>> {
    let length = match cursor.byte()? {
        u8::MAX => cursor.fixed64()?,
        length => length.into(),
    };
    cursor.take(length, TOO_LONG)
}

/// A record of a file of definitions or markers.
pub(crate) struct Step<'b> {
    pub(crate) kind: u8,
    pub(crate) payload: Cursor<'b>,
}

/// The records of a file of definitions or markers.
pub(crate) struct Chunks<'b> {
    bytes: &'b [u8],
    size: u64,
    /// Number of the chunk, and its records.
    current: Option<(u64, Cursor<'b>)>,
}

impl<'b> Chunks<'b> {
    /// Creates them from the bytes of a file and the size of its chunks.
    pub(crate) const fn new(bytes: &'b [u8], size: u64) -> Self {
        Chunks { bytes, size, current: None }
    }

    fn enter(&mut self, number: u64) -> Found<()> {
        let start = number * self.size;
        let Some(rest) = usize::try_from(start).ok().and_then(|start| self.bytes.get(start..))
        else {
            return Err(Damage { at: self.bytes.len() as u64, what: CUT });
        };
        let length = rest.len().min(usize::try_from(self.size).unwrap_or(usize::MAX));
        let mut cursor = Cursor::new(&rest[..length], start, Order::Little);
        header(&mut cursor)?;
        self.current = Some((number, cursor));
        Ok(())
    }

    /// Returns the next record, or `None` after the last one.
    pub(crate) fn next_step(&mut self) -> Found<Option<Step<'b>>> {
        // A writer without records leaves an empty file.
        if self.bytes.is_empty() {
            return Ok(None);
        }
        if self.current.is_none() {
            self.enter(0)?;
        }
        while let Some((number, cursor)) = &mut self.current {
            let damage = cursor.damage(CUT);
            match cursor.byte().map_err(|_| damage)? {
                mark::END_OF_FILE => return Ok(None),
                mark::END_OF_CHUNK => {
                    let next = *number + 1;
                    self.enter(next)?;
                }
                mark::END_OF_BUFFER | mark::HEADER => return Err(damage_of(cursor)),
                kind => {
                    let payload = payload(cursor)?;
                    return Ok(Some(Step { kind, payload }));
                }
            }
        }
        Ok(None)
    }
}

fn damage_of(cursor: &Cursor<'_>) -> Damage {
    let Damage { at, .. } = cursor.damage("");
    Damage { at: at - 1, what: "no record begins with this byte" }
}
