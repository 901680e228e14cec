//! Tasks of StarPU: runs with known answers, recorded runs, and random runs.

mod known;
mod naive;
mod runs;
