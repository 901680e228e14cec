//! Tests a trace in several compressed files. A worker that waits for a block of one file may wake up when the next
//! file has begun.

use std::fs;
use std::path::PathBuf;

use paje_sim::{Options, Progress, Source, Trace};
use splitter::{Folders, Input};
use testkit::{definitions, pack, teams};

const EVENTS: [(&str, &str, &str); 4] = [
    ("0", "DefineContainerType", "Name Type"),
    ("1", "DefineStateType", "Name Type"),
    ("2", "CreateContainer", "Time:date Name Type Container"),
    ("3", "SetState", "Time:date Type Container Value"),
];

const FILES: usize = 60;

#[test]
fn many_small_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let header = definitions(EVENTS);
    let write = |number: usize| -> PathBuf {
        let world = if number == 0 { "0 P 0\n1 S P\n2 0 p P 0\n" } else { "" };
        let states: String = (0..40).map(|i| format!("3 {number}.{i:02} S p v{i}\n")).collect();
        let path = folder.path().join(format!("{number}.zst"));
        fs::write(&path, pack("zstd", format!("{header}{world}{states}").as_bytes()))
            .expect("writable");
        path
    };
    let mut paths: Vec<PathBuf> = (0..FILES).map(write).collect();
    let first = paths.remove(0);
    let mut options = Options::default();
    options.limits.block = 1 << 12;
    for workers in &teams::<4>() {
        for _ in 0..20 {
            let input = Input::open(Some(&first)).expect("readable");
            let source = Source::from(input)
                .reading_files(Some(first.clone()), Folders::of([first.as_path()]))
                .followed_by(paths.clone());
            let trace = Trace::read_with(source, &options, workers, &Progress::default())
                .expect("a sound trace");
            assert_eq!(trace.lines(), (FILES * (40 + header.lines().count()) + 3) as u64);
        }
    }
}
