//! Tests the program from the outside, and compares pieces with a simple model.

mod balance;
mod failures;
mod pajeng;
mod pieces;
mod plain;
mod recover;
mod rows;
mod same;
mod signals;
mod sorted;
mod splitting;
mod viewers;
mod window;
