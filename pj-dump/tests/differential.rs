//! Replays random traces with Debian's PajeNG 1.3.6 and with this program. The rows must be the
//! same byte for byte, and both must refuse the same traces at the same line.
//!
//! PajeNG's program is the one that `PAJENG_PJ_DUMP` names, or `pj_dump` in `PATH`, or
//! `/usr/bin/pj_dump`. If there is no such program, the test is skipped with a message.
//! `PAJE_SEEDS` is the number of traces (1,000 if unset), `PAJE_SEED` the seed of the first trace
//! (0 if unset).

#[path = "it/order.rs"]
#[expect(dead_code, reason = "only the disorder that keeps traces valid is asked for here")]
mod order;

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use datasets::Rng;
use datasets::Shape;
use datasets::random::{self, RandomTrace};
use order::{Disorder, disordered, sorted};
use paje_parser::{FieldNames, Line, LineDecoder, TypeNature};
use testkit::number;
use testkit::pajeng::{pj_dump, skipped};

const THREADS: u64 = 2;

const MOST: usize = 20;

#[test]
fn random_traces_are_dumped_as_pajeng_does() {
    let Some(pajeng) = pj_dump() else { return skipped("pj_dump") };
    let count = number("PAJE_SEEDS").unwrap_or(1000);
    let first = number("PAJE_SEED").unwrap_or(0);
    println!("{count} random traces from PAJE_SEED={first} on, against {}", pajeng.display());

    let folder = tempfile::Builder::new().prefix("paje-differential-").tempdir().expect("a folder");
    let (next, valid) = (AtomicU64::new(0), AtomicU64::new(0));
    let differences = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let path = folder.path().join(format!("{thread}.trace"));
            let (pajeng, next, valid, differences) = (&pajeng, &next, &valid, &differences);
            scope.spawn(move || {
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    if i >= count || differences.lock().expect("no panic").len() >= MOST {
                        return;
                    }
                    let seed = first.wrapping_add(i);
                    let trace = random::trace(seed);
                    valid.fetch_add(u64::from(trace.is_valid()), Ordering::Relaxed);
                    if let Err(difference) = compare(pajeng, &path, &trace) {
                        let told = description(seed, &trace, &difference);
                        differences.lock().expect("no panic").push(told);
                    }
                }
            });
        }
    });
    let differences = differences.into_inner().expect("no panic");
    assert!(
        differences.is_empty(),
        "{} differences\n\n{}",
        differences.len(),
        differences.join("\n\n")
    );
    println!("{} of them valid", valid.into_inner());
}

/// The end of a trace depends on the times of all lines, including lines that define types and
/// values or name files.
#[test]
fn a_time_of_any_line_counts_as_for_pajeng() {
    let Some(pajeng) = pj_dump() else { return skipped("pj_dump") };
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("times.trace");
    let header = testkit::definitions([
        ("1", "DefineContainerType", "Time Name Type"),
        ("2", "DefineStateType", "Time Name Type"),
        ("3", "CreateContainer", "Time Name Type Container"),
        ("4", "SetState", "Time Type Container Value"),
        ("5", "TraceFile", "Time Container Type Filename"),
        ("6", "DefineEntityValue", "Time Name Type"),
    ]);
    let world = "1 0 C 0\n2 0.5 S C\n3 0.5 c C 0\n4 1 S c a\n4 2 S c b\n";
    for last in
        ["1 9 D 0\n", "2 9 T C\n", "6 9 v S\n", "5 9 c C none\n", "6 9 v S\n5 10 c C none\n"]
    {
        fs::write(&path, format!("{}{world}{last}", header)).expect("writable");
        for options in [&[][..], &["-a", "3"], &["-a", "9"], &["-p", "S"]] {
            let rows = |program: &Path, more: &[&str]| {
                let output = Command::new(program).args(more).args(options).arg(&path).output();
                let output = output.expect("the program starts");
                assert!(output.status.success(), "{last}");
                String::from_utf8(output.stdout).expect("text")
            };
            let ours = Path::new(env!("CARGO_BIN_EXE_pj_dump"));
            let found = rows(ours, &["--quotes", "strip", "--no-files"]);
            assert_eq!(found, rows(&pajeng, &[]), "{last}{options:?}");
        }
    }
}

