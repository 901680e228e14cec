//! Runs programs.

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::Receiver;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Runs a program with this standard input.
pub fn fed(command: &mut Command, stdin: &[u8]) -> Output {
    let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = pipes.spawn().expect("the program starts");
    let mut pipe = child.stdin.take().expect("it was asked for");
    std::thread::scope(|scope| {
        // A program that fails early does not read everything.
        scope.spawn(move || drop(pipe.write_all(stdin)));
        child.wait_with_output().expect("the program ends")
    })
}

/// Returns the exit status, standard output and standard error.
pub fn outcome(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("text");
    let status = output.status.code().expect("the program ends by itself");
    (status, text(&output.stdout), text(&output.stderr))
}

/// Returns the text on standard error.
pub fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Runs a program whose standard input fails after these bytes ("Connection reset by peer").
pub fn failing_input(mut command: Command, bytes: &[u8]) -> Output {
    let (end, ended_by) = std::sync::mpsc::channel();
    let (stdin, writer) = failing(bytes, ended_by);
    let command = command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("the program starts");
    // Waits, so that the program can read most of the input. The test does not depend on this.
    std::thread::sleep(Duration::from_millis(100));
    drop(end);
    let output = ended(child);
    writer.join().expect("it ends");
    output
}

/// Returns a stream, and the thread that writes these bytes to it. When the other end of `end` is
/// dropped, the stream fails, and bytes that have not been read are lost.
pub fn failing(bytes: &[u8], end: Receiver<()>) -> (OwnedFd, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let mut ours = TcpStream::connect(listener.local_addr().expect("bound")).expect("listening");
    let (mut other, _) = listener.accept().expect("connected");
    // Closing a connection with unread data is an error for the other end.
    ours.write_all(b"unread").expect("connected");
    let bytes = bytes.to_vec();
    let writer = std::thread::spawn(move || {
        other.peek(&mut [0]).expect("something was sent");
        // The reader may have ended already.
        drop(other.write_all(&bytes));
        let _ = end.recv();
    });
    (ours.into(), writer)
}

/// Waits up to five minutes for the end of a program, whose output must fit in a pipe.
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
