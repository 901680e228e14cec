//! Self-contained HTML pages of pictures and tables.

use std::fmt::Write;

use crate::colours;
use crate::svg::Picture;
use crate::text::escaped;

/// Forbids the page to load anything.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

const MOST: usize = 1000;

/// Number of characters from which a text is wrapped.
const LONG: usize = 48;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// HTML page.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// Title.
    pub title: String,
    /// Facts below the title: names and values.
    pub facts: Vec<(String, String)>,
    /// Sections, listed at the top.
    pub sections: Vec<Section>,
    /// Program that made the page.
    pub maker: String,
}

/// Section of a page.
#[derive(Clone, Debug, Default)]
pub struct Section {
    /// Heading.
    pub heading: String,
    /// Notes.
    pub notes: Vec<String>,
    /// Pictures.
    pub pictures: Vec<Picture>,
    /// Tables with their titles.
    pub tables: Vec<(String, PageTable)>,
}

/// Table, which readers sort by clicking on column names.
#[derive(Clone, Debug, Default)]
pub struct PageTable {
    /// Names of columns, and whether they hold numbers.
    pub columns: Vec<(String, bool)>,
    /// Rows.
    pub rows: Vec<Vec<Cell>>,
}

/// Cell of a table.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    /// Text of the cell.
    pub text: String,
    /// Sort key, if it differs from the text.
    pub number: Option<f64>,
}

impl Page {
    /// Returns the file's text.
    #[must_use]
    pub fn file(&self) -> String {
        let title = escaped(&self.title);
        let mut out = format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n\
             <style>\n{}\n{STYLE}</style>\n</head>\n<body>\n<header>\n<h1>{title}</h1>\n",
            colours::style()
        );
        if !self.facts.is_empty() {
            out.push_str("<dl>\n");
            for (name, value) in &self.facts {
                let (name, value) = (escaped(name), escaped(value));
                let _ = writeln!(out, "<div><dt>{name}</dt><dd>{value}</dd></div>");
            }
            out.push_str("</dl>\n");
        }
        if self.sections.len() > 1 {
            out.push_str("<nav>\n");
            for (place, section) in self.sections.iter().enumerate() {
                let _ = writeln!(out, "<a href=\"#s{place}\">{}</a>", escaped(&section.heading));
            }
            out.push_str("</nav>\n");
        }
        out.push_str("</header>\n<main>\n");
        for (place, section) in self.sections.iter().enumerate() {
            section.write(place, &mut out);
        }
        let maker = escaped(&self.maker);
        let _ = write!(
            out,
            "</main>\n<footer>{maker}</footer>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n"
        );
        out
    }
}

impl Section {
    fn write(&self, place: usize, out: &mut String) {
        let _ = writeln!(out, "<section id=\"s{place}\">\n<h2>{}</h2>", escaped(&self.heading));
        for note in &self.notes {
            let _ = writeln!(out, "<p>{}</p>", escaped(note));
        }
        for picture in &self.pictures {
            let (title, drawing) = (escaped(picture.title()), picture.part());
            let _ = writeln!(
                out,
                "<figure>\n<figcaption>{title}</figcaption>\n<div class=\"scroll\" tabindex=\"0\">\n{drawing}</div>\n</figure>"
            );
        }
        for (name, table) in &self.tables {
            table.write(name, out);
        }
        out.push_str("</section>\n");
    }
}

impl PageTable {
    fn write(&self, name: &str, out: &mut String) {
        let rows = &self.rows[..self.rows.len().min(MOST)];
        let mut caption = escaped(name);
        if self.rows.len() > MOST {
            let _ = write!(caption, ": the first {MOST} of {} rows", self.rows.len());
        }
        let _ = write!(
            out,
            "<div class=\"scroll\" tabindex=\"0\">\n<table>\n<caption>{caption}</caption>\n<thead><tr>"
        );
        for (column, is_number) in &self.columns {
            let class = if *is_number { " class=\"n\"" } else { "" };
            let _ =
                write!(out, "<th{class} scope=\"col\"><button>{}</button></th>", escaped(column));
        }
        out.push_str("</tr></thead>\n<tbody>\n");
        for row in rows {
            out.push_str("<tr>");
            for (cell, (_, is_number)) in row.iter().zip(&self.columns) {
                let class = match is_number {
                    true => " class=\"n\"",
                    false if cell.text.chars().count() > LONG => " class=\"w\"",
                    false => "",
                };
                let sorted = cell.number.filter(|number| number.is_finite());
                let sorted = sorted.map_or(String::new(), |it| format!(" data-v=\"{it:e}\""));
                let _ = write!(out, "<td{class}{sorted}>{}</td>", escaped(&cell.text));
            }
            out.push_str("</tr>\n");
        }
        out.push_str("</tbody>\n</table>\n</div>\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_escaped_everywhere() {
        let evil = "</title></style></script><script>alert(1)</script><img src=x onerror=\"y\">";
        let table = PageTable {
            columns: vec![(evil.into(), false)],
            rows: vec![vec![Cell { text: evil.into(), number: Some(1.0) }]],
        };
        let section = Section {
            heading: evil.into(),
            notes: vec![evil.into()],
            tables: vec![(evil.into(), table)],
            ..Section::default()
        };
        let page = Page {
            title: evil.into(),
            facts: vec![(evil.into(), evil.into())],
            sections: vec![section.clone(), section],
            maker: evil.into(),
        };
        let file = page.file();
        assert_eq!(file.matches("<script").count(), 1);
        assert_eq!(file.matches("<img").count(), 0);
        assert!(!file.contains("http:") && !file.contains("https:"), "{file}");
    }

    #[test]
    fn long_tables_are_cut_with_a_note() {
        let cell = |i: usize| vec![Cell { text: i.to_string(), number: None }];
        let table =
            PageTable { columns: vec![("n".into(), true)], rows: (0..1500).map(cell).collect() };
        let mut out = String::new();
        table.write("all", &mut out);
        assert_eq!(out.matches("<tr>").count(), MOST + 1);
        assert!(out.contains("the first 1000 of 1500 rows"));
    }
}
