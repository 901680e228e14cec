//! Compares the critical path and the verdict of StarPU's tasks with those of `paje-analysis`.

use std::io::BufReader;
use std::path::{Path, PathBuf};

use paje_analysis::classes::Map;
use paje_analysis::tasks::{Findings, TaskRun, What};
use paje_analysis::why;
use paje_sim::{Options, Trace};
use paje_workers::Workers;
use splitter::{Input, Kind};

use crate::blocks::blocks;
use crate::explained::{json_of, overview};
use crate::world::Served;

/// Copies a trace and the file of its tasks to a folder, with the names that StarPU gives them.
fn unpacked(name: &str) -> (tempfile::TempDir, PathBuf) {
    let of = Path::new(env!("CARGO_MANIFEST_DIR")).join("../paje-analysis/tests/starpu");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("paje.trace");
    for (ending, to) in [("trace", &path), ("rec", &path.with_file_name("tasks.rec"))] {
        std::fs::copy(of.join(format!("{name}.{ending}.xz")), to).expect("a copy");
    }
    (folder, path)
}

fn read<'t>(trace: &'t Trace, file: &Path) -> Findings<'t> {
    let Kind::Stream(contents) = Input::open(Some(file)).expect("a file").into_kind() else {
        panic!("it is compressed");
    };
    let run = TaskRun::read(trace, &Map::of_trace(trace), BufReader::new(contents));
    let window = (f64::NEG_INFINITY, f64::INFINITY);
    Findings::new(run.expect("its tasks"), window).expect("tasks")
}

#[test]
fn the_path_and_the_verdict_are_those_of_the_library() {
    for name in ["cholesky-cpu", "lu-gpu"] {
        let (_folder, path) = unpacked(name);
        let mut options = Options::default();
        options.user_defined = true;
        let trace = Trace::open_with(&path, &options, &Workers::one()).expect("it is valid");
        let found = read(&trace, &path.with_file_name("tasks.rec"));
        let parts = found.path.parts.iter().filter_map(|part| {
            let (What::Task(task) | What::Before(task)) = part.what else { return None };
            let worker =
                found.run.workers[found.run.tasks[task as usize].execution?.worker as usize];
            let track = &found.run.tracks.list()[worker.track as usize];
            let mut lanes = trace.lanes_of(track.container);
            let lane = lanes.find(|lane| lane.type_id() == track.type_).expect("a lane").id().0;
            Some((lane, part.start, part.end))
        });
        let parts: Vec<_> = parts.collect();
        let served = Served::of(&path, &[]);
        let overview = overview(&served);
        let refused = overview["waits"]["refused"].as_str().expect("a reason");
        assert!(refused.contains("pj_profile tasks --by worker"), "{refused}");
        let block = &blocks(&served.get_bytes("path?level=63&first=0&count=1&rows=16384"))[0];
        let sent = 0..block.words[0].len();
        let sent = sent.map(|at| (block.words[0][at], block.doubles[0][at], block.doubles[1][at]));
        assert_eq!(sent.collect::<Vec<_>>(), parts, "{name}");
        assert!(parts.len() > 20, "{name}");
        let rows = json_of(&served, "verdict")["rows"].clone();
        let texts = rows.as_array().expect("rows").iter().map(|row| row["text"].clone());
        let texts: Vec<_> = texts.collect();
        for cause in why::of_tasks(&found).causes {
            assert!(texts.iter().any(|text| *text == *cause.text), "{name}: {}", cause.text);
        }
    }
}

#[test]
fn a_file_of_other_tasks_is_refused() {
    let (_folder, path) = unpacked("cholesky-cpu");
    let other =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../paje-analysis/tests/starpu/lu-gpu.rec.xz");
    let tasks = other.display().to_string();
    let without = ["--no-files"];
    let wrong = ["--tasks", &tasks];
    for (options, why) in
        [(&without[..], "StarPU's traces do not record"), (&wrong, "lu-gpu.rec.xz")]
    {
        let found = overview(&Served::of(&path, options));
        let refused = found["path"]["refused"].as_str().unwrap_or_else(|| panic!("{found}"));
        assert!(refused.contains(why), "{refused}");
    }
}
