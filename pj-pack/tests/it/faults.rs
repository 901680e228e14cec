//! Tests full disks, and a program that is killed.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use assert_cmd::cargo::cargo_bin;
use testkit::{names, on_small_disk, outcome};

fn noise(len: usize) -> Vec<u8> {
    let mut rng = testkit::Rng::new(7);
    (0..len).map(|_| rng.index(256) as u8).collect()
}

/// Tests new files, and a file that would be replaced.
#[test]
fn a_full_disk_leaves_no_file() {
    // The disk has room for the first segment only.
    let folder = testkit::folder(&[("t", &noise(200_000))]);
    let script = "echo old > small/old
        for name in new old; do
            \"$0\" t -o small/$name --segment 20K --threads 2; echo \"status $?\"
        done
        \"$0\" t -o t.pjp && \"$0\" -u t.pjp -o small/text; echo \"status $?\"
        ls -A small; cat small/old";
    let program = cargo_bin!("pj_pack");
    let Some(output) = on_small_disk("64k", script, program.to_str().unwrap(), folder.path())
    else {
        return;
    };
    let (_, stdout, stderr) = outcome(&output);
    assert_eq!(stdout, "status 2\nstatus 2\nstatus 2\nold\nold\n", "{stderr}");
    for name in ["new", "old", "text"] {
        let wanted = format!("pj_pack: small/{name}: No space left on device\n");
        assert!(stderr.contains(&wanted), "{stderr}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_that_must_not_become_so_large() {
    let folder = testkit::folder(&[("t", &noise(200_000))]);
    let script = "ulimit -f 8; exec \"$0\" t -o t.pjp --segment 20K";
    let mut shell = Command::new("sh");
    shell.args(["-c", script]).arg(cargo_bin!("pj_pack")).current_dir(folder.path());
    let wanted = "pj_pack: t.pjp: File too large\n";
    assert_eq!(outcome(&shell.output().unwrap()), (2, String::new(), wanted.into()));
    assert_eq!(names(folder.path()), ["t"]);
}

/// The program is killed between segments, while it waits for the rest of the trace.
#[cfg(target_os = "linux")]
#[test]
fn a_killed_program_leaves_no_files() {
    for is_there in [false, true] {
        let folder = testkit::folder(&[]);
        let place = folder.path().join("t.pjp");
        if is_there {
            fs::write(&place, "old").unwrap();
        }
        let mut command = Command::new(cargo_bin!("pj_pack"));
        command.args(["-", "-o", "t.pjp", "--segment", "4K", "--threads", "1"]);
        let mut child = command.current_dir(folder.path()).stdin(Stdio::piped()).spawn().unwrap();
        let mut pipe = child.stdin.take().unwrap();
        // When the write returns, the program has read everything except what still fits into the
        // pipe, and has packed most of it.
        pipe.write_all(&datasets::generate(datasets::Shape::Mpi, 1_500_000, 1)).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        match is_there {
            false => assert!(names(folder.path()).is_empty(), "{:?}", names(folder.path())),
            true => assert_eq!(fs::read(&place).unwrap(), b"old"),
        }
    }
}
