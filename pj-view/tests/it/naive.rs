//! Compares tiles with simple computations from the rows of `pj_dump`.
//!
//! The rows of the examples are in the repository. To test other traces, set their folder and the
//! program: `PAJE_TRACES=~/traces PJ_DUMP=pj_dump cargo test -p pj-view --test it naive`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use testkit::Rng;

use crate::world::{Served, example};

/// Relative error of variables. They are added up in single precision.
const SINGLE: f64 = 1e-4;

/// Amounts in a bin. The key is a name, and a depth or another name.
type Amounts = BTreeMap<(String, String), f64>;

/// Row of any nature. Fields that its nature does not have are 0 or empty.
#[derive(Clone, Debug)]
struct Row {
    start: f64,
    end: f64,
    value: String,
    imbrication: u32,
    number: f64,
    ends: (String, String),
}

/// Imbrication of the outermost states in the shared sublane.
const SHARED: u32 = 11;

type Rows = BTreeMap<(String, String), Vec<Row>>;

fn rows(csv: &str) -> Rows {
    let mut all = Rows::new();
    for line in csv.lines() {
        let word: Vec<&str> = line.split(", ").collect();
        let number = |i: usize| word[i].parse::<f64>().unwrap_or(f64::NAN);
        let mut row = Row {
            start: 0.0,
            end: 0.0,
            value: String::new(),
            imbrication: 0,
            number: 0.0,
            ends: Default::default(),
        };
        match (word[0], word.len()) {
            ("State", 8..) => {
                (row.start, row.end) = (number(3), number(4));
                (row.imbrication, row.value) = (number(6) as u32, word[7..].join(", "));
            }
            ("Variable", 7) => {
                (row.start, row.end, row.number) = (number(3), number(4), number(6));
            }
            ("Event", 5..) => {
                (row.start, row.end, row.value) = (number(3), number(3), word[4..].join(", "));
            }
            ("Link", 10) => {
                (row.start, row.end) = (number(3), number(4));
                (row.value, row.ends) = (word[6].into(), (word[7].into(), word[8].into()));
            }
            _ => continue,
        }
        all.entry((word[1].into(), word[2].into())).or_default().push(row);
    }
    all
}

struct Block<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl Block<'_> {
    fn words(&mut self, count: u32) -> Vec<u32> {
        let bytes = &self.bytes[self.at..self.at + 4 * count as usize];
        self.at = (self.at + bytes.len()).next_multiple_of(8);
        bytes.chunks_exact(4).map(|it| u32::from_le_bytes(it.try_into().expect("four"))).collect()
    }

    fn floats(&mut self, count: u32) -> Vec<f64> {
        self.words(count).into_iter().map(|word| f64::from(f32::from_bits(word))).collect()
    }

    fn doubles(&mut self, count: u32) -> Vec<f64> {
        let words = self.words(2 * count);
        let double = |pair: &[u32]| f64::from_bits(u64::from(pair[1]) << 32 | u64::from(pair[0]));
        words.chunks_exact(2).map(double).collect()
    }
}

struct Compared {
    served: Served,
    model: Value,
    rows: Rows,
    name: String,
    /// Precision of printed times in seconds.
    digit: f64,
}

struct Window {
    level: u32,
    first: u64,
    count: u64,
    origin: f64,
    width: f64,
    digit: f64,
}

impl Window {
    fn bin(&self, i: usize) -> (f64, f64) {
        let edge = |bin: u64| self.origin + bin as f64 * self.width;
        (edge(self.first + i as u64), edge(self.first + i as u64 + 1))
    }
}

impl Compared {
    fn number(&self, list: &str, column: &str, i: usize) -> usize {
        self.model[list][column][i].as_u64().expect("a number") as usize
    }

    fn container(&self, id: u32) -> String {
        let ids = self.model["containers"]["id"].as_array().expect("numbers");
        let at = ids.iter().position(|it| it == id).expect("a shown container");
        self.model["containers"]["name"][at].as_str().expect("a name").into()
    }

    fn value(&self, type_: usize, value: u32) -> String {
        let values = &self.model["types"][type_]["values"];
        values[value as usize][0].as_str().expect("a name").into()
    }

