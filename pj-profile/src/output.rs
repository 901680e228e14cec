//! Output of tables.

mod grid;
mod machine;
mod people;
mod screen;
mod strips;
mod verdict;

use std::io::{self, Write};
use std::path::Path;

use paje_analysis::Table;
use paje_console::Failure;
use paje_console::aside::write_whole;
use paje_console::options::Format;
use paje_console::output::write_to;

use crate::cli::Cli;
pub(crate) use people::TableView;
pub(crate) use screen::Screen;

pub(crate) fn write(
    cli: &Cli,
    title: &str,
    notes: &[String],
    table: &Table,
) -> Result<(), Failure> {
    let write = |out: &mut dyn Write| format(cli, title, notes, table, screen(cli), out);
    write_to(cli.output.as_deref(), write)
}

pub(crate) fn screen(cli: &Cli) -> Screen {
    if cli.output.is_some() { Screen::plain(100) } else { Screen::of_output(cli.coloured) }
}

/// Writes a text to a file, which appears when it is complete.
pub(crate) fn write_file(path: &Path, text: &str) -> Result<(), Failure> {
    write_whole(path, text.as_bytes()).map_err(|error| Failure::File(path.to_owned(), error))
}

pub(crate) fn format(
    cli: &Cli,
    title: &str,
    notes: &[String],
    table: &Table,
    screen: Screen,
    out: &mut dyn Write,
) -> io::Result<()> {
    match cli.formatted.format {
        Format::Text => people::write(title, notes, table, screen, out),
        Format::Csv => machine::csv(table, cli.quotes, out),
        Format::Json => machine::json(table, out),
        Format::Parquet => machine::parquet(table, out),
    }
}
