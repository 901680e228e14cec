//! Tests that every shape has fixed bytes, the requested size and a proper end.

use datasets::{Shape, generate, write};

#[path = "../src/testing.rs"]
mod testing;

use testing::fnv;

/// Returns the time of an event line in units of its last decimal, or `None` for lines without a
/// time.
fn time(line: &str) -> Option<u64> {
    let field = line.split([' ', '\t']).nth(1)?;
    let (whole, decimals) = field.split_once('.')?;
    format!("{whole}{decimals}").parse().ok()
}

fn text(shape: Shape, size: u64, seed: u64) -> String {
    String::from_utf8(generate(shape, size, seed)).expect("traces are UTF-8")
}

#[test]
fn the_bytes_never_change() {
    // Changed traces make records of benchmarks worthless. If a change is intended, mention it in
    // the changelog.
    let expected = [
        (Shape::Mpi, 8357053025261482190),
        (Shape::MpiWild, 12791147301441328281),
        (Shape::ManyContainers, 7323273016899060798),
        (Shape::OneContainer, 91902449227881849),
        (Shape::Deep, 8728067739629062762),
        (Shape::LinksReversed, 17267592448302949587),
        (Shape::AllLinks, 327984642241343361),
        (Shape::UniqueValues, 10077675030298225852),
        (Shape::Quoted, 4284554037506885241),
        (Shape::TaskRuntime, 11774640798940062931),
        (Shape::Unsorted, 5141158199430189681),
        (Shape::Variables, 14936076432836061894),
        (Shape::PingPong, 15682170928660189604),
    ];
    let found: Vec<(Shape, u64)> =
        Shape::ALL.into_iter().map(|shape| (shape, fnv(&generate(shape, 64 << 10, 1)))).collect();
    assert_eq!(found, expected);
}

#[test]
fn different_seeds_give_different_traces() {
    for shape in Shape::ALL {
        assert_eq!(generate(shape, 20_000, 3), generate(shape, 20_000, 3), "{shape}");
        assert_ne!(generate(shape, 20_000, 3), generate(shape, 20_000, 4), "{shape}");
    }
}

#[test]
fn sizes_are_met_within_one_percent_or_a_line() {
    for shape in Shape::ALL {
        for size in [16 << 10, 100_000, 1 << 20, 5_000_000] {
            for seed in 1..4 {
                let length = generate(shape, size, seed).len() as u64;
                // Lines with quoted names have up to about 600 bytes.
                let line = if shape == Shape::Quoted { 600 } else { 200 };
                assert!(
                    length.abs_diff(size) <= (size / 100).max(line),
                    "{shape}: {length} bytes instead of {size}"
                );
            }
        }
    }
}

#[test]
fn traces_of_any_size_have_a_header_and_a_final_newline() {
    for shape in Shape::ALL {
        for size in [0, 1024, 5000] {
            let trace = generate(shape, size, 9);
            assert!(trace.starts_with(b"%EventDef Paje"), "{shape}");
            assert!(trace.ends_with(b"\n"), "{shape}");
            assert!(trace.len() < 7000, "{shape}: {}", trace.len());
        }
    }
}

#[test]
fn the_last_line_has_the_latest_time() {
    for shape in Shape::ALL {
        let trace = text(shape, 200_000, 2);
        let last = trace.lines().last().and_then(time);
        assert!(last.is_some(), "{shape}");
        assert_eq!(
            trace.lines().filter(|line| !line.starts_with('%')).filter_map(time).max(),
            last,
            "{shape}"
        );
    }
}

#[test]
fn the_number_of_written_bytes_is_returned() {
    for shape in Shape::ALL {
        let mut out = Vec::new();
        assert_eq!(write(shape, 300_000, 5, &mut out).unwrap(), out.len() as u64, "{shape}");
        assert_eq!(out, generate(shape, 300_000, 5), "{shape}");
    }
}

#[test]
fn sorting_the_unsorted_trace_gives_the_task_runtime_one() {
    let (sorted, unsorted) =
        (text(Shape::TaskRuntime, 300_000, 7), text(Shape::Unsorted, 300_000, 7));
    assert_ne!(sorted, unsorted);
    let events = |trace: &'static str| -> (Vec<&str>, Vec<&str>) {
        trace.lines().partition(|line| {
            line.starts_with('%')
                || line.starts_with(|digit| ('1'..='6').contains(&digit)) && time(line).is_none()
        })
    };
    let (header, lines) = events(sorted.leak());
    let (header_too, mut shuffled) = events(unsorted.leak());
    assert_eq!(header, header_too);
    shuffled.sort_by_key(|line| time(line));
    assert_eq!(shuffled, lines);
}

#[test]
fn the_main_benchmark_has_short_lines_of_every_nature() {
    let trace = text(Shape::Mpi, 4 << 20, 1);
    let lines = trace.lines().count();
    assert!((25..29).contains(&(trace.len() / lines)), "{} bytes in {lines} lines", trace.len());
    for event in 8..=17 {
        assert!(trace.lines().any(|line| line.starts_with(&format!("{event} "))), "event {event}");
    }
}

#[test]
fn names_of_shapes_parse_to_the_same() {
    for shape in Shape::ALL {
        assert_eq!(shape.name().parse(), Ok(shape));
        assert!(!shape.describe().is_empty());
    }
    assert!("no-shape".parse::<Shape>().unwrap_err().to_string().contains("many-containers"));
}

#[test]
fn the_number_of_containers_can_be_chosen() {
    let write = |shape, containers| {
        let mut text = Vec::new();
        let written = datasets::write_containers(shape, 100_000, 3, containers, &mut text);
        written.map(|_| String::from_utf8(text).expect("traces are UTF-8"))
    };
    for (shape, create) in [
        (Shape::Mpi, "\"rank-"),
        (Shape::ManyContainers, "\"worker "),
        (Shape::TaskRuntime, "\"CPU "),
    ] {
        for count in [4, 64] {
            let text = write(shape, Some(count)).expect("memory");
            assert_eq!(text.matches(create).count() as u64, count, "{shape:?}");
        }
        assert_eq!(write(shape, None).expect("memory"), self::text(shape, 100_000, 3));
    }
    for (shape, count) in [(Shape::Mpi, 5), (Shape::TaskRuntime, 1), (Shape::Deep, 8)] {
        assert!(write(shape, Some(count)).is_err(), "{shape:?}");
    }
}
