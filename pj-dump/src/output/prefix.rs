//! Writes rows to one file per nature (`--prefix`), as PajeNG's `pj_dump_csv` does.

use std::ffi::OsStr;
use std::io::Write;
use std::path::PathBuf;

use paje_sim::{Selected, Step, Trace, TypeNature};
use paje_workers::Workers;

use super::Style;
use super::export::{Exported, Written, write_steps};
use super::header::{Header, columns};
use super::names::Names;
use super::together::Together;
use paje_console::Failure;

const NATURES: [TypeNature; 5] = [
    TypeNature::Container,
    TypeNature::State,
    TypeNature::Variable,
    TypeNature::Event,
    TypeNature::Link,
];

/// Returns the paths of the files.
pub(crate) fn paths(prefix: &OsStr) -> impl Iterator<Item = PathBuf> {
    NATURES.into_iter().map(|nature| {
        let mut path = prefix.to_owned();
        path.push(format!(".{}.csv", nature.name().to_lowercase()));
        PathBuf::from(path)
    })
}

/// Writes the selected rows to `PREFIX.container.csv`, `PREFIX.state.csv`, and so on, each below
/// its header line. Files appear when all are complete.
pub(crate) fn write(
    prefix: &OsStr,
    trace: &Trace,
    selected: &Selected,
    style: Style,
    workers: &Workers,
) -> Result<Exported, Failure> {
    let mut files = Together::default();
    for path in paths(prefix) {
        files.add(path)?;
    }
    let (names, written) = (Names::new(trace), Written::default());
    let mut exported = Exported::default();
    for (nature, (path, mut file)) in NATURES.into_iter().zip(files.files()) {
        let of_nature = |step: &Step| match *step {
            Step::Container(_) => nature == TypeNature::Container,
            Step::Type(_, type_) => trace.types().nature(type_) == nature,
        };
        let order = style.quotes.order();
        let steps =
            || trace.walk(order).filter(of_nature).filter(|step| selected.wants_step(*step));
        let mut header = Header::of_one(style).lines(trace, steps());
        if header.is_empty() {
            header = format!("{}\n", columns(nature, style.quotes)).into_bytes();
        }
        let rows = file
            .write_all(&header)
            .and_then(|()| write_steps(trace, &names, style, workers, file, &written, steps()));
        exported.add(&rows.map_err(|error| Failure::File(path.to_owned(), error))?);
    }
    files.take_places()?;
    Ok(exported)
}
