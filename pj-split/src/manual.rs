//! Texts of `--help` and the man page, apart from the options.

use paje_console::generate::{Block, Manual};
use paje_console::options::NO_WARNINGS_TERM;

/// The manual of `pj_split`.
pub const MANUAL: Manual = Manual {
    statuses: &[
        (0, "the trace was split"),
        (1, "the trace is invalid (with --recover: it was split after repairs)"),
        (2, "wrong usage, or input or output failed"),
    ],
    examples: &[
        ("pj_split trace.paje -o pieces", "one piece for each CPU"),
        ("pj_split --piece-size 512M trace.paje.gz -o pieces", "pieces of about this size"),
        ("pj_split --by Machine trace.paje -o machines", "one piece for each machine"),
        (
            "pj_split --start 12 --end 14.5 trace.paje -o window.trace",
            "two and a half seconds of it",
        ),
        ("pj_dump machines/root.trace > trace.csv", "all rows of the trace"),
    ],
    sections: &[
        ("ENVIRONMENT", &[Block::Terms(&[NO_WARNINGS_TERM])]),
        (
            "FILES",
            &[Block::Terms(&[
                (
                    "DIR/piece-000.trace, DIR/piece-001.trace, …",
                    "The pieces; with --compress, their names end in .gz or .zst.",
                ),
                (
                    "DIR/root.trace",
                    "The file that stands for the whole trace: it names the pieces.",
                ),
            ])],
        ),
    ],
};
