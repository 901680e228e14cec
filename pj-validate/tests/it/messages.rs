//! All messages as users see them. `PAJE_BLESS=1 cargo test -p pj-validate` updates the expected
//! ones.

use std::collections::BTreeSet;
use std::path::Path;

use pj_validate::report::{Human, Styles};
use pj_validate::{Options, Report, Rules, check, kinds};
use testkit::check_cases;

use crate::world::{header, trace};

fn shown(trace: &[u8], options: &Options, unused: bool) -> (Report, String) {
    let report = check(trace, options).expect("reading memory cannot fail");
    let mut text = Vec::new();
    let mut human = Human::new(&mut text, vec!["t".into()], Styles::default());
    for finding in &report.findings {
        if unused || !finding.code().starts_with("unused") {
            human.finding(finding).expect("writing to memory cannot fail");
        }
    }
    human.remarks(&report).expect("writing to memory cannot fail");
    human.hint(&report).expect("writing to memory cannot fail");
    human.finish().expect("writing to memory cannot fail");
    let text = String::from_utf8(text).expect("reports are UTF-8");
    (report, text)
}

/// The lines of each case follow the common head. Some traces are generated here.
#[test]
fn every_message_is_as_recorded() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/messages.txt");
    let mut codes = BTreeSet::new();
    check_cases(&path, |title, lines| {
        let (mut bytes, mut options) = (trace(lines).into_bytes(), Options::default());
        match title {
            "an empty trace" => bytes.clear(),
            "only definitions" => bytes = header().into_bytes(),
            "a line that is too long" => {
                let long = format!("10 0 State p {}\n10 zz State p w\n", "w".repeat(100));
                (bytes, options.longest_line) = (trace(&long).into_bytes(), 100);
            }
            "not a trace at all" => bytes = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\n".into(),
            "a byte order mark" => bytes = [b"\xef\xbb\xbf", trace("").as_bytes()].concat(),
            "more than was asked for" => {
                (bytes, options.max_findings) = (trace("98\n97\n96\n96\n95\n").into_bytes(), 2);
            }
            _ => {}
        }
        let (report, text) = shown(&bytes, &options, title.contains("nothing uses"));
        codes.extend(report.findings.iter().map(|finding| finding.code()));
        text
    });
    // These need files.
    codes.extend(["unreadable-file", "file-cycle", "not-a-trace"]);
    assert_eq!(codes, kinds::ERRORS.into_iter().chain(kinds::WARNINGS).collect());
}

#[test]
fn the_rules_of_a_replay_are_less_strict() {
    let lines = "0 Disk Host\n5 Copy Disk Process Process\n20 0 State p w 1\n";
    let mut options = Options::default();
    let strict = check(trace(lines).as_bytes(), &options).unwrap();
    assert_eq!(strict.errors, 2);
    options.rules = Rules::Replay;
    let replay = check(trace(lines).as_bytes(), &options).unwrap();
    assert!(replay.is_valid());
    assert!(replay.findings.iter().any(|f| f.code() == "missing-extras"));
}

#[test]
fn incomplete_links_can_be_ignored() {
    let lines = "17 0 Message h d p k\n17 0 Message h d p l\n8 1 Host h\n";
    let mut options = Options::default();
    assert_eq!(check(trace(lines).as_bytes(), &options).unwrap().errors, 1);
    options.ignore_incomplete_links = true;
    assert!(check(trace(lines).as_bytes(), &options).unwrap().is_valid());
}

#[test]
fn old_field_names_are_read_if_asked_for() {
    let text = trace("").replace("% Type string", "% EntityType string");
    let mut options = Options::default();
    let report = check(text.as_bytes(), &options).unwrap();
    assert_eq!(report.first_error().unwrap().code(), "missing-obligatory-field");
    options.field_names = paje_parser::FieldNames::Old;
    assert!(check(text.as_bytes(), &options).unwrap().is_valid());
}
