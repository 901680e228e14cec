//! Progress is shown on a terminal only.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::world::trace;

const ROWS: u16 = 24;
const COLUMNS: u16 = 80;

struct Run {
    child: Child,
    input: ChildStdin,
    pieces: Receiver<Vec<u8>>,
    seen: Vec<u8>,
    began: Instant,
}

impl Run {
    fn new(options: &[&str], stdout: impl Into<Stdio>) -> Run {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let screen = openpt(flags).expect("a pseudo-terminal");
        grantpt(&screen).and_then(|()| unlockpt(&screen)).expect("our terminal");
        let size = Winsize { ws_row: ROWS, ws_col: COLUMNS, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&screen, size).expect("a terminal");
        let terminal = ioctl_tiocgptpeer(&screen, flags).expect("the other end of the terminal");
        let began = Instant::now();
        // The command keeps its end of the terminal open until it is dropped.
        let mut child = Command::new(env!("CARGO_BIN_EXE_pj_dump"))
            .args(options)
            .env("TERM", "xterm")
            .stdin(Stdio::piped())
            .stdout(stdout)
            .stderr(terminal)
            .spawn()
            .expect("the program starts");
        let (sender, pieces) = mpsc::channel();
        thread::spawn(move || {
            let mut screen = File::from(screen);
            let mut piece = [0; 4096];
            // On Linux, reading fails when the other end is closed.
            while let Ok(count @ 1..) = screen.read(&mut piece) {
                let _ = sender.send(piece[..count].to_vec());
            }
        });
        let input = child.stdin.take().expect("a pipe");
        Run { child, input, pieces, seen: Vec::new(), began }
    }

    fn write(&mut self, text: &[u8]) {
        self.input.write_all(text).expect("the program reads");
    }

    fn feed_until(&mut self, wanted: &str, patience: Duration) -> bool {
        let began = Instant::now();
        for i in 0.. {
            self.seen.extend(self.pieces.try_iter().flatten());
            if String::from_utf8_lossy(&self.seen).contains(wanted) {
                return true;
            }
            if began.elapsed() > patience {
                return false;
            }
            self.write(format!("set {i} S p a\n").as_bytes());
            thread::sleep(Duration::from_millis(50));
        }
        false
    }

    /// Ends the input. Returns the exit status, all output to the terminal, its final state, and
    /// the duration.
    fn end(self) -> (Option<i32>, String, String, Duration) {
        let Run { mut child, input, pieces, mut seen, began } = self;
        drop(input);
        let status = child.wait().expect("the program ends").code();
        let took = began.elapsed();
        seen.extend(pieces.iter().flatten());
        let mut terminal = vt100::Parser::new(ROWS, COLUMNS, 0);
        terminal.process(&seen);
        let screen = terminal.screen().contents().trim_end().to_owned();
        (status, String::from_utf8_lossy(&seen).into_owned(), screen, took)
    }
}

/// This is longer than any machine should need to show progress.
const LONG: Duration = Duration::from_secs(30);

const A_WHILE: Duration = Duration::from_millis(1500);

#[test]
fn a_slow_trace_shows_progress_on_a_terminal() {
    let mut run = Run::new(&[], Stdio::null());
    run.write(&trace(b""));
    assert!(run.feed_until("B/s", LONG), "{}", String::from_utf8_lossy(&run.seen));
    assert!(run.began.elapsed() >= Duration::from_secs(1));
    let (status, seen, screen, _) = run.end();
    assert_eq!((status, screen.as_str()), (Some(0), ""), "{seen:?}");
    assert!(seen.contains(" kB, ") && seen.contains(" kB/s"), "{seen:?}");
}

#[test]
fn messages_follow_the_cleared_progress() {
    let mut run = Run::new(&["--stats=json"], Stdio::null());
    run.write(&trace(b"set 0 S p a surplus\n"));
    assert!(run.feed_until("B/s", LONG));
    let (status, seen, screen, _) = run.end();
    assert_eq!(status, Some(0));
    assert!(screen.starts_with("pj_dump: <stdin>:") && screen.contains("{\"version\""), "{seen:?}");
    assert!(!screen.contains("B/s"), "{seen:?}");

    let mut run = Run::new(&[], Stdio::null());
    run.write(&trace(b""));
    assert!(run.feed_until("B/s", LONG));
    run.write(b"pop 1e9 S q\n");
    let (status, seen, screen, _) = run.end();
    assert_eq!(status, Some(1));
    assert!(screen.starts_with("pj_dump: <stdin>:"), "{seen:?}");
    assert!(!screen.contains("B/s"), "{seen:?}");
}

#[test]
fn no_progress_is_shown_for_short_or_quiet_runs() {
    let mut run = Run::new(&["--no-progress"], Stdio::null());
    run.write(&trace(b""));
    assert!(!run.feed_until("s", A_WHILE));
    let (status, seen, ..) = run.end();
    assert_eq!((status, seen.as_str()), (Some(0), ""));
    let mut run = Run::new(&[], Stdio::null());
    run.write(&trace(b"set 0 S p a\n"));
    let (status, seen, _, took) = run.end();
    assert_eq!(status, Some(0));
    assert!(seen.is_empty() || took > Duration::from_secs(1), "{took:?}: {seen:?}");
}

#[test]
fn no_progress_is_shown_in_a_pipe() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_pj_dump"))
        .env("TERM", "xterm")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(&trace(b"")).expect("the program reads");
    for i in 0..15 {
        writeln!(input, "set {i} S p a").expect("the program reads");
        thread::sleep(A_WHILE / 15);
    }
    drop(input);
    let output = child.wait_with_output().expect("the program ends");
    assert_eq!((output.status.code(), output.stderr), (Some(0), Vec::new()));
}
