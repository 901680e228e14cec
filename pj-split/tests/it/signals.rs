//! Signals and kills while the program runs.

use std::fs;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use datasets::Shape;
use testkit::signal::{HUP, INT, TERM, is_ignored, send};

use crate::splitting::Place;
use testkit::said;

/// Starts the program on a pipe that delivers half a trace and stays open.
fn started(place: &Place, trace: &[u8]) -> Child {
    let mut command = place.command(&["-o", "d", "-"]);
    let mut child = command.stdin(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it runs");
    child.stdin.as_mut().expect("it runs").write_all(&trace[..trace.len() / 2]).expect("it runs");
    let began = Instant::now();
    while place.names().len() < 2 && began.elapsed() < Duration::from_secs(120) {
        std::thread::sleep(Duration::from_millis(5));
    }
    child
}

#[test]
fn signals_end_the_program_without_leftovers() {
    let trace = datasets::generate(Shape::Mpi, 400_000, 1);
    let place = Place::new(&trace);
    for signal in [TERM, INT, HUP] {
        if is_ignored(signal) {
            continue;
        }
        let mut child = started(&place, &trace);
        assert!(place.names()[0].starts_with("d.partial-"), "{:?}", place.names());
        // `wait` would close the child's pipe. Then the child might reach the end of the pipe
        // before the signal arrives.
        let pipe = child.stdin.take();
        assert!(send(&child, signal));
        assert_eq!(child.wait().unwrap().signal(), Some(signal));
        drop(pipe);
        assert_eq!(place.names(), ["t"]);
    }
}

/// The next run removes the folder of a killed program, but not the folder of a running program.
#[test]
fn the_next_run_removes_leftovers_of_a_killed_one() {
    let trace = datasets::generate(Shape::Mpi, 400_000, 1);
    let place = Place::new(&trace);
    let mut child = started(&place, &trace);
    let names = place.names();
    assert!(names.len() == 2 && names[0].starts_with("d.partial-"), "{names:?}");
    for name in ["d.partial-others", "d.partial-"] {
        fs::create_dir(place.path(name)).unwrap();
        fs::write(place.path(name).join("piece-000.trace"), "kept").unwrap();
    }
    let split = |is_killed: bool| {
        let output = place.run(&["t", "-o", "d"]);
        assert!(output.status.success());
        let wanted = match is_killed {
            true => format!("{}: removed a leftover of a killed run\n", names[0]),
            false => String::new(),
        };
        assert!(said(&output).ends_with(&wanted), "{}", said(&output));
        assert!(wanted.is_empty() == said(&output).is_empty(), "{}", said(&output));
        fs::remove_dir_all(place.path("d")).unwrap();
        assert_eq!(place.names().contains(&names[0]), !is_killed);
    };
    split(false);
    child.kill().unwrap();
    child.wait().unwrap();
    split(true);
    assert_eq!(place.names(), ["d.partial-", "d.partial-others", "t"]);
}

#[cfg(target_os = "linux")]
#[test]
fn ignored_signals_stay_ignored() {
    let trace = datasets::generate(Shape::Mpi, 400_000, 1);
    let place = Place::new(&trace);
    let program = env!("CARGO_BIN_EXE_pj_split");
    let mut command = std::process::Command::new("sh");
    command.args(["-c", &format!("trap '' HUP; exec {program} -o d -")]);
    let mut child = command.current_dir(place.path("")).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.as_mut().unwrap().write_all(&trace[..1000]).unwrap();
    while place.names().len() < 2 {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(send(&child, HUP));
    child.stdin.take().unwrap().write_all(&trace[1000..]).unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(place.names(), ["d", "t"]);
}
