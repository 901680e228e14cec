//! Files of the page.

#[derive(Debug)]
pub(crate) struct File {
    pub(crate) name: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) text: &'static str,
}

const SCRIPT: &str = "text/javascript";

macro_rules! files {
    ($($name:literal $kind:expr;)*) => {
        &[$(File { name: $name, kind: $kind, text: include_str!(concat!("../page/", $name)) }),*]
    };
}

/// All files. Each module comes after the modules that it imports.
pub(crate) const FILES: &[File] = files! {
    "index.html" "text/html";
    "style.css" "text/css";
    "blocks.js" SCRIPT;
    "model.js" SCRIPT;
    "folded.js" SCRIPT;
    "source.js" SCRIPT;
    "names.js" SCRIPT;
    "tiles.js" SCRIPT;
    "viewport.js" SCRIPT;
    "layout.js" SCRIPT;
    "raster.js" SCRIPT;
    "lanes.js" SCRIPT;
    "links.js" SCRIPT;
    "draw.js" SCRIPT;
    "hit.js" SCRIPT;
    "panel.js" SCRIPT;
    "search.js" SCRIPT;
    "legend.js" SCRIPT;
    "gutter.js" SCRIPT;
    "input.js" SCRIPT;
    "address.js" SCRIPT;
    "main.js" SCRIPT;
};

/// Files of the page that shows two traces, each in a frame.
const PAIR: &[File] = files! {
    "pair.html" "text/html";
    "pair.css" "text/css";
    "pair.js" SCRIPT;
};

/// Returns a file of the page that shows two traces.
pub(crate) fn pair(path: &str) -> Option<&'static File> {
    let name = if path.is_empty() { "pair.html" } else { path };
    PAIR.iter().find(|file| file.name == name)
}

pub(crate) fn file(path: &str) -> Option<&'static File> {
    let name = if path.is_empty() { "index.html" } else { path };
    FILES.iter().find(|file| file.name == name)
}

/// Joins all modules into one script without imports and exports. Each import must be on one line,
/// and top-level names must be unique.
pub(crate) fn script() -> String {
    let mut script = String::new();
    for file in FILES.iter().filter(|file| file.kind == SCRIPT) {
        for line in file.text.lines().filter(|line| !line.starts_with("import ")) {
            script.push_str(line.strip_prefix("export ").unwrap_or(line));
            script.push('\n');
        }
    }
    script
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn modules_can_be_joined_into_one_script() {
        let mut names = BTreeSet::new();
        let mut known = BTreeSet::new();
        for file in FILES.iter().filter(|file| file.kind == SCRIPT) {
            assert!(file.text.lines().count() <= 400, "{} is too long", file.name);
            for line in file.text.lines() {
                if let Some(import) = line.strip_prefix("import ") {
                    let from = import.split('"').nth(1).and_then(|from| from.strip_prefix("./"));
                    let from = from.unwrap_or_else(|| panic!("{}: {line}", file.name));
                    assert!(
                        known.contains(from),
                        "{} must come after {from}, which it imports",
                        file.name
                    );
                }
                let line = line.strip_prefix("export ").unwrap_or(line);
                let words: Vec<_> =
                    line.split(['=', ' ', '(', '{', ';']).filter(|word| !word.is_empty()).collect();
                let words = if words.first() == Some(&"async") { &words[1..] } else { &words[..] };
                if let ["const" | "let" | "function" | "class", name, ..] = words
                    && !line.starts_with(' ')
                {
                    assert!(
                        names.insert(name.to_string()),
                        "{}: `{name}` is defined twice",
                        file.name
                    );
                }
            }
            known.insert(file.name);
        }
        assert!(names.len() > 30);
        assert!(!script().contains("\nimport ") && !script().contains("\nexport "));
    }

    #[test]
    fn the_page_fetches_nothing_from_other_servers() {
        for file in FILES {
            let text = file.text.replace("http://www.w3.org/", "");
            for word in [
                "http:",
                "https:",
                "//cdn",
                "@import",
                "url(",
                "eval(",
                "innerHTML",
                "document.write",
            ] {
                assert!(!text.contains(word), "{} has {word}", file.name);
            }
        }
    }
}
