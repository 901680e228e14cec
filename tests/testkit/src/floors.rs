//! Checks the layers of a crate's `src`: a module may import only from its own layer and lower
//! ones.
//!
//! Imports are `use` declarations and paths that begin with `crate` or `super`. A re-exported item
//! counts as part of the module that defines it. Unit tests may import anything.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The modules of a crate and their imports from each other.
#[derive(Debug)]
pub struct House {
    sources: Sources,
    imports: BTreeMap<String, BTreeSet<String>>,
}

impl House {
    /// Reads the crate whose manifest is in this folder.
    pub fn of(manifest: &str) -> House {
        let mut sources = Sources::new();
        collect(&Path::new(manifest).join("src"), "", &mut sources);
        // It declares all modules and belongs to no layer.
        assert!(sources.contains_key("lib"), "there is no library in {manifest}");
        // A program's file sees only the library.
        sources.remove("main");
        let imports = imports(&sources);
        House { sources, imports }
    }

    /// Returns imports from higher layers, as sentences. `floors` lists the outermost modules from
    /// the lowest layer up, with the modules of a layer in one string.
    pub fn upward(&self, floors: &[&str]) -> Vec<String> {
        let floor_of = |module: &str| {
            let outermost = module.split("::").next();
            let is_there = |floor: &&str| floor.split(' ').any(|it| outermost == Some(it));
            let floor = floors.iter().position(is_there);
            floor.unwrap_or_else(|| panic!("{module} belongs to no layer"))
        };
        let mut upward = Vec::new();
        for (module, imported) in &self.imports {
            let above = imported.iter().filter(|other| floor_of(other) > floor_of(module));
            upward.extend(above.map(|other| format!("{module} imports {other}")));
        }
        upward
    }

    /// Returns the cycles of more than `most` modules, each as a list of names.
    pub fn circles_above(&self, most: usize) -> Vec<String> {
        let circles = circles(&self.imports);
        let large = circles.iter().filter(|circle| circle.len() > most);
        large.map(|circle| circle.join(" ")).collect()
    }

    /// Returns the modules with more lines, except those whose name ends with `tests`.
    pub fn longer_than(&self, lines: usize) -> Vec<String> {
        let long = self.sources.iter().filter(|(module, source)| {
            source.lines().count() > lines && !module.ends_with("tests")
        });
        long.map(|(module, _)| module.clone()).collect()
    }
}

/// Source of each module of `src`, by path.
type Sources = BTreeMap<String, String>;

fn collect(folder: &Path, outer: &str, sources: &mut Sources) {
    for entry in fs::read_dir(folder).expect("a folder of the sources") {
        let path = entry.expect("an entry").path();
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let module = if outer.is_empty() { name } else { format!("{outer}::{name}") };
        if path.is_dir() {
            collect(&path, &module, sources);
        } else {
            sources.insert(module, fs::read_to_string(&path).expect("a source in UTF-8"));
        }
    }
}

struct Used {
    path: String,
    is_public: bool,
}

/// Returns the paths in `use` declarations, and other paths from `crate` and `super`.
fn paths_of(source: &str) -> (Vec<Used>, Vec<String>) {
    let source = source.split("\n#[cfg(test)]\nmod ").next().unwrap_or_default();
    let source = source.split("\n#[cfg(all(test").next().unwrap_or_default();
    let code: Vec<&str> = source.lines().filter(|line| !line.trim().starts_with("//")).collect();
    let (mut uses, mut others) = (Vec::new(), Vec::new());
    let mut lines = code.into_iter();
    while let Some(line) = lines.next() {
        let line = line.trim();
        let declared = line.split_once("use ").filter(|(before, rest)| {
            let is_public = before.starts_with("pub") && before.ends_with([' ', ')']);
            // Ignore lines of string literals.
            (before.is_empty() || is_public) && rest.ends_with([';', '{'])
        });
        let Some((before, rest)) = declared else {
            for start in ["crate::", "super::"] {
                for (at, _) in line.match_indices(start) {
                    let end =
                        line[at..].find(|c: char| c != ':' && c != '_' && !c.is_alphanumeric());
                    let path = &line[at..end.map_or(line.len(), |end| at + end)];
                    if !path.starts_with("super::super") && !line[..at].ends_with("super::") {
                        others.push(path.trim_end_matches(':').to_string());
                    }
                }
            }
            continue;
        };
        let mut tree = rest.to_string();
        while !tree.contains(';') {
            tree += lines.next().expect("the end of a declaration").trim();
        }
        let mut paths = Vec::new();
        expand("", tree.split(';').next().unwrap_or_default(), &mut paths);
        let is_public = !before.is_empty();
        uses.extend(paths.into_iter().map(|path| Used { path, is_public }));
    }
    (uses, others)
}

