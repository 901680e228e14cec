//! Text of `--help` and the man page beside the options.

use paje_console::generate::Manual;

/// The manual of `pj_pack`.
pub const MANUAL: Manual = Manual {
    statuses: &[
        (0, "the trace is packed, unpacked, or as it should be"),
        (2, "usage or input/output, or a packed trace that is damaged"),
    ],
    examples: &[
        (
            "pj_pack run.trace",
            "makes run.trace.pjp, which every program reads as it reads run.trace",
        ),
        ("pj_pack run.trace.gz -o run.pjp --threads 4", "a compressed trace, with four threads"),
        ("pj_pack --unpack run.pjp -o run.trace", "the very bytes of the trace"),
        ("pj_pack --list run.pjp", "what is in it, and what takes how much room"),
        ("pj_pack --structure run.pjp", "what each container did: sequences and loops"),
        ("simulate | pj_pack - -o run.pjp", "through a pipe"),
    ],
    sections: &[],
};
