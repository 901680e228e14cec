//! Options and exit statuses of all programs: the same names mean the same, and docs/options.md
//! lists them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

use clap::{Arg, ArgAction, Command};
use testkit::assert_recorded;

use super::Program;

/// Returns the programs with all their options. The names have no `pj_`.
fn programs() -> Vec<Program> {
    let mut all = super::programs();
    for program in &mut all {
        program.command.build();
        program.name = program.name.trim_start_matches("pj_");
    }
    all
}

/// Options that have the same name but another meaning in some program, with the reason.
const OTHERS: &[(&str, &str, &str)] = &[
    ("dump", "format", "format of the tables of `-O`"),
    ("dump", "quiet", "no rows"),
    ("validate", "quiet", "no summary"),
    ("equals", "quiet", "no answer but the exit status"),
    ("dump", "time", "seconds of reading, before the rows"),
    ("dump", "type-hierarchy", "a file"),
    ("validate", "type-hierarchy", "prints a tree"),
    ("validate", "time", "seconds of the check"),
    ("convert", "output", "the converted trace, required"),
    ("split", "output", "folder of the pieces"),
    ("pack", "output", "the packed trace"),
    ("whatif", "output", "trace of the changed run"),
    ("split", "by", "one piece for each container of TYPE"),
    ("split", "sort", "the pieces are sorted"),
    ("split", "ignore-incomplete-links", "the pieces keep such links"),
    ("split", "recover", "the pieces are repaired"),
    ("whatif", "html", "shows the recorded and the changed run"),
    ("view", "html", "the page has the whole trace"),
    ("view", "svg", "the drawing of the trace"),
    ("dump", "help", "`-h` is `--header`"),
    ("dump", "version", "also `-v`"),
    ("validate", "version", "also `-v`"),
    ("equals", "version", "also `-v`"),
];

fn options(command: &Command) -> impl Iterator<Item = &Arg> {
    command.get_arguments().filter(|argument| argument.get_long().is_some())
}

fn long(option: &Arg) -> String {
    option.get_long().unwrap_or_default().to_owned()
}

fn help(option: &Arg) -> String {
    option.get_help().map(ToString::to_string).unwrap_or_default().replace('\n', " ")
}

/// Returns the names of an option and of its value, for a cell of a table.
fn title(option: &Arg) -> String {
    let short = option.get_short().map_or(String::new(), |short| format!("`-{short}`, "));
    let value = option.get_value_names().and_then(|names| names.first());
    let takes = matches!(option.get_action(), ArgAction::Set | ArgAction::Append);
    let value = value.filter(|_| takes).map_or(String::new(), |value| {
        if option.is_require_equals_set() { format!("[={value}]") } else { format!(" {value}") }
    });
    format!("{short}`--{}{}`", long(option), value.replace('|', "\\|"))
}

fn is_other(program: &str, option: &str) -> bool {
    OTHERS.iter().any(|(whose, name, _)| *whose == program && *name == option)
}

#[test]
fn options_of_one_name_have_one_help_text() {
    let mut texts: BTreeMap<String, BTreeMap<String, Vec<&str>>> = BTreeMap::new();
    let all = programs();
    for Program { name, command, .. } in &all {
        for option in options(command).filter(|option| !option.is_hide_set()) {
            if !is_other(name, &long(option)) {
                let long_help = option.get_long_help().map(ToString::to_string);
                let text = format!("{}\n{}", help(option), long_help.unwrap_or_default());
                texts.entry(long(option)).or_default().entry(text).or_default().push(name);
            }
        }
    }
    let differ: Vec<_> = texts.iter().filter(|(_, texts)| texts.len() > 1).collect();
    assert!(differ.is_empty(), "{differ:#?}");
    for (program, name, _) in OTHERS {
        let program = all.iter().find(|it| it.name == *program).expect("a program");
        assert!(options(&program.command).any(|it| it.get_long() == Some(name)), "{name}");
    }
}

