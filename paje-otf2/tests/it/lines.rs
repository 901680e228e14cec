//! The Pajé lines of each part of an archive.

use std::sync::Arc;

use paje_otf2::{Trace, UNDEFINED, open_regular};
use testkit::otf2::Archive;
use testkit::otf2::Given::{L, N, T, V};

use super::{lines, metrics, open, text, text_of, world};

/// Lines of the archive that [`world`] begins, without events.
const CONTAINERS: [&str; 5] = [
    "6 0.000 N0 T0 0 \"machine\"",
    "6 0.000 G0 T1 N0 \"rank 0\"",
    "6 0.000 G1 T1 N0 \"rank 1\"",
    "6 0.000 L10 T2 G0 \"rank 0/main\"",
    "6 0.000 L20 T2 G1 \"rank 1/main\"",
];

const TYPES: [&str; 3] = ["0 T0 0 \"node\"", "0 T1 T0 \"Process\"", "0 T2 T1 \"Thread\""];

fn expect(found: &[String], expected: &[&[&str]]) {
    let expected = expected.concat();
    assert_eq!(found, expected, "{}", found.join("\n"));
}

#[test]
fn the_system_tree_becomes_containers() {
    expect(&lines(&world()), &[&TYPES, &CONTAINERS]);
}

#[test]
fn regions_become_states() {
    let mut archive = world();
    archive.event(10, 1000, "Enter", &[N(4)]);
    archive.event(10, 1001, "Enter", &[N(77)]);
    archive.event(10, 1001, "Leave", &[N(77)]);
    archive.event(10, 1500, "Leave", &[N(4)]);
    // There is nothing to leave.
    archive.event(10, 1600, "Leave", &[N(4)]);
    expect(
        &lines(&archive),
        &[
            &TYPES,
            &["1 S2 T2 \"Region\"", "2 E2 T2 Event", "15 R4 S2 \"main\" FUNCTION MPI \"file.c\" 7"],
            &["5 K13 E2 Leave"],
            &CONTAINERS,
            &[
                "7 0.000 L10 S2 R4",
                "7 0.001 L10 S2 \"undefined region 77\"",
                "8 0.001 L10 S2",
                "8 0.500 L10 S2",
                "11 0.600 L10 E2 K13 \"Region=main\"",
            ],
        ],
    );
}

#[test]
fn messages_pair_as_mpi_orders_them() {
    let mut archive = world();
    let message = |rank, tag, length| [N(rank), N(0), N(tag), N(length)];
    let request =
        |rank, tag, length, request| [&message(rank, tag, length)[..], &[N(request)]].concat();
    archive.event(10, 1100, "MpiSend", &message(1, 5, 111));
    archive.event(10, 1200, "MpiIsend", &request(1, 5, 222, 1));
    archive.event(10, 1300, "MpiSend", &message(1, 6, 333));
    // One message has no receiver, and one has no receive.
    archive.event(10, 1400, "MpiSend", &message(u64::from(u32::MAX) - 1, 5, 4));
    archive.event(10, 1450, "MpiSend", &message(0, 5, 5));
    // The second request completes first, but the first one was posted first. Clocks differ.
    archive.event(20, 1010, "MpiIrecvRequest", &[N(8)]);
    archive.event(20, 1020, "MpiIrecvRequest", &[N(9)]);
    archive.event(20, 1030, "MpiIrecv", &request(0, 5, 222, 9));
    archive.event(20, 1040, "MpiRecv", &message(0, 6, 333));
    archive.event(20, 1150, "MpiIrecv", &request(0, 5, 111, 8));
    let found = lines(&archive);
    let links: Vec<&str> = found
        .iter()
        .map(String::as_str)
        .filter(|it| ["12", "13", "22", "23"].iter().any(|number| it.starts_with(number)))
        .collect();
    assert_eq!(
        links,
        [
            "12 0.100 0 M2_2 L10 C0 0 111 5",
            "23 0.150 0 M2_2 L20 C0 0 111 5 8",
            "23 0.030 0 M2_2 L20 C0 1 222 5 9",
            "22 0.200 0 M2_2 L10 C0 1 222 5 1",
            "13 0.040 0 M2_2 L20 C0 2 333 6",
            "12 0.300 0 M2_2 L10 C0 2 333 6",
        ]
    );
    let events: Vec<&str> =
        found.iter().map(String::as_str).filter(|it| it.starts_with("11 ")).collect();
    assert_eq!(
        events,
        [
            "11 0.400 L10 E2 K14 \"Receiver=4294967294; Communicator=world; Tag=5; Length=4\"",
            "11 0.450 L10 E2 K14 \"Receiver=0 (rank 0/main); Communicator=world; Tag=5; Length=5\"",
            "11 0.010 L20 E2 K17 \"Request=8\"",
            "11 0.020 L20 E2 K17 \"Request=9\"",
        ]
    );
    assert!(text(&archive).unwrap().contains("# Messages: 3 links; 1 sends without"));
}

