//! Compares waits, the critical path and the verdict with those of `paje-analysis`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use datasets::Shape;
use paje_analysis::classes::Map;
use paje_analysis::critical::CriticalPath;
use paje_analysis::waits::{Kind, Options, Waits};
use paje_sim::{Trace, TypeNature};
use serde_json::{Value, json};

use crate::blocks::{Block, blocks};
use crate::world::{Served, example, status};

const WHOLE: u32 = 63;

/// Returns a trace of ranks that pass many messages.
fn generated() -> (tempfile::TempDir, PathBuf) {
    let bytes = datasets::generate(Shape::Mpi, 400_000, 3);
    let folder = testkit::folder(&[("run.trace", &bytes)]);
    let path = folder.path().join("run.trace");
    (folder, path)
}

fn slow_rank() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../paje-analysis/tests/smpi/slow-rank.trace.xz")
}

pub(crate) fn json_of(served: &Served, path: &str) -> Value {
    serde_json::from_str(&served.get(path)).expect("JSON")
}

/// Waits until the analysis is finished, and returns its overview.
pub(crate) fn overview(served: &Served) -> Value {
    for _ in 0..6000 {
        let found = json_of(served, "explained");
        if found["state"] != "computing" {
            return found;
        }
        thread::sleep(Duration::from_millis(10));
    }
    panic!("the analysis does not end");
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is not a number"))
}

/// A wait as the page gets it: lane, row, kind, start, end, and the lane and row that end it.
type Plain = (u32, u32, usize, f64, f64, u32, Option<u32>);

/// Returns the waits that the library finds, and the parts of the critical path.
fn of_library(trace: &Trace) -> (Vec<Plain>, Vec<(u32, f64, f64)>) {
    let waits = Waits::new(trace, &Map::of_trace(trace), &Options::default());
    let tracks = waits.facts.tracks.list();
    let lane = |track: u32| {
        let track = &tracks[track as usize];
        let mut lanes = trace.lanes_of(track.container);
        lanes.find(|lane| lane.type_id() == track.type_).expect("a lane").id().0
    };
    let kind = |kind: Kind| Kind::ALL.iter().position(|it| *it == kind).expect("a kind");
    let plain = waits.iter().map(|it| {
        (lane(it.waiter), it.state, kind(it.kind), it.from, it.until, lane(it.whom), it.release)
    });
    let path = CriticalPath::new(&waits).expect("a path");
    let parts = path.parts.iter().map(|part| (lane(part.track), part.start, part.end));
    (plain.collect(), parts.collect())
}

fn of_block(block: &Block) -> Vec<Plain> {
    assert_eq!(block.kind, 2, "rows");
    let release = |at: usize| Some(block.words[2][at]).filter(|row| *row != u32::MAX);
    let wait = |at: usize| {
        let [start, end, _, row] = [0, 1, 2, 3].map(|array: usize| block.doubles[array][at]);
        let [kind, whom] = [0, 1].map(|array: usize| block.words[array][at]);
        (block.lane, row as u32, kind as usize, start, end, whom, release(at))
    };
    (0..block.words[0].len()).map(wait).collect()
}

/// Returns the share of each value in each bin.
fn shares(block: &Block) -> BTreeMap<(u64, u32), f64> {
    assert!(block.kind == 1 || block.kind == 6, "bins");
    let mut found = BTreeMap::new();
    let mut at = 0;
    for (bin, end) in (block.first..).zip(&block.ends) {
        for i in at..*end as usize {
            found.insert((bin, block.words[0][i]), f64::from(block.amounts[i]));
        }
        at = *end as usize;
    }
    found.retain(|_, share| *share > 0.0);
    found
}

/// Adds up the parts of spans (start, end, value) in each bin.
fn naive_shares(
    spans: &[(f64, f64, u32)],
    origin: f64,
    width: f64,
    count: u64,
) -> BTreeMap<(u64, u32), f64> {
    let mut sums = BTreeMap::new();
    for bin in 0..count {
        let from = origin + bin as f64 * width;
        for (start, end, value) in spans {
            let part = end.min(from + width) - start.max(from);
            if part > 0.0 {
                *sums.entry((bin, *value)).or_default() += part / width;
            }
        }
    }
    sums
}

fn assert_about(found: &BTreeMap<(u64, u32), f64>, naive: &BTreeMap<(u64, u32), f64>, what: &str) {
    for key in found.keys().chain(naive.keys()) {
        let [found, naive] = [found, naive].map(|all| all.get(key).copied().unwrap_or(0.0));
        assert!((found - naive).abs() < 1e-5, "{what}, {key:?}: {found}, not {naive}");
    }
}

