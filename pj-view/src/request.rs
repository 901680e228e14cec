//! Parses and checks requests.
//!
//! Any web page can make the browser send requests to this machine, and can read the answers if its
//! host name resolves to this machine (DNS rebinding). So a request must have the token and the
//! right host, and must not come from another origin. Paths never become file names.

use std::net::IpAddr;

/// Maximum size of a request's head in bytes.
pub const LONGEST_HEAD: usize = 16 << 10;

const MOST_HEADERS: usize = 64;

/// Conditions that each request must meet.
#[derive(Clone, Debug)]
pub struct Guard {
    /// Token, which is the first component of all paths.
    pub token: String,
    /// Port at which the server listens.
    pub port: u16,
    /// Whether other machines may send requests.
    pub open: bool,
}

/// Accepted request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Path without the token, the slash after it and the query.
    pub path: String,
    /// Query without the question mark.
    pub query: String,
    /// Whether the connection stays open.
    pub keep: bool,
}

/// Reason why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The request is not HTTP/1.
    Malformed,
    /// The head is too long.
    TooLong,
    /// The method is not GET.
    Method,
    /// The request has a body.
    Body,
    /// The token is wrong.
    Token,
    /// The host is wrong.
    Host,
    /// The request comes from another page.
    Origin,
}

impl Refusal {
    /// Returns the status code and its text.
    #[must_use]
    pub fn status(self) -> (u16, &'static str) {
        match self {
            Refusal::Malformed => (400, "Bad Request"),
            Refusal::TooLong => (431, "Request Header Fields Too Large"),
            Refusal::Method => (405, "Method Not Allowed"),
            Refusal::Body => (413, "Content Too Large"),
            Refusal::Token | Refusal::Origin => (403, "Forbidden"),
            Refusal::Host => (421, "Misdirected Request"),
        }
    }
}

/// Parses the head of a request. Returns the request and the head's length, or `None` if the head
/// is incomplete.
///
/// # Errors
/// The request is refused.
pub fn parse_head(head: &[u8], guard: &Guard) -> Result<Option<(Request, usize)>, Refusal> {
    let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut parsed = httparse::Request::new(&mut headers);
    let length = match parsed.parse(head) {
        Ok(httparse::Status::Complete(length)) if length <= LONGEST_HEAD => length,
        Ok(httparse::Status::Partial) if head.len() < LONGEST_HEAD => return Ok(None),
        Ok(_) | Err(httparse::Error::TooManyHeaders) => return Err(Refusal::TooLong),
        Err(_) => return Err(Refusal::Malformed),
    };
    if parsed.method != Some("GET") {
        return Err(Refusal::Method);
    }
    let mut host = None;
    let mut origin = None;
    let mut keep = parsed.version == Some(1);
    for header in parsed.headers.iter() {
        let once = |place: &mut Option<Vec<u8>>| match place.replace(header.value.to_vec()) {
            None => Ok(()),
            Some(_) => Err(Refusal::Malformed),
        };
        match header.name.to_ascii_lowercase().as_str() {
            "host" => once(&mut host)?,
            "origin" => once(&mut origin)?,
            "content-length" if header.value != b"0" => return Err(Refusal::Body),
            "transfer-encoding" => return Err(Refusal::Body),
            "connection" if header.value.eq_ignore_ascii_case(b"close") => keep = false,
            _ => {}
        }
    }
    let host = host.ok_or(Refusal::Host)?;
    if !guard.is_host(&host) {
        return Err(Refusal::Host);
    }
    if origin.is_some_and(|origin| origin != [b"http://", &host[..]].concat()) {
        return Err(Refusal::Origin);
    }
    let target = parsed.path.ok_or(Refusal::Malformed)?;
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let path = guard.behind_token(path).ok_or(Refusal::Token)?;
    Ok(Some((Request { path: path.into(), query: query.into(), keep }, length)))
}

impl Guard {
    /// Returns whether a host is the server: an address or `localhost`, and the port.
    fn is_host(&self, host: &[u8]) -> bool {
        let Ok(host) = std::str::from_utf8(host) else { return false };
        let (name, port) = match host.rsplit_once(':') {
            Some((name, port)) if !port.ends_with(']') => (name, port),
            // The default port may be omitted.
            _ => (host, "80"),
        };
        if port != self.port.to_string() {
            return false;
        }
        let address =
            name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
        match address.parse::<IpAddr>() {
            Ok(address) => self.open || address.is_loopback(),
            Err(_) => name.eq_ignore_ascii_case("localhost"),
        }
    }

    /// Returns the path after the token, if the token is right. The comparison takes constant time.
    fn behind_token<'p>(&self, path: &'p str) -> Option<&'p str> {
        let (token, rest) = path.strip_prefix('/')?.split_once('/')?;
        let same = token.len() == self.token.len();
        let differ = token.bytes().zip(self.token.bytes()).fold(0, |all, (a, b)| all | (a ^ b));
        (same && differ == 0).then_some(rest)
    }
}

impl Request {
    /// Returns the value of a parameter as a number.
    pub fn number<N: std::str::FromStr>(&self, name: &str) -> Option<N> {
        self.text(name)?.parse().ok()
    }

