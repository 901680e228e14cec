//! Tables of measured message times.

use paje_sim::TimeScale;
use serde::Deserialize;

/// Measured times of messages by size. Files have seconds.
///
/// ```toml
/// # Fraction of the opposite link that a message uses; default 0.
/// cross-traffic = 0.05
/// # Times are interpolated between sizes; beyond the largest, the time per byte is constant.
/// [[message]]
/// bytes = 1000
/// latency = 19.5e-6
/// transfer = 2.9e-6
/// ```
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Table {
    #[serde(default, rename = "cross-traffic")]
    pub(crate) cross: f64,
    message: Vec<Row>,
}

/// Size of a message, its latency, and the time to transfer its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
struct Row {
    bytes: f64,
    latency: f64,
    transfer: f64,
}

impl Table {
    /// Parses a table in TOML.
    ///
    /// # Errors
    /// Fails if the text is not a table of message times. The message has the line and the column.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut table: Table =
            toml::from_str(text).map_err(|error: toml::de::Error| error.to_string())?;
        let numbers = table.message.iter().flat_map(|row| [row.bytes, row.latency, row.transfer]);
        for number in numbers.chain([table.cross]) {
            if !(number >= 0.0 && number.is_finite()) {
                return Err(format!("`{number}`: expected a number of 0 or more"));
            }
        }
        if table.cross > 1.0 {
            return Err("`cross-traffic`: expected a number from 0 to 1".into());
        }
        table.message.sort_by(|a, b| a.bytes.total_cmp(&b.bytes));
        if table.message.is_empty() {
            return Err("a table needs [[message]] with bytes, latency and transfer".into());
        }
        if table.message.windows(2).any(|pair| pair[0].bytes == pair[1].bytes) {
            return Err("two messages have the same size".into());
        }
        Ok(table)
    }

    /// Converts the times from seconds to the unit of a trace.
    #[must_use]
    pub fn in_unit_of(mut self, scale: TimeScale) -> Self {
        for row in &mut self.message {
            (row.latency, row.transfer) = (scale.time(row.latency), scale.time(row.transfer));
        }
        self
    }

    pub(crate) fn times(&self, bytes: f64) -> (f64, f64) {
        let next = self.message.partition_point(|row| row.bytes < bytes);
        let per_byte = |row: &Row| match row.bytes > 0.0 {
            true => (row.latency, row.transfer * bytes / row.bytes),
            false => (row.latency, row.transfer),
        };
        match (next.checked_sub(1).map(|at| &self.message[at]), self.message.get(next)) {
            (_, Some(row)) if row.bytes == bytes => (row.latency, row.transfer),
            (Some(a), Some(b)) => {
                let part = (bytes - a.bytes) / (b.bytes - a.bytes);
                let between = |a: f64, b: f64| a + part * (b - a);
                (between(a.latency, b.latency), between(a.transfer, b.transfer))
            }
            (Some(row), None) | (None, Some(row)) => per_byte(row),
            (None, None) => (f64::NAN, f64::NAN),
        }
    }
}
