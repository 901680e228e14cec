//! Random requests.

use pj_view::request::{Guard, parse_head};
use testkit::{Rng, damage};

use crate::heads::check;
use crate::world::{Served, example, status};

const HOST: &str = "Host: localhost:8080\r\n";

fn head(rng: &mut Rng) -> Vec<u8> {
    let paths = [
        "",
        "model",
        "tiles?level=3&first=0&count=8&lanes=1,2",
        "folded?containers=0",
        "../x",
        "%2e%2e/",
    ];
    let more = [
        "",
        "Accept: */*\r\n",
        "Origin: http://localhost:8080\r\n",
        "Connection: close\r\n",
        "Content-Length: 0\r\n",
    ];
    let (path, more) = (paths[rng.index(paths.len())], more[rng.index(more.len())]);
    format!("GET /token/{path} HTTP/1.1\r\n{HOST}{more}\r\n").into_bytes()
}

#[test]
fn random_heads_have_the_required_properties() {
    let seed = testkit::number("PAJE_SEED").unwrap_or(1);
    let mut rng = Rng::new(seed);
    let guard = Guard { token: "token".into(), port: 8080, open: false };
    let mut answered = 0;
    for round in 0..testkit::number("PAJE_SEEDS").unwrap_or(20) * 1000 {
        let mut bytes = head(&mut rng);
        for _ in 0..rng.index(4) {
            bytes = damage(&bytes, &mut rng);
        }
        // Two requests at once.
        if round % 7 == 0 {
            bytes.extend(head(&mut rng));
        }
        answered += u64::from(matches!(parse_head(&bytes, &guard), Ok(Some(_))));
        let checked = std::panic::catch_unwind(|| check(&bytes));
        assert!(
            checked.is_ok(),
            "seed {seed}, round {round}: {:?}",
            String::from_utf8_lossy(&bytes)
        );
    }
    assert!(answered > 1000, "only {answered} heads were accepted");
}

#[test]
fn random_queries_are_answered_or_refused() {
    let served = Served::of(&example("mpi.trace"), &[]);
    let mut rng = Rng::new(7);
    let paths = [
        "tiles",
        "folded",
        "row",
        "profile",
        "find",
        "model",
        "values",
        "value",
        "progress",
        "explained",
        "verdict",
        "waits",
        "path",
        "matrix",
        "messages",
        "histogram",
        "hits",
        "style.css",
        "nothing",
        "../etc",
    ];
    let names = [
        "level",
        "first",
        "count",
        "rows",
        "lanes",
        "containers",
        "hidden",
        "lane",
        "row",
        "from",
        "to",
        "type",
        "value",
        "time",
        "back",
        "text",
        "origin",
        "goal",
        "order",
        "in",
    ];
    let values = [
        "0",
        "1",
        "3",
        "17",
        "63",
        "64",
        "8192",
        "8193",
        "-1",
        "1e308",
        "nan",
        "inf",
        "18446744073709551615",
        "9223372036854775808",
        "1,2",
        ",",
        "x",
        "",
    ];
    let mut fine = 0;
    for _ in 0..300 {
        let mut target = format!("/{}/{}?", served.token, paths[rng.index(paths.len())]);
        for name in names {
            if rng.index(4) > 0 {
                // Most of the chosen values are valid.
                let among = if rng.index(3) > 0 { 4 } else { values.len() };
                target.push_str(&format!("{name}={}&", values[rng.index(among)]));
            }
        }
        let answer = served.ask("GET", &target, "");
        assert!([200, 400, 404, 503].contains(&status(&answer)), "{target}: {answer}");
        fine += u32::from(status(&answer) == 200);
    }
    assert!(fine > 50, "{fine} were answered");
}
