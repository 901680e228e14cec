//! Tests of traces that do not say how their containers depend on one another.

use std::fs;

use tempfile::TempDir;

use super::pj_whatif;

const RANKS: &str = "3 0 r0 R 0 rank-0\n3 0 r1 R 0 rank-1\n";

/// Both ranks compute, exchange a message, and meet in a barrier.
fn run(messages: &str) -> String {
    let mut text = testkit::ranks_head(&[]) + RANKS;
    for (rank, call, computes) in [(0, "MPI_Send", 1), (1, "MPI_Recv", 2)] {
        text += &format!(
            "4 0 S r{rank} computing\n5 {computes} S r{rank}\n4 {computes} S r{rank} {call}\n"
        );
    }
    text += messages;
    for rank in 0..2 {
        text += &format!("5 3 S r{rank}\n4 3 S r{rank} MPI_Barrier\n5 4 S r{rank}\n");
    }
    text
}

#[test]
fn runs_with_unknown_messages_are_not_changed() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("run.trace");
    let name = path.to_str().expect("UTF-8");
    let whole = "6 1 L 0 M r0 a\n7 3 L 0 M r1 a\n";
    let tell = |text: &str, words: &[&str]| {
        fs::write(&path, text).expect("written");
        pj_whatif(&[&[name, "-n", "-z"], words].concat())
    };
    let half = ["--cpu", "factor=0.5"];
    assert_eq!(tell(&run(whole), &half).0, 0);
    for (messages, why) in [
        ("", "1 calls may send messages, but no links show them"),
        ("6 1 L 0 M r0 a\n", "0 messages have both ends, but 1 links have no end"),
        ("9 1 E r0 MpiIsend\n", "1 sends or receives have no other end (EZTrace"),
        (
            &format!("{whole}9 1 E r1 MpiRecv\n"),
            "1 messages have both ends, but 1 sends or receives",
        ),
        ("6 0.5 L 0 M r0 a\n7 3 L 0 M r1 a\n", "1 links begin or end outside of the calls"),
    ] {
        let text = run(messages);
        for words in [
            &half[..],
            &["--scale", "state=computing", "--sweep", "factor=1..2/2"],
            &["--random", "normal,cv=0.1,runs=2"],
            &["--balance", "state=computing,mode=global"],
        ] {
            let (status, out, err) = tell(&text, words);
            assert_eq!((status, out.as_str()), (2, ""), "{words:?}");
            assert!(err.contains("does not say how its 2 containers depend"), "{err}");
            assert!(err.contains(why) && err.contains("Record"), "{err}");
        }
        for words in [&["--identity"][..], &["--cpu", "factor=1"]] {
            let (status, out, err) = tell(&text, words);
            assert!(status == 0 && out.contains("4.00 s"), "{err}");
        }
    }
}

#[test]
fn messages_to_oneself_are_no_reason() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("run.trace");
    let own = "6 1 L 0 M r0 b\n7 1 L 0 M r0 b\n6 1 L 0 M r0 a\n7 3 L 0 M r1 a\n";
    fs::write(&path, run(own)).expect("written");
    let (status, out, err) =
        pj_whatif(&[path.to_str().expect("UTF-8"), "--cpu", "factor=0.5", "--format", "csv"]);
    assert_eq!(status, 0, "{err}");
    assert!(out.contains("times are multiplied by 0.5, which is 2 times as fast"), "{out}");
    assert!(out.contains("of the time of all containers"), "{out}");
}

#[test]
fn tasks_of_starpu_need_their_file() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("paje.trace");
    let text = testkit::ranks_head(&[])
        + RANKS
        + "4 0 S r0 Executing\n5 2 S r0\n4 0 S r1 Sleeping\n5 1 S r1\n4 1 S r1 Executing\n5 2 S r1\n";
    fs::write(&path, text).expect("written");
    let words = ["--map", "starpu", "--scale", "state=Executing,factor=0.5"];
    let (status, _, err) = pj_whatif(&[&[path.to_str().expect("UTF-8")][..], &words].concat());
    assert!(status == 2 && err.contains("the file tasks.rec does"), "{err}");
}

/// Messages quote these files, which may come from others. A terminal must not interpret them.
#[test]
fn messages_escape_the_contents_of_files() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("file");
    let file = path.to_str().expect("UTF-8");
    for (text, option, message) in [
        (
            "DROP\u{1b}[2J",
            "--hypothesis",
            "file:1:1: expected BALANCE, SCALE or CUT, not `DROP\\u{1b}[2J`",
        ),
        ("a\u{9b}2J:b", "--hosts", "`a\\u{9b}2J:b`: expected a host and a number of slots"),
        ("x = 1 \u{202e}", "--map", "\\u{202e}"),
    ] {
        fs::write(&path, text).expect("written");
        let (status, _, err) = pj_whatif(&[&super::mpi(), option, file, "--cpu", "factor=2"]);
        assert!(status == 2 && err.contains(message), "{err:?}");
        assert!(!err.contains(|letter: char| letter.is_control() && letter != '\n'), "{err:?}");
    }
}

/// Without a schedule, nothing shows how long a collective would take with another network.
#[test]
fn collectives_without_a_schedule_allow_no_other_network() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("run.trace");
    let tell = |rests: &[u32], words: &[&str]| {
        let mut text = testkit::ranks_head(&[]).replacen('%', "# SimGrid\n%", 1) + RANKS;
        let mut begin = [0, 0];
        for (at, rest) in rests.iter().enumerate() {
            let work = [10 + at as u32 % 3, 10];
            let end = begin[0].max(begin[1]) + 12 + rest;
            for rank in 0..2 {
                let enter = begin[rank] + work[rank];
                text += &format!("4 {} S r{rank} computing\n5 {enter} S r{rank}\n", begin[rank]);
                text += &format!("4 {enter} S r{rank} MPI_Barrier\n");
            }
            (0..2).for_each(|rank| text += &format!("5 {end} S r{rank}\n"));
            begin = [end, end];
        }
        fs::write(&path, text).expect("written");
        pj_whatif(&[&[path.to_str().expect("UTF-8"), "-n", "--sort"], words].concat())
    };
    let rests: Vec<u32> = (0..20).map(|at| 1 + at * 7 % 5).collect();
    let network = ["--net", "latency=x2,bandwidth=x0.5"];
    for words in [&network[..], &["--scale", "state=computing,factor=0.5"]] {
        let (status, out, err) = tell(&rests, words);
        assert_eq!((status, out.as_str()), (2, ""), "{words:?} {err}");
        assert!(err.contains("no schedule explains the times of collectives"), "{err}");
        assert!(err.contains("MPI_Barrier") && err.contains("Record"), "{err}");
        // Whoever names a schedule takes responsibility for it.
        let (status, _, err) = tell(&rests, &[words, &["--coll", "MPI_Barrier=nxn"]].concat());
        assert_eq!(status, 0, "{err}");
    }
    let (status, _, err) = tell(&rests, &["--identity"]);
    assert_eq!(status, 0, "{err}");
}