#[test]
fn waits_are_those_of_the_library() {
    let (_folder, path) = generated();
    for path in [path, slow_rank(), example("mpi.trace")] {
        let trace = Trace::open(&path).expect("it is valid");
        let (mut waits, parts) = of_library(&trace);
        assert!(waits.len() > 10 && !parts.is_empty());
        let served = Served::of(&path, &[]);
        let found = overview(&served);
        for (kind, name) in found["kinds"].as_array().expect("kinds").iter().enumerate() {
            let own: Vec<_> = waits.iter().filter(|wait| wait.2 == kind).collect();
            let sum = &found["waits"]["sums"][kind];
            let seconds: f64 = own.iter().map(|wait| wait.4 - wait.3).sum();
            assert_eq!(number(&sum[0]), own.len() as f64, "{name}");
            assert!((number(&sum[1]) - seconds).abs() < 1e-9 * trace.end(), "{name}: {sum}");
        }
        let longest = waits.iter().map(|wait| wait.4 - wait.3).fold(0.0, f64::max);
        let first = &found["waits"]["longest"][0];
        // Parsing JSON may round the last digit of a number.
        assert!((number(&first["end"]) - number(&first["start"]) - longest).abs() < 1e-12);

        let model = json_of(&served, "model");
        let lanes: Vec<String> =
            model["lanes"]["id"].as_array().expect("lanes").iter().map(Value::to_string).collect();
        let get = |level: u32, count: u64, rows: usize| {
            let query = format!(
                "level={level}&first=0&count={count}&rows={rows}&lanes={}",
                lanes.join(",")
            );
            blocks(&served.get_bytes(&format!("waits?{query}")))
        };
        let mut sent: Vec<Plain> = get(WHOLE, 1, 16_384).iter().flat_map(of_block).collect();
        let order =
            |a: &Plain, b: &Plain| (a.0, a.1, a.2).cmp(&(b.0, b.1, b.2)).then(a.3.total_cmp(&b.3));
        sent.sort_by(order);
        waits.sort_by(order);
        assert_eq!(sent, waits);

        let (origin, tick) = (number(&model["origin"]), number(&model["tick"]));
        let folded = |level: u32, count: u64| {
            let query = format!("level={level}&first=0&count={count}&containers=0");
            blocks(&served.get_bytes(&format!("waits?{query}"))).remove(0)
        };
        let state_lanes = trace.lanes().filter(|it| it.nature() == TypeNature::State);
        let state_lanes = state_lanes.filter(|lane| !lane.is_empty()).count() as f64;
        for finer in [2, 5, 9] {
            let level = ((trace.end() - origin) / tick).log2().ceil() as u32 - finer;
            let (width, count) = (tick * f64::from(level).exp2(), 1 << finer);
            for block in get(level, count, 0) {
                let own = waits.iter().filter(|wait| wait.0 == block.lane);
                let own: Vec<_> = own.map(|wait| (wait.3, wait.4, wait.2 as u32)).collect();
                if own.is_empty() {
                    continue;
                }
                let naive = naive_shares(&own, origin, width, count);
                assert_about(&shares(&block), &naive, &format!("level {level}, {}", block.lane));
            }
            let all: Vec<_> = waits.iter().map(|wait| (wait.3, wait.4, wait.2 as u32)).collect();
            let mut naive = naive_shares(&all, origin, width, count);
            naive.values_mut().for_each(|share| *share /= state_lanes);
            assert_about(&shares(&folded(level, count)), &naive, "folded");
            let query = format!("path?level={level}&first=0&count={count}&rows=0");
            let block = &blocks(&served.get_bytes(&query))[0];
            let spans: Vec<_> = parts.iter().map(|part| (part.1, part.2, part.0)).collect();
            let (found, naive) = (shares(block), naive_shares(&spans, origin, width, count));
            // A bin has the eight lanes with most of the path, and the sum of the others.
            if naive.keys().all(|key| naive.range((key.0, 0)..(key.0 + 1, 0)).count() <= 8) {
                assert_about(&found, &naive, &format!("path, level {level}"));
            }
        }
    }
}

#[test]
fn the_critical_path_is_that_of_the_library() {
    let trace = Trace::open(slow_rank()).expect("it is valid");
    let (_, parts) = of_library(&trace);
    let served = Served::of(&slow_rank(), &[]);
    let wanted = "path?level=63&first=0&count=1&rows=16384";
    let early = served.ask("GET", &format!("/{}/{wanted}", served.token), "");
    assert_eq!(status(&early), 503, "nothing is computed before it is needed");
    assert_eq!(number(&overview(&served)["path"]["parts"]), parts.len() as f64);
    let block = &blocks(&served.get_bytes(wanted))[0];
    let sent = 0..block.words[0].len();
    let sent = sent.map(|at| (block.words[0][at], block.doubles[0][at], block.doubles[1][at]));
    assert_eq!(sent.collect::<Vec<_>>(), parts);
}

#[test]
fn a_wait_leads_to_its_cause_and_back() {
    let served = Served::of(&slow_rank(), &[]);
    let found = overview(&served);
    let mut checked = 0;
    for wait in found["waits"]["longest"].as_array().expect("waits") {
        let own = json_of(&served, &format!("row?lane={}&row={}", wait["lane"], wait["row"]));
        assert!(own["waits"].as_array().expect("waits").contains(wait), "{wait}");
        if wait["release"].is_null() {
            continue;
        }
        let cause = json_of(&served, &format!("row?lane={}&row={}", wait["whom"], wait["release"]));
        let is_among = cause["causes"].as_array().expect("waits").contains(wait);
        assert!(is_among, "{wait} is not among the waits of {cause}");
        checked += 1;
    }
    assert!(checked > 10);
}

