//! Parts of OTF2 archives.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

use paje_bindings::{Keywords, as_file};
use paje_sim::Glob;
use pyo3::prelude::*;
use splitter::Input;

use crate::errors;
use crate::options::wrong;

/// Name and alias of a container.
type Names = [Vec<u8>; 2];

/// Returns the alias of each container of an OTF2 archive whose states can be read separately, and
/// the size of the files with its events, if a pattern matches it. Returns None if the trace is no
/// archive, or if its containers cannot be read separately.
#[pyfunction]
pub(crate) fn locations(
    py: Python<'_>,
    path: PathBuf,
    containers: Option<Vec<String>>,
) -> PyResult<Option<Vec<(String, u64)>>> {
    let keywords = Keywords { containers, ..Keywords::default() };
    let globs = keywords.tables().map_err(wrong)?.selection.containers;
    let found = py.detach(|| of_archive(&path, &globs));
    found.map_err(|error| errors::of_file(py, &path, &error))
}

fn of_archive(path: &Path, globs: &[Glob]) -> io::Result<Option<Vec<(String, u64)>>> {
    let kind = std::fs::metadata(path)?;
    if !(kind.is_dir() || kind.is_file()) {
        // A pipe cannot be read twice.
        return Ok(None);
    }
    let Some(places) = Input::open(Some(as_file(path)))?.places() else { return Ok(None) };
    let own: HashSet<&Names> = places.iter().filter_map(|place| place.around.first()).collect();
    let matches = |name: &[u8]| globs.is_empty() || globs.iter().any(|glob| glob.matches(name));
    let is_wanted = |names: &Names| names.iter().any(|name| matches(name));
    let (mut found, mut numbers) = (Vec::new(), HashMap::new());
    let mut all_names: HashSet<&Names> = HashSet::new();
    for place in &places {
        all_names.extend(&place.around);
        // Containers within another one with states are read together with it.
        let outermost = place.around.iter().rposition(|names| own.contains(names)).unwrap_or(0);
        let (inner, outer) = place.around.split_at(outermost);
        if !(outer.iter().any(is_wanted) || matches(b"0")) {
            if inner.iter().any(is_wanted) {
                return Ok(None);
            }
            continue;
        }
        let [_, alias] = &outer[0];
        let number = *numbers.entry(alias).or_insert(found.len());
        if number == found.len() {
            found.push((String::from_utf8_lossy(alias).into_owned(), 0));
        }
        found[number].1 += place.bytes;
    }
    // A container may have another one's alias as its name.
    let is_ambiguous =
        all_names.iter().any(|[name, alias]| name != alias && numbers.contains_key(name));
    Ok(Some(found).filter(|_| !is_ambiguous))
}
