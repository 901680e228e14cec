//! Texts of `--help` and the man page other than options.

use paje_console::generate::Manual;

/// The manual of `pj_pack`.
pub const MANUAL: Manual = Manual {
    statuses: &[
        (0, "done"),
        (2, "wrong usage, input or output failed, or a packed trace is damaged"),
    ],
    examples: &[
        (
            "pj_pack run.trace",
            "packs a trace to run.trace.pjp, which every program reads like run.trace",
        ),
        (
            "pj_pack run.trace.gz -o run.pjp --threads 4",
            "packs a compressed trace with four threads",
        ),
        ("pj_pack --unpack run.pjp -o run.trace", "unpacks it, byte for byte"),
        ("pj_pack --list run.pjp", "lists its contents and their sizes"),
        ("pj_pack --structure run.pjp", "shows what each container did, as sequences and loops"),
        ("simulate | pj_pack - -o run.pjp", "packs what comes through a pipe"),
    ],
    sections: &[],
};