    /// Compares random windows of all lanes that have unique names. Returns the number of lanes.
    fn compare(&self, rng: &mut Rng) -> usize {
        let lanes = self.model["lanes"]["id"].as_array().expect("lanes").len();
        let keys = (0..lanes).map(|i| {
            let type_ = self.number("lanes", "type", i);
            let name = self.model["types"][type_]["name"].as_str().expect("a name");
            (self.container(self.number("lanes", "container", i) as u32), name.to_owned())
        });
        let keys: Vec<_> = keys.collect();
        let mut seen = BTreeMap::new();
        keys.iter().for_each(|key| *seen.entry(key).or_insert(0) += 1);
        let mut compared = 0;
        for (i, key) in keys.iter().enumerate().filter(|(_, key)| seen[key] == 1) {
            let Some(rows) = self.rows.get(key) else { continue };
            // Names with commas are ambiguous in the output.
            if rows.len() != self.number("lanes", "rows", i) {
                continue;
            }
            compared += 1;
            for _ in 0..4 {
                let window = self.window(rng);
                self.lane(i, key, rows, &window);
            }
        }
        compared
    }

    fn window(&self, rng: &mut Rng) -> Window {
        let double = |name: &str| self.model[name].as_f64().expect("a number");
        let (origin, tick) = (double("origin"), double("tick"));
        let end = self.model["extent"][1].as_f64().expect("a number");
        let ticks = ((end - origin) / tick).max(1.0) as u64;
        let finest = (ticks >> 12).max(1).ilog2();
        let level =
            finest + rng.index((ticks.ilog2() + 2 - finest.min(ticks.ilog2())) as usize) as u32;
        let count = 1 + rng.index(64) as u64;
        let first = rng.index((ticks >> level) as usize + 1) as u64;
        let count = count.min((ticks >> level) + 1 - first).max(1);
        let width = tick * f64::from(level).exp2();
        Window { level, first, count, origin, width, digit: self.digit }
    }

    fn lane(&self, i: usize, key: &(String, String), rows: &[Row], window: &Window) {
        let (id, type_) = (self.number("lanes", "id", i), self.number("lanes", "type", i));
        let Window { level, first, count, .. } = *window;
        let what = format!("{}: {key:?}, level {level}, {count} bins from {first}", self.name);
        let query = format!("tiles?level={level}&first={first}&count={count}&lanes={id}");
        let bytes = self.served.get_bytes(&format!("{query}&rows=16384"));
        let mut block = Block { bytes: &bytes, at: 0 };
        let head = block.words(6);
        let begin = block.doubles(1)[0] as u64;
        if head[1] == 2 {
            self.rows(&mut block, head[3], type_, rows, window, &what);
        } else {
            assert!(rows.len() > 16384, "{what}: few rows are sent one by one");
        }
        let bytes = self.served.get_bytes(&format!("{query}&rows=0"));
        let mut block = Block { bytes: &bytes, at: 0 };
        let head = block.words(6);
        let first = if head[1] == 2 { begin } else { block.doubles(1)[0] as u64 };
        let skipped = (first - window.first) as usize;
        match head[1] {
            kind @ (1 | 4 | 5) => {
                let drawn = self.drawn(&mut block, &head, skipped, type_, window);
                self.shares(kind, &drawn, rows, window, &what);
            }
            3 => ranges(&mut block, head[3], skipped, rows, window, &what),
            2 => assert_eq!(head[3], 0, "{what}"),
            other => panic!("{what}: kind {other}"),
        }
    }

