//! Checks which requests the server answers.

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, TcpStream};
use std::time::{Duration, Instant};

use pj_view::serve::{Answer, Patience, Server};

use crate::world::{Served, example, status};

fn served() -> Served {
    Served::of(&example("mpi.trace"), &[])
}

#[test]
fn a_wrong_or_missing_token_is_refused() {
    let served = served();
    let token = served.token.clone();
    let longer = format!("{token}0");
    let wrong = if token.starts_with('0') {
        token.replacen('0', "1", 1)
    } else {
        token.replacen(&token[..1], "0", 1)
    };
    for path in [
        "/",
        "/model",
        "//model",
        &format!("/{wrong}/model"),
        &format!("/{longer}/model"),
        &format!("/{}/model", &token[1..]),
    ] {
        let answer = served.ask("GET", path, "");
        assert_eq!(status(&answer), 403, "{path}: {answer}");
        assert!(!answer.contains(&token) && !answer.contains("mpi"), "{answer}");
    }
    assert_eq!(token.len(), 32);
    assert_ne!(token, self::served().token, "each process has a different token");
}

#[test]
fn a_foreign_host_is_refused() {
    let served = served();
    let (target, port) = (
        format!("/{}/model", served.token),
        served.host.rsplit_once(':').expect("a port").1.to_owned(),
    );
    let ask = |host: &str| {
        served.send(
            format!("GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")
                .as_bytes(),
        )
    };
    for host in [
        format!("evil.example:{port}"),
        "127.0.0.1:1".into(),
        "localhost".into(),
        String::new(),
        format!("8.8.8.8:{port}"),
    ] {
        assert_eq!(status(&ask(&host)), 421, "{host}");
    }
    assert_eq!(status(&ask(&format!("localhost:{port}"))), 200);
    let none =
        served.send(format!("GET {target} HTTP/1.1\r\nConnection: close\r\n\r\n").as_bytes());
    assert_eq!(status(&none), 421);
}

#[test]
fn a_foreign_origin_is_refused() {
    let served = served();
    let target = format!("/{}/model", served.token);
    for origin in ["http://evil.example", "null", "https://localhost", "http://127.0.0.1"] {
        assert_eq!(
            status(&served.ask("GET", &target, &format!("Origin: {origin}\r\n"))),
            403,
            "{origin}"
        );
    }
    assert_eq!(
        status(&served.ask("GET", &target, &format!("Origin: http://{}\r\n", served.host))),
        200
    );
}

#[test]
fn other_methods_are_refused() {
    let served = served();
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "HEAD", "TRACE", "CONNECT", "PATCH", "get"] {
        let answer = served.ask(method, &format!("/{}/model", served.token), "");
        assert_eq!(status(&answer), 405, "{method}: {answer}");
    }
    let body = served.ask("GET", &format!("/{}/model", served.token), "Content-Length: 5\r\n");
    assert_eq!(status(&body), 413);
}

#[test]
fn paths_cannot_reach_files() {
    let served = served();
    for path in [
        "../../../../etc/passwd",
        "..%2f..%2fetc%2fpasswd",
        "%2e%2e/Cargo.toml",
        "/etc/passwd",
        "style.css/../../Cargo.toml",
        "....//etc/passwd",
        "page/style.css",
        "mpi.trace",
        "%00",
        "style.css%00.js",
        "model/",
    ] {
        let answer = served.ask("GET", &format!("/{}/{path}", served.token), "");
        assert_eq!(status(&answer), 404, "{path}: {answer}");
        assert!(!answer.contains("root:") && !answer.contains("[package]"), "{path}");
    }
}

#[test]
fn invalid_queries_are_refused() {
    let served = served();
    for query in [
        "tiles",
        "tiles?level=64&first=0&count=1&lanes=0",
        "tiles?level=3&first=0&count=99999999&lanes=0",
        "tiles?level=3&first=18446744073709551615&count=2&lanes=0",
        "tiles?level=3&first=0&count=1&lanes=4294967295",
        "tiles?level=3&first=0&count=1&lanes=x",
        "tiles?level=63&first=1&count=1&lanes=0",
        "row?lane=0",
        "row?lane=0&row=99999999",
        "row?lane=99999&row=0",
        "profile?from=nan&to=1",
        "profile?from=0&to=inf",
        "find?type=0&value=0",
        "find?type=9999&value=9999&time=x&lane=0&row=0",
    ] {
        assert_eq!(served.status(query), 400, "{query}");
    }
    assert!(served.get("model").contains("\"lanes\""), "the server keeps running");
}

#[test]
fn ten_megabytes_of_headers_are_not_read() {
    let served = served();
    let mut head = format!("GET /{}/model HTTP/1.1\r\nHost: {}\r\nX: ", served.token, served.host)
        .into_bytes();
    head.resize(10 << 20, b'a');
    let answer = served.send(&head);
    // The server closes while the rest arrives, so the answer may be lost.
    assert!(answer.is_empty() || status(&answer) == 431, "{answer}");
    let many = "a: b\r\n".repeat(2 << 20);
    let answer = served.send(format!("GET /{}/model HTTP/1.1\r\n{many}", served.token).as_bytes());
    assert!(answer.is_empty() || status(&answer) == 431, "{answer}");
    assert!(served.get("progress").contains("ready"), "the server keeps running");
    let within =
        format!("GET /{}/model HTTP/1.1\r\nX: {}\r\n\r\n", served.token, "a".repeat(17 << 10));
    assert_eq!(status(&served.send(within.as_bytes())), 431);
}

