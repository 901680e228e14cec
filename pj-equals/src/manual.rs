//! Texts of `--help` and the man page, apart from the options.

use paje_console::generate::{Block, Manual};
use paje_console::options::NO_WARNINGS_TERM;

/// The manual of `pj_equals`.
pub const MANUAL: Manual = Manual {
    statuses: &[
        (0, "the answer is printed; with --quiet: not equal; with --diff: equal"),
        (1, "with --quiet: equal; with --diff: not equal"),
        (
            2,
            "no answer: wrong usage, input or output failed, or a trace is invalid (also if repaired)",
        ),
    ],
    examples: &[
        (
            "pj_equals --exact before.trace after.trace.gz",
            "print 1 if all rows are the same, else 0",
        ),
        (
            "pj_equals --diff --tolerance 1e-9 before.trace after.trace || echo they differ",
            "print the first difference beyond rounding",
        ),
        (
            "pj_equals --diff=10 --names-only run1.trace run2.trace",
            "print ten differences between two runs, without times",
        ),
    ],
    sections: &[("ENVIRONMENT", &[Block::Terms(&[NO_WARNINGS_TERM])])],
};
