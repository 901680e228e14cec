use clap::error::ErrorKind;

use super::*;

#[test]
fn options_are_read_as_by_getopt() {
    let cli = Cli::parse_from(["pj_equals", "-zi", "-s1", "a", "-t", "-2.5", "b", "--ignore-inc"]);
    assert!(cli.reading.accepted.ignore_incomplete_links && cli.icase && !cli.quiet);
    assert_eq!((cli.start1, cli.start2), (Some(1.0), Some(-2.5)));
    assert_eq!([cli.file1, cli.file2], ["a", "b"].map(|file| Some(PathBuf::from(file))));
    let wrong: [&[&str]; 8] = [
        &[],
        &["a"],
        &["a", "b", "c"],
        &["--st", "1", "a", "b"],
        &["-s", "soon", "a", "b"],
        &["--exact", "--names-only", "a", "b"],
        &["--tolerance", "1", "--structure-only", "a", "b"],
        &["--tolerance", "-1", "a", "b"],
    ];
    for words in wrong {
        assert!(Cli::try_parse_from([&["pj_equals"], words].concat()).is_err(), "{words:?}");
    }
}

const PAJENG: [(&str, Option<&str>); 14] = [
    ("stop-at1", Some("1")),
    ("stop-at2", Some("1")),
    ("start1", Some("1")),
    ("start2", Some("1")),
    ("end1", Some("1")),
    ("end2", Some("1")),
    ("flex", None),
    ("icase", None),
    ("no-strict", None),
    ("quiet", None),
    ("ignore-incomplete-links", None),
    ("help", None),
    ("usage", None),
    ("version", None),
];

/// Returns the full options that a command line selects, or the kind of the error (such as help).
fn read(option: &str, value: Option<&str>) -> Result<String, ErrorKind> {
    let words = ["pj_equals", "a", "b", option].into_iter().chain(value);
    let cli = Cli::try_parse_from(words).map_err(|error| error.kind())?;
    Ok(format!("{cli:?}"))
}

#[test]
fn abbreviations_of_pajengs_options_are_kept() {
    let (mut short, nothing) = (0, format!("{:?}", Cli::parse_from(["pj_equals", "a", "b"])));
    for (name, value) in PAJENG {
        let whole = read(&format!("--{name}"), value);
        assert_ne!(whole.as_ref(), Ok(&nothing), "{name}");
        for length in 1..name.len() {
            let prefix = &name[..length];
            if PAJENG.iter().filter(|(other, _)| other.starts_with(prefix)).count() == 1 {
                assert_eq!(read(&format!("--{prefix}"), value), whole, "--{prefix}");
                short += 1;
            }
        }
    }
    assert!(short > 40, "{short}");
}

#[test]
fn options_select_the_rules() {
    let rules =
        |words: &[&str]| Cli::parse_from([&["pj_equals", "a", "b"], words].concat()).rules();
    assert!(rules(&["-i", "-s", "1"]).is_none());
    for words in [&["--exact"][..], &["--diff"], &["--tolerance", "0"], &["--relative=0"]] {
        let rules = rules(words).expect("rules of our comparison");
        assert_eq!((rules.what, rules.case), (What::Everything, Case::Matters), "{words:?}");
    }
    let names = rules(&["--diff=3", "--names", "-i", "-s", "1", "-d", "2"])
        .expect("rules of our comparison");
    assert_eq!((names.what, names.case), (What::Names, Case::Ignored));
    assert_eq!(names.windows[0], TimeRange { from: 1.0, ..TimeRange::default() });
    assert_eq!(names.windows[1], TimeRange { to: 2.0, ..TimeRange::default() });
    assert_eq!(rules(&["--struct"]).expect("rules of our comparison").what, What::Structure);
    assert!(!rules(&["--no-keys"]).expect("rules of our comparison").keys);
}
