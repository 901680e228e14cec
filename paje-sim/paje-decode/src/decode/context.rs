//! Contexts of symbols, which distinguish names with the same text.

use paje_parser::{LinkEnd, Quoting, TypeNature};

use crate::decode::symbols::Symbol;
use paje_model::names::options::ValueNames;

/// Returns the context of a lane. Events may imply different natures for one container and type. Each nature gives a
/// lane, but only one of them can be right, which is checked when the lane is resolved.
pub const fn lane_context(type_: Symbol, nature: TypeNature) -> u32 {
    type_ << 3 | nature as u32
}

pub const fn split_lane_context(context: u32) -> (Symbol, TypeNature) {
    let nature = match context & 7 {
        0 => TypeNature::Container,
        1 => TypeNature::State,
        2 => TypeNature::Variable,
        3 => TypeNature::Event,
        _ => TypeNature::Link,
    };
    (context >> 3, nature)
}

/// Returns the context of the container at a link's end. Quotes make a difference only if they do so for values.
#[inline(always)]
pub(super) const fn end_context(type_: Symbol, end: LinkEnd, significant_quoting: Quoting) -> u32 {
    type_ << 3 | (significant_quoting as u32) << 1 | end as u32
}

pub const fn split_end_context(context: u32) -> (Symbol, LinkEnd) {
    let end = if context & 1 == LinkEnd::Start as u32 { LinkEnd::Start } else { LinkEnd::End };
    (context >> 3, end)
}

/// Returns a name's quotes if they count as part of the name.
#[inline(always)]
pub(super) const fn significant_quoting(names: ValueNames, quoted: bool) -> Quoting {
    match names {
        ValueNames::AsWritten if quoted => Quoting::Quoted,
        _ => Quoting::Bare,
    }
}

pub(super) const fn value_context(type_: Symbol, significant_quoting: Quoting) -> u32 {
    type_ << 2 | significant_quoting as u32
}

pub const fn value_type(context: u32) -> Symbol {
    context >> 2
}
