//! Tests patterns of selections: a pattern is refused or matches as a plain recursive matcher does.

use paje_sim::Glob;

pub fn run(bytes: &[u8]) {
    // The first line is the pattern. The others are names.
    let mut lines = bytes.split(|byte| *byte == b'\n');
    let Some(text) = lines.next().and_then(|line| str::from_utf8(line).ok()) else { return };
    let is_plain = !text.contains(['[', ']', '{', '}', '\\', ',']) && !text.contains("**");
    let glob = match text.parse::<Glob>() {
        Ok(glob) => glob,
        Err(error) => return assert!(!is_plain && !error.to_string().is_empty(), "{text}: {error}"),
    };
    assert_eq!(glob.as_str(), text);
    for name in lines {
        let found = glob.matches(name);
        // The plain matcher takes exponential time for many asterisks.
        if is_plain && text.matches('*').count() < 5 {
            assert_eq!(found, matches(text.as_bytes(), name), "{text}, {name:?}");
        }
        let Ok(name) = str::from_utf8(name) else { continue };
        let exact: String = name.chars().flat_map(escaped).collect();
        if exact.len() < 100 {
            assert!(exact.parse::<Glob>().expect("only literals").matches(name.as_bytes()));
        }
    }
}

fn escaped(letter: char) -> impl Iterator<Item = char> {
    let special = "*?[]{}!,\\".contains(letter).then_some('\\');
    special.into_iter().chain([letter])
}

fn matches(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern, name) {
        ([], []) => true,
        ([b'*', rest @ ..], _) => (0..=name.len()).any(|skipped| matches(rest, &name[skipped..])),
        ([b'?', rest @ ..], [_, name @ ..]) => matches(rest, name),
        ([first, rest @ ..], [byte, name @ ..]) => first == byte && matches(rest, name),
        _ => false,
    }
}
