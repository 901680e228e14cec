//! Text of `--help` and the man page beside the options.

use paje_console::generate::{Block, Manual};
use paje_console::options::NO_WARNINGS_TERM;

/// The manual of `pj_whatif`.
pub const MANUAL: Manual = Manual {
    statuses: &[
        (0, "the changed run comes to its end"),
        (
            1,
            "the changed run never ends, since containers wait for one another; or the trace is invalid",
        ),
        (2, "wrong usage, a hypothesis that does not fit the trace, or input/output that fails"),
    ],
    examples: &[
        (
            "pj_whatif run.trace --scale state=computing,factor=0.5",
            "if computing took half the time",
        ),
        (
            "pj_whatif run.trace --balance state=computing,mode=global-instance -o balanced.paje",
            "if each phase took equally long everywhere; and the trace of that run",
        ),
        ("pj_whatif run.trace --net latency=x10 --net bandwidth=x0.1", "on a slower network"),
        (
            "pj_whatif run.trace --scale state=computing --sweep factor=0.1..1.0/10",
            "a table of ten runs",
        ),
    ],
    sections: &[("ENVIRONMENT", &[Block::Terms(&[NO_WARNINGS_TERM])])],
};
