//! Text of `--help` and the man page, apart from the options.

use paje_console::generate::{Block, Manual};
use paje_console::options::NO_WARNINGS_TERM;

/// The manual of `pj_view`.
pub const MANUAL: Manual = Manual {
    statuses: &[
        (0, "the trace was shown or drawn"),
        (1, "the trace is invalid (with --recover: it was drawn after repairs)"),
        (2, "wrong usage, or input or output failed"),
    ],
    examples: &[
        ("pj_view run.trace.gz", "opens the trace in the browser until Ctrl-C"),
        ("pj_view --waits --critical-path run.trace", "shows where ranks wait, and what for"),
        ("pj_view before.trace after.trace", "two runs on one scale of time"),
        ("pj_view --html run.html run.trace", "one file to send to others"),
        (
            "pj_view --svg fig.svg -s 1.5 -e 2 --in 'rank-*' --width 800 run.trace",
            "drawing of half a second of some ranks",
        ),
    ],
    sections: &[
        (
            "SECURITY",
            &[Block::Text(
                "Only this machine can connect to the server, and only those who know the random token in \
                 the address can read the trace. The server gives access to nothing else and writes \
                 nothing. With --bind, other machines can connect too, and the trace crosses the network \
                 unencrypted; prefer a tunnel (ssh -L).",
            )],
        ),
        ("ENVIRONMENT", &[Block::Terms(&[NO_WARNINGS_TERM])]),
    ],
};