/// Starts a server in this process with short time limits.
fn impatient(connections: usize) -> (String, std::thread::JoinHandle<()>) {
    let patience = Patience {
        head: Duration::from_millis(400),
        answer: Duration::from_millis(600),
        connections,
    };
    let server = Server::bind(IpAddr::V4(Ipv4Addr::LOCALHOST), 0, patience).expect("a free port");
    let url = server.url();
    let body = vec![b'x'; 64 << 20];
    let run = std::thread::spawn(move || {
        server.run(move |request| match request.path.as_str() {
            "large" => Answer::new("text/plain", body.clone()),
            _ => Answer::new("text/plain", b"small".to_vec()),
        });
    });
    (url, run)
}

fn parts(url: &str) -> (String, String) {
    let rest = url.strip_prefix("http://").expect("an address");
    let (host, token) = rest.trim_end_matches('/').split_once('/').expect("a token");
    (host.into(), token.into())
}

#[test]
fn slow_clients_are_disconnected() {
    let (url, _run) = impatient(8);
    let (host, token) = parts(&url);
    // One client is silent. The other one sends a byte now and then.
    for drips in [false, true] {
        let mut stream = TcpStream::connect(&host).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_millis(50))).expect("a limit");
        let began = Instant::now();
        let mut room = [0; 1];
        loop {
            assert!(began.elapsed() < Duration::from_secs(60), "the connection is closed");
            if drips && stream.write_all(b"G").is_err() {
                break;
            }
            match stream.read(&mut room) {
                Ok(0) => break,
                Err(error)
                    if matches!(
                        error.kind(),
                        std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut
                    ) => {}
                Err(_) => break,
                Ok(_) if drips => break,
                Ok(_) => panic!("unexpected answer"),
            }
        }
    }
    // One client does not read a large answer.
    let mut stream = TcpStream::connect(&host).expect("it listens");
    stream
        .write_all(format!("GET /{token}/large HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes())
        .expect("sent");
    // The time limit begins when the answer begins.
    stream.peek(&mut [0]).expect("an answer");
    std::thread::sleep(Duration::from_millis(1500));
    let mut taken = Vec::new();
    stream.set_read_timeout(Some(Duration::from_secs(5))).expect("a limit");
    let _ = stream.read_to_end(&mut taken);
    assert!(taken.len() < 64 << 20, "the answer was cut off");
}

#[test]
fn connections_beyond_the_limit_are_closed() {
    let (url, _run) = impatient(4);
    let (host, token) = parts(&url);
    let mut idle: Vec<_> =
        (0..12).map(|_| TcpStream::connect(&host).expect("it listens")).collect();
    // Connections beyond the limit are closed at once. The others have silent clients and are
    // closed later.
    for stream in &mut idle {
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a limit");
        let kind = stream.read(&mut [0; 4096]).map_err(|error| error.kind());
        assert_ne!(kind, Err(std::io::ErrorKind::WouldBlock), "the connection is closed");
    }
    // New connections are accepted once the threads have ended.
    let request = format!("GET /{token}/ HTTP/1.1\r\nHost: {host}\r\n\r\n").repeat(2);
    let answered = (0..100).any(|_| {
        let mut stream = TcpStream::connect(&host).expect("it listens");
        let mut answer = String::new();
        let _ =
            stream.write_all(request.as_bytes()).and_then(|()| stream.read_to_string(&mut answer));
        let answers = answer.matches("small").count();
        if answers < 2 {
            std::thread::sleep(Duration::from_millis(100));
        }
        answers == 2
    });
    assert!(answered, "one connection can send two requests");
}

#[test]
fn security_headers_are_sent() {
    let served = served();
    for path in ["", "main.js", "model", "nothing"] {
        let answer = served.ask("GET", &format!("/{}/{path}", served.token), "");
        for header in [
            "Content-Security-Policy: default-src 'none'; script-src 'self'",
            "frame-ancestors 'self'",
            "X-Content-Type-Options: nosniff",
            "Referrer-Policy: no-referrer",
            "Cache-Control: no-store",
            "Cross-Origin-Resource-Policy: same-origin",
        ] {
            assert!(answer.contains(header), "{path}: {header} is missing in {answer}");
        }
        assert!(!answer.contains("unsafe-inline") && !answer.contains("Access-Control"), "{path}");
    }
}

#[test]
fn other_machines_are_served_only_with_bind() {
    let served = served();
    assert!(served.host.starts_with("127.0.0.1:"), "{}", served.host);
    let mut open = Served::of(&example("mpi.trace"), &["--bind", "0.0.0.0"]);
    let port = open.host.rsplit_once(':').expect("a port").1.to_owned();
    open.host = format!("127.0.0.1:{port}");
    assert!(open.get("progress").contains("ready"));
    let named = format!(
        "GET /{}/ HTTP/1.1\r\nHost: evil.example:{port}\r\nConnection: close\r\n\r\n",
        open.token
    );
    assert_eq!(
        status(&open.send(named.as_bytes())),
        421,
        "host names are refused even with --bind"
    );
    open.child.kill().expect("it runs");
    let mut message = String::new();
    open.child.stderr.take().expect("a pipe").read_to_string(&mut message).expect("text");
    assert!(message.contains("connect to 0.0.0.0") && message.contains("unencrypted"), "{message}");
}
