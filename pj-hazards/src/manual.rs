//! Texts of `--help` and of the man page, except those of the options.

use paje_console::generate::{Block, Manual};
use paje_console::options::NO_WARNINGS_TERM;

/// The manual of `pj_hazards`.
pub const MANUAL: Manual = Manual {
    statuses: &[
        (0, "no: nothing was found"),
        (1, "yes: something was found, or the trace is invalid"),
        (2, "no answer: wrong usage, or input or output failed"),
    ],
    examples: &[
        ("pj_hazards races run.trace", "messages that could have come in the other order"),
        (
            "pj_hazards races --wildcard PMPI_Recv run.trace",
            "the same if only PMPI_Recv takes any message",
        ),
        ("pj_hazards orders --count run.trace", "number of all orders, and of those that differ"),
        ("pj_hazards orders --late --format csv run.trace", "orders to try, one per message"),
        ("pj_hazards deadlock stopped.trace", "the cause of a hang"),
        ("pj_hazards barriers --wildcard PMPI_Recv run.trace", "removable barriers"),
        (
            "pj_hazards races --graph races.dot run.trace && dot -Tsvg races.dot > races.svg",
            "a picture",
        ),
    ],
    sections: &[
        (
            "HAZARDS",
            &[Block::Terms(&[
                (
                    "races",
                    "Two messages into one container race if they are in different channels and the second did not have to be \
                     sent after the first was received. Then the first receive could have taken the second message.",
                ),
                (
                    "orders",
                    "Orders in which the messages into each container could have come, in groups that can be tried \
                     independently. Assumes that the same messages are sent in any order. With --count, `graph` and \
                     `persistent` count the deliveries needed to try equivalent orders only once.",
                ),
                (
                    "deadlock",
                    "Containers that were blocked when a run stopped, and the causes: circles of containers that wait for one \
                     another, and stuck containers that others wait for. Also circles of sends that would wait forever \
                     without buffering. Links that have no end are ignored, as with -z.",
                ),
                (
                    "barriers",
                    "For each barrier, whether a wildcard receive could match another message without it. If none could, the \
                     barrier can be removed, though maybe not together with others.",
                ),
            ])],
        ),
        (
            "COLUMNS",
            &[
                Block::Text("With --format csv or json, the columns are:"),
                Block::Lines(
                    "races: container,first_from,first_sent,first_received,first_state,first_line,\n                     \u{20}       second_from,second_sent,second_received,second_state,second_line,why\n                     orders: container,group,order,place,from,sent,line\n                     orders --count: stage,parts,things,orders,deliveries\n                     deadlock: kind,container,state,waits_for,waiting,hanging,members,why\n                     barriers: value,instance,entered,last_entered,verdict,\n                     \u{20}          taken_from,taken_line,other_from,other_line,why",
                ),
                Block::Text(
                    "Times are in seconds with nine decimals. Lines are those on which links start; there are none with \
                     --sort. In JSON, numbers of more than 15 digits are strings.",
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
    ],
};
