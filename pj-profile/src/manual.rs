//! Texts of `--help` and of the man page, except those of the options.

use paje_console::generate::{Block, Manual};
use paje_console::options::NO_WARNINGS_TERM;

/// The manual of `pj_profile`.
pub const MANUAL: Manual = Manual {
    statuses: &[
        (0, "the report was written"),
        (1, "the trace is invalid (with --recover: it was reported after repairs)"),
        (2, "wrong usage, or input or output failed"),
    ],
    examples: &[
        ("pj_profile why run.trace", "why the run is slow, in words"),
        ("pj_profile run.trace", "time by type and value"),
        (
            "pj_profile --by container --top 20 run.trace.gz",
            "the twenty longest rows of all containers",
        ),
        ("pj_profile comm --by node run.trace", "communication between nodes"),
        ("pj_profile time --bins 50 -s 10 -e 20 run.trace", "ten seconds in fifty bins"),
        ("pj_profile waits --by waiter run.trace", "waiting containers and those that cause it"),
        ("pj_profile critical run.trace", "the critical path"),
        ("pj_profile tasks --by kernel paje.trace", "kernels of a run of StarPU and their delays"),
        ("pj_profile --format csv -o states.csv run.trace", "a table for other programs"),
        ("pj_profile compare before.trace after.trace", "the states that became faster or slower"),
        ("pj_profile scaling run-4 run-8 run-16", "efficiencies with more and more ranks"),
        ("pj_profile summary --html run.html run.trace", "all reports as a page with pictures"),
        ("pj_profile comm --svg comm.svg run.trace", "the communication matrix as a picture"),
        ("simulate | pj_profile --live", "a report every second while it runs"),
    ],
    sections: &[
        (
            "REPORTS",
            &[Block::Terms(&[
                (
                    "why",
                    "The causes that make a run slow, in words, with numbers and the next command to type: late \
                     senders, imbalance, serialisation, a slow network, too many small messages, a slow node, or a \
                     phase that differs. docs/why.md explains the rules.",
                ),
                (
                    "states",
                    "Count and duration of each state, with (inclusive) and without (exclusive) nested states, its \
                     share of the containers' time, and its imbalance: the longest exclusive time of a container \
                     divided by the mean, minus 1. The default report.",
                ),
                ("comm", "Count, bytes and duration of the links between each pair of containers."),
                ("time", "Seconds of each value in each of several bins of equal length."),
                ("variables", "Minimum, maximum, mean and integral of each variable."),
                ("events", "Number of events by value and container."),
                (
                    "waits",
                    "Wait states in message passing: late senders, late receivers and collectives. --by waiter also \
                     shows how long others wait for each container (caused), and how much waiting it causes \
                     directly and indirectly (delay).",
                ),
                (
                    "critical",
                    "States on the critical path, the chain that determines the length of the run. --by value \
                     compares it with the mean over containers, and shows the cost of the imbalance.",
                ),
                (
                    "tasks",
                    "What the workers of StarPU did, why they idled, and bounds on the makespan. --by kernel shows \
                     the delays of tasks, and --by task those of each task. Needs the file tasks.rec (--tasks). With \
                     it, waits and critical also know the dependencies of tasks.",
                ),
                ("summary", "An overview of the trace on one page."),
                ("compare A B", "Two traces, sorted by the change in time."),
                (
                    "scaling A B ...",
                    "Efficiencies (POP) of runs of one program with different numbers of ranks.",
                ),
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
                     waits --by value: value,kind,count,seconds,share,mean,max,whom\n\
                     waits --by path: kind,container,path,count,seconds,share,mean,max,delay,indirect\n\
                     waits --by pair: waiter,whom,count,seconds,share,mean,max,most\n\
                     critical: type,value,container,seconds,share\n\
                     critical --by container: container,seconds,share\n\
                     critical --by value: type,value,seconds,share,mean,imbalance,cost\n\
                     critical --by value, with tasks: type,value,count,seconds,share\n\
                     tasks: kind,workers,tasks,execution,transfer,overhead,ready,dependencies,submission,none_left,share\n\
                     tasks --by worker: container,tasks,execution,transfer,overhead,ready,dependencies,submission,none_left,share\n\
                     tasks --by kernel: kernel,kind,count,seconds,mean,queued,beside_idle,transfer\n\
                     tasks --by task: job,kernel,container,priority,submit,ready,start,end,seconds,queued,beside_idle,transfer\n\
                     summary: section,name,value\n\
                     why: kind,name,share,text,next,whatif\n\
                     scaling: run,ranks,length,speedup,global,parallel,load_balance,communication,serialisation,transfer,scaling\n\
                     compare: type,value,count_a,count_b,exclusive_a,exclusive_b,change,percent,share",
                ),
                Block::Text(
                    "With --by container or --by TYPE, states and compare begin with a column container. Times are \
                     in seconds with nine decimals. Sums are exact, so they do not depend on the number of threads. \
                     Medians and 95th percentiles of values that occur more than 100,000 times are within 0.4 %.",
                ),
            ],
        ),
        (
            "PICTURES",
            &[
                Block::Text(
                    "--svg writes one picture, chosen by --picture: bars (states, variables, events, waits, critical, \
                     tasks, compare), strips over time (time, variables --bins), a matrix of pairs (comm, waits --by pair) or of one \
                     value by container and time (time), a graph of pairs (comm, waits --by pair), curves (scaling), the quadrant of \
                     computing, messages, waiting and collectives (time), or a density map of containers on a grid \
                     (comm, states --by container, waits --by waiter). If there are more lines than can be seen, \
                     neighbours are merged, and the picture says so.",
                ),
                Block::Text(
                    "--html writes a self-contained page with the report's pictures and tables. Click on a column to sort by \
                     it. Pictures and pages follow the reader's dark mode.",
                ),
            ],
        ),
        (
            "ENVIRONMENT",
            &[Block::Terms(&[
                NO_WARNINGS_TERM,
                ("NO_COLOR", "If set and not empty, disables colours."),
                ("COLUMNS", "Width of tables that are not written to a terminal (default: 100)."),
                ("TMPDIR", "Folder of the temporary file, unless --temp-dir is given."),
            ])],
        ),
    ],
};