    /// Returns the percent-decoded value of a parameter, or `None` if it is missing or invalid.
    #[must_use]
    pub fn words(&self, name: &str) -> Option<String> {
        let mut rest = self.text(name)?.as_bytes();
        let mut words = Vec::with_capacity(rest.len());
        while let Some((byte, more)) = rest.split_first() {
            rest = more;
            words.push(match byte {
                b'+' => b' ',
                b'%' => {
                    let (digits, more) = rest.split_at_checked(2)?;
                    rest = more;
                    let digit = |at: usize| char::from(digits[at]).to_digit(16);
                    (digit(0)? * 16 + digit(1)?) as u8
                }
                byte => *byte,
            });
        }
        String::from_utf8(words).ok()
    }

    /// Returns the value of a parameter without decoding it.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        let mut pairs = self.query.split('&').filter_map(|pair| pair.split_once('='));
        pairs.find(|(key, _)| *key == name).map(|(_, value)| value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard() -> Guard {
        Guard { token: "secret".into(), port: 8080, open: false }
    }

    fn ask(target: &str, headers: &str) -> Result<Option<(Request, usize)>, Refusal> {
        parse_head(format!("GET {target} HTTP/1.1\r\n{headers}\r\n").as_bytes(), &guard())
    }

    #[test]
    fn parameters_are_percent_decoded() {
        let words = |query: &str| {
            Request { path: String::new(), query: query.into(), keep: false }.words("text")
        };
        assert_eq!(words("a=1&text=a+b%2Bc%c3%A9%26").as_deref(), Some("a b+cé&"));
        assert_eq!(words("text=").as_deref(), Some(""));
        for wrong in ["text=%", "text=%4", "text=%4g", "text=%+1", "text=%ff", "other=x"] {
            assert_eq!(words(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn requests_with_token_and_host_are_accepted() {
        let fine = ask("/secret/tiles?level=3&lanes=1,2", "Host: 127.0.0.1:8080\r\n");
        let (request, _) = fine.expect("answered").expect("complete");
        assert_eq!((request.path.as_str(), request.number("level")), ("tiles", Some(3)));
        assert_eq!((request.text("lanes"), request.text("none")), (Some("1,2"), None));
        for host in ["localhost:8080", "[::1]:8080", "127.0.0.9:8080"] {
            assert!(
                ask("/secret/", &format!("Host: {host}\r\nOrigin: http://{host}\r\n")).is_ok(),
                "{host}"
            );
        }
        for host in [
            "evil.example:8080",
            "127.0.0.1",
            "127.0.0.1:80",
            "10.0.0.1:8080",
            "",
            "localhost:8080.evil",
        ] {
            assert_eq!(ask("/secret/", &format!("Host: {host}\r\n")), Err(Refusal::Host), "{host}");
        }
    }

    #[test]
    fn heads_may_arrive_in_pieces() {
        let host = "Host: localhost:8080\r\n";
        for (method, target, headers) in [
            ("GET", "/secret/tiles?level=3", host.to_owned()),
            ("GET", "/secret/", format!("{host}Origin: http://evil\r\n")),
            ("PUT", "/secret/", host.to_owned()),
            ("GET", "/other/", host.to_owned()),
        ] {
            let head = format!("{method} {target} HTTP/1.1\r\n{headers}\r\n");
            let whole = parse_head(head.as_bytes(), &guard());
            assert_ne!(whole, Ok(None));
            for upto in 0..head.len() {
                assert_eq!(parse_head(&head.as_bytes()[..upto], &guard()), Ok(None), "{head}");
            }
            let more = [head.as_bytes(), b"GET / HTTP/1.1\r\n"].concat();
            assert_eq!(parse_head(&more, &guard()), whole, "bytes after the head do not matter");
        }
    }

    #[test]
    fn invalid_requests_are_refused() {
        let host = "Host: localhost:8080\r\n";
        for path in [
            "/",
            "/secret",
            "/secre/x",
            "/secrets/",
            "/other/",
            "//secret/",
            "*",
            "http://x/secret/",
        ] {
            assert_eq!(ask(path, host), Err(Refusal::Token), "{path}");
        }
        assert_eq!(ask("/secret/", ""), Err(Refusal::Host));
        assert_eq!(ask("/secret/", &host.repeat(2)), Err(Refusal::Malformed));
        assert_eq!(ask("/secret/", &format!("{host}Origin: null\r\n")), Err(Refusal::Origin));
        assert_eq!(ask("/secret/", &format!("{host}Content-Length: 1\r\n")), Err(Refusal::Body));
        assert_eq!(
            parse_head(b"POST /secret/ HTTP/1.1\r\nHost: localhost:8080\r\n\r\n", &guard()),
            Err(Refusal::Method)
        );
        assert_eq!(parse_head(b"\x16\x03\x01", &guard()), Err(Refusal::Malformed));
        assert_eq!(ask("/secret/", &"a: b\r\n".repeat(65)), Err(Refusal::TooLong));
        assert_eq!(parse_head(&[b'A'; LONGEST_HEAD], &guard()), Err(Refusal::TooLong));
        assert_eq!(parse_head(b"GET /secret/ HT", &guard()), Ok(None));
    }
}
