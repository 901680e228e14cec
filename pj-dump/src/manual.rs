//! Texts of `--help` and the man page, apart from the options.

use paje_console::generate::{Block, Manual};
use paje_console::options::NO_WARNINGS_TERM;

/// The manual of `pj_dump`.
pub const MANUAL: Manual = Manual {
    statuses: &[
        (0, "the trace was dumped"),
        (1, "the trace is invalid (with --recover: it was dumped after repairs)"),
        (2, "wrong usage, or input or output failed"),
    ],
    examples: &[
        ("pj_dump trace.paje > trace.csv", "all rows"),
        (
            "pj_dump -z -l 9 trace.paje.gz | grep ^State > states.csv",
            "states with nine decimals; the trace may be compressed and have open links",
        ),
        ("pj_dump --sort starpu.trace > trace.csv", "rows of a trace that is not in time order"),
        ("pj_dump -O tables trace.paje", "Parquet files of all tables in the folder tables"),
        ("pj_dump -o --threads 4 huge.trace > huge.csv", "in little memory, with four threads"),
        ("pj_dump --stats -q trace.paje", "numbers of objects and times, without rows"),
    ],
    sections: &[
        (
            "ROW FORMAT",
            &[
                Block::Text("Each row is a line that begins with its nature:"),
                Block::Lines(
                    "Container, PARENT, TYPE, START, END, DURATION, NAME\n\
                     State, CONTAINER, TYPE, START, END, DURATION, IMBRICATION, VALUE\n\
                     Variable, CONTAINER, TYPE, START, END, DURATION, VALUE\n\
                     Event, CONTAINER, TYPE, TIME, VALUE\n\
                     Link, CONTAINER, TYPE, START, END, DURATION, VALUE, STARTCONTAINER, ENDCONTAINER, KEY",
                ),
                Block::Text(
                    "Times are in the trace's unit, mostly seconds. Columns are separated by a comma and a blank. A name that contains a \
                     comma, a quote or a carriage return is quoted, and quotes in it are doubled, so that \
                     readers of CSV read it back (see --quotes). With --user-defined, further columns follow: \
                     the user-defined fields of the event that began the row, then those of the one that \
                     ended it.",
                ),
                Block::Text(
                    "The rows of a container are consecutive: its own, then those of its states and the like, type by \
                     type. States come in the order in which they began, links in the order in which they \
                     were completed. With --out-of-core, this order holds within each portion of 16 MiB \
                     of the trace.",
                ),
            ],
        ),
        (
            "ENVIRONMENT",
            &[Block::Terms(&[
                NO_WARNINGS_TERM,
                ("TMPDIR", "Folder of the temporary file, unless --temp-dir is given."),
            ])],
        ),
        (
            "FILES",
            &[Block::Terms(&[(
                "/var/tmp",
                "Folder of objects beyond --memory-limit, if neither --temp-dir nor TMPDIR names another \
                 one. The file has no name.",
            )])],
        ),
    ],
};

/// The manual of `pj_dump_csv`.
pub const CSV_MANUAL: Manual = Manual {
    statuses: MANUAL.statuses,
    examples: &[
        ("pj_dump_csv -p out trace.paje", "out.container.csv, out.state.csv, and so on"),
        (
            "pj_dump_csv --quotes auto -l 9 -p out trace.paje",
            "with nine decimals, and quotes where readers of CSV need them",
        ),
    ],
    // The manual page of pj_dump describes the format of rows.
    sections: MANUAL.sections.split_at(1).1,
};