/// Expands a `use` tree to paths.
fn expand(before: &str, tree: &str, paths: &mut Vec<String>) {
    let tree = tree.trim();
    if let Some((outer, inner)) = tree.split_once('{') {
        let inner = inner.strip_suffix('}').expect("a closed brace");
        let (mut depth, mut start) = (0, 0);
        for (at, c) in inner.char_indices().chain([(inner.len(), ',')]) {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 0 => {
                    if !inner[start..at].trim().is_empty() {
                        expand(&format!("{before}{outer}"), &inner[start..at], paths);
                    }
                    start = at + 1;
                }
                _ => {}
            }
        }
        return;
    }
    let tree = tree.split(" as ").next().unwrap_or_default();
    let path = format!("{before}{tree}");
    paths.push(path.strip_suffix("::self").map_or(path.clone(), str::to_string));
}

fn imports(sources: &Sources) -> BTreeMap<String, BTreeSet<String>> {
    let mut all = BTreeMap::new();
    for (module, source) in sources.iter().filter(|(module, _)| *module != "lib") {
        let (uses, others) = paths_of(source);
        let paths = uses.into_iter().map(|used| used.path).chain(others);
        let mut imported: BTreeSet<String> =
            paths.filter_map(|path| module_of(sources, module, &path)).collect();
        imported.remove(module);
        all.insert(module.clone(), imported);
    }
    all
}

/// Returns the module that defines the item at `path` in `module`, or `None` if it is external.
fn module_of(sources: &Sources, module: &str, path: &str) -> Option<String> {
    let (first, rest) = path.split_once("::").unwrap_or((path, ""));
    let join = |outer: &str, inner: &str| match (outer.is_empty(), inner.is_empty()) {
        (true, _) => inner.to_string(),
        (_, true) => outer.to_string(),
        _ => format!("{outer}::{inner}"),
    };
    let whole = match first {
        "crate" => rest.to_string(),
        "super" => join(module.rsplit_once("::").map_or("", |(outer, _)| outer), rest),
        "self" => join(module, rest),
        _ if sources.contains_key(&join(module, first)) => join(module, path),
        _ => return None,
    };
    // The longest prefix of the path that is a module, and the item in it.
    let parts: Vec<&str> = whole.split("::").collect();
    let known = (0..=parts.len()).rev().find_map(|count| {
        let found = parts[..count].join("::");
        (count == 0 || sources.contains_key(&found)).then_some((found, parts.get(count)))
    });
    let (found, name) = known?;
    let found = if found.is_empty() { "lib".to_string() } else { found };
    let (uses, _) = paths_of(&sources[&found]);
    let from = if found == "lib" { "" } else { &found };
    let renamed = name.and_then(|name| {
        let is_it = |used: &&Used| used.is_public && used.path.rsplit("::").next() == Some(name);
        let used = uses.iter().find(is_it)?;
        match from {
            "" => module_of(sources, "lib", &format!("crate::{}", used.path)),
            _ => module_of(sources, from, &used.path),
        }
    });
    renamed.or((found != "lib").then_some(found))
}

/// Returns the modules that import each other, directly or indirectly.
fn circles(imports: &BTreeMap<String, BTreeSet<String>>) -> Vec<Vec<String>> {
    let reached = |from: &String| {
        let (mut all, mut pending) = (BTreeSet::new(), vec![from]);
        while let Some(next) = pending.pop() {
            pending.extend(imports[next].iter().filter(|other| all.insert(other.to_string())));
        }
        all
    };
    let all: BTreeMap<&String, BTreeSet<String>> =
        imports.keys().map(|module| (module, reached(module))).collect();
    let mut circles: BTreeSet<Vec<String>> = BTreeSet::new();
    for (module, reached) in &all {
        let back = reached.iter().filter(|other| all[other].contains(*module));
        let circle: BTreeSet<String> = back.cloned().chain([module.to_string()]).collect();
        circles.insert(circle.into_iter().collect());
    }
    circles.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_read() {
        let source = "
            use std::fmt;
            use super::a::{self, B, c::{D as E, F}};
            pub(crate) use child::G;
            // use crate::not::This;
            fn f() -> crate::h::I { super::j() }
        ";
        let (uses, others) = paths_of(source);
        let mark = |used: &Used| if used.is_public { "+" } else { "" };
        let uses: Vec<String> =
            uses.iter().map(|used| format!("{}{}", mark(used), used.path)).collect();
        assert_eq!(
            uses,
            [
                "std::fmt",
                "super::a",
                "super::a::B",
                "super::a::c::D",
                "super::a::c::F",
                "+child::G"
            ]
        );
        assert_eq!(others, ["crate::h::I", "super::j"]);
    }
}
