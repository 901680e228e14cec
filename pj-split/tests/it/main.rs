//! The program as its users see it, beside a plain statement of what each piece holds.

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
