//! Parsing of command lines, and the layout of help.

use std::num::NonZeroUsize;

use super::*;
use clap::CommandFactory;
use clap::error::ErrorKind;
use paje_console::options::{Nature, StatsFormat};
use paje_sim::{Selection, TypeNature};
use paje_workers::Pin;

#[test]
fn options_are_read_as_by_getopt() {
    let cli = Cli::parse_from(["pj_dump", "-zl", "9", "t.paje", "-nu", "--ignore-inc", "-z"]);
    assert!(
        cli.reading.accepted.ignore_incomplete_links
            && cli.reading.accepted.no_strict
            && cli.user_defined
    );
    assert_eq!(cli.float_precision, 9);
    assert_eq!(cli.files, [PathBuf::from("t.paje")]);
    let cli = Cli::parse_from(["pj_dump", "-l3", "-s", "-1.5", "--end=2", "--float", "4", "-h"]);
    assert_eq!(
        (cli.float_precision, cli.which.span.start, cli.which.span.end),
        (4, Some(-1.5), Some(2.0))
    );
    assert!(cli.header);
    assert!(Cli::try_parse_from(["pj_dump", "--e", "t"]).is_err());
    assert!(Cli::try_parse_from(["pj_dump", "-s", "soon"]).is_err());
}

const LONG: [(&str, Option<&str>); 21] = [
    ("start", Some("1")),
    ("end", Some("1")),
    ("stop-at", Some("1")),
    ("no-strict", None),
    ("ignore-incomplete-links", None),
    ("quiet", None),
    ("flex", None),
    ("user-defined", None),
    ("probabilistic", Some("1")),
    ("float-precision", Some("1")),
    ("no-imbrication", None),
    ("container", None),
    ("dot", None),
    ("time", None),
    ("header", None),
    ("type-hierarchy", Some("1")),
    ("entity-hierarchy", Some("1")),
    ("out-of-core", None),
    ("help", None),
    ("usage", None),
    ("version", None),
];

/// Returns the full options that a command line selects, or the kind of the error (such as help).
fn read(option: &str, value: Option<&str>) -> Result<String, ErrorKind> {
    let words = ["pj_dump", option].into_iter().chain(value);
    let cli = Cli::try_parse_from(words).map_err(|error| error.kind())?;
    Ok(format!("{cli:?}"))
}

/// This includes `--p`. PajeNG refuses it only because its library adds `--program-name`.
#[test]
fn abbreviations_of_pajengs_options_are_kept() {
    let (mut short, nothing) = (0, format!("{:?}", Cli::parse_from(["pj_dump"])));
    for (name, value) in LONG {
        let whole = read(&format!("--{name}"), value);
        assert_ne!(whole.as_ref(), Ok(&nothing), "{name}");
        for length in 1..name.len() {
            let prefix = &name[..length];
            if LONG.iter().filter(|(other, _)| other.starts_with(prefix)).count() == 1 {
                assert_eq!(read(&format!("--{prefix}"), value), whole, "--{prefix}");
                short += 1;
            }
        }
    }
    assert!(short > 100, "{short}");
}

#[test]
fn our_options_can_be_abbreviated_to_unique_prefixes() {
    let words = ["pj_dump", "--of", "S", "--nat", "link", "--so", "--no-p", "--th", "3", "--pi"];
    let cli = Cli::parse_from(words.into_iter().chain(["compact"]));
    assert_eq!(
        (cli.which.patterns.of_type.len(), cli.which.natures.nature.as_slice()),
        (1, &[Nature::Link][..])
    );
    assert_eq!((cli.parallel.threads, cli.parallel.pin), (NonZeroUsize::new(3), Pin::Compact));
    assert!(cli.reading.accepted.sort && cli.talk.no_progress);
    for (name, value) in [("t", None), ("st", None), ("s", None), ("no", None), ("e", Some("1"))] {
        assert!(read(&format!("--{name}"), value).is_err(), "--{name}");
    }
}

#[test]
fn selections_are_parsed() {
    let selection = |words: &[&str]| {
        let cli = Cli::try_parse_from([&["pj_dump"], words].concat());
        cli.map(|cli| cli.which.selection()).map_err(|error| error.kind())
    };
    assert_eq!(selection(&["t"]), Ok(Selection::default()));
    let found = selection(&[
        "--nature",
        "state,link",
        "--in",
        "p*",
        "--of-type",
        "-x",
        "--nature=event",
        "--in=q",
        "-s1",
        "t",
    ]);
    let mut wanted = Selection::default();
    wanted.natures = [TypeNature::State, TypeNature::Link, TypeNature::Event].into_iter().collect();
    wanted.types = vec!["-x".parse().expect("a pattern")];
    wanted.containers = ["p*", "q"].map(|glob| glob.parse().expect("a pattern")).to_vec();
    wanted.window.from = 1.0;
    assert_eq!(found, Ok(wanted));
    // PajeNG's `--container` has no value, so `p*` is the file.
    let cli = Cli::parse_from(["pj_dump", "--container", "p*"]);
    assert!(cli.container && cli.files == [PathBuf::from("p*")]);
    // Both the names in rows and the names of tables are accepted.
    let one = selection(&["--nature", "state,link"]);
    assert!(one.is_ok());
    for same in ["State,Link", "states,links", "STATES,LINK"] {
        assert_eq!(selection(&["--nature", same]), one, "{same}");
    }
    assert_eq!(selection(&["--nature", "stat"]), Err(ErrorKind::InvalidValue));
    assert_eq!(selection(&["--in", "a[b"]), Err(ErrorKind::ValueValidation));
}

#[test]
fn the_format_of_stats_is_optional() {
    let stats = |words: &[&str]| Cli::parse_from([&["pj_dump"], words].concat());
    assert_eq!(stats(&["t"]).talk.stats, None);
    let cli = stats(&["--stats", "json"]);
    assert_eq!((cli.talk.stats, cli.files), (Some(StatsFormat::Text), vec!["json".into()]));
    assert_eq!(stats(&["--stats=json"]).talk.stats, Some(StatsFormat::Json));
}

fn headings(help: &str) -> Vec<(&str, Vec<&str>)> {
    let mut headings: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in help.lines() {
        if let Some(heading) = line.strip_suffix(':').filter(|line| !line.starts_with(' ')) {
            headings.push((heading, Vec::new()));
        } else if let (Some((_, options)), true) = (headings.last_mut(), line.starts_with("  "))
            && let Some(at) = line.find("--")
            && line[..at].trim_start_matches([' ', '-', ',']).len() < 4
        {
            options.extend(line[at..].split([' ', '[']).next());
        }
    }
    headings
}

#[test]
fn options_are_below_their_headings() {
    let help = Cli::command().term_width(80).render_long_help().to_string();
    let headings = headings(&help);
    let names: Vec<_> = headings.iter().map(|(name, _)| *name).collect();
    let order = [ROWS, WHICH, TABLES, READING, SPEED, PAJENG, OTHER];
    assert_eq!(names, [&["Arguments"], &order[..], &["Exit status", "Examples"]].concat());
    let other = headings.iter().find(|(name, _)| *name == OTHER).map(|(_, options)| options);
    assert_eq!(other, Some(&vec!["--generate", "--help", "--version"]));
}

#[test]
fn short_help_fits_one_screen() {
    let help = Cli::command().term_width(80).render_help().to_string();
    assert!(help.lines().count() <= 46, "{help}");
    assert!(help.lines().all(|line| line.chars().count() <= 80), "{help}");
}
