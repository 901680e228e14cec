//! Tests the options, man pages and completions of our programs.

mod options;

use std::process::Command;

use clap::Parser;
use clap::error::ErrorKind;
use paje_console::generate::{Manual, What, complaint};

struct Program {
    name: &'static str,
    command: clap::Command,
    manual: &'static Manual,
    text: fn(&str) -> String,
    complaint: fn(&[String]) -> Option<String>,
}

macro_rules! programs {
    ($($name:literal: $library:ident,)*) => {
        vec![$(Program {
            name: $name,
            command: <$library::cli::Cli as clap::CommandFactory>::command(),
            manual: &$library::manual::MANUAL,
            text: |what| text::<$library::cli::Cli>($name, &$library::manual::MANUAL, what),
            complaint: |words| complaint::<$library::cli::Cli>(words),
        },)*]
    };
}

/// Returns all programs, in the order of docs/options.md.
fn programs() -> Vec<Program> {
    programs! {
        "pj_dump": pj_dump,
        "pj_validate": pj_validate,
        "pj_equals": pj_equals,
        "pj_profile": pj_profile,
        "pj_hazards": pj_hazards,
        "pj_whatif": pj_whatif,
        "pj_view": pj_view,
        "pj_convert": pj_convert,
        "pj_split": pj_split,
        "pj_pack": pj_pack,
    }
}

fn text<C: Parser>(name: &str, manual: &Manual, what: &str) -> String {
    let text = paje_console::generate::text::<C>(manual, [name, "--generate", what])
        .expect("a valid command line");
    String::from_utf8(text.expect("a generated text")).expect("UTF-8")
}

fn options(command: &clap::Command) -> Vec<String> {
    let mut command = command.clone();
    command.build();
    let mut options = Vec::new();
    for argument in command.get_arguments().filter(|argument| !argument.is_hide_set()) {
        options.extend(argument.get_short().map(|short| format!("-{short}")));
        options.extend(argument.get_long().map(|long| format!("--{long}")));
    }
    options
}

#[test]
fn command_lines_are_valid() {
    programs().into_iter().for_each(|program| program.command.debug_assert());
}

#[test]
fn help_and_version_have_the_same_letters() {
    for Program { name, command, .. } in programs() {
        let asked = |letter: &str| {
            let answer = command.clone().try_get_matches_from([name, letter]);
            answer.map(drop).map_err(|error| error.kind())
        };
        assert_eq!(asked("-?"), Err(ErrorKind::DisplayHelp), "{name}");
        assert_eq!(asked("-V"), Err(ErrorKind::DisplayVersion), "{name}");
        if name != "pj_dump" {
            assert_eq!(asked("-h"), Err(ErrorKind::DisplayHelp), "{name}");
        }
    }
}

fn shell(name: &str, arguments: &[&str]) -> Option<String> {
    let Ok(output) = Command::new(name).args(arguments).output() else {
        eprintln!("skipped: {name} is not installed");
        return None;
    };
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && stderr.is_empty(), "{name}: {stderr}");
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn pages_have_every_option() {
    for Program { name, command, text, .. } in programs() {
        let page = text("man");
        for option in options(&command) {
            let option = format!("\\fB{}\\fR", option.replace('-', "\\-"));
            assert!(page.contains(&option), "{name}: {option}\n{page}");
        }
        // Each option has a description below it.
        let mut lines = page.lines();
        while lines.any(|line| line == ".TP") {
            let (term, means) = (lines.next(), lines.next().unwrap_or_default());
            assert!(!means.is_empty() && !means.starts_with('.'), "{name}: {term:?}");
        }
    }
}

fn headings(command: &clap::Command) -> Vec<String> {
    let mut headings = Vec::new();
    for argument in command.get_arguments().filter(|argument| !argument.is_hide_set()) {
        let heading = argument.get_help_heading().map(str::to_owned);
        headings.extend(heading.filter(|heading| !headings.contains(heading)));
    }
    headings
}

fn quoted(title: &str) -> String {
    if title.contains(' ') { format!("\"{title}\"") } else { title.to_owned() }
}

