//! Tests the program from the outside, against a simple model of the pieces.

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