#[test]
fn intervals_of_traces_in_time_order_are_those_of_pajeng() {
    let Some(pajeng) = pj_dump() else { return skipped("pj_dump") };
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("shape.trace");
    let mut compared = 0;
    for shape in Shape::ALL {
        for seed in 0..3 {
            let bytes = datasets::generate(shape, 20_000, seed);
            if !in_time_order(&bytes) {
                continue;
            }
            let text = String::from_utf8_lossy(&bytes);
            for name in paje_sim::Trace::read(&bytes[..], &paje_sim::Options::default())
                .map(|trace| names_of_types(&trace))
                .unwrap_or_else(|error| panic!("{shape}, seed {seed}: {error}\n{text}"))
            {
                let options = vec!["-p".into(), name.clone(), "-l".into(), seed.to_string()];
                let trace = RandomTrace { bytes: bytes.clone(), options, fault: None };
                if let Err(difference) = compare(&pajeng, &path, &trace) {
                    panic!("{shape}, seed {seed}, -p {name}: {difference}");
                }
                compared += 1;
            }
        }
    }
    println!("intervals of {compared} types compared");
    assert!(compared > 0);
}

/// Uses a tenth of the traces, unsorted. `--sort` dumps them as PajeNG dumps the sorted traces.
#[test]
fn sorted_traces_are_dumped_as_pajeng_does() {
    let Some(pajeng) = pj_dump() else { return skipped("pj_dump") };
    let count = number("PAJE_SEEDS").unwrap_or(1000) / 10;
    let first = number("PAJE_SEED").unwrap_or(0);
    println!("{count} random traces in disorder from PAJE_SEED={first} on");
    let folder = tempfile::tempdir().expect("a folder");
    let (given, plain) = (folder.path().join("given.trace"), folder.path().join("sorted.trace"));
    let write = |path: &Path, text: &[u8]| fs::write(path, text).expect("the folder is writable");
    let mut compared = 0;
    for seed in (0..count).map(|i| first.wrapping_add(i)) {
        let mut trace = random::trace(seed);
        // The options include -n if old names occur. Otherwise it would make no difference.
        let (text, names) = (&trace.bytes, FieldNames::Old);
        let in_order = sorted(text, names);
        write(
            &plain,
            &in_order.iter().flat_map(|line| [line.text, b"\n"].concat()).collect::<Vec<_>>(),
        );
        trace.bytes = disordered(text, Disorder::KeepsTies, names, &mut Rng::new(seed));
        write(&given, &trace.bytes);
        let theirs = Command::new(&pajeng).args(&trace.options).arg(&plain).output();
        let theirs = theirs.expect("PajeNG runs");
        let ours = Command::new(env!("CARGO_BIN_EXE_pj_dump"))
            .args(["--sort", "--quotes", "strip"])
            .args(&trace.options)
            .arg(&given)
            .output()
            .expect("our pj_dump runs");
        let difference = match (theirs.status.success(), ours.status.code()) {
            (true, Some(0)) => agree(&pajeng, &trace.options, &plain, &theirs, &ours),
            (false, Some(1)) => Ok(()),
            (_, code) => Err(format!(
                "status {code:?}\nPajeNG: {}\nours:   {}",
                first_lines(&theirs.stdout),
                String::from_utf8_lossy(&ours.stderr)
            )),
        };
        if let Err(difference) = difference {
            panic!("{}", description(seed, &trace, &difference));
        }
        compared += usize::from(theirs.status.success());
    }
    println!("{compared} of them valid");
    assert!(count == 0 || compared > 0);
}

/// Returns the names of types with intervals, except types of links. PajeNG bisects lanes of links
/// by start time, although links are not sorted by start time.
fn names_of_types(trace: &paje_sim::Trace) -> BTreeSet<String> {
    let types = trace.types();
    let nature = |id: &paje_sim::TypeId| types.nature(*id);
    let name = |id| String::from_utf8_lossy(types.name(id).text).into_owned();
    let links: BTreeSet<String> =
        types.ids().filter(|id| nature(id) == TypeNature::Link).map(name).collect();
    types.ids().map(name).filter(|name| !links.contains(name)).collect()
}

fn description(seed: u64, trace: &RandomTrace, difference: &str) -> String {
    let kept = env::temp_dir().join(format!("paje-differential-{seed}.trace"));
    fs::write(&kept, &trace.bytes).expect("the folder for temporary files is writable");
    format!(
        "seed {seed}, options {:?}, fault {:?}, trace {}\n{difference}",
        trace.options.join(" "),
        trace.fault,
        kept.display()
    )
}

