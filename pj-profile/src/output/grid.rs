//! Grids whose columns are as wide as their contents. If they do not all fit, some columns are left
//! out.

use std::io::{self, Write};

use super::screen::{Screen, bar, fitted, width};

#[derive(Clone, Debug)]
pub(super) enum Cell {
    Name(String),
    Number(String),
    Bar(f64),
}

/// Title and priority of a column. If not all columns fit, those with the highest priority numbers
/// are left out first. Columns with priority 0 always stay. Those from [`EXTRA`] on are shown only if
/// there is room.
pub(super) type Column = (&'static str, u8);

/// Lowest priority of a column that is not missed.
const EXTRA: u8 = 7;

/// Minimum and maximum width of a bar, and minimum width of a truncated name.
const BAR: [usize; 2] = [6, 24];
const NAME: usize = 12;

#[derive(Debug)]
pub(super) struct Grid<'c> {
    columns: &'c [Column],
    rows: Vec<Vec<Cell>>,
}

impl<'c> Grid<'c> {
    pub(super) fn new(columns: &'c [Column]) -> Self {
        Grid { columns, rows: Vec::new() }
    }

    pub(super) fn row(&mut self, cells: Vec<Cell>) {
        self.rows.push(cells);
    }

    /// Writes titles and rows, indented by two spaces. Returns the columns that are left
    /// out, except bars and extra columns.
    pub(super) fn write(&self, screen: Screen, out: &mut dyn Write) -> io::Result<Vec<usize>> {
        let mut shown: Vec<usize> = (0..self.columns.len()).collect();
        let mut widths: Vec<usize> = shown.iter().map(|column| self.width(*column)).collect();
        let total = |shown: &[usize], widths: &[usize]| -> usize {
            shown.iter().map(|column| widths[*column] + 2).sum()
        };
        // Names are truncated first. Then columns are left out.
        if total(&shown, &widths) > screen.width {
            for (column, wide) in widths.iter_mut().enumerate() {
                if self.is_name(column) {
                    *wide = (*wide).min((screen.width / 3).max(NAME));
                }
            }
        }
        while total(&shown, &widths) > screen.width
            && let Some(least) = shown.iter().copied().max_by_key(|column| self.columns[*column].1)
            && self.columns[least].1 > 0
        {
            shown.retain(|column| *column != least);
        }
        let room = screen.width.saturating_sub(total(&shown, &widths));
        if let Some(column) = shown.iter().find(|column| self.is_bar(**column)) {
            widths[*column] = (widths[*column] + room).min(BAR[1]);
        }
        let mut line = String::new();
        for column in &shown {
            let (title, wide) = (self.columns[*column].0, widths[*column]);
            let pad = " ".repeat(wide.saturating_sub(width(title)));
            match self.is_name(*column) || self.is_bar(*column) {
                true => line += &format!("  {title}{pad}"),
                false => line += &format!("  {pad}{title}"),
            }
        }
        if !line.trim().is_empty() {
            writeln!(out, "{}", screen.paint(2, line.trim_end()))?;
        }
        for row in &self.rows {
            line.clear();
            for column in &shown {
                let wide = widths[*column];
                let pad = |text: &str| " ".repeat(wide.saturating_sub(width(text)));
                match &row[*column] {
                    Cell::Name(name) => {
                        let name = fitted(name, wide);
                        line += &format!("  {name}{}", pad(&name));
                    }
                    Cell::Number(text) => line += &format!("  {}{text}", pad(text)),
                    Cell::Bar(part) => {
                        let bar = bar(*part, wide);
                        let pad = pad(&bar);
                        line += &format!("  {}{pad}", screen.paint(36, &bar));
                    }
                }
            }
            writeln!(out, "{}", line.trim_end())?;
        }
        let is_missed = |column: &usize| self.columns[*column].1 < EXTRA && !self.is_bar(*column);
        let all = (0..self.columns.len()).filter(is_missed);
        Ok(all.filter(|column| !shown.contains(column)).collect())
    }

    fn width(&self, column: usize) -> usize {
        let widest = self.rows.iter().map(|row| match &row[column] {
            Cell::Name(text) => width(&fitted(text, usize::MAX)),
            Cell::Number(text) => width(text),
            Cell::Bar(_) => BAR[0],
        });
        widest.max().unwrap_or(0).max(width(self.columns[column].0))
    }

    fn is_name(&self, column: usize) -> bool {
        self.rows.first().is_some_and(|row| matches!(row[column], Cell::Name(_)))
    }

    fn is_bar(&self, column: usize) -> bool {
        self.rows.first().is_some_and(|row| matches!(row[column], Cell::Bar(_)))
    }
}
