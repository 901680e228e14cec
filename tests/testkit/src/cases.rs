//! Runs the test cases of a text file, each with its expected output.
//!
//! The file has a text for its readers, followed by cases:
//!
//! ```text
//! === title
//! input
//! ---
//! expected output
//! ```
//!
//! With `PAJE_BLESS=1` in the environment, the outputs are updated. Review the changes.

use std::fs;
use std::path::Path;
use std::process::Output;

use crate::Sandbox;

/// Compares the output of each case in a file with the result of a function for the case's title
/// and input. Returns the number of cases.
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

/// Runs the cases of a file, which consist of these lines:
///
/// - `@trace NAME` creates a file of `head` and the following lines.
/// - `@file NAME` creates a file of the following lines.
/// - `$ COMMAND` runs a shell command in the folder of these files, with `program` in PATH. Lines
///   that start with `> ` continue the command.
///
/// The output of a case consists of the standard output of each command, its standard error after
/// `! `, and its exit status after `? ` unless it is 0. `$DIR` stands for the folder and `$VERSION`
/// for the version. In files and outputs, `\xNN` stands for a byte. `\c` at the end of a file
/// removes the last newline.
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
    let folder = sandbox.path("").canonicalize().expect("the folder exists");
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
