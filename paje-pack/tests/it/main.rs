//! Packed traces give the very bytes back, and damaged ones say so.

mod damage;
mod round;