#[test]
fn threads_that_send_at_the_same_time_are_ordered_by_their_identifiers() {
    let mut archive = world();
    archive.define("Location", &[N(30), N(4), N(1), N(2), N(0)]);
    archive.event(10, 1100, "Enter", &[N(4)]);
    let message = |rank, length| [N(rank), N(0), N(5), N(length)];
    archive.event(10, 1100, "MpiSend", &message(1, 111));
    archive.event(30, 1100, "MpiSend", &message(1, 222));
    archive.event(20, 1200, "MpiRecv", &message(0, 111));
    archive.event(20, 1300, "MpiRecv", &message(0, 222));
    let found = lines(&archive);
    let links: Vec<&String> = found.iter().filter(|it| it.starts_with("12 ")).collect();
    assert_eq!(links, ["12 0.100 0 M2_2 L10 C0 0 111 5", "12 0.100 0 M2_2 L30 C0 1 222 5"]);
}

#[test]
fn metrics_become_variables_of_their_scope() {
    let mut archive = world();
    metrics(&mut archive);
    let bits = |number: f64| number.to_bits();
    archive.event(10, 1001, "Metric", &[N(1), V(&[(4, 7), (10, bits(0.25))])]);
    archive.event(20, 1002, "Metric", &[N(0), V(&[(8, u64::MAX), (10, bits(1e300))])]);
    archive.event(20, 1003, "Metric", &[N(0), V(&[(4, 1), (4, 2), (4, 3)])]);
    let found = lines(&archive);
    let expected = [
        "3 V1_0 T1 \"metric\" \"s\" ABSOLUTE_POINT",
        "3 V1_1 T1 \"metric\" \"10^3 s\" ABSOLUTE_LAST",
        "3 V2_0 T2 \"metric\" \"s\" ABSOLUTE_POINT",
        "9 0.001 G0 V1_0 7",
        "9 0.001 G0 V1_1 0.25",
        "9 0.002 L20 V2_0 -1",
        "9 0.002 L20 V2_1 1e300",
        // The class has two members.
        "11 0.003 L20 E2 K31 \"Metric=0; Values=1,2,3\"",
    ];
    for line in expected {
        assert!(found.iter().any(|it| it == line), "{line} of {}", found.join("\n"));
    }
}

