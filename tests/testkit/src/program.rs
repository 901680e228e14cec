//! Programs that are run, and what they answered.

use std::io::Write;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// The answer to what this program is given on its standard input.
pub fn fed(command: &mut Command, stdin: &[u8]) -> Output {
    let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = pipes.spawn().expect("the program starts");
    let mut pipe = child.stdin.take().expect("it was asked for");
    std::thread::scope(|scope| {
        // A program that fails early leaves the rest unread.
        scope.spawn(move || drop(pipe.write_all(stdin)));
        child.wait_with_output().expect("the program ends")
    })
}

/// The exit status, standard output, and standard error.
///
/// # Panics
///
/// If the program was ended by a signal, or wrote what is no text.
pub fn outcome(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("text");
    let status = output.status.code().expect("the program ends by itself");
    (status, text(&output.stdout), text(&output.stderr))
}

/// Text written on standard error.
pub fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Waits for a program, whose output must fit in a pipe.
///
/// # Panics
///
/// If it has not ended within five minutes, in which any machine gets to it; it is ended then.
pub fn ended(mut child: Child) -> Output {
    let began = Instant::now();
    while child.try_wait().expect("it is our child").is_none() {
        if began.elapsed() > Duration::from_secs(300) {
            child.kill().expect("it is our child");
            panic!("the program hangs");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.wait_with_output().expect("it has ended")
}
