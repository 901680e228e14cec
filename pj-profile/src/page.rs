//! Reports as web pages.

use paje_analysis::why::capital;
use paje_analysis::{Data, Table};
use paje_decimal::amounts::{amount, count, duration, percent};
use paje_pictures::{Cell, Colours, Page, PageTable, Section, ValueColours};

use crate::cli::Cli;
use crate::output::TableView;
use crate::pictures::{self, Kind};

const MAKER: &str = concat!("pj_profile ", env!("CARGO_PKG_VERSION"));

#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) heading: &'static str,
    pub(crate) note: String,
    pub(crate) table: Table,
    /// Whether the page has the table, in addition to its pictures.
    pub(crate) is_shown: bool,
    pub(crate) kinds: Option<&'static [Kind]>,
}

impl Part {
    pub(crate) fn new(heading: &'static str, note: &str, table: Table) -> Self {
        Part { heading, note: note.into(), table, is_shown: true, kinds: None }
    }

    pub(crate) fn pictured(heading: &'static str, table: Table, kinds: &'static [Kind]) -> Self {
        Part { heading, note: String::new(), table, is_shown: false, kinds: Some(kinds) }
    }
}

pub(crate) fn of_report(
    cli: &Cli,
    title: &str,
    notes: &[String],
    table: &Table,
    values: &ValueColours,
) -> String {
    let colours = pictures::colours(table, values);
    let section = Section {
        heading: cli.report().name(),
        notes: notes.to_vec(),
        pictures: pictures::all(cli, table, &colours, None),
        tables: vec![(String::new(), page_table(table))],
    };
    Page { title: title.into(), sections: vec![section], maker: MAKER.into(), ..Page::default() }
        .file()
}

pub(crate) fn of_parts(
    cli: &Cli,
    title: &str,
    parts: &[Part],
    facts: &Table,
    values: &ValueColours,
) -> String {
    let states = parts.iter().map(|part| &part.table).find(|table| table.name == "states");
    let colours = states.map_or_else(Colours::default, |table| pictures::colours(table, values));
    let mut sections: Vec<Section> = Vec::new();
    for part in parts {
        if sections.last().is_none_or(|last| last.heading != part.heading) {
            sections.push(Section { heading: part.heading.into(), ..Section::default() });
        }
        let Some(section) = sections.last_mut() else { continue };
        section.notes.extend(Some(part.note.clone()).filter(|note| !note.is_empty()));
        section.pictures.extend(pictures::all(cli, &part.table, &colours, part.kinds));
        if part.is_shown && !part.table.is_empty() {
            section.tables.push((String::new(), page_table(&part.table)));
        }
    }
    let (seen, mut heads) = (TableView(facts), Vec::new());
    for row in 0..facts.len() {
        let (name, value) = (seen.text("name", row), seen.text("value", row));
        match seen.text("section", row).as_str() {
            "trace" => heads.push((name, value)),
            of => listed(&mut sections, of, name, value),
        }
    }
    Page { title: title.into(), facts: heads, sections, maker: MAKER.into() }.file()
}

/// Adds a value of the summary, unless one of the tables has it.
fn listed(sections: &mut Vec<Section>, of: &str, name: String, value: String) {
    // Tables have these values.
    if matches!(of, "where the time went" | "traffic" | "imbalance") {
        return;
    }
    let place = sections
        .iter()
        .position(|section| section.heading.eq_ignore_ascii_case(of))
        .unwrap_or_else(|| {
            let columns = ["", ""].map(|name| (name.to_owned(), false)).to_vec();
            let table = (String::new(), PageTable { columns, rows: Vec::new() });
            let (heading, tables) = (capital(of), vec![table]);
            sections.push(Section { heading, tables, ..Section::default() });
            sections.len() - 1
        });
    let cells = [name, value].map(|text| Cell { text, number: None }).to_vec();
    if let Some((_, table)) = sections[place].tables.last_mut() {
        table.rows.push(cells);
    }
}

pub(crate) fn of_two(
    cli: &Cli,
    title: &str,
    notes: &[String],
    table: &Table,
    times: [(&str, &Table); 2],
    values: &ValueColours,
) -> String {
    let colours = pictures::colours(table, values);
    let mut drawn = pictures::all(cli, table, &colours, None);
    if times.iter().any(|(_, table)| !table.is_empty()) {
        drawn.insert(0, pictures::on_one_axis(times, &colours));
    }
    let section = Section {
        heading: "compare".into(),
        notes: notes.to_vec(),
        pictures: drawn,
        tables: vec![("A and B by value".into(), page_table(table))],
    };
    let (sections, maker) = (vec![section], MAKER.into());
    Page { title: title.into(), sections, maker, ..Page::default() }.file()
}

fn page_table(table: &Table) -> PageTable {
    let seen = TableView(table);
    let heads = table.columns.iter();
    let heads =
        heads.map(|column| (column.name.replace('_', " "), !matches!(column.data, Data::Text(_))));
    let cell = |row: usize, name: &'static str, data: &Data| {
        let number = seen.number(name, row);
        let written = |write: fn(f64) -> String| number.map_or_else(|| "–".into(), write);
        let text = match data {
            Data::Text(_) => seen.text(name, row),
            Data::Count(all) => count(all[row]),
            Data::Seconds(_) | Data::Time(_) => written(duration),
            Data::Number(_) if name != "rate" => written(percent),
            Data::Number(_) => written(amount),
            Data::Amount(_) => written(amount),
        };
        Cell { text, number }
    };
    let rows = (0..table.len()).map(|row| {
        table.columns.iter().map(|column| cell(row, column.name, &column.data)).collect()
    });
    PageTable { columns: heads.collect(), rows: rows.collect() }
}
