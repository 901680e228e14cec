//! The replay and the checker together report the same as the checker alone.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use datasets::mutate::{Change, mutated};
use paje_parser::FieldNames;
use paje_workers::Workers;
use pj_validate::{Options, Replaying, check_files, check_quickly};
use splitter::{Folders, Input};
use testkit::{Rng, team};

use crate::world::{SOUND, trace};

static ONE: Workers = Workers::one();
static TEAM: LazyLock<Workers> = LazyLock::new(|| team(3));

/// Checks a file in both ways. Returns whether the replay was enough.
fn compare(path: &Path, options: &Options, replaying: &Replaying<'_>) -> bool {
    let folders = Folders::of([path]);
    let open = || Input::open(Some(path)).unwrap();
    let careful = check_files(open(), path, Some(&folders), options).unwrap();
    let mut opened = 0;
    let quick = check_quickly(open(), path, Some(&folders), options, replaying, &mut |_| {
        opened += 1;
    });
    let (quick, careful) = (format!("{:#?}", quick.unwrap()), format!("{careful:#?}"));
    assert!(quick == careful, "{}, {replaying:?}\n{quick}\n{careful}", path.display());
    opened == 1
}

/// Compares the reports on a text. `seed` determines the options and the settings of the replay.
fn compare_text(text: &[u8], seed: u64) -> bool {
    let mut random = Rng::new(seed);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.trace");
    let packed = match random.below(8) {
        0 => testkit::pack(random.pick(&testkit::COMPRESSIONS), text),
        _ => text.to_vec(),
    };
    fs::write(&path, packed).unwrap();
    let mut options = Options::default();
    options.field_names = random.pick(&[FieldNames::Strict, FieldNames::Strict, FieldNames::Old]);
    options.ignore_incomplete_links = random.below(3) == 0;
    options.max_findings = random.pick(&[100, 0, 1, 2]);
    options.warnings = random.below(4) > 0;
    options.longest_line = random.pick(&[1 << 20, 1 << 20, 1 << 20, 40]);
    let replaying = Replaying {
        workers: random.pick(&[&ONE, &TEAM]),
        portion: random.pick(&[300, 1000, 4000, 1 << 24]),
        block: random.pick(&[64, 300, 4096, 1 << 17]),
    };
    compare(&path, &options, &replaying)
}

#[test]
fn random_traces_have_equal_reports() {
    let seeds = testkit::number("PAJE_SEEDS").unwrap_or(60);
    let first = testkit::number("PAJE_SEED").unwrap_or(0);
    let mut enough = 0;
    for seed in first..first + seeds {
        let random = datasets::random::trace(seed);
        enough += u64::from(compare_text(&random.bytes, seed));
        let mut numbers = Rng::new(seed);
        let change = |_| Change {
            what: numbers.bits() as u8,
            line: numbers.bits() as u16,
            number: numbers.bits() as u16,
        };
        let changes: Vec<Change> = (0..1 + seed % 3).map(change).collect();
        enough += u64::from(compare_text(&mutated(trace(SOUND).as_bytes(), &changes), seed));
        compare_text(&mutated(&random.bytes, &changes), seed + 1);
    }
    assert!(enough > 0 || seeds < 60, "the replay was enough {enough} times in {seeds} seeds");
}

#[test]
fn planted_faults_have_equal_reports() {
    for (seed, fault) in (0..).zip(datasets::invalid::Fault::ALL) {
        compare_text(&datasets::invalid::trace(fault, seed).bytes, seed);
    }
}

#[test]
fn every_shape_has_equal_reports() {
    for shape in datasets::Shape::ALL {
        let text = datasets::generate(shape, 60_000, 1);
        for seed in 0..4 {
            compare_text(&text, seed);
        }
    }
}

#[test]
fn examples_have_equal_reports() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../datasets/examples");
    let mut enough = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "trace") {
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            if compare(&path, &Options::default(), &Replaying::by(&TEAM)) {
                enough.push(name);
            }
        }
    }
    enough.sort_unstable();
    let wanted = [
        "all-links",
        "deep",
        "many-containers",
        "mpi",
        "mpi-wild",
        "one-container",
        "quoted",
        "unique-values",
        "user-fields",
        "variables",
    ];
    enough.retain(|name| wanted.contains(&name.as_str()));
    assert_eq!(enough, wanted);
}

