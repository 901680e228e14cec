//! Text of `--help` and of the man page beside the options.

use paje_console::generate::{Block, Manual};
use paje_console::options::NO_WARNINGS_TERM;

/// The manual of `pj_hazards`.
pub const MANUAL: Manual = Manual {
    statuses: &[
        (0, "nothing found"),
        (1, "something found, or the trace is invalid"),
        (2, "no answer: usage or input/output"),
    ],
    examples: &[
        ("pj_hazards races run.trace", "messages that could have come in the other order"),
        (
            "pj_hazards races --wildcard PMPI_Recv run.trace",
            "where only such receives take any message",
        ),
        ("pj_hazards orders --count run.trace", "how many orders there are, and how many differ"),
        (
            "pj_hazards orders --late --format csv run.trace",
            "orders to be tried, one for each message",
        ),
        ("pj_hazards deadlock stopped.trace", "who waits for whom where a run stopped"),
        ("pj_hazards barriers --wildcard PMPI_Recv run.trace", "barriers that nobody needs"),
        (
            "pj_hazards races --dot races.dot run.trace && dot -Tsvg races.dot > races.svg",
            "a picture",
        ),
    ],
    sections: &[
        (
            "HAZARDS",
            &[Block::Terms(&[
                (
                    "races",
                    "Two messages into one container race if they are of different channels and nothing made the second be \
                     sent after the first was received: the receive that took the first could have taken the second.",
                ),
                (
                    "orders",
                    "In which orders the messages into each container could have come: in groups that can be tried by \
                     themselves. It presumes that the same messages are sent, whatever their order. With --count, `graph` and \
                     `persistent` say how many messages have to be delivered where orders that come to the same are tried once.",
                ),
                (
                    "deadlock",
                    "Who was blocked at the end of a run that stopped, and what that hangs on: circles, and who is \
                     waited for and does not wait. Also circles of sends that would wait for ever if no message were \
                     buffered. Links that lack an end are dropped, as with -z.",
                ),
                (
                    "barriers",
                    "For each barrier, whether a receive that takes any message could match another one without it. Those \
                     where none could can go, one by one: maybe not all of them.",
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
                    "Times are seconds, with nine digits. A line is that on which the link starts; with --sort there \
                     are none. Numbers of more than 15 digits are strings in JSON.",
                ),
            ],
        ),
        (
            "ENVIRONMENT",
            &[Block::Terms(&[
                NO_WARNINGS_TERM,
                ("TMPDIR", "Where the temporary file is made, unless --temp-dir says so."),
            ])],
        ),
    ],
};
