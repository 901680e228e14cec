//! Tests that reused keys of links are found with any number of workers.

use std::fmt::Write as _;

use paje_sim::{ErrorKind, Options, Problem, Progress, Source, Trace};
use testkit::{definitions, teams};

const EVENTS: [(&str, &str, &str); 6] = [
    ("0", "DefineContainerType", "Name Type"),
    ("1", "DefineLinkType", "Name Type StartContainerType EndContainerType"),
    ("2", "CreateContainer", "Time:date Name Type Container"),
    ("3", "StartLink", "Time:date Type Container Value StartContainer Key"),
    ("4", "EndLink", "Time:date Type Container Value EndContainer Key"),
    ("5", "DestroyContainer", "Time:date Name Type"),
];

const WORLD: &str = "0 H 0\n1 L 0 H H\n1 M 0 H H\n2 0 h H 0\n";

/// Number of links. It is large enough for several workers to share the search.
const LINKS: usize = 40_000;

/// Returns a trace with many links of two types. For each pair in `reused`, the first link uses the
/// key of the second link.
fn trace(reused: &[(usize, usize)]) -> String {
    let mut text = format!("{}{WORLD}", definitions(EVENTS));
    for i in 0..LINKS {
        let key = reused.iter().find(|(link, _)| *link == i).map_or(i, |(_, of)| *of);
        let type_ = if i % 16 == 5 { "M" } else { "L" };
        let _ = writeln!(text, "3 {i} {type_} 0 v h k{key}\n4 {i} {type_} 0 v h k{key}");
    }
    text
}

/// Replays a trace with several teams of workers. Returns the reported key and its line number.
fn found(text: &str) -> Option<(Vec<u8>, u64)> {
    let found = teams::<3>().map(|workers| {
        let options = Options::default();
        let source = Source::stream(text.as_bytes());
        let replayed = Trace::read_with(source, &options, &workers, &Progress::default());
        replayed.err().map(|error| match error.kind() {
            ErrorKind::Invalid(Problem::KeyReused { key }) => {
                (key.clone(), error.position().expect("a place").line)
            }
            other => panic!("{other:?}"),
        })
    });
    assert!(found.iter().all(|other| *other == found[0]), "{found:?}");
    found[0].clone()
}

#[test]
fn the_first_reused_key_is_reported() {
    let head = trace(&[]).lines().count() as u64 - 2 * LINKS as u64;
    let line = |link: usize| head + 2 * link as u64 + 1;
    let far = LINKS - 3;
    for (reused, told) in [
        (&[][..], None),
        // The first link and a late link of the same type have the same key.
        (&[(far, 0)], Some((0, far))),
        (&[(30_000, 29_999), (far, 1)], Some((29_999, 30_000))),
        (&[(far, 17), (39_000, 38_990)], Some((38_990, 39_000))),
        // A link of another type is in another lane, so the key may be used again.
        (&[(far, 5)], None),
        (&[(far, 5), (39_989, 21)], Some((21, 39_989))),
        (&[(far, 2), (35_000, 2)], Some((2, 35_000))),
    ] {
        let told =
            told.map(|(key, link): (usize, usize)| (format!("k{key}").into_bytes(), line(link)));
        assert_eq!(found(&trace(reused)), told, "{reused:?}");
    }
}

/// The lanes of a container are searched when it ends.
#[test]
fn ending_containers_are_searched() {
    let links = |from: usize| -> String {
        let mut text = String::new();
        for i in from..from + 1000 {
            let _ = writeln!(text, "3 {i} L h v h k{i}\n4 {i} L h v h k{i}");
        }
        text
    };
    let nested = WORLD.replace("1 L 0 H H", "1 L H H H");
    let text = format!("{}{nested}{}", definitions(EVENTS), links(0));
    assert_eq!(found(&format!("{text}5 1000 h H\n")), None);
    let again = "3 1000 L h v h k7\n4 1000 L h v h k7\n5 1000 h H\n";
    assert_eq!(found(&format!("{text}{again}")).map(|(key, _)| key), Some(b"k7".to_vec()));
}

/// Long keys are kept and compared in another way than short ones.
#[test]
fn keys_of_any_length_match() {
    let mut text = format!("{}{WORLD}", definitions(EVENTS));
    for (event, quote) in [(3, "\""), (4, "")] {
        for length in 0..80 {
            for end in ["a", "b"] {
                let key = "k".repeat(length) + end;
                let _ = writeln!(text, "{event} {event} L 0 v h {quote}{key}{quote}");
            }
        }
    }
    assert_eq!(found(&text), None);
    let trace = Trace::read(text.as_bytes(), &Options::default()).expect("all links have ends");
    assert_eq!(trace.counts().links, 160);
}