/// Options of one name have one letter, and take values of one kind.
#[test]
fn options_of_one_name_have_one_form() {
    let mut forms: BTreeMap<String, BTreeSet<(Option<char>, String)>> = BTreeMap::new();
    for Program { name, command, .. } in &programs() {
        for option in options(command).filter(|option| !option.is_hide_set()) {
            if !is_other(name, &long(option)) {
                let values = format!("{:?} {:?}", option.get_action(), option.get_value_names());
                forms.entry(long(option)).or_default().insert((option.get_short(), values));
            }
        }
    }
    let differ: Vec<_> = forms.iter().filter(|(_, forms)| forms.len() > 1).collect();
    assert!(differ.is_empty(), "{differ:#?}");
}

/// Names of values that any text fits: names of files and of things in the trace.
const ANY: &[&str] = &[
    "FILE",
    "DIR",
    "OUT",
    "PREFIX",
    "TYPE",
    "TYPENAME",
    "NAME",
    "FIELD",
    "VALUE",
    "WHICH",
    "HOW",
    "GLOB",
    "STATES",
    "CONDITION",
    "KIND=N",
    "value|container|kind|TYPE",
    "value|type|FIELD",
    "REPORT|FILE",
];

#[test]
fn wrong_values_are_named_in_one_line() {
    let mut wrong = Vec::new();
    for Program { name, command, complaint, .. } in &programs() {
        let all: Vec<&Arg> = options(command).collect();
        for option in all {
            let long = long(option);
            let takes = matches!(option.get_action(), ArgAction::Set | ArgAction::Append);
            if !takes {
                let said = complaint(&[name.to_string(), format!("--{long}=wrong")]);
                let said = said.expect("a flag takes no value");
                assert!(!said.contains('\n') && said.contains(&format!("--{long}")), "{said}");
                continue;
            }
            let values: Vec<_> = option.get_value_names().into_iter().flatten().collect();
            let has_any = values.iter().any(|value| ANY.contains(&value.as_str()));
            if has_any && option.get_possible_values().is_empty() && long != "checker" {
                continue;
            }
            let said = complaint(&[name.to_string(), format!("--{long}=%wrong%")]);
            let said = said.unwrap_or_else(|| panic!("pj_{name} --{long}=%wrong% is accepted"));
            let what = format!("invalid value '%wrong%' for '--{long}");
            let is_right = said.starts_with(&what) && said.contains(": expected ");
            if !is_right || said.contains('\n') {
                wrong.push(format!("{name}: {said}"));
            }
        }
        let said = complaint(&[name.to_string(), "--xyzzyx".into()]).expect("unknown");
        assert_eq!(said, "unknown option '--xyzzyx'; see --help");
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn mistakes_lead_to_the_right_use() {
    let said = |name: &str, words: &str| {
        let all = programs();
        let program = all.iter().find(|it| it.name == name).expect("a program");
        let words: Vec<String> =
            [name].into_iter().chain(words.split(' ')).map(String::from).collect();
        (program.complaint)(&words).unwrap_or_default()
    };
    for (program, words, wanted) in [
        ("validate", "t --json", "unknown option '--json'; use --format json"),
        ("profile", "t --csv", "unknown option '--csv'; use --format csv"),
        ("split", "t -o d --from 1", "unknown option '--from'; use --start"),
        ("profile", "t --topp=3", "unknown option '--topp'; did you mean '--top'?"),
        (
            "profile",
            "t --format xml",
            "invalid value 'xml' for '--format <FORMAT>': expected text, csv, json or parquet",
        ),
        (
            "dump",
            "t -s soon",
            "invalid value 'soon' for '--start <START>': expected a number in the trace's unit of time, \
             such as 1.5",
        ),
        ("split", "t", "'--output <DIR>' is missing; see --help"),
        ("equals", "--diff 3 a b", "unknown argument 'b'; write --diff=3"),
        ("equals", "--diff a b c", "unknown argument 'c'; see --help"),
        ("split", "t -o d -p 3 --by x", "'--pieces <N>' cannot be used with '--by <TYPE>'"),
        ("hazards", "t --limit", "'--limit <N>' needs a value"),
    ] {
        assert_eq!(said(program, words), wanted, "{program} {words}");
    }
}

const HEAD: &str = "\
# Options

This page is made from the programs' definitions. `--help` and the man pages have more details.

Points in time (`-s`, `-e`, `-a`) are in the unit of the trace, usually seconds. Durations are in seconds or
have a unit (`20ms`, `10us`, `3ns`, `2min`). Sizes are in bytes or have a unit: `64K` and `64KiB` are 65,536
bytes, `64KB` are 64,000. Rates are such as `10GB/s` or `25Gbit/s`, and factors such as `x2` or `0.5`.

";

#[test]
fn the_document_of_options_is_complete() {
    let all = programs();
    let mut found: BTreeMap<String, (String, Vec<&str>, String)> = BTreeMap::new();
    for Program { name, command, .. } in &all {
        for option in options(command).filter(|option| !option.is_hide_set()) {
            let entry = found.entry(long(option));
            let entry = entry.or_insert_with(|| (title(option), Vec::new(), help(option)));
            let all_others = entry.1.iter().all(|other| is_other(other, &long(option)));
            if all_others && !is_other(name, &long(option)) {
                entry.2 = help(option);
            }
            entry.1.push(name);
        }
    }
    let mut own = found.clone();
    own.retain(|_, (_, names, _)| names.len() == 1);
    found.retain(|_, (_, names, _)| names.len() > 1);
    let mut text = HEAD.to_owned();
    text +=
        "## Options of several programs\n\n| option | what it does | programs |\n|---|---|---|\n";
    for (title, names, help) in found.values() {
        let without: Vec<_> =
            all.iter().map(|it| it.name).filter(|it| !names.contains(it)).collect();
        let which = match without.len() {
            0 => "all".to_owned(),
            1..=3 => format!("all but {}", without.join(", ")),
            _ => names.join(", "),
        };
        let _ = writeln!(text, "| {title} | {} | {which} |", help.replace('|', "\\|"));
    }
    text += "\nSome of them have another meaning in some programs:\n\n";
    for name in found.keys() {
        let others = OTHERS.iter().filter(|(_, other, _)| other == name);
        let others: Vec<_> = others.map(|(program, _, why)| format!("{program}: {why}")).collect();
        if !others.is_empty() {
            let _ = writeln!(text, "- `--{name}`: {}", others.join("; "));
        }
    }
    for Program { name, .. } in &all {
        let mut rows = own.values().filter(|(_, names, _)| names == &[*name]).peekable();
        if rows.peek().is_some() {
            let _ = writeln!(text, "\n## Only pj_{name}\n\n| option | what it does |\n|---|---|");
        }
        for (title, _, help) in rows {
            let _ = writeln!(text, "| {title} | {} |", help.replace('|', "\\|"));
        }
    }
    text += "\n## Exit statuses\n\n0: done. 1: the trace is invalid, even if --recover repaired it. \
             2: wrong usage, or input or output failed.\nThese programs have more cases:\n\n\
             | program | 0 | 1 | 2 |\n|---|---|---|---|\n";
    for Program { name, manual, .. } in &all {
        let is_usual = |&(status, text): &(u8, &str)| match status {
            0 => true,
            1 => text.starts_with("the trace is invalid (with --recover: "),
            _ => text == "wrong usage, or input or output failed",
        };
        if manual.statuses.iter().all(is_usual) {
            continue;
        }
        let of = |status| {
            let all = manual.statuses.iter().filter(|(number, _)| *number == status);
            all.map(|(_, means)| *means).collect::<Vec<_>>().join("; ")
        };
        let _ = writeln!(text, "| `pj_{name}` | {} | {} | {} |", of(0), of(1), of(2));
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/options.md");
    assert_recorded(&text, Path::new(path));
}
