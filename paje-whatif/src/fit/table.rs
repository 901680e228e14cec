//! Times of messages that somebody measured.

/// Times of messages of some sizes, as measured.
///
/// ```toml
/// # Part of the link back that a message takes; 0 if not given.
/// cross-traffic = 0.05
/// # Between two sizes, times are interpolated; beyond the largest, bytes take as long each as there.
/// [[message]]
/// bytes = 1000
/// latency = 19.5e-6
/// transfer = 2.9e-6
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Bytes, latency and time of the bytes in seconds; ascending.
    rows: Vec<(f64, f64, f64)>,
    pub(crate) cross: f64,
}

impl Table {
    /// Reads a table in TOML.
    ///
    /// # Errors
    /// The text is no TOML, with line and column; or what it says is not what a table says.
    pub fn parse(text: &str) -> Result<Self, String> {
        let table: toml::Table = text.parse().map_err(|e: toml::de::Error| e.to_string())?;
        let number = |value: &toml::Value| match value {
            toml::Value::Integer(number) => Some(*number as f64),
            toml::Value::Float(number) => Some(*number),
            _ => None,
        };
        let number = |table: &toml::Table, key: &str| match table.get(key) {
            None => Err(format!("`{key}` is missing")),
            Some(value) => number(value)
                .filter(|number| *number >= 0.0 && number.is_finite())
                .ok_or_else(|| format!("`{key} = {value}`: expected a number of 0 or more")),
        };
        if let Some(key) =
            table.keys().find(|key| !["message", "cross-traffic"].contains(&key.as_str()))
        {
            return Err(format!(
                "`{key}` is unknown here; there are [[message]] and cross-traffic"
            ));
        }
        let cross = if table.contains_key("cross-traffic") {
            number(&table, "cross-traffic")?
        } else {
            0.0
        };
        if cross > 1.0 {
            return Err("`cross-traffic`: expected a number from 0 to 1".into());
        }
        let messages = table.get("message").and_then(toml::Value::as_array);
        let messages = messages.filter(|messages| !messages.is_empty());
        let messages =
            messages.ok_or("a table needs [[message]] with bytes, latency and transfer")?;
        let mut rows = Vec::new();
        for message in messages {
            let message = message.as_table().ok_or("`message`: expected tables, [[message]]")?;
            let row = ["bytes", "latency", "transfer"].map(|key| number(message, key));
            let [bytes, latency, transfer] = row;
            rows.push((bytes?, latency?, transfer?));
        }
        rows.sort_by(|a, b| a.0.total_cmp(&b.0));
        if rows.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return Err("two messages of one size".into());
        }
        Ok(Table { rows, cross })
    }

    /// The latency of a message, and the time of its bytes, in seconds.
    pub(crate) fn times(&self, bytes: f64) -> (f64, f64) {
        let behind = self.rows.partition_point(|row| row.0 < bytes);
        let per_byte =
            |row: (f64, f64, f64)| (row.1, if row.0 > 0.0 { row.2 * bytes / row.0 } else { row.2 });
        match (behind.checked_sub(1).map(|at| self.rows[at]), self.rows.get(behind)) {
            (_, Some(row)) if row.0 == bytes => (row.1, row.2),
            (Some(a), Some(b)) => {
                let part = (bytes - a.0) / (b.0 - a.0);
                (a.1 + part * (b.1 - a.1), a.2 + part * (b.2 - a.2))
            }
            (Some(row), None) | (None, Some(&row)) => per_byte(row),
            (None, None) => (f64::NAN, f64::NAN),
        }
    }
}
