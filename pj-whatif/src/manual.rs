//! Texts of `--help` and of the man page, except those of the options.

use paje_console::generate::{Block, Manual};
use paje_console::options::NO_WARNINGS_TERM;

/// The manual of `pj_whatif`.
pub const MANUAL: Manual = Manual {
    statuses: &[
        (0, "the changed run ends"),
        (
            1,
            "the changed run never ends, as containers wait for one another, or the trace is invalid",
        ),
        (2, "wrong usage, a hypothesis that does not fit the trace, or an input or output error"),
    ],
    examples: &[
        ("pj_whatif run.trace --scale state=computing,factor=0.5", "computing takes half the time"),
        (
            "pj_whatif run.trace --balance state=computing,mode=global-instance -o balanced.paje",
            "each phase takes equally long everywhere; write the changed trace",
        ),
        ("pj_whatif run.trace --net latency=x10 --net bandwidth=x0.1", "a slower network"),
        (
            "pj_whatif run.trace --scale state=computing --sweep factor=0.1..1.0/10",
            "a table of ten runs",
        ),
        (
            "pj_whatif paje.trace --workers CUDA=+1",
            "StarPU with another GPU, if tasks.rec is there",
        ),
    ],
    sections: &[("ENVIRONMENT", &[Block::Terms(&[NO_WARNINGS_TERM])])],
};
