//! Properties of any head of a request. The fuzzer looks for one that lacks them; here, random ones are tried.

use pj_view::request::{Guard, LONGEST_HEAD, parse_head};

/// Who is answered knows the token, and a head is the same in any pieces.
///
/// # Panics
/// That is not so.
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
        // Bytes behind it make no difference.
        assert_eq!(parse_head(head, &guard), whole);
        let _ =
            (request.number::<u64>("level"), request.number::<f64>("from"), request.text("lanes"));
    }
    if whole == Ok(None) {
        assert!(bytes.len() < LONGEST_HEAD, "it waits for more of a head that is too long");
    }
    // Whoever sends it in pieces is told the same, or earlier that it is refused.
    let mut upto = 0;
    while upto < bytes.len() {
        upto = (upto + 1 + bytes[upto] as usize % 97).min(bytes.len());
        match parse_head(&bytes[..upto], &guard) {
            Ok(None) => {}
            told => {
                assert!(told == whole || told.is_err(), "{told:?}, then {whole:?}");
                break;
            }
        }
    }
}