#[test]
fn attributes_and_other_records_become_fields_and_events() {
    let mut archive = world();
    archive.define("Attribute", &[N(0), N(8), N(11), N(8)]);
    archive.event_with(10, 1001, "Enter", &[N(4)], &[(0, 11, 11), (7, 10, 1.5_f64.to_bits())]);
    archive.event_with(10, 1002, "Leave", &[N(4)], &[(0, 5, (-3_i64).cast_unsigned())]);
    let end = [N(11), N(0), N(u64::from(u32::MAX)), N(16), N(17)];
    archive.event(10, 1003, "MpiCollectiveEnd", &end);
    archive.event(10, 1004, "ProgramBegin", &[N(4), L(&[10, 99])]);
    archive.event(10, 1005, "IoCreateHandle", &[N(3), N(2), N(5), N(0)]);
    archive.raw_event(10, 1006, vec![200, 2, 1, 2]);
    let found = lines(&archive);
    let expected = [
        "17 0.001 L10 S2 R4 \"metric=x 'y'; 7=1.5\"",
        "18 0.002 L10 S2 \"metric=-3\"",
        "11 0.003 L10 E2 K23 \"Operation=ALLREDUCE; Communicator=world; Root=NONE; Sent=16; Received=17\"",
        "11 0.004 L10 E2 K83 \"Name=main; Arguments=file.c,99\"",
        "11 0.005 L10 E2 K69 \"Handle=3; Access_Mode=READ_WRITE; Creation_Flags=CREATE|DIRECTORY; Status_Flags=NONE\"",
        "11 0.006 L10 E2 Unknown \"\"",
    ];
    for line in expected {
        assert!(found.iter().any(|it| it == line), "{line} of {}", found.join("\n"));
    }
}

#[test]
fn local_identifiers_and_clocks_become_global_ones() {
    let mut archive = world();
    archive.map(20, 3, &[(0, 5), (5, 6)]);
    archive.offset(20, 1000, 100);
    archive.offset(20, 2000, 200);
    for region in [0, 4, 5] {
        archive.event(20, 1500 + region, "Enter", &[N(region)]);
    }
    archive.event(20, 2000, "BufferFlush", &[N(3000)]);
    let found = lines(&archive);
    let expected = [
        "7 0.650 L20 S2 R5",
        "7 0.654 L20 S2 R4",
        // Half a tick is rounded to the even number.
        "7 0.655 L20 S2 R6",
        "11 1.200 L20 E2 K10 \"Stop_Time=2.300\"",
    ];
    for line in expected {
        assert!(found.iter().any(|it| it == line), "{line} of {}", found.join("\n"));
    }
}

#[test]
fn markers_become_events_of_the_root() {
    let mut archive = world();
    archive.mark("MarkerDefinition", &[N(3), T("group"), T("phase"), N(2)]);
    archive.mark("Marker", &[N(1500), N(10), N(3), N(0), N(UNDEFINED), T("second")]);
    archive.mark("Marker", &[N(1250), N(0), N(3), N(1), N(10), T("first")]);
    let found = lines(&archive);
    assert_eq!(
        found[TYPES.len() + 1 + CONTAINERS.len()..],
        [
            "20 0.250 0 Marker \"phase\" \"Duration=0; Scope=1; Place=10; Text=first\"",
            "20 0.500 0 Marker \"phase\" \"Duration=10; Scope=0; Place=UNDEFINED; Text=second\"",
        ]
    );
}

#[test]
fn communicators_without_a_name_of_their_own_get_their_identifier() {
    let mut archive = world();
    for id in [2, 3] {
        archive.define("Comm", &[N(id), N(7), N(0), N(UNDEFINED), N(0)]);
    }
    archive.define("Comm", &[N(4), N(UNDEFINED), N(0), N(UNDEFINED), N(0)]);
    for comm in [2, 3, 4] {
        archive.event(10, 1001, "CommCreate", &[N(comm)]);
    }
    let found = lines(&archive);
    let events: Vec<&str> = found
        .iter()
        .filter(|it| it.starts_with("11"))
        .filter_map(|it| it.split('"').nth(1))
        .collect();
    let names = ["world <C2>", "world <C3>", "communicator 4"];
    assert_eq!(events, names.map(|name| format!("Communicator={name}")));
}

