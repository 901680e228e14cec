//! Texts of `--help` and the man page beside the options.

use paje_console::generate::{Block, Manual};
use paje_console::options::NO_WARNINGS_TERM;

/// The manual of `pj_profile`.
pub const MANUAL: Manual = Manual {
    statuses: &[(0, "reported"), (1, "the trace is invalid"), (2, "usage or input/output")],
    examples: &[
        ("pj_profile run.trace", "where the time went, by type and value"),
        ("pj_profile --by container --top 20 run.trace.gz", "the twenty longest of all containers"),
        ("pj_profile comm --level node run.trace", "how much each node sent to each"),
        ("pj_profile time --bins 50 -s 10 -e 20 run.trace", "ten seconds, in fifty parts"),
        ("pj_profile waits --by waiter run.trace", "who waits, and who causes it"),
        ("pj_profile critical run.trace", "what the run is as long as"),
        ("pj_profile --format csv -o states.csv run.trace", "for other programs"),
        ("pj_profile compare before.trace after.trace", "what became faster, and what slower"),
        ("pj_profile summary --html run.html run.trace", "all of it as a page, with pictures"),
        (
            "pj_profile comm --svg comm.svg run.trace",
            "the matrix of who sends to whom, for a paper",
        ),
        ("simulate | pj_profile --live", "while it runs, every second"),
    ],
    sections: &[
        (
            "REPORTS",
            &[Block::Terms(&[
                (
                    "states",
                    "How often each state was, how long with (inclusive) and without (exclusive) the states in \
                     it, which share of its containers' time it took, and how unevenly: imbalance is the longest \
                     exclusive time of a container over the mean, less 1. The report if none is named.",
                ),
                (
                    "comm",
                    "How many links go from where to where, how many bytes, and how long they take.",
                ),
                ("time", "Seconds of each value in each of equal parts of the time."),
                ("variables", "Least, greatest and mean value of each variable, and its integral."),
                ("events", "How many events of each value there are in each container."),
                (
                    "waits",
                    "Who waits for whom where messages are passed: late senders and receivers, and operations of \
                     groups. --by waiter also tells how much others wait for each container (caused), and how much of \
                     all waiting began with it, also where others pass it on (delay).",
                ),
                (
                    "critical",
                    "What the critical path is in: the longest chain, which is as long as the run. --by value tells how \
                     much longer than the mean of the containers, and what that imbalance costs all of them.",
                ),
                ("summary", "What the trace is, on one page."),
                ("compare A B", "Two traces side by side, sorted by what the change costs."),
            ])],
        ),
        (
            "COLUMNS",
            &[
                Block::Text("With --format csv, json or parquet, the columns are:"),
                Block::Lines(
                    "states: type,value,count,inclusive,exclusive,share,min,mean,median,p95,max,containers,imbalance\n\
                     comm: type,value,from,to,count,bytes,min,mean,max,first,last\n\
                     time: bin,start,end,container,type,value,seconds\n\
                     variables: type,container,count,min,max,mean,integral\n\
                     variables --bins: bin,start,end,type,container,mean\n\
                     events: type,value,container,count,first,last,rate\n\
                     waits: kind,count,seconds,share,mean,max\n\
                     waits --by waiter: container,count,seconds,share,mean,max,caused,delay\n\
                     waits --by pair: waiter,whom,count,seconds,share,mean,max,most\n\
                     critical: type,value,container,seconds,share\n\
                     critical --by value: type,value,seconds,share,mean,imbalance,cost\n\
                     summary: section,name,value\n\
                     compare: type,value,count_a,count_b,exclusive_a,exclusive_b,change,percent,share",
                ),
                Block::Text(
                    "With --by container or --by TYPE, states and compare begin with a column container. Times are \
                     seconds, with nine digits. They are added up exactly, so that all is the same for any number \
                     of threads. Medians and 95th percentiles of values that occur more than 100,000 \
                     times are within 0.4 %.",
                ),
            ],
        ),
        (
            "PICTURES",
            &[
                Block::Text(
                    "--svg writes one picture, which --picture names: bars (states, variables, events, waits, critical, \
                     compare), strips over time (time, variables --bins), a matrix from each to each (comm, waits --by pair) or \
                     of one value by container and time (time), a graph of who has to do with whom (comm, waits --by pair), the \
                     quadrant of computing, messages, waiting and collectives (time), a density map of containers on a grid \
                     (comm, states --by container, waits --by waiter). Where there are more lines than can be seen, neighbours \
                     are put together, which the picture says.",
                ),
                Block::Text(
                    "--html writes a page with the report's pictures and its tables, which sort by the column that is clicked \
                     on; it loads nothing. Pictures and pages are dark where their reader is.",
                ),
            ],
        ),
        (
            "ENVIRONMENT",
            &[Block::Terms(&[
                NO_WARNINGS_TERM,
                ("NO_COLOR", "If it is set and not empty, there are no colours."),
                (
                    "COLUMNS",
                    "How wide tables are where they do not go to a terminal; 100 if not set.",
                ),
                ("TMPDIR", "Where the temporary file is made, unless --temp-dir says so."),
            ])],
        ),
    ],
};
