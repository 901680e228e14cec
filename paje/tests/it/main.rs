//! Tests of the public interface.

mod analysis;
mod examples;
mod reading;
mod rows;
