//! Tables: named, typed columns of equal length.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use paje_sim::{Name, Quoting, TimeScale};

use crate::Seconds;

/// Result of an analysis: columns in display order.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Name of the rows in one word, such as `states`.
    pub name: &'static str,
    /// Columns, all of the same length.
    pub columns: Vec<Column>,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct Column {
    pub name: &'static str,
    pub data: Data,
}

/// The values of a column, by row.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Data {
    Text(Vec<Label>),
    Count(Vec<u64>),
    Seconds(Vec<Option<Seconds>>),
    /// Times that are not sums, in seconds. `None` means undefined.
    Time(Vec<Option<f64>>),
    /// Shares and similar numbers. `None` means undefined.
    Number(Vec<Option<f64>>),
    /// Sums of amounts, such as bytes. `None` means unknown.
    Amount(Vec<Option<f64>>),
}

/// An owned name. Comparisons ignore its quotes.
#[derive(Clone, Debug)]
pub struct Label {
    text: Arc<[u8]>,
    quoting: Quoting,
}

impl Table {
    /// Creates a table without columns.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Table { name, columns: Vec::new() }
    }

    /// Adds a column on the right.
    pub(crate) fn with(mut self, name: &'static str, data: Data) -> Self {
        self.columns.push(Column { name, data });
        self
    }

    #[must_use]
    pub(crate) fn with_containers<R>(
        self,
        rows: &[R],
        container: impl Fn(&R) -> Option<&Label>,
    ) -> Self {
        match rows.iter().map(container).collect::<Option<Vec<_>>>() {
            Some(all) if !all.is_empty() => {
                self.with("container", Data::Text(all.into_iter().cloned().collect()))
            }
            _ => self,
        }
    }

    /// Converts times of a trace to seconds, also in rates and integrals.
    #[must_use]
    pub(crate) fn in_seconds(mut self, scale: TimeScale) -> Self {
        if scale.is_seconds() {
            return self;
        }
        for Column { name, data } in &mut self.columns {
            match data {
                Data::Seconds(all) => {
                    all.iter_mut().flatten().for_each(|time| *time = time.scaled(scale));
                }
                Data::Time(all) => {
                    all.iter_mut().flatten().for_each(|time| *time = scale.seconds(*time));
                }
                Data::Number(all) if *name == "rate" => {
                    all.iter_mut().flatten().for_each(|rate| *rate = scale.time(*rate));
                }
                Data::Amount(all) if *name == "integral" => {
                    all.iter_mut().flatten().for_each(|sum| *sum = scale.seconds(*sum));
                }
                Data::Text(_) | Data::Count(_) | Data::Number(_) | Data::Amount(_) => {}
            }
        }
        self
    }

    /// Returns the number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.columns.first().map_or(0, |column| column.data.len())
    }

    /// Returns whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the values of a column.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<&Data> {
        self.columns.iter().find(|column| column.name == name).map(|column| &column.data)
    }

    /// Keeps at most this many rows: those with the largest values in the first of these columns.
    /// If values are equal, the next column decides.
    #[must_use]
    pub fn top(self, rows: usize, by: &[&str]) -> Self {
        let keys: Vec<&Data> = by.iter().filter_map(|name| self.column(name)).collect();
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.sort_by(|a, b| {
            let compared = keys.iter().map(|data| data.compare(*b, *a));
            compared.fold(Ordering::Equal, Ordering::then)
        });
        order.truncate(rows);
        let columns = self.columns.iter().map(|column| column.of_rows(&order)).collect();
        Table { name: self.name, columns }
    }
}

impl Column {
    fn of_rows(&self, rows: &[usize]) -> Column {
        let data = match &self.data {
            Data::Text(all) => Data::Text(rows.iter().map(|row| all[*row].clone()).collect()),
            Data::Count(all) => Data::Count(rows.iter().map(|row| all[*row]).collect()),
            Data::Seconds(all) => Data::Seconds(rows.iter().map(|row| all[*row]).collect()),
            Data::Time(all) => Data::Time(rows.iter().map(|row| all[*row]).collect()),
            Data::Number(all) => Data::Number(rows.iter().map(|row| all[*row]).collect()),
            Data::Amount(all) => Data::Amount(rows.iter().map(|row| all[*row]).collect()),
        };
        Column { name: self.name, data }
    }
}

impl Data {
    fn compare(&self, a: usize, b: usize) -> Ordering {
        let number = |number: Option<f64>| number.unwrap_or(f64::NEG_INFINITY);
        match self {
            Data::Text(all) => all[a].cmp(&all[b]),
            Data::Count(all) => all[a].cmp(&all[b]),
            Data::Seconds(all) => all[a].cmp(&all[b]),
            Data::Time(all) | Data::Number(all) | Data::Amount(all) => {
                number(all[a]).total_cmp(&number(all[b]))
            }
        }
    }

    /// Returns a column of texts, with one for each row.
    pub(crate) fn text<R>(rows: &[R], value: impl Fn(&R) -> &Label) -> Self {
        Data::Text(rows.iter().map(|row| value(row).clone()).collect())
    }

    /// Returns a column of counts, with one for each row.
    pub(crate) fn count<R>(rows: &[R], value: impl Fn(&R) -> u64) -> Self {
        Data::Count(rows.iter().map(value).collect())
    }

    /// Returns a column of seconds, with one value for each row.
    pub(crate) fn seconds<R>(rows: &[R], value: impl Fn(&R) -> Seconds) -> Self {
        Data::Seconds(rows.iter().map(|row| Some(value(row))).collect())
    }

    /// Returns a column of times, with one for each row.
    pub(crate) fn time<R>(rows: &[R], value: impl Fn(&R) -> Option<f64>) -> Self {
        Data::Time(rows.iter().map(value).collect())
    }

    /// Returns a column of numbers, with one for each row.
    pub(crate) fn number<R>(rows: &[R], value: impl Fn(&R) -> Option<f64>) -> Self {
        Data::Number(rows.iter().map(value).collect())
    }

    /// Returns a column of amounts, with one for each row.
    pub(crate) fn amount<R>(rows: &[R], value: impl Fn(&R) -> Option<f64>) -> Self {
        Data::Amount(rows.iter().map(value).collect())
    }

    /// Returns the number of values.
    pub(crate) fn len(&self) -> usize {
        match self {
            Data::Text(all) => all.len(),
            Data::Count(all) => all.len(),
            Data::Seconds(all) => all.len(),
            Data::Time(all) | Data::Number(all) | Data::Amount(all) => all.len(),
        }
    }
}

impl Label {
    /// Returns the name together with its quotes.
    #[must_use]
    pub fn name(&self) -> Name<'_> {
        Name { text: &self.text, quoting: self.quoting }
    }
}

impl PartialEq for Label {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Label {}

impl PartialOrd for Label {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Label {
    fn cmp(&self, other: &Self) -> Ordering {
        self.text.cmp(&other.text)
    }
}

impl From<Name<'_>> for Label {
    fn from(name: Name<'_>) -> Self {
        Label { text: name.text.into(), quoting: name.quoting }
    }
}

impl From<&str> for Label {
    fn from(text: &str) -> Self {
        Name::bare(text.as_bytes()).into()
    }
}

/// Formats the name without quotes. Invalid UTF-8 is replaced.
impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.name().fmt(f)
    }
}
