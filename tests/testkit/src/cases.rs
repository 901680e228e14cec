//! Cases that stand in a text file, each with the output that is expected of it.
//!
//! The file has some words for its readers, and then cases:
//!
//! ```text
//! === title
//! input
//! ---
//! expected output
//! ```
//!
//! With `PAJE_BLESS=1` in the environment, the outputs are written anew: read what changed.

use std::fs;
use std::path::Path;
use std::process::Output;

use crate::Sandbox;

/// Compares the output of each case in the file at `path` with what `answer` returns for its title and input. Returns
/// the number of cases.
///
/// # Panics
///
/// If an output differs, or a case cannot be read.
pub fn check_cases(path: &Path, mut answer: impl FnMut(&str, &str) -> String) -> usize {
    let file = fs::read_to_string(path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    let is_blessed = std::env::var_os("PAJE_BLESS").is_some();
    let mut sections = file.split("\n=== ");
    let mut blessed = sections.next().unwrap_or_default().to_owned();
    let mut count = 0;
    for section in sections {
        let (title, rest) = section.split_once('\n').expect("a case has a title");
        let (input, expected) = rest.split_once("---\n").expect("a case has a line ---");
        let found = answer(title, input);
        assert!(is_blessed || found == expected, "{title}\n{input}---\n{found}");
        blessed += &format!("\n=== {title}\n{input}---\n{found}");
        count += 1;
    }
    if is_blessed {
        fs::write(path, blessed).expect("the file can be written");
    }
    count
}

/// Runs the cases of the file at `path`, which are made of these lines:
///
/// - `@trace NAME`: makes a file of `head` and the lines below
/// - `@file NAME`: makes a file of the lines below
/// - `$ COMMAND`: runs a command line of the shell in the folder of these files, where `program` is known by its name;
///   lines that begin with `> ` belong to it
///
/// The output of a case is that of its commands: after each of them its standard output, standard error behind `! `,
/// and the exit status behind `? ` unless it is 0. The path of the folder is shown as `$DIR`, the version as `$VERSION`.
/// In files and outputs `\xNN` stands for a byte, and `\c` at the end of a file for none: its last line has no newline.
pub fn check_sessions(program: &str, head: &str, path: &Path) {
    let count = check_cases(path, |_, input| session(program, head, input));
    assert!(count > 0, "{path:?} has no cases");
}

fn session(program: &str, head: &str, input: &str) -> String {
    let sandbox = Sandbox::new(program, &[]);
    let (mut file, mut output) = (None, String::new());
    let mut lines = input.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        if let Some(name) = line.strip_prefix("@file ") {
            file = Some((name.trim_end(), String::new()));
        } else if let Some(name) = line.strip_prefix("@trace ") {
            file = Some((name.trim_end(), head.to_owned()));
        } else if let Some(first) = line.strip_prefix("$ ") {
            file = None;
            let (mut command, mut shown) = (first.to_owned(), line.to_owned());
            while let Some(more) = lines.next_if(|line| line.starts_with("> ")) {
                command += &more[2..];
                shown += more;
            }
            output += &(shown + &answer(&sandbox.shell(&command)));
        } else if let Some((_, text)) = &mut file {
            *text += line;
        }
        if let Some((name, text)) = &file {
            sandbox.write(name, unescaped(text));
        }
    }
    let folder = sandbox.path("").canonicalize().expect("it is there");
    let folder = folder.to_str().expect("its name is text");
    output.replace(folder, "$DIR").replace(env!("CARGO_PKG_VERSION"), "$VERSION")
}

fn answer(output: &Output) -> String {
    let mut text = escaped(&output.stdout);
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    escaped(&output.stderr).lines().for_each(|line| {
        text += format!("! {line}").trim_end();
        text.push('\n');
    });
    match output.status.code() {
        Some(0) => {}
        Some(status) => text += &format!("? {status}\n"),
        None => text += &format!("? {}\n", output.status),
    }
    text
}

fn unescaped(text: &str) -> Vec<u8> {
    let text = text.strip_suffix("\\c\n").unwrap_or(text);
    let mut parts = text.split("\\x");
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        bytes.push(u8::from_str_radix(&part[..2], 16).expect("two hexadecimal digits"));
        bytes.extend_from_slice(&part.as_bytes()[2..]);
    }
    bytes
}

fn escaped(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                c if c.is_control() && c != '\n' => text += &format!("\\x{:02x}", c as u32),
                c => text.push(c),
            }
        }
        chunk.invalid().iter().for_each(|byte| text += &format!("\\x{byte:02x}"));
    }
    text
}
