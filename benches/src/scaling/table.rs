//! The summary, in Markdown.

use std::fmt::Write as _;

use super::record::Kind;
use super::speed::Point;

/// One table for strong, one for weak scaling; a row for each configuration.
pub fn tables(points: &[Point]) -> String {
    let mut text = String::new();
    for (kind, title, gain) in [
        (Kind::Strong, "Strong scaling: the same trace for any number of threads", "speedup"),
        (Kind::Weak, "Weak scaling: a trace as many times larger as there are threads", "sizeup"),
    ] {
        let mut rows = points.iter().filter(|point| point.kind == kind).peekable();
        if rows.peek().is_none() {
            continue;
        }
        let _ = writeln!(
            text,
            "{title}.\n\n\
             | trace | MB | pin | cache | threads | seconds | floor | × floor | MB/s | {gain} | \
             efficiency | serial | imbalance | peak MB |\n\
             |---|--:|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
        );
        for row in rows {
            let _ = writeln!(text, "{}", line(row));
        }
        text.push('\n');
    }
    text
}

fn line(point: &Point) -> String {
    let megabytes = point.bytes as f64 / 1e6;
    format!(
        "| {} | {megabytes:.1} | {} | {} | {} | {:.3} | {:.3} | {:.1} | {:.0} | {} | {} | {} | {} | {} |",
        point.shape.replace('|', "\\|"),
        point.pin,
        point.cache,
        point.threads,
        point.seconds,
        point.floor,
        point.seconds / point.floor,
        megabytes / point.seconds,
        or_dash(point.gain, |gain| format!("{gain:.2}")),
        or_dash(point.efficiency(), percent),
        or_dash(point.serial_share, percent),
        or_dash(point.imbalance, |imbalance| format!("{imbalance:.2}")),
        or_dash(point.peak_memory, |bytes| format!("{:.0}", bytes as f64 / 1e6)),
    )
}

fn percent(part: f64) -> String {
    format!("{:.0} %", part * 100.0)
}

fn or_dash<T>(value: Option<T>, show: impl Fn(T) -> String) -> String {
    value.map_or_else(|| "–".to_owned(), show)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scaling::record::Cache;
    use paje_workers::Pin;

    #[test]
    fn rows_show_what_is_known() {
        let point = Point {
            shape: "a|b".into(),
            bytes: 12_000_000,
            kind: Kind::Strong,
            threads: 4,
            pin: Pin::Compact,
            cache: Cache::Cached,
            seconds: 0.25,
            floor: 0.125,
            gain: Some(3.5),
            floor_gain: None,
            serial_share: Some(0.0625),
            imbalance: None,
            peak_memory: Some(9_500_000),
        };
        let text = tables(std::slice::from_ref(&point));
        let row = "| a\\|b | 12.0 | compact | cached | 4 | 0.250 | 0.125 | 2.0 | 48 | 3.50 | 88 % | 6 % | – | 10 |";
        assert!(text.contains(row), "{text}");
        assert!(text.contains("speedup") && !text.contains("sizeup"), "{text}");
        let weak = Point { kind: Kind::Weak, gain: None, ..point };
        let text = tables(&[weak]);
        assert!(text.contains("sizeup") && text.contains("| – | – | 6 % |"), "{text}");
    }
}
