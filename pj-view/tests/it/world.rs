//! Runs the program and sends requests.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

pub(crate) fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../datasets/examples").join(name)
}

pub(crate) fn program() -> Command {
    let mut command = testkit::signal::interruptible(assert_cmd::cargo::cargo_bin!("pj_view"));
    command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY").env_remove("PAJE_NO_WARNINGS");
    command
}

/// Program that serves a trace until it is dropped.
pub(crate) struct Served {
    pub(crate) child: Child,
    pub(crate) host: String,
    pub(crate) token: String,
}

impl Served {
    pub(crate) fn of(trace: &Path, options: &[&str]) -> Self {
        let mut command = program();
        command.arg("--no-open").args(options).arg(trace);
        let mut child =
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        let mut url = String::new();
        let out = child.stdout.take().expect("a pipe");
        BufReader::new(out).read_line(&mut url).expect("an address");
        let rest = url.trim().strip_prefix("http://").expect("an address");
        let (host, token) = rest.trim_end_matches('/').split_once('/').expect("a token");
        Served { child, host: host.into(), token: token.into() }
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.host).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(120))).expect("a time limit");
        stream
    }

    /// Sends bytes and returns the answer. The answer ends when the server closes the connection or
    /// sends nothing for two minutes.
    pub(crate) fn send(&self, bytes: &[u8]) -> String {
        let mut stream = self.connect();
        // The server may close the connection before everything is sent.
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    pub(crate) fn ask(&self, method: &str, target: &str, headers: &str) -> String {
        let host = &self.host;
        self.send(
            format!(
                "{method} {target} HTTP/1.1\r\nHost: {host}\r\n{headers}Connection: close\r\n\r\n"
            )
            .as_bytes(),
        )
    }

    pub(crate) fn get_bytes(&self, path: &str) -> Vec<u8> {
        let (host, token) = (&self.host, &self.token);
        let head =
            format!("GET /{token}/{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        let mut stream = self.connect();
        stream.write_all(head.as_bytes()).expect("it reads");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("it answers");
        assert!(
            answer.starts_with(b"HTTP/1.1 200 OK\r\n"),
            "{path}: {:?}",
            String::from_utf8_lossy(&answer)
        );
        let end = answer.windows(4).position(|four| four == b"\r\n\r\n").expect("a head");
        answer.split_off(end + 4)
    }

    pub(crate) fn get(&self, path: &str) -> String {
        String::from_utf8(self.get_bytes(path)).expect("text")
    }

    /// Returns the status of the answer.
    pub(crate) fn status(&self, path: &str) -> u32 {
        status(&self.ask("GET", &format!("/{}/{path}", self.token), ""))
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // The program may already have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn status(answer: &str) -> u32 {
    answer.split(' ').nth(1).and_then(|number| number.parse().ok()).unwrap_or(0)
}