/// Each of these lines needs the checker, because the finding contains the line.
#[test]
fn lines_that_a_replay_accepts_are_checked() {
    let sound = "10 1 State p w\n13 9 State p\n";
    let is_enough = |lines: &str| compare_text(trace(lines).as_bytes(), 1);
    assert!(is_enough(sound));
    for more in [
        "10 2 \"State\" p w\n",
        "10 2 State \"p\" w\n",
        "10 2 State p \"unclosed\n",
        "17 2 Message h d p k\n18 3 Message h d \"q\" k\n",
        "17 2 Message h d p k\n18 3 Message h d q k\n17 4 Message h d p m\n18 5 Message h d \"q\" m\n",
        "17 3 Message h d p k\n18 2 Message h d q k\n",
        "17 2 Message h d p k\n18 3 Message h d q k\n17 4 Message h d p k\n18 5 Message h d q k\n",
        "10 2 State p w surplus\n",
        "10 2 State q w\n",
        "8 9 Process p\n10 9 State p w\n",
        "8 9 \"Process\" p\n",
        "7 9 r Process \"h\"\n",
        "6 a \"State\" a \"0 1 0\"\n",
        "19 p Process more.trace\n",
        "19 p Process \"\"\n",
        "12 9 State p\n",
    ] {
        for place in [format!("{sound}{more}"), format!("{more}{sound}")] {
            assert!(!is_enough(&place), "{more}");
        }
    }
    // Problems without a line, or in definitions. The replay may find these.
    for more in
        ["6 a State a \"0 1 0\"\n", "2 Other Process\n", "13 0.5 State q\n", "14 0 Load p 1", ""]
    {
        assert!(is_enough(&format!("{sound}{more}")), "{more}");
    }
}

/// Only the first of these lines is examined. The others are counted.
#[test]
fn values_in_other_quotes_are_counted() {
    let lines = |from: u32, quoted: &[u32]| {
        let mut text = String::new();
        for i in 0..40 {
            let value = |name: &str| match quoted.contains(&(i % 7)) {
                true => format!("\"{name}\""),
                false => name.to_owned(),
            };
            let (time, two) = (from + i, value("in two"));
            text += &format!("10 {time} State p {}\n9 {time} Mark p {}\n", value("w"), value("m"));
            text += &format!("17 {time} Message h {} p {from}-{i}\n", value("d"));
            text += &format!("18 {time} Message h {} q {from}-{i}\n", value("d"));
            if two.starts_with('"') {
                text += &format!("11 {time} State p {two}\n12 {time} State p\n");
            }
        }
        text
    };
    let closed = "13 99 State p\n";
    for (first, second) in
        [(&[][..], &[3, 5][..]), (&[0], &[]), (&[1], &[2, 6]), (&[4], &[0, 1, 4])]
    {
        let text = trace(&format!("{}{}{closed}", lines(0, first), lines(40, second)));
        for seed in 0..12 {
            // This line is longer than the limit that some seeds set.
            let is_enough = compare_text(text.as_bytes(), seed);
            assert!(is_enough || seed > 0, "{text}");
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.trace");
        fs::write(&path, text).unwrap();
        for (only, max_findings) in
            [("other-quoting", 100), ("unused-type", 100), ("other-quoting", 1)]
        {
            let mut options = Options::default();
            (options.only, options.max_findings) = (vec![only.into()], max_findings);
            assert!(compare(&path, &options, &Replaying::by(&TEAM)));
        }
    }
}

/// Definitions of used values are not read again, so the replay must notice their problems.
#[test]
fn definitions_of_used_values_are_checked_by_the_replay() {
    let with = |definition: &str, event: &str| {
        let uses = "10 1 State p w\n9 1 Mark p m\n17 1 Message h d p k\n18 2 Message h d q k\n";
        trace(&format!("{uses}{definition}\n10 2 State p {event}\n13 9 State p\n"))
    };
    let is_enough = |definition: &str, event: &str| {
        (0..6).all(|seed| compare_text(with(definition, event).as_bytes(), seed * 7 + 1))
    };
    assert!(is_enough("6 a State again \"0 1 0\"", "a"));
    assert!(is_enough("6 \"a\" State again \"0 1 0\"", "\"a\""));
    assert!(is_enough("6 \"a\" State again \"0 1 0\"", "a"));
    for definition in [
        "6 a \"State\" again \"0 1 0\"",
        "6 a State again \"0 1 0\" more",
        "6 a State again \"0 1 0",
        "6 a State again \"0 1\"",
        "6 a State again green",
        "6 a State again",
        "6 a Load again \"0 1 0\"",
        "6 a Process again \"0 1 0\"",
        "6 a Other again \"0 1 0\"",
        "6 w State again \"0 1 0\"",
        "6 a State again \"0 1 0\"\n6 a State again \"0 1 0\"",
        "6 b State again \"0 1 0\"\n6 a \"State\" again \"0 1 0\"",
    ] {
        let text = with(definition, "a");
        (0..6).for_each(|seed| {
            compare_text(text.as_bytes(), seed * 7 + 1);
        });
    }
}
