//! Decodes the fields of a record, as its line in the [table](crate::table) describes them.

use std::ops::Range;

use crate::bytes::{Cursor, Found};
use crate::maps::Maps;
use crate::table::{Field, Item, Record, Reference, Type};

/// Maximum number of fields of a record.
pub(crate) const FIELDS: usize = 12;

/// Identifier of a definition that is not given.
pub const UNDEFINED: u64 = u64::MAX;

/// An item of a list, or an attribute of an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// Identifier of an attribute, or kind of a property.
    pub tag: u64,
    /// Type of the value, for typed ones.
    pub type_: u8,
    /// The value, or its bits.
    pub value: u64,
}

/// The fields of a record. The memory is reused for the next one.
#[derive(Clone, Debug, Default)]
pub struct Values {
    /// The fields. Texts, lists and typed values are stored separately.
    pub fields: [u64; FIELDS],
    /// The items of the record's list.
    pub list: Vec<Entry>,
    /// The attributes of an event.
    pub attributes: Vec<Entry>,
    /// Type of the record's typed value, which is among the fields.
    pub value_type: u8,
    /// Offsets of the record's texts in the file, by field.
    pub(crate) texts: [Range<u64>; 2],
    /// Whether the record ended before some of its fields, which older libraries did not write.
    pub(crate) is_old: bool,
}

impl Values {
    /// Decodes the fields of a record from its payload. With `maps`, replaces the identifiers of a
    /// location by global ones.
    pub(crate) fn read(
        &mut self,
        record: &Record,
        payload: &mut Cursor<'_>,
        maps: Option<&Maps>,
    ) -> Found<()> {
        self.list.clear();
        self.is_old = false;
        let mut texts = 0;
        for (field, value) in record.fields.iter().zip(0..FIELDS) {
            if let Some(default) = field.default.filter(|_| payload.is_at_end()) {
                self.default(field, value, default);
                continue;
            }
            self.fields[value] = match field.type_ {
                Type::Byte | Type::One(_) => payload.byte()?.into(),
                Type::Word | Type::Flags(_) | Type::Rank | Type::Root => payload.word()?.into(),
                Type::Long | Type::Signed => payload.long()?,
                Type::Time | Type::Double => payload.fixed64()?,
                Type::Reference(reference) => {
                    let id = identifier(reference, payload)?;
                    maps.map_or(id, |maps| maps.global(reference, id))
                }
                Type::Text => {
                    let start = payload.place();
                    payload.text()?;
                    self.texts[texts] = start..payload.place() - 1;
                    texts += 1;
                    texts as u64 - 1
                }
                Type::Value => {
                    self.value_type = payload.byte()?;
                    value_of(self.value_type, payload, maps)?
                }
                Type::List { short, item } => {
                    let count = if short { payload.byte()?.into() } else { payload.word()? };
                    self.read_list(count, item, payload, maps)?;
                    count.into()
                }
            };
        }
        Ok(())
    }

    fn default(&mut self, field: &Field, value: usize, default: u64) {
        self.fields[value] = default;
        self.is_old = true;
        if matches!(field.type_, Type::Value) {
            // Older libraries wrote a reference to a text, in the field before.
            (self.value_type, self.fields[value]) = (STRING, self.fields[value - 1]);
        }
    }

    fn read_list(
        &mut self,
        count: u32,
        item: Item,
        payload: &mut Cursor<'_>,
        maps: Option<&Maps>,
    ) -> Found<()> {
        // Each item takes at least one byte.
        if count as usize > payload.left() {
            return Err(payload.damage("a list is longer than its record"));
        }
        for _ in 0..count {
            let mut entry = Entry::default();
            match item {
                Item::Word => entry.value = payload.word()?.into(),
                Item::Long => entry.value = payload.long()?,
                Item::Reference(reference) => {
                    let id = identifier(reference, payload)?;
                    entry.value = maps.map_or(id, |maps| maps.global(reference, id));
                }
                Item::Typed => {
                    entry.type_ = payload.byte()?;
                    entry.value = payload.long()?;
                }
                Item::Property => {
                    entry.tag = payload.byte()?.into();
                    entry.type_ = payload.byte()?;
                    entry.value = value_of(entry.type_, payload, maps)?;
                }
            }
            self.list.push(entry);
        }
        Ok(())
    }

    /// Reads the list of attributes of the next event.
    pub(crate) fn read_attributes(&mut self, payload: &mut Cursor<'_>, maps: &Maps) -> Found<()> {
        let count = payload.word()?;
        if count as usize > payload.left() {
            return Err(payload.damage("a list is longer than its record"));
        }
        self.attributes.clear();
        for _ in 0..count {
            let id = identifier(Reference::Attribute, payload)?;
            let tag = maps.global(Reference::Attribute, id);
            let type_ = payload.byte()?;
            let value = value_of(type_, payload, Some(maps))?;
            self.attributes.push(Entry { tag, type_, value });
        }
        Ok(())
    }
}

const STRING: u8 = 11;

#[inline(always)]
pub(crate) fn identifier(reference: Reference, payload: &mut Cursor<'_>) -> Found<u64> {
    match reference {
        Reference::Location => payload.long(),
        Reference::IoParadigm => {
            Ok(Some(payload.byte()?).filter(|id| *id != u8::MAX).map_or(UNDEFINED, u64::from))
        }
        _ => Ok(Some(payload.word()?).filter(|id| *id != u32::MAX).map_or(UNDEFINED, u64::from)),
    }
}

/// Reads a value of a type: its bits, or an identifier.
fn value_of(type_: u8, payload: &mut Cursor<'_>, maps: Option<&Maps>) -> Found<u64> {
    Ok(match type_ {
        1 => payload.byte()?.into(),
        2 => payload.fixed16()?.into(),
        3 => payload.word()?.into(),
        5 => i64::from(payload.byte()?.cast_signed()).cast_unsigned(),
        6 => i64::from(payload.fixed16()?.cast_signed()).cast_unsigned(),
        7 => i64::from(payload.word()?.cast_signed()).cast_unsigned(),
        9 => payload.fixed32()?.into(),
        10 => payload.fixed64()?,
        _ => match Reference::of_type(type_) {
            Some(reference) => {
                let id = identifier(reference, payload)?;
                maps.map_or(id, |maps| maps.global(reference, id))
            }
            None => payload.long()?,
        },
    })
}
