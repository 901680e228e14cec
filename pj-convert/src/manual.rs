//! Text of `--help` and the man page beside the options.

use paje_console::generate::{Block, Manual};
use paje_console::options::NO_WARNINGS_TERM;

/// The manual of `pj_convert`.
pub const MANUAL: Manual = Manual {
    statuses: &[
        (0, "the trace is converted"),
        (1, "the trace is invalid, or with --recover: was mended"),
        (2, "usage or input/output"),
    ],
    examples: &[
        ("pj_convert run.trace -o run.pftrace", "a file for https://ui.perfetto.dev"),
        (
            "pj_convert run.trace.zst -o run.json.gz -s 10 -e 20",
            "ten seconds of a trace for chrome://tracing",
        ),
        ("pj_convert run.trace -o run.csv", "a table for pipit.Trace.from_csv"),
        ("pj_convert run.trace -o - --to paje | pj_dump", "through a pipe"),
    ],
    sections: &[("ENVIRONMENT", &[Block::Terms(&[NO_WARNINGS_TERM])])],
};
