//! Files of the page.

use std::fmt::Write as _;

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
    "units.js" SCRIPT;
    "raster.js" SCRIPT;
    "dom.js" SCRIPT;
    "state.js" SCRIPT;
    "viewport.js" SCRIPT;
    "model.js" SCRIPT;
    "folded.js" SCRIPT;
    "source.js" SCRIPT;
    "flame.js" SCRIPT;
    "embedded.js" SCRIPT;
    "names.js" SCRIPT;
    "tiles.js" SCRIPT;
    "layout.js" SCRIPT;
    "ramp.js" SCRIPT;
    "fields.js" SCRIPT;
    "paints.js" SCRIPT;
    "lanes.js" SCRIPT;
    "links.js" SCRIPT;
    "text.js" SCRIPT;
    "overlays.js" SCRIPT;
    "panels.js" SCRIPT;
    "live.js" SCRIPT;
    "address.js" SCRIPT;
    "marks.js" SCRIPT;
    "scene.js" SCRIPT;
    "hit.js" SCRIPT;
    "containers.js" SCRIPT;
    "navigator.js" SCRIPT;
    "tip.js" SCRIPT;
    "hits.js" SCRIPT;
    "pointer.js" SCRIPT;
    "keys.js" SCRIPT;
    "controls.js" SCRIPT;
    "details.js" SCRIPT;
    "profile.js" SCRIPT;
    "classes.js" SCRIPT;
    "legend.js" SCRIPT;
    "rows.js" SCRIPT;
    "analyses.js" SCRIPT;
    "waits.js" SCRIPT;
    "path.js" SCRIPT;
    "why.js" SCRIPT;
    "communication.js" SCRIPT;
    "durations.js" SCRIPT;
    "explain.js" SCRIPT;
    "main.js" SCRIPT;
};

/// Files of the page that shows two traces, each in a frame.
pub(crate) const PAIR: &[File] = files! {
    "pair.html" "text/html";
    "pair.css" "text/css";
    "dom.js" SCRIPT;
    "pair.js" SCRIPT;
};

/// Returns a file of a page. The empty path is that of the first file.
pub(crate) fn find(files: &'static [File], path: &str) -> Option<&'static File> {
    files.iter().find(|file| path.is_empty() || file.name == path)
}

/// Joins all modules into one script. Each module becomes a function that returns what the module
/// exports, so that names of modules do not collide. Each import must be on one line, and exports
/// must be declarations.
pub(crate) fn script() -> String {
    let mut script = String::from("const modules = {};\n");
    for file in FILES.iter().filter(|file| file.kind == SCRIPT) {
        let mut exports = Vec::new();
        let _ = writeln!(script, "modules[\"./{}\"] = (() => {{", file.name);
        for line in file.text.lines().filter(|line| !line.starts_with("/** @import ")) {
            let line = if let Some((names, from)) = import(line) {
                &format!("const {names} = modules[\"{from}\"];")
            } else if let Some(line) = line.strip_prefix("export ") {
                exports.extend(declared(line));
                line
            } else {
                line
            };
            script.push_str(line);
            script.push('\n');
        }
        let _ = writeln!(script, "return {{ {} }};\n}})();", exports.join(", "));
    }
    script
}

/// Returns the names of an import, in braces, and the module.
fn import(line: &str) -> Option<(&str, &str)> {
    let (names, from) = line.strip_prefix("import ")?.split_once(" from \"")?;
    Some((names, from.strip_suffix("\";")?))
}

/// Returns the name that a line declares.
fn declared(line: &str) -> Option<&str> {
    let line = line.strip_prefix("async ").unwrap_or(line);
    let keyword = ["const ", "function ", "class "].iter().find(|word| line.starts_with(**word))?;
    line[keyword.len()..].split([' ', '(', ';']).next()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn modules_can_be_joined_into_one_script() {
        let mut known: BTreeSet<(String, &str)> = BTreeSet::new();
        for file in FILES.iter().filter(|file| file.kind == SCRIPT) {
            let mut exports = BTreeSet::new();
            for line in file.text.lines() {
                if line.starts_with("import ") {
                    let (names, from) =
                        import(line).unwrap_or_else(|| panic!("{}: {line}", file.name));
                    let names = names.trim_matches(['{', '}', ' ']).split(", ");
                    for name in names.map(|name| (from.to_owned(), name)) {
                        assert!(known.contains(&name), "{}: {name:?} comes later", file.name);
                    }
                } else if let Some(line) = line.strip_prefix("export ") {
                    let name = declared(line).unwrap_or_else(|| panic!("{}: {line}", file.name));
                    exports.insert((format!("./{}", file.name), name));
                }
            }
            known.extend(exports);
        }
        assert!(known.len() > 30);
        assert!(!script().contains("\nimport ") && !script().contains("\nexport "));
    }

    #[test]
    fn the_page_fetches_nothing_from_other_servers() {
        for file in FILES {
            // Comments with types import from other modules.
            let text = file.text.replace("http://www.w3.org/", "").replace("/** @import {", "");
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
