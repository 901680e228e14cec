//! HTTP server. It limits the number of connections and their time.

use std::io::{self, Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::request::{Guard, LONGEST_HEAD, Request, parse_head};

/// Allows the page to load from this server only, and to be in a frame of this server only.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-src 'self'; \
                      img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'";

/// Limits on clients.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// Maximum time to wait for the head of a request.
    pub head: Duration,
    /// Maximum time to send an answer.
    pub answer: Duration,
    /// Maximum number of simultaneous connections. Further ones are closed.
    pub connections: usize,
}

impl Default for Patience {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Patience { head: seconds(10), answer: seconds(60), connections: 64 }
    }
}

/// Answer with a status, a type and a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    status: (u16, &'static str),
    kind: &'static str,
    body: Vec<u8>,
}

impl Answer {
    /// Creates an answer with content.
    #[must_use]
    pub fn new(kind: &'static str, body: Vec<u8>) -> Self {
        Answer { status: (200, "OK"), kind, body }
    }

    /// Creates an answer that has only a status.
    #[must_use]
    pub fn status(number: u16, words: &'static str) -> Self {
        Answer {
            status: (number, words),
            kind: "text/plain",
            body: format!("{words}\n").into_bytes(),
        }
    }

    fn head(&self, keep: bool) -> String {
        let ((number, words), kind, length) = (self.status, self.kind, self.body.len());
        let connection = if keep { "keep-alive" } else { "close" };
        let charset = if kind.starts_with("text/") { "; charset=utf-8" } else { "" };
        format!(
            "HTTP/1.1 {number} {words}\r\nContent-Type: {kind}{charset}\r\nContent-Length: {length}\r\n\
             Connection: {connection}\r\nCache-Control: no-store\r\nContent-Security-Policy: {POLICY}\r\n\
             X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n\
             Cross-Origin-Resource-Policy: same-origin\r\nCross-Origin-Opener-Policy: same-origin\r\n\r\n"
        )
    }
}

/// Listening server.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    guard: Guard,
    patience: Patience,
}

impl Server {
    /// Listens at an address with a new token. Port 0 selects a free port.
    ///
    /// # Errors
    /// The port is in use, this machine does not have the address, or random numbers are
    /// unavailable.
    pub fn bind(address: IpAddr, port: u16, patience: Patience) -> io::Result<Self> {
        let listener = TcpListener::bind((address, port))?;
        let address = listener.local_addr()?;
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(io::Error::other)?;
        let token = random.iter().map(|byte| format!("{byte:02x}")).collect();
        let guard = Guard { token, port: address.port(), open: !address.ip().is_loopback() };
        Ok(Server { listener, address, guard, patience })
    }

    /// Returns the address of the page.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/{}/", self.address, self.guard.token)
    }

    /// Answers requests forever.
    pub fn run(self, answer: impl Fn(&Request) -> Answer + Send + Sync + 'static) {
        let (answer, guard) = (Arc::new(answer), Arc::new(self.guard));
        let open = Arc::new(AtomicUsize::new(0));
        for stream in self.listener.incoming() {
            // The client has disconnected, or there are too many open files.
            let Ok(stream) = stream else {
                thread::sleep(Duration::from_millis(10));
                continue;
            };
            let place = Place::take(&open);
            if open.load(Ordering::Relaxed) > self.patience.connections {
                continue;
            }
            let (answer, guard, patience) =
                (Arc::clone(&answer), Arc::clone(&guard), self.patience);
            let work = move || {
                let _place = place;
                // Errors only affect this client.
                let _ = converse(stream, &guard, patience, &*answer);
            };
            // If no thread can be started, this closes the connection.
            let _ = thread::Builder::new().name("client".into()).spawn(work);
        }
    }
}

/// Counts as an open connection until it is dropped.
struct Place(Arc<AtomicUsize>);

impl Place {
    fn take(open: &Arc<AtomicUsize>) -> Self {
        open.fetch_add(1, Ordering::Relaxed);
        Place(Arc::clone(open))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn converse(
    mut stream: TcpStream,
    guard: &Guard,
    patience: Patience,
    answer: &dyn Fn(&Request) -> Answer,
) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut head = Vec::new();
    loop {
        let until = Instant::now() + patience.head;
        let request = loop {
            match parse_head(&head, guard) {
                Ok(Some((request, length))) => {
                    head.drain(..length);
                    break Ok(request);
                }
                Ok(None) => {}
                Err(refusal) => break Err(refusal),
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            stream.set_read_timeout(Some(left))?;
            let mut room = [0; 4096];
            let space = (LONGEST_HEAD + 1 - head.len().min(LONGEST_HEAD)).min(room.len());
            let count = stream.read(&mut room[..space])?;
            if count == 0 {
                return Ok(());
            }
            head.extend_from_slice(&room[..count]);
        };
        let until = Instant::now() + patience.answer;
        match request {
            Ok(request) => {
                send(&mut stream, &answer(&request), request.keep, until)?;
                if !request.keep {
                    return stream.shutdown(Shutdown::Both);
                }
            }
            Err(refusal) => {
                let (number, words) = refusal.status();
                send(&mut stream, &Answer::status(number, words), false, until)?;
                return farewell(&mut stream);
            }
        }
    }
}

fn send(stream: &mut TcpStream, answer: &Answer, keep: bool, until: Instant) -> io::Result<()> {
    let mut all = answer.head(keep).into_bytes();
    all.extend_from_slice(&answer.body);
    for piece in all.chunks(1 << 16) {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_write_timeout(Some(left))?;
        stream.write_all(piece)?;
    }
    Ok(())
}

/// Closes a connection whose request was not read completely. First reads some of the rest, because
/// the system might otherwise discard the answer.
fn farewell(stream: &mut TcpStream) -> io::Result<()> {
    stream.shutdown(Shutdown::Write)?;
    stream.set_read_timeout(Some(Duration::from_millis(200)))?;
    let mut room = [0; 1 << 14];
    for _ in 0..64 {
        if stream.read(&mut room)? == 0 {
            break;
        }
    }
    Ok(())
}
