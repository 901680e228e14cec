//! Findings do not depend on the kind of input.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};

use pj_validate::{Options, check};
use splitter::Input;
use testkit::{COMPRESSIONS, outcome, pack, pipe};

use crate::world::{SOUND, sandbox, used};

/// Returns a trace with errors and warnings. Some of them concern early lines, but are only found
/// at the end. These lines are next to each other, or more than a buffer apart.
fn unsound() -> Vec<u8> {
    let many: String =
        (6..16_000).map(|i| format!("14 {i} Load p {}\n", i * 7919 % 1000)).collect();
    let lines = format!(
        "6 high State \"high tide\" ff0000\n6 low State \"low tide\" 0000ff\n\
         10 0 State p w\n10 1 Status p w\n{many}11 5 State q wait\n10 2 State q w\n99 1\n"
    );
    used(&lines).into_bytes()
}

#[test]
fn compressed_traces_are_checked_as_plain_ones() {
    let folder = sandbox(&[]);
    for (trace, status) in [(used(SOUND).into_bytes(), 0), (unsound(), 1)] {
        for arguments in [&["-cd", "t"][..], &["-qc", "t"], &["--format", "json", "-c", "t"]] {
            let without_file = &arguments[..arguments.len() - 1];
            folder.write("t", &trace);
            let (plain, piped) = (folder.run(arguments), folder.fed(without_file, &trace));
            assert_eq!(plain.0, status);
            if status == 1 {
                assert!(plain.1.contains("high tide"), "the excerpt of an earlier line");
            }
            let (first, second) = trace.split_at(trace.len() / 3);
            // Packed traces cannot be concatenated.
            let joined = COMPRESSIONS.into_iter().filter(|how| *how != "pjp");
            let halves: Vec<_> =
                joined.map(|how| [pack(how, first), pack(how, second)].concat()).collect();
            let whole = COMPRESSIONS.map(|how| pack(how, &trace));
            for packed in whole.iter().chain(&halves) {
                folder.write("t", packed);
                assert_eq!(folder.run(arguments), plain);
                assert_eq!(folder.fed(without_file, packed), piped);
            }
        }
    }
}

#[test]
fn cut_or_damaged_compressed_data_are_reported() {
    let folder = sandbox(&[]);
    let trace = unsound();
    for how in COMPRESSIONS {
        let whole = pack(how, &trace);
        let mut damaged = whole.clone();
        damaged[whole.len() / 2] ^= 0x10;
        for (packed, reason) in [
            (whole[..whole.len() / 2].to_vec(), "end too early"),
            (whole[..7].to_vec(), "end too early"),
            (damaged, "are damaged ("),
            ([&whole[..], b"% and then?\n"].concat(), ""),
        ] {
            folder.write("t", &packed);
            let fails = |(status, stdout, stderr): (i32, String, String), name: &str| {
                assert_eq!((status, &*stdout), (2, ""), "{how}: {stderr}");
                let start = format!("pj_validate: {name}: {how}: the compressed data {reason}");
                assert!(stderr.starts_with(&start), "{stderr}");
                assert_eq!(stderr.lines().count(), 1, "{stderr}");
            };
            fails(folder.run(&["t"]), "t");
            fails(folder.run(&["--format", "json", "t"]), "t");
            fails(folder.fed(&[], &packed), "standard input");
        }
    }
}

/// If the checker opened the pipe again for earlier lines, it would wait forever.
#[test]
fn a_named_pipe_is_not_read_twice() {
    let folder = sandbox(&[]);
    let path = folder.path("pipe");
    pipe(&path);
    let trace = unsound();
    let wanted = folder.fed(&[], &trace).1.replace("<stdin>", "pipe");
    for bytes in [trace.clone(), pack("gzip", &trace), pack("xz", &trace)] {
        let to = path.clone();
        let writer = std::thread::spawn(move || {
            File::options().write(true).open(to).unwrap().write_all(&bytes).unwrap();
        });
        assert_eq!(folder.run(&["pipe"]), (1, wanted.clone(), String::new()));
        writer.join().unwrap();
    }
}

#[test]
fn standard_input_is_read_from_its_position() {
    let (folder, trace) = (sandbox(&[]), unsound());
    let wanted = folder.fed(&[], &trace);
    for how in ["none", "gzip", "zstd"] {
        let bytes = if how == "none" { trace.clone() } else { pack(how, &trace) };
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"a line that another program has read\n").unwrap();
        let place = file.stream_position().unwrap();
        file.write_all(&bytes).unwrap();
        file.seek(SeekFrom::Start(place)).unwrap();
        let output = folder.command(&[]).stdin(file).output().unwrap();
        assert_eq!(outcome(&output), wanted, "{how}");
    }
}

#[test]
fn a_file_that_becomes_shorter_is_an_error() {
    let (folder, trace) = (sandbox(&[]), unsound());
    let path = folder.path("t");
    for left in [0, 1, trace.len() as u64 / 2] {
        folder.write("t", &trace);
        let input = Input::open(Some(&path)).unwrap();
        File::options().write(true).open(&path).unwrap().set_len(left).unwrap();
        let error = check(input, &Options::default()).unwrap_err();
        assert_eq!(error.to_string(), "the file became shorter while it was being read");
    }
}
