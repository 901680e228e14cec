//! Text of `--help` and the man page, apart from the options.

use paje_console::generate::{Block, Manual};
use paje_console::options::NO_WARNINGS_TERM;

/// The manual of `pj_convert`.
pub const MANUAL: Manual = Manual {
    statuses: &[
        (0, "the trace was converted"),
        (1, "the trace is invalid (with --recover: it was converted after repairs)"),
        (2, "wrong usage, or input or output failed"),
    ],
    examples: &[
        ("pj_convert run.trace -o run.pftrace", "file for https://ui.perfetto.dev"),
        (
            "pj_convert run.trace.zst -o run.json.gz -s 10 -e 20",
            "ten seconds of a trace for chrome://tracing",
        ),
        ("pj_convert run.trace -o run.csv", "table for pipit.Trace.from_csv"),
        ("pj_convert run.trace -o run --to otf2", "archive for Vampir, Scalasca and Cube"),
        ("pj_convert run.trace -o - --to paje | pj_dump", "normalise and dump"),
    ],
    sections: &[("ENVIRONMENT", &[Block::Terms(&[NO_WARNINGS_TERM])])],
};
