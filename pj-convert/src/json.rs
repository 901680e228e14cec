//! JSON strings.

/// Appends text as a JSON string. Invalid UTF-8 becomes `\u{fffd}`.
pub(crate) fn put_string(text: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    let text = String::from_utf8_lossy(text);
    let (text, mut written) = (text.as_bytes(), 0);
    for (at, byte) in text.iter().enumerate() {
        if *byte >= b' ' && !matches!(byte, b'"' | b'\\' | 0x7f) {
            continue;
        }
        out.extend_from_slice(&text[written..at]);
        written = at + 1;
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', *byte]),
            _ => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
        }
    }
    out.extend_from_slice(&text[written..]);
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_becomes_a_valid_string() {
        for (text, expected) in [
            (&b""[..], ""),
            (b"MPI_Send", "MPI_Send"),
            (b"say \"a\\b\"", "say \"a\\b\""),
            (b"\x1b[2J\t\0\x7f", "\u{1b}[2J\t\0\u{7f}"),
            (b"\xff\xc3", "\u{fffd}\u{fffd}"),
            ("é🦀\u{2028}".as_bytes(), "é🦀\u{2028}"),
        ] {
            let mut out = Vec::new();
            put_string(text, &mut out);
            assert!(out.iter().all(|byte| *byte >= b' ' && *byte != 0x7f));
            let read: String = serde_json::from_slice(&out).expect("JSON");
            assert_eq!(read, expected);
        }
    }
}