#[test]
fn the_verdict_names_the_cause() {
    let served = Served::of(&slow_rank(), &[]);
    overview(&served);
    let verdict = json_of(&served, "verdict");
    let rows = verdict["rows"].as_array().expect("rows");
    let names: Vec<&str> = rows.iter().filter_map(|row| row["name"].as_str()).collect();
    assert!(names.contains(&"efficiency (POP)") && names.contains(&"critical path"), "{verdict}");
    let cause = &rows[0];
    assert_eq!(cause["kind"], "cause");
    assert!(cause["text"].as_str().expect("a text").contains("rank-3"), "{cause}");
    assert!(number(&cause["share"]) > 0.1, "{cause}");
}

#[test]
fn analyses_are_refused_with_the_reason() {
    let cases = [
        ("many-containers.trace", "the maps mpi and starpu know none", "the maps mpi and starpu"),
        ("task-runtime.trace", "StarPU's traces do not record", "no critical path, as StarPU's"),
    ];
    for (name, of_waits, of_path) in cases {
        let served = Served::of(&example(name), &[]);
        let found = overview(&served);
        for (what, why) in [("waits", of_waits), ("path", of_path)] {
            let refused = found[what]["refused"].as_str().unwrap_or_else(|| panic!("{found}"));
            assert!(refused.contains(why), "{name}: {refused}");
        }
        let blocks = blocks(&served.get_bytes("waits?level=63&first=0&count=1&rows=10&lanes=0"));
        assert!(blocks[0].doubles[0].is_empty());
        assert_eq!(served.get_bytes("path?level=63&first=0&count=1&rows=10"), [0u8; 0]);
    }
}

#[test]
fn waits_of_a_part_of_the_ranks_are_those_of_the_whole_run() {
    let part = ["--in", "rank-0", "--in", "rank-2"];
    let refused = overview(&Served::of(&example("mpi.trace"), &part));
    let why = refused["waits"]["refused"].as_str().expect("a reason");
    assert!(why.contains("only the selected part"), "{why}");
    let served = Served::of(&example("mpi.trace"), &[&part[..], &["--waits"]].concat());
    let found = overview(&served);
    let model = json_of(&served, "model");
    assert_eq!(model["overlays"], json!(["waits"]));
    let shown = model["lanes"]["id"].as_array().expect("lanes");
    let trace = Trace::open(example("mpi.trace")).expect("it is valid");
    let (waits, _) = of_library(&trace);
    let of_shown = waits.iter().filter(|wait| shown.contains(&json!(wait.0))).count();
    let sums = found["waits"]["sums"].as_array().expect("sums");
    let count: f64 = sums.iter().map(|sum| number(&sum[0])).sum();
    assert!(of_shown > 0 && of_shown < waits.len());
    assert_eq!(count, of_shown as f64);
}

#[test]
fn recorded_communicators_are_needed() {
    let mut text = testkit::definitions([
        ("1", "DefineContainerType", "Name Type"),
        ("2", "DefineStateType", "Name Type"),
        ("3", "CreateContainer", "Time:date Name Type Container"),
        ("4", "SetState", "Time:date Type Container Value"),
        ("5", "NewEvent", "Time:date Type Container Value Communicator:string"),
        ("6", "DefineEventType", "Name Type"),
    ]);
    text += "1 Rank 0\n2 State Rank\n6 MpiCollectiveEnd Rank\n3 0 rank-0 Rank 0\n4 0 State rank-0 MPI_Barrier\n";
    text += "5 1 MpiCollectiveEnd rank-0 x WORLD\n4 1 State rank-0 main\n";
    let folder = testkit::folder(&[("run.trace", text.as_bytes())]);
    let path = folder.path().join("run.trace");
    let found = overview(&Served::of(&path, &["--no-fields"]));
    assert!(found["waits"]["refused"].as_str().expect("a reason").contains("--fields"), "{found}");
    let found = overview(&Served::of(&path, &["--fields"]));
    assert!(!found.to_string().contains("--fields"), "{found}");
}

#[test]
fn two_traces_are_served_side_by_side() {
    let served = Served::of(&example("mpi.trace"), &[slow_rank().to_str().expect("a path")]);
    let page = served.get("");
    assert!(page.contains("pair.js") && served.get("pair.js").len() > 100);
    let names = ["0/model", "1/model"].map(|path| json_of(&served, path)["name"].clone());
    assert_eq!(names, [json!("slow-rank.trace.xz"), json!("mpi.trace")]);
    assert!(served.get("1/").contains("main.js"));
    assert_eq!(json_of(&served, "0/progress")["state"], "ready");
    for path in ["model", "2/model", "0/0/model", "1", "x/model", "-1/model", "0/../1/model"] {
        assert_eq!(served.status(path), 404, "{path}");
    }
}