#[test]
fn pages_have_their_sections_in_order() {
    for Program { name, manual, text, command, .. } in programs() {
        let page = text("man");
        assert!(page.is_ascii(), "{name}");
        assert!(page.contains(&format!(".SH NAME\n{name} \\- ")), "{name}: {page}");
        let sections: Vec<_> = page.lines().filter_map(|line| line.strip_prefix(".SH ")).collect();
        let own = manual.sections.iter().map(|(title, _)| quoted(title));
        let mut wanted: Vec<String> =
            ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS"].map(String::from).into();
        wanted.extend(headings(&command).iter().map(|heading| quoted(&heading.to_uppercase())));
        wanted.extend(own);
        wanted.extend(["\"EXIT STATUS\"", "EXAMPLES", "\"SEE ALSO\""].map(String::from));
        assert_eq!(sections, wanted, "{name}");
        for (status, means) in manual.statuses {
            let line = format!(".TP\n\\fB{status}\\fR\n");
            let said = page.split_once(&line).unwrap_or_else(|| panic!("{name}: {status}")).1;
            // The first letter is left out, because it is a capital in the page.
            assert!(said[1..].starts_with(&means[1..].replace('-', "\\-")), "{name}: {said}");
        }
    }
}

/// The list of programs in packaging is complete, and each page refers to all other pages.
#[test]
fn pages_name_all_other_programs() {
    let list = include_str!("../../../packaging/programs");
    let mut listed: Vec<_> = list.lines().filter(|line| !line.starts_with('#')).collect();
    listed.sort_unstable();
    let mut names: Vec<_> = programs().iter().map(|program| program.name).collect();
    names.sort_unstable();
    let wanted: Vec<_> =
        names.iter().map(|name| format!("{name} {}", name.replace('_', "-"))).collect();
    assert_eq!(listed, wanted);
    for Program { name, text, .. } in programs() {
        let page = text("man");
        let see_also = page.split_once(".SH \"SEE ALSO\"\n").expect("the section").1;
        for other in &names {
            let there = see_also.contains(&format!("\\fB{other}\\fR(1)"));
            assert_eq!(there, *other != name, "{name}: {see_also}");
        }
    }
}

#[test]
fn help_has_the_statuses_and_examples_of_the_page() {
    for Program { name, mut command, manual, .. } in programs() {
        let help = command.render_long_help().to_string();
        for (status, means) in manual.statuses {
            assert!(help.contains(&format!("\n  {status}  {means}")), "{name}: {help}");
        }
        for (line, _) in manual.examples {
            assert!(help.contains(&format!("\n  {line}")), "{name}: {line}\n{help}");
            assert!(line.contains(name) || line.starts_with("pj_"), "{name}: {line}");
        }
    }
}

#[test]
fn each_program_has_a_document() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let read = |file: &str| {
        let text = std::fs::read_to_string(format!("{folder}/{file}"));
        text.unwrap_or_else(|error| panic!("{file}: {error}"))
    };
    let readme = read("README.md");
    let lists = ["docs/dev/reliability.md", "docs/zensical.toml"];
    let lists = lists.map(|list| (list, read(list)));
    for Program { name, .. } in programs() {
        let document = format!("docs/{}.md", name.trim_start_matches("pj_"));
        for (list, text) in &lists {
            let names = [name, &name.replace('_', "-"), &document];
            assert!(names.iter().any(|name| text.contains(name)), "{name} is not in {list}");
        }
        assert!(readme.contains(&format!("[`{name}`]({document})")), "{name}");
        // Another test writes this page, which has all options.
        assert!(read(&document).contains("](options.md)"), "{name}");
    }
}

#[test]
fn pages_are_valid_roff() {
    for Program { name, text, .. } in programs() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("page.1");
        std::fs::write(&path, text("man")).expect("writable");
        let path = path.to_str().expect("a plain name");
        if let Some(page) = shell("groff", &["-man", "-Tutf8", "-ww", "-P-cbu", path]) {
            assert!(page.contains("EXIT STATUS") && page.contains("Pajé"), "{name}: {page}");
        }
        // `-W warning` would also report matters of style, such as long lines.
        if let Ok(output) = Command::new("mandoc").args(["-Tlint", "-W", "error", path]).output() {
            assert!(output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stdout));
        }
    }
}

