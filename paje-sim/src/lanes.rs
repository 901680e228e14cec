//! Effects of an event on its lane, by the nature of the lane's type.

pub(crate) mod events;
pub(crate) mod links;
pub(crate) mod refusal;
pub(crate) mod states;
pub(crate) mod variables;
