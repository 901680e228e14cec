//! Texts of `--help` and the man page, apart from the options.

use paje_console::generate::{Block, Manual};

/// The manual of `pj_validate`.
pub const MANUAL: Manual = Manual {
    statuses: &[
        (0, "the traces are sound"),
        (1, "a trace is invalid (with --strict: or doubtful)"),
        (2, "wrong usage, or input or output failed"),
    ],
    examples: &[
        ("pj_validate ring.trace", "list all problems, then a summary"),
        (
            "pj_validate -q ring.trace && pj_dump ring.trace > ring.csv",
            "dump a trace only if it is sound",
        ),
        ("pj_validate runs/*.trace", "check several traces"),
        ("pj_validate --only not-time-ordered ring.trace", "list all problems of one kind"),
        (
            "pj_validate ring/root.trace",
            "check a trace in several files: the one that names the others",
        ),
        ("pj_validate ring.trace.gz", "check a compressed trace (gzip, zstd, xz, bzip2)"),
        (
            "pj_validate --format json -q ring.trace | jq -r .code | sort | uniq -c",
            "count the problems of each kind",
        ),
    ],
    sections: &[
        (
            "OUTPUT",
            &[
                Block::Text(
                    "The first line is the verdict. Errors come next, in the order of the trace, then warnings, each with its \
                     line. Warnings of one kind are combined: the first, with the number of others and the line of \
                     the last. --only KIND lists each.",
                ),
                Block::Lines(
                    "FILE:LINE:COLUMN: error[CODE]: the problem; the remedy\n\
                     FILE:LINE:COLUMN: warning[CODE]: the doubtful fact",
                ),
                Block::Text(
                    "Names are followed by their aliases: container 'rank-1' (33). Events have their \
                     numbers: PajePopState (13).",
                ),
                Block::Text(
                    "Then comes a summary: the number of lines, and of objects of each nature. With --format json, each line is an object: the findings in the order of the \
                     trace, uncombined, then the summary. Several traces come one after the other.",
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
                (
                    "PAJE_NO_WARNINGS",
                    "If it is set, and neither empty nor 0: the same as --no-warnings.",
                ),
            ])],
        ),
    ],
};
