//! OTF2 archives are traces like others.

use testkit::fed;
use testkit::otf2::Archive;
use testkit::otf2::Given::{L, N, T};
use testkit::outcome;

use crate::world::{dump, sandbox};

/// Two processes, each with one state, and `messages` messages from the first to the second.
fn archive(messages: u64) -> Archive {
    let mut archive = Archive::default();
    archive.define("ClockProperties", &[N(1000), N(0), N(0), N(0)]);
    for (number, name) in (0..).zip(["cluster", "rank 0", "rank 1", "main", "world"]) {
        archive.define("String", &[N(number), T(name)]);
    }
    archive.define("SystemTreeNode", &[N(0), N(0), N(0), N(u64::MAX)]);
    let region = [N(0), N(3), N(3), N(0), N(3), N(1), N(2), N(3), N(1), N(1), N(0)];
    archive.define("Region", &region);
    archive.define("Group", &[N(0), N(4), N(0), L(&[0, 1]), N(4), N(4), N(0)]);
    archive.define("Comm", &[N(0), N(4), N(0), N(u64::MAX), N(0)]);
    for rank in 0..2 {
        archive.define("LocationGroup", &[N(rank), N(1 + rank), N(1), N(0)]);
        archive.define("Location", &[N(rank), N(3), N(1), N(0), N(rank)]);
        archive.event(rank, 0, "Enter", &[N(0)]);
        let name = if rank == 0 { "MpiSend" } else { "MpiRecv" };
        for message in 0..messages {
            let fields = [N(1 - rank), N(0), N(7), N(64)];
            archive.event(rank, 2 * message + rank, name, &fields);
        }
        archive.event(rank, 2 * messages, "Leave", &[N(0)]);
    }
    archive
}

const ROWS: &str = "\
Container, 0, 0, 0, 0.004, 0.004, 0
Link, 0, Message, 0.000000, 0.001000, 0.001000, world, rank 0/main, rank 1/main, 0
Link, 0, Message, 0.002000, 0.003000, 0.001000, world, rank 0/main, rank 1/main, 1
Container, 0, cluster, 0, 0.004, 0.004, cluster
Container, cluster, Process, 0, 0.004, 0.004, rank 1
Container, rank 1, Thread, 0, 0.004, 0.004, rank 1/main
State, rank 1/main, Region, 0.000000, 0.004000, 0.004000, 0.000000, main
Container, cluster, Process, 0, 0.004, 0.004, rank 0
Container, rank 0, Thread, 0, 0.004, 0.004, rank 0/main
State, rank 0/main, Region, 0.000000, 0.004000, 0.004000, 0.000000, main
";

#[test]
fn archives_are_dumped_by_their_anchor_or_their_folder() {
    let folder = sandbox(&[]);
    archive(2).write(&folder.path(""));
    for name in ["run.otf2", "./run.otf2", "."] {
        assert_eq!(folder.run(&[name]), (0, ROWS.to_owned(), String::new()), "{name}");
    }
}

#[test]
fn threads_and_sorting_do_not_change_the_rows() {
    let folder = sandbox(&[]);
    archive(40_000).write(&folder.path(""));
    let wanted = folder.run(&["--threads", "1", "run.otf2"]);
    assert_eq!((wanted.0, wanted.1.lines().count()), (0, 40_008));
    for options in [&["--threads", "2"][..], &["--threads", "4"], &["--sort"], &["--recover"]] {
        assert!(folder.run(&[options, &["run.otf2"]].concat()) == wanted, "{options:?}");
    }
}

#[test]
fn damaged_and_incomplete_archives_have_no_rows() {
    let folder = sandbox(&[]);
    archive(2).write(&folder.path(""));
    let run = || folder.run(&["run.otf2"]);
    let refused = |message: &str| {
        let text = format!("pj_dump: run.otf2: {message}\n");
        assert_eq!(run(), (1, String::new(), text));
    };
    let events = folder.read("run/1.evt");
    folder.write("run/1.evt", &events[..40]);
    refused("run/1.evt, byte 40: a record is longer than the rest of its chunk");
    folder.remove("run/1.evt");
    refused("run/1.evt: No such file or directory");
    // A link that leads out of the archive's folder is not followed.
    let other = tempfile::tempdir().expect("there is a temporary folder");
    std::fs::write(other.path().join("1.evt"), events).expect("it is writable");
    std::os::unix::fs::symlink(other.path().join("1.evt"), folder.path("run/1.evt"))
        .expect("it is writable");
    let found = run();
    assert!(found.0 != 0 && found.2.contains("is not below the trace's folder"), "{}", found.2);
}

#[test]
fn archives_need_a_path() {
    let folder = sandbox(&[]);
    archive(1).write(&folder.path(""));
    let (status, rows, message) = outcome(&dump(&[], &folder.read("run.otf2")));
    assert_eq!((status, rows), (2, String::new()));
    assert!(message.contains("this is the anchor file of an OTF2 archive"), "{message}");
    folder.write("other.otf2", folder.read("run.otf2"));
    let (status, _, message) = folder.run(&["."]);
    assert!(status == 2 && message.contains("this folder has several OTF2 archives"), "{message}");
    let packed = testkit::pack("gzip", &folder.read("run.otf2"));
    let (status, _, message) = outcome(&fed(&mut folder.command(&["-"]), &packed));
    assert!(status == 2 && message.contains("an OTF2 archive"), "{message}");
}

#[test]
fn the_intact_part_of_a_damaged_archive_is_dumped_with_recover() {
    let folder = sandbox(&[]);
    archive(2).write(&folder.path(""));
    let events = folder.read("run/1.evt");
    // The file ends within the second receive.
    folder.write("run/1.evt", &events[..events.len() - 20]);
    let (status, rows, message) = folder.run(&["--recover", "run.otf2"]);
    assert_eq!(status, 1, "{message}");
    let lost =
        "Link, 0, Message, 0.002000, 0.003000, 0.001000, world, rank 0/main, rank 1/main, 1\n";
    assert!(ROWS.contains(lost) && !rows.contains(lost), "{rows}");
    for line in ROWS.lines().filter(|line| line.starts_with("Container")) {
        assert!(rows.contains(line), "{line} is not in {rows}");
    }
    assert!(message.contains("run/1.evt, byte ") && message.contains("cut off"), "{message}");
    folder.remove("run/1.evt");
    folder.remove("run/0.evt");
    let (status, _, message) = folder.run(&["--recover", "run.otf2"]);
    assert_eq!(status, 1, "{message}");
    assert!(message.contains("run/0.evt: No such") && message.contains("run/1.evt: No such"));
}