    /// Compares single rows. Rows at the edges of the window may be missing.
    fn rows(
        &self,
        block: &mut Block<'_>,
        n: u32,
        type_: usize,
        rows: &[Row],
        window: &Window,
        what: &str,
    ) {
        let (start, end, height) = (block.doubles(n), block.doubles(n), block.doubles(n));
        let (_, values) = (block.doubles(n), block.words(n));
        let (low, high) = (window.bin(0).0, window.bin(window.count as usize - 1).1);
        let digit = self.digit;
        let extent = |row: &Row| (row.start.min(row.end), row.start.max(row.end));
        let within = |by: f64| {
            rows.iter().filter(move |row| extent(row).1 >= low - by && extent(row).0 <= high + by)
        };
        let (least, most) = (within(-2.0 * digit).count(), within(2.0 * digit).count());
        assert!((least..=most).contains(&(n as usize)), "{what}: {n} rows, not {least} to {most}");
        let mut left: Vec<&Row> = within(2.0 * digit).collect();
        for i in 0..n as usize {
            let same = |row: &&Row| {
                let near = |a: f64, b: f64| (a - b).abs() <= digit;
                let variable = row.value.is_empty() && row.ends.0.is_empty();
                let value = match variable {
                    true => {
                        let (drawn, printed) = (height[i], row.number);
                        let same = drawn == printed || (drawn.is_nan() && printed.is_nan());
                        same || near(drawn, printed)
                            || (drawn - printed).abs() < SINGLE * printed.abs()
                    }
                    false => self.value(type_, values[i]) == row.value,
                };
                near(row.start, start[i]) && near(row.end, end[i]) && value
            };
            let gap = |row: &Row| (row.start - start[i]).abs() + (row.end - end[i]).abs();
            let those = (0..left.len()).filter(|at| same(&left[*at]));
            let at = those.min_by(|a, b| gap(left[*a]).total_cmp(&gap(left[*b])));
            let at = at.unwrap_or_else(|| panic!("{what}: no row from {} to {}", start[i], end[i]));
            left.swap_remove(at);
        }
    }

    /// Reads the bins of a block: for each, the amounts by name, and by depth or other name.
    fn drawn(
        &self,
        block: &mut Block<'_>,
        head: &[u32],
        skipped: usize,
        type_: usize,
        window: &Window,
    ) -> Vec<Amounts> {
        let (kind, n, m) = (head[1], head[3], head[4]);
        let (ends, _) = (block.words(n), block.words(n));
        let (values, others, amounts) = (block.words(m), block.words(m), block.floats(m));
        let mut drawn = vec![Amounts::new(); window.count as usize];
        let mut begin = 0;
        for (i, end) in ends.iter().enumerate() {
            for j in begin..*end as usize {
                let key = match kind {
                    _ if values[j] == u32::MAX => ("others".into(), others[j].to_string()),
                    5 => (self.container(values[j]), self.container(others[j])),
                    _ => (self.value(type_, values[j]), others[j].to_string()),
                };
                *drawn[skipped + i].entry(key).or_default() += amounts[j];
            }
            begin = *end as usize;
        }
        drawn
    }

    fn shares(&self, kind: u32, drawn: &[Amounts], rows: &[Row], window: &Window, what: &str) {
        let digit = self.digit;
        for (i, drawn) in drawn.iter().enumerate() {
            let (low, high) = window.bin(i);
            let (mut sums, mut doubt) = (Amounts::new(), 0.0);
            let mut largest = None;
            for row in rows {
                let key = match kind {
                    1 => (row.value.clone(), row.imbrication.to_string()),
                    4 => (row.value.clone(), "0".into()),
                    _ => row.ends.clone(),
                };
                let amount = match kind {
                    1 => ((row.end.min(high) - row.start.max(low)) / window.width).max(0.0),
                    // A rounded time at an edge may be on either side of the edge.
                    _ if (row.start - low).abs() < digit || (row.start - high).abs() < digit => {
                        doubt += 1.0;
                        continue;
                    }
                    _ => f64::from(u8::from(low <= row.start && row.start < high)),
                };
                if kind == 1 && row.end >= low && row.start <= high {
                    doubt += digit / window.width;
                }
                // A state that fills more than half of a bin must be drawn, unless it is among the
                // deepest ones.
                if kind == 1
                    && row.imbrication < SHARED
                    && amount > 0.5 + 2.0 * digit / window.width
                {
                    largest = Some(key.clone());
                }
                if amount > 0.0 {
                    *sums.entry(key).or_default() += amount;
                }
            }
            let slack = doubt + 1e-5 * (1.0 + sums.values().sum::<f64>());
            let total = |sums: &BTreeMap<_, f64>| sums.values().sum::<f64>();
            let case = format!("{what}, bin {i}: {drawn:?} instead of {sums:?}");
            assert!((total(drawn) - total(&sums)).abs() <= slack, "{case}");
            let others = drawn.keys().any(|key| key.0 == "others");
            let keys: BTreeSet<_> = drawn.keys().chain(sums.keys()).collect();
            for key in
                keys.into_iter().filter(|key| drawn.contains_key(*key) || !(others || kind == 5))
            {
                let of = |sums: &BTreeMap<_, f64>| sums.get(key).copied().unwrap_or(0.0);
                // The sum of all other links has the key of one of them.
                let fine = others || (kind == 5 && of(drawn) >= of(&sums));
                assert!(fine || (of(drawn) - of(&sums)).abs() <= slack, "{key:?}; {case}");
            }
            if let Some(key) = largest {
                assert!(
                    drawn.get(&key).is_some_and(|share| *share >= 0.5),
                    "{key:?} is missing; {case}"
                );
            }
        }
    }
}

