//! Effects of an event on its lane, by the nature of the lane's type.

pub mod events;
pub mod links;
pub mod refusal;
pub mod states;
pub mod variables;
