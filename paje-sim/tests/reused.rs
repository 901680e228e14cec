//! Tests that reused keys of links are found with any number of workers.

use std::fmt::Write as _;

use paje_parser::TypeNature;
use paje_sim::{ErrorKind, Options, Problem, Progress, Selection, Source, Trace};
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

fn reported(error: &paje_sim::Error) -> (Vec<u8>, u64) {
    match error.kind() {
        ErrorKind::Invalid(Problem::KeyReused { key }) => {
            (key.clone(), error.position().expect("a place").line)
        }
        other => panic!("{other:?}"),
    }
}

/// Replays a trace with several teams of workers, all links or none selected. Returns the reported key, its line
/// number, and the number of links whose keys were used before.
fn found(text: &str) -> Option<(Vec<u8>, u64, u64)> {
    let found = teams::<3>().map(|workers| {
        let read = |recover, selection: Selection| {
            let mut options = Options::default();
            (options.recover, options.selection) = (recover, selection);
            options.ignore_incomplete_links = true;
            let source = Source::stream(text.as_bytes());
            Trace::read_with(source, &options, &workers, &Progress::default())
        };
        let found = read(false, Selection::default()).err().map(|error| reported(&error));
        let states = Selection::default().of_natures([TypeNature::State]);
        let selected = read(false, states).map(|trace| trace.links().count());
        assert_eq!(selected.map_err(|error| reported(&error)), found.clone().map_or(Ok(0), Err));
        let recovered = read(true, Selection::default()).expect("recovers");
        let recovered = recovered.recovered().problems.first();
        let counted = recovered.map(|found| (reported(&found.error), found.count));
        assert_eq!(counted.as_ref().map(|counted| &counted.0), found.as_ref());
        counted.map(|((key, line), count)| (key, line, count))
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
        (&[(far, 0)], Some((0, far, 1))),
        (&[(30_000, 29_999), (far, 1)], Some((29_999, 30_000, 2))),
        (&[(far, 17), (39_000, 38_990)], Some((38_990, 39_000, 2))),
        // A link of another type is in another lane, so the key may be used again.
        (&[(far, 5)], None),
        (&[(far, 5), (39_989, 21)], Some((21, 39_989, 1))),
        (&[(far, 2), (35_000, 2), (39_000, 1)], Some((2, 35_000, 3))),
    ] {
        let told = told.map(|(key, link, count): (usize, usize, u64)| {
            (format!("k{key}").into_bytes(), line(link), count)
        });
        assert_eq!(found(&trace(reused)), told, "{reused:?}");
    }
}

/// A key may also be used again by a link without an end.
#[test]
fn open_links_count() {
    let head = definitions(EVENTS) + WORLD;
    let again = "3 1 L 0 v h k\n4 1 L 0 v h k\n3 2 L 0 v h k\n";
    let line = head.lines().count() as u64 + 3;
    assert_eq!(found(&(head + again)), Some((b"k".to_vec(), line, 1)));
    // Many links, which are searched in several pieces.
    let text = trace(&[]);
    let line = text.lines().count() as u64 + 1;
    assert_eq!(found(&(text + "3 40000 L 0 v h k0\n")), Some((b"k0".to_vec(), line, 1)));
}

/// More lanes than are searched together.
#[test]
fn links_of_all_lanes_are_counted() {
    let mut text = definitions(EVENTS) + WORLD;
    for type_ in 0..150 {
        let _ = writeln!(text, "1 L{type_} 0 H H");
    }
    let head = text.lines().count() as u64;
    for time in 0..3 {
        for type_ in 0..150 {
            let _ = writeln!(text, "3 {time} L{type_} 0 v h k\n4 {time} L{type_} 0 v h k");
        }
    }
    assert_eq!(found(&text), Some((b"k".to_vec(), head + 301, 300)));
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
    assert_eq!(found(&format!("{text}{again}")).map(|(key, ..)| key), Some(b"k7".to_vec()));
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
