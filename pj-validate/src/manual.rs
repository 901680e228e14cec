//! What `--help` and the man page say beside the options.

use console::generate::{Block, Manual};

/// The manual of `pj_validate`.
pub const MANUAL: Manual = Manual {
    statuses: &[
        (0, "the trace is sound"),
        (1, "the trace is invalid (with --strict: or there are warnings)"),
        (2, "wrong usage, or the trace could not be read"),
    ],
    examples: &[
        ("pj_validate ring.trace", "what is wrong with it, and what it holds"),
        ("pj_validate -q ring.trace && pj_dump ring.trace > ring.csv", "dump only what is sound"),
        ("pj_validate ring/root.trace", "a trace in many files: the one that names the others"),
        ("pj_validate ring.trace.gz", "a compressed trace (gzip, zstd, xz, bzip2)"),
        (
            "pj_validate --json -q ring.trace | jq -r .code | sort | uniq -c",
            "how many problems of each kind",
        ),
    ],
    sections: &[
        (
            "OUTPUT",
            &[
                Block::Text(
                    "Problems come first, in the order of the trace, each with the line that it is about:",
                ),
                Block::Lines(
                    "FILE:LINE:COLUMN: error[CODE]: what is wrong; what would be right\n\
                     FILE:LINE:COLUMN: warning[CODE]: what is doubtful",
                ),
                Block::Text(
                    "Then comes a summary: how much of each nature there is, the containers by type, the types as a \
                     tree, and the verdict. With --json, each line is an object: the findings, then the \
                     summary.",
                ),
            ],
        ),
        (
            "ENVIRONMENT",
            &[Block::Terms(&[(
                "NO_COLOR",
                "If it is set and not empty, colours are used only with --color always.",
            )])],
        ),
    ],
};
