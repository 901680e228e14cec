//! Tests that the structure of the ping-pong equals figures 13 and 15 of HTF.

use std::fs;

use crate::cli::run;

fn structure(text: &[u8]) -> String {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("t.trace"), text).unwrap();
    assert_eq!(run(folder.path(), &["t.trace", "-o", "t.pjp", "--segment", "1M"]).0, 0);
    let (status, out, said) = run(folder.path(), &["--structure", "t.pjp"]);
    assert_eq!((status, said.as_str()), (0, ""));
    String::from_utf8(out).unwrap()
}

const RANK_0: &str = "\
rank-0
  60610 events: E0 L1 Eb
  events 12
    E0            1  NewEvent POINT THREAD_BEGIN
    E1        10100  Push CALL MPI_Send
    E2        10100  NewEvent POINT MPI_SEND(len=16)
    E3        10100  Pop  CALL MPI_Send
    E4        10100  Push CALL MPI_Recv
    E5        10100  NewEvent POINT MPI_RECV(len=16)
    E6        10100  Pop  CALL MPI_Recv
    E7            2  Push CALL MPI_Barrier
    E8            2  NewEvent POINT MPI_COLLECTIVE_BEGIN
    E9            2  NewEvent POINT MPI_COLLECTIVE_END
    Ea            2  Pop  CALL MPI_Barrier
    Eb            1  NewEvent POINT THREAD_END
  sequences 5
    S1   E1 E2 E3
    S2   E4 E5 E6
    S3   S1 S2
    S4   E7 E8 E9 Ea
    S5   L0 S4
  loops 2
    L0   (100, 10000) * S3
    L1   (2) * S5
";

#[test]
fn the_ping_pong_of_htf() {
    let printed = structure(&datasets::ping_pong(100, 10_000));
    let second = RANK_0
        .replace("rank-0", "rank-1")
        .replace("Send", "X")
        .replace("Recv", "Send")
        .replace("X", "Recv");
    let second = second.replace("SEND(", "X(").replace("RECV(", "SEND(").replace("X(", "RECV(");
    assert_eq!(printed, format!("{RANK_0}{second}"));
}

/// Small traces are stored as text, but also have a structure. Containers with the same structure
/// are printed once.
#[test]
fn equal_lanes_are_reported_once() {
    let text = datasets::ping_pong(2, 3);
    let other = String::from_utf8(text.clone()).unwrap();
    let copy = other
        .lines()
        .filter(|line| line.contains("rank-0"))
        .map(|line| line.replace("rank-0", "rank-2") + "\n");
    let printed = structure(&[&text[..], copy.collect::<String>().as_bytes()].concat());
    assert!(printed.starts_with("rank-0, rank-2\n  40 events: E0 L1 Eb\n"), "{printed}");
}
