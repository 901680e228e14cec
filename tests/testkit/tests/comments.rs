//! Comments lead with a noun that names the thing: none begins like a question. Help texts of command lines may.

use std::fs;
use std::path::Path;

/// The beginnings of riddles.
const RIDDLES: [&str; 3] = ["What", "How", "Whether"];

/// Derived traits by which clap makes help texts of comments.
const OF_HELP: [&str; 4] = ["Args", "Parser", "Subcommand", "ValueEnum"];

/// Lines of a source, from 1 on, with a comment that begins like a question.
fn riddles(source: &str) -> Vec<usize> {
    let (mut found, mut is_help) = (Vec::new(), false);
    for (line, number) in source.lines().zip(1..) {
        if let Some(derived) = line.strip_prefix("#[derive(") {
            let mut derived = derived.split(|c: char| !c.is_ascii_alphanumeric());
            is_help = derived.any(|name| OF_HELP.contains(&name));
        } else if line.starts_with('}') {
            is_help = false;
        }
        let line = line.trim_start();
        let Some(comment) = line.strip_prefix("//") else { continue };
        let is_doc = comment.starts_with('/');
        let text = comment.strip_prefix(['/', '!']).unwrap_or(comment).trim_start();
        let first = text.split(|c: char| !c.is_alphanumeric());
        if !(is_doc && is_help) && first.take(1).any(|word| RIDDLES.contains(&word)) {
            found.push(number);
        }
    }
    found
}

/// Adds riddles of the sources below a folder to `found`; returns the number of sources.
fn look(folder: &Path, found: &mut Vec<String>) -> usize {
    let mut sources = 0;
    for entry in fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() {
            // Builds have sources of others, and so have environments of Python, which begin with a point.
            if name != "target" && !name.starts_with('.') {
                sources += look(&path, found);
            }
        } else if name.ends_with(".rs") {
            let source = fs::read_to_string(&path).expect("a source in UTF-8");
            let numbers = riddles(&source).into_iter();
            found.extend(numbers.map(|number| format!("{}:{number}", path.display())));
            sources += 1;
        }
    }
    sources
}

#[test]
fn comments_lead_with_a_noun() {
    let mut found = Vec::new();
    let sources = look(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."), &mut found);
    assert!(sources > 500, "{sources} sources");
    assert_eq!(found, [""; 0], "name the thing: `/// Number of threads.`, not how many");
}

#[test]
fn riddles_are_found() {
    let source = [
        "//! How it works.",
        "/// Whether it is help.",
        "#[derive(Debug, Args)]",
        "struct Options {",
        "    /// How many",
        "    count: u8,",
        "    // What for",
        "    what: u8,",
        "}",
        "/// However, a noun.",
        "fn f() {} // What trails may.",
    ];
    assert_eq!(riddles(&source.join("\n")), [1, 2, 7]);
}