fn compare(pajeng: &Path, path: &Path, trace: &RandomTrace) -> Result<(), String> {
    fs::write(path, &trace.bytes).expect("the folder for temporary files is writable");
    let theirs = Command::new(pajeng).args(&trace.options).arg(path).output().expect("PajeNG runs");
    let ours = Command::new(env!("CARGO_BIN_EXE_pj_dump"))
        .args(["--quotes", "strip"])
        .args(&trace.options)
        .arg(path)
        .output()
        .expect("our pj_dump runs");
    let said = String::from_utf8_lossy(&ours.stderr);
    let intervals = trace.options.iter().any(|option| option == "-p");
    let comparable = !intervals || in_time_order(&trace.bytes);
    match trace.fault {
        None => {
            if !theirs.status.success() {
                return Err(format!("PajeNG refuses it: {}", first_lines(&theirs.stdout)));
            }
            if !ours.status.success() {
                return Err(format!("we refuse it: {said}"));
            }
            if !comparable {
                return Ok(());
            }
            agree(pajeng, &trace.options, path, &theirs, &ours)
        }
        Some(fault) => {
            if theirs.status.success() {
                return Err("PajeNG takes it".into());
            }
            if ours.status.code() != Some(1) {
                return Err(format!("exit status {}, not 1", ours.status));
            }
            if !ours.stdout.is_empty() {
                return Err(format!("rows of an invalid trace: {}", first_lines(&ours.stdout)));
            }
            let name = path.display();
            let wanted = match line(&theirs.stdout) {
                Some(line) => format!("pj_dump: {name}:{line}:"),
                None => format!("pj_dump: {name}:"),
            };
            // Warnings may come first.
            let place = said.lines().find_map(|text| text.strip_prefix(&wanted));
            let place = place.ok_or_else(|| format!("{said}\nlacks {wanted:?}"))?;
            let at_end = fault == datasets::invalid::Fault::OpenLinkAtEnd;
            let placed =
                place.split(':').next().is_some_and(|column| column.parse::<u64>().is_ok());
            if !placed && !at_end {
                return Err(format!("no column in {said}"));
            }
            Ok(())
        }
    }
}

/// Returns whether the trace is in time order. PajeNG prints the intervals of `-p` while it reads,
/// so for unsorted traces they depend on the order of the file.
fn in_time_order(trace: &[u8]) -> bool {
    let mut decoder = LineDecoder::new(FieldNames::Old);
    let mut last = f64::NEG_INFINITY;
    trace.split(|byte| *byte == b'\n').all(|line| {
        let time = match decoder.line(line) {
            Ok(Line::Event(event)) => event.decode().ok().and_then(|event| event.time()),
            _ => None,
        };
        let ordered = time.is_none_or(|time| time >= last);
        last = time.unwrap_or(last);
        ordered
    })
}

fn line(message: &[u8]) -> Option<u64> {
    let text = String::from_utf8_lossy(message).to_lowercase();
    let number = |rest: &str| {
        let digits = rest.trim_start_matches([':', ' ']);
        let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        digits[..end].parse().ok()
    };
    // Rows may come before the message.
    text.rmatch_indices("line").find_map(|(at, word)| number(&text[at + word.len()..]))
}

/// Compares the rows. With `-i`, PajeNG's `-p` reads an uninitialised time of a continued state
/// (`docs/dev/compat.md`). In this case, this program's rows must match PajeNG's output for some
/// initial contents of memory.
fn agree(
    pajeng: &Path,
    options: &[String],
    path: &Path,
    theirs: &Output,
    ours: &Output,
) -> Result<(), String> {
    let difference = same(&theirs.stdout, &ours.stdout);
    let has = |names: &[&str]| options.iter().any(|option| names.contains(&option.as_str()));
    if difference.is_ok() || !has(&["-p"]) || !has(&["-i", "--no-imbrication"]) {
        return difference;
    }
    let filled_with = |byte| {
        let mut again = Command::new(pajeng);
        again.env("MALLOC_PERTURB_", byte).args(options).arg(path).output().expect("PajeNG runs")
    };
    if ["85", "170"].into_iter().any(|byte| filled_with(byte).stdout == ours.stdout) {
        return Ok(());
    }
    difference
}

fn same(theirs: &[u8], ours: &[u8]) -> Result<(), String> {
    if theirs == ours {
        return Ok(());
    }
    let (mut a, mut b) = (theirs.split(|byte| *byte == b'\n'), ours.split(|byte| *byte == b'\n'));
    let mut row = 0;
    loop {
        row += 1;
        let (theirs, ours) = (a.next(), b.next());
        if theirs != ours {
            let shown = |text: Option<&[u8]>| {
                text.map_or("nothing".into(), |text| String::from_utf8_lossy(text).into_owned())
            };
            return Err(format!("row {row}\nPajeNG: {}\nours:   {}", shown(theirs), shown(ours)));
        }
    }
}

fn first_lines(text: &[u8]) -> String {
    String::from_utf8_lossy(text).lines().take(5).collect::<Vec<_>>().join("\n")
}