#[test]
fn shells_accept_completions() {
    for Program { name, text, .. } in programs() {
        for (what, interpreter) in
            [("complete-bash", "bash"), ("complete-zsh", "zsh"), ("complete-fish", "fish")]
        {
            let folder = tempfile::tempdir().expect("a folder");
            let path = folder.path().join(name);
            std::fs::write(&path, text(what)).expect("writable");
            shell(interpreter, &["-n", path.to_str().expect("a plain name")]);
        }
    }
}

/// Returns the completions that a shell offers for an unfinished word.
fn completed(program: &Program, shell_name: &str, word: &str) -> Option<Vec<String>> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("completions");
    std::fs::write(&path, (program.text)(&format!("complete-{shell_name}"))).expect("writable");
    let (path, name) = (path.display(), program.name);
    let script = match shell_name {
        "bash" => format!(
            "source {path}; COMP_WORDS=({name} {word}); COMP_CWORD=1; \
             $(complete -p {name} | sed 's/.*-F \\([^ ]*\\).*/\\1/') {name} {word} {name}; \
             printf '%s\\n' \"${{COMPREPLY[@]}}\""
        ),
        _ => format!("source {path}; complete -C '{name} {word}'"),
    };
    let found = shell(shell_name, &["-c", &script])?;
    let words = found.lines().filter_map(|line| line.split('\t').next());
    let mut words: Vec<_> = words.map(String::from).collect();
    words.sort();
    Some(words)
}

#[test]
fn bash_and_fish_complete_long_options() {
    for program in programs() {
        let mut long = options(&program.command);
        long.retain(|option| option.starts_with("--"));
        long.sort();
        for shell_name in ["bash", "fish"] {
            let Some(found) = completed(&program, shell_name, "--") else { continue };
            // fish prints `--option=` where a value must follow. It also prints short options.
            let mut found: Vec<_> =
                found.iter().map(|option| option.trim_end_matches('=').to_owned()).collect();
            found.retain(|option| option.starts_with("--"));
            assert_eq!(found, long, "{} in {shell_name}", program.name);
        }
    }
}

#[test]
fn an_unfinished_word_is_completed() {
    let programs = programs();
    let dump = programs.iter().find(|it| it.name == "pj_dump").expect("a known program");
    for shell_name in ["bash", "fish"] {
        for (word, wanted) in [
            ("--mem", &["--memory-limit"][..]),
            (
                "--no-",
                &[
                    "--no-files",
                    "--no-imbrication",
                    "--no-progress",
                    "--no-strict",
                    "--no-warnings",
                ],
            ),
        ] {
            if let Some(found) = completed(dump, shell_name, word) {
                let found: Vec<_> =
                    found.iter().map(|option| option.trim_end_matches('=')).collect();
                assert_eq!(found, wanted, "{shell_name}");
            }
        }
    }
}

/// `pj_split` requires `--output`, except with `--generate`, which accepts no other arguments.
#[test]
fn generate_needs_and_accepts_no_other_argument() {
    let split = |words: &[&str]| {
        let words = [&["pj_split"], words].concat();
        paje_console::generate::text::<pj_split::cli::Cli>(&pj_split::manual::MANUAL, words)
    };
    assert!(split(&["--generate", "man"]).expect("enough").is_some());
    assert!(split(&["trace", "-o", "pieces"]).expect("a command line").is_none());
    for mistake in
        [&["--generate", "man", "trace"][..], &["--generate"], &["--generate", "pdf"], &[]]
    {
        assert!(split(mistake).is_err(), "{mistake:?}");
    }
    let names: Vec<_> = <What as clap::ValueEnum>::value_variants().iter().collect();
    assert_eq!(names.len(), 4);
}
