//! Properties that hold for the heads of all requests. A fuzzer checks them too.

use pj_view::request::{Guard, LONGEST_HEAD, parse_head};

/// Checks that accepted requests have the token, and that a head may arrive in pieces.
pub(crate) fn check(bytes: &[u8]) {
    let guard = Guard { token: "token".into(), port: 8080, open: false };
    let whole = parse_head(bytes, &guard);
    if let Ok(Some((request, length))) = &whole {
        assert!(*length <= bytes.len() && *length <= LONGEST_HEAD);
        let head = &bytes[..*length];
        assert!(head.ends_with(b"\n") && !request.path.contains(['?', ' ', '\r', '\n']));
        let find = |text: &str| head.windows(text.len()).any(|part| part == text.as_bytes());
        assert!(find("GET /token/"), "{request:?}");
        assert!(find(":8080"), "{request:?}");
        // Bytes after the head have no effect.
        assert_eq!(parse_head(head, &guard), whole);
        let _ =
            (request.number::<u64>("level"), request.number::<f64>("from"), request.text("lanes"));
    }
    if whole == Ok(None) {
        assert!(bytes.len() < LONGEST_HEAD, "a head that is too long is refused");
    }
    // A head that arrives in pieces is parsed in the same way, or is refused earlier.
    let mut upto = 0;
    while upto < bytes.len() {
        upto = (upto + 1 + bytes[upto] as usize % 97).min(bytes.len());
        match parse_head(&bytes[..upto], &guard) {
            Ok(None) => {}
            answer => {
                assert!(answer == whole || answer.is_err(), "{answer:?}, then {whole:?}");
                break;
            }
        }
    }
}
