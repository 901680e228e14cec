//! Text of `--help` and the man page beside the options.

use paje_console::generate::{Block, Manual};
use paje_console::options::NO_WARNINGS_TERM;

/// The manual of `pj_view`.
pub const MANUAL: Manual = Manual {
    statuses: &[
        (0, "what was asked for is written"),
        (1, "the trace is invalid; nothing of it was shown"),
        (2, "wrong usage, or input or output that fails"),
    ],
    examples: &[
        (
            "pj_view run.trace.gz",
            "opens it in the browser; Ctrl-C ends the program, and the page with it",
        ),
        ("pj_view --html run.html run.trace", "one file, to be sent to others"),
        (
            "pj_view --svg fig.svg -s 1.5 -e 2 --in 'rank-*' --width 800 run.trace",
            "half a second of some ranks, for a paper",
        ),
    ],
    sections: &[
        (
            "SECURITY",
            &[Block::Text(
                "The page is served to this machine alone, at an address with a random word that others do not \
                 know: who knows it can read the trace. Nothing else can be read, and nothing be written. With \
                 --bind, other machines that can reach that address can ask, too, and what they are told goes over \
                 the network as it is, not encrypted; a tunnel (ssh -L) is better.",
            )],
        ),
        ("ENVIRONMENT", &[Block::Terms(&[NO_WARNINGS_TERM])]),
    ],
};