fn ranges(
    block: &mut Block<'_>,
    n: u32,
    skipped: usize,
    rows: &[Row],
    window: &Window,
    what: &str,
) {
    let (least, greatest, mean) = (block.doubles(n), block.doubles(n), block.doubles(n));
    let digit = window.digit;
    for i in 0..n as usize {
        let (low, high) = window.bin(skipped + i);
        let within =
            |by: f64| rows.iter().filter(move |row| row.start < high + by && row.end > low - by);
        let is_clear = within(2.0 * digit).count() == within(-2.0 * digit).count();
        let numbers = within(0.0).all(|row| row.number.is_finite());
        if !is_clear || !numbers || within(0.0).count() == 0 {
            continue;
        }
        let near = |a: f64, b: f64| (a - b).abs() <= SINGLE * (1.0 + b.abs());
        let (mut min, mut max, mut integral, mut held) =
            (f64::INFINITY, f64::NEG_INFINITY, 0.0, 0.0);
        for row in within(0.0) {
            (min, max) = (min.min(row.number), max.max(row.number));
            let overlap = row.end.min(high) - row.start.max(low);
            (integral, held) = (integral + row.number * overlap, held + overlap);
        }
        let case = format!("{what}, bin {i}");
        assert!(
            near(least[i], min) && near(greatest[i], max),
            "{case}: {} to {}",
            least[i],
            greatest[i]
        );
        let slack = (max - min) * (digit * 4.0 * within(0.0).count() as f64 / held).min(1.0);
        assert!(
            (mean[i] - integral / held).abs() <= slack + SINGLE * (1.0 + max.abs().max(min.abs())),
            "{case}: {}",
            mean[i]
        );
    }
}

fn compare(trace: &Path, csv: &str, digit: f64, options: &[&str], rng: &mut Rng) -> usize {
    let served = Served::of(trace, options);
    let model = serde_json::from_str(&served.get("model")).expect("JSON");
    let name = trace.file_name().expect("a name").to_string_lossy().into_owned();
    Compared { served, model, rows: rows(csv), name, digit }.compare(rng)
}

#[test]
fn tiles_agree_with_rows() {
    let mut rng = Rng::new(18);
    let examples = [
        "all-links",
        "crlf",
        "deep",
        "destroyed",
        "late-definitions",
        "links-reversed",
        "many-containers",
        "mpi",
        "mpi-wild",
        "one-container",
        "task-runtime",
        "unique-values",
        "variables",
    ];
    for name in examples {
        let csv = fs::read_to_string(example(&format!("{name}.csv"))).expect("rows");
        let lanes = compare(&example(&format!("{name}.trace")), &csv, 1e-6, &[], &mut rng);
        assert!(lanes > 0, "{name}: nothing was compared");
    }
}

#[test]
fn tiles_of_further_traces_agree_with_rows() {
    let (Some(folder), Some(dump)) = (std::env::var_os("PAJE_TRACES"), std::env::var_os("PJ_DUMP"))
    else {
        return;
    };
    let mut rng = Rng::new(testkit::number("PAJE_SEED").unwrap_or(18));
    for entry in fs::read_dir(folder).expect("a folder") {
        let trace = entry.expect("a file").path();
        let output = Command::new(&dump)
            .args(["-n", "-z", "-l", "9", "--variable-precision", "double", "--no-warnings"])
            .arg(&trace)
            .output();
        let output = output.expect("pj_dump runs");
        let csv = String::from_utf8_lossy(&output.stdout);
        // A trace with just containers has nothing to show.
        if output.status.success() && csv.lines().any(|line| !line.starts_with("Container")) {
            let lanes = compare(&trace, &csv, 2e-9, &["-n", "-z", "--no-fields"], &mut rng);
            println!("{}: {lanes} lanes", trace.display());
        }
    }
}