#[test]
fn other_communicators_have_other_ranks() {
    let mut archive = world();
    // A communicator in which the ranks are the other way round, one of a single process, and one
    // between two groups.
    archive.define("Group", &[N(2), N(7), N(0), L(&[1, 0]), N(5), N(4), N(0)]);
    archive.define("Comm", &[N(2), N(7), N(2), N(UNDEFINED), N(0)]);
    archive.define("Group", &[N(3), N(7), N(0), L(&[]), N(6), N(4), N(0)]);
    archive.define("Comm", &[N(3), N(7), N(3), N(UNDEFINED), N(0)]);
    archive.define("Group", &[N(4), N(7), N(0), L(&[0]), N(5), N(4), N(0)]);
    archive.define("Group", &[N(5), N(7), N(0), L(&[1]), N(5), N(4), N(0)]);
    archive.define("InterComm", &[N(4), N(7), N(4), N(5), N(0), N(0)]);
    for (comm, rank) in [(2, 0), (3, 0), (4, 0)] {
        archive.event(10, 1001, "MpiSend", &[N(rank), N(comm), N(1), N(8)]);
    }
    archive.event(10, 1002, "MpiRecv", &[N(0), N(3), N(1), N(8)]);
    archive.event(20, 1003, "MpiRecv", &[N(1), N(2), N(1), N(8)]);
    archive.event(20, 1004, "MpiRecv", &[N(0), N(4), N(1), N(8)]);
    let found = lines(&archive);
    let ends: Vec<&str> =
        found.iter().map(String::as_str).filter(|it| it.starts_with("13")).collect();
    assert_eq!(
        ends,
        [
            "13 0.002 0 M2_2 L10 C3 0 8 1",
            "13 0.003 0 M2_2 L20 C2 1 8 1",
            "13 0.004 0 M2_2 L20 C4 2 8 1",
        ]
    );
}

#[test]
fn some_locations_have_the_states_of_the_whole_archive() {
    let mut archive = world();
    for (location, peer) in [(10, 1), (20, 0)] {
        archive.event(location, 1001, "Enter", &[N(4)]);
        archive.event(location, 1002, "MpiSend", &[N(peer), N(0), N(3), N(700)]);
        archive.event(location, 1003, "MpiRecv", &[N(peer), N(0), N(3), N(700)]);
        archive.event(location, 1000 + 5 * location, "Leave", &[N(4)]);
    }
    let states = |text: &str, container: &str| -> Vec<String> {
        let lines = text.lines().filter(|line| line.starts_with('7') || line.starts_with('8'));
        lines.filter(|line| line.contains(container)).map(str::to_owned).collect()
    };
    let folder = tempfile::tempdir().unwrap();
    let read = |archive: &Archive, only: u64| {
        let anchor = archive.write(folder.path());
        let whole = text_of(&open(&anchor).unwrap()).unwrap();
        let some = paje_otf2::Archive::open(&anchor, Arc::new(open_regular)).unwrap();
        let some = Trace::of_locations(Arc::new(some), vec![only], 2).unwrap();
        (whole, text_of(&some).unwrap())
    };
    for (only, container) in [(10, " L10 "), (20, " L20 ")] {
        let (whole, some) = read(&archive, only);
        assert_eq!(states(&some, container), states(&whole, container));
        assert_eq!(states(&some, container), states(&some, ""));
        assert_eq!((states(&some, "").len(), some.contains("PajeTraceFile")), (2, false));
    }
    // The other location ends last, and so does the state that is still open.
    archive.event(10, 1060, "Enter", &[N(5)]);
    let (_, some) = read(&archive, 10);
    assert!(some.ends_with("14 0.100 0 0 \"\"\n"), "{some}");
    let (_, some) = read(&archive, 20);
    assert!(!some.contains("PajeTraceFile"), "{some}");
    // Only the file of the location is read.
    std::fs::remove_file(folder.path().join("run/10.evt")).unwrap();
    let some = paje_otf2::Archive::open(&folder.path().join("run.otf2"), Arc::new(open_regular));
    let some = Arc::new(some.unwrap());
    let around = |names: [&str; 6]| -> Vec<[Vec<u8>; 2]> {
        names.chunks(2).map(|pair| [pair[0].into(), pair[1].into()]).collect()
    };
    let places = some.places();
    assert_eq!(places[0].around, around(["rank 0/main", "L10", "rank 0", "G0", "machine", "N0"]));
    assert_eq!((places[0].bytes, places[1].bytes > 0), (0, true));
    assert!(Trace::of_locations(Arc::clone(&some), vec![20], 1).is_ok());
    assert!(Trace::of_locations(some, vec![10], 1).is_err());
}
