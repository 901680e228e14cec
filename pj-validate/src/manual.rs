//! Text of `--help` and the man page beside the options.

use paje_console::generate::{Block, Manual};

/// The manual of `pj_validate`.
pub const MANUAL: Manual = Manual {
    statuses: &[
        (0, "the traces are sound"),
        (1, "a trace is invalid (with --strict: or there are warnings)"),
        (2, "wrong usage, or a trace could not be read"),
    ],
    examples: &[
        ("pj_validate ring.trace", "what is wrong with it, and what it holds"),
        ("pj_validate -q ring.trace && pj_dump ring.trace > ring.csv", "dump only what is sound"),
        ("pj_validate runs/*.trace", "several traces, each with its verdict"),
        ("pj_validate --only not-time-ordered ring.trace", "problems of one kind, each of them"),
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
                    "Errors come first, in the order of the trace, then warnings, each with the line that it is about. \
                     Warnings of one kind are told as one: the first, with how many more there are, and the line of \
                     the last. --only shows each.",
                ),
                Block::Lines(
                    "FILE:LINE:COLUMN: error[CODE]: what is wrong; what would be right\n\
                     FILE:LINE:COLUMN: warning[CODE]: what is doubtful",
                ),
                Block::Text(
                    "What the trace calls by an alias is told with it: container 'rank-1' (33). Events have their \
                     numbers: PajePopState (13).",
                ),
                Block::Text(
                    "Then comes a summary: how much of each nature there is, the containers by type, the types as a \
                     tree, and the verdict. With --json, each line is an object: the findings in the order of the \
                     trace, none for others, then the summary. Several traces come one after the other.",
                ),
            ],
        ),
        (
            "ENVIRONMENT",
            &[Block::Terms(&[
                (
                    "NO_COLOR",
                    "If it is set and not empty, colours are used only with --color always.",
                ),
                ("PAJE_NO_WARNINGS", "If it is set, and neither empty nor 0, as --no-warnings."),
            ])],
        ),
    ],
};
