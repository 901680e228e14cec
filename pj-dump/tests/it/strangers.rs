//! Files that people mistake for traces.

use crate::world::{sandbox, trace};

/// Reads such files from a file and from a pipe, compressed, and as files that a trace names.
#[test]
fn files_that_are_not_traces_are_recognised() {
    let mut tar = vec![0; 1024];
    tar[..7].copy_from_slice(b"a.trace");
    tar[257..262].copy_from_slice(b"ustar");
    let sixteen: Vec<u8> = "%EventDef".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let folder = sandbox(&[("run/root", &trace(b"file p P ../thing\n"))]);
    let said = |words: &[&str]| {
        let (status, _, said) = folder.run(words);
        (status, said)
    };
    for (bytes, wanted) in [
        (b"PK\x03\x04\x14\0".to_vec(), "this is a zip archive, not a Pajé trace; unpack it first"),
        (tar, "this is a tar archive, not a Pajé trace; unpack it first"),
        (
            b"\x04\x22\x4d\x18\x64\x40\xa7".to_vec(),
            "this is compressed with lz4, not a Pajé trace; decompress it first (gzip, zstd, xz and \
             bzip2 are read as they are)",
        ),
        (
            [&b"\xff\xfe"[..], &sixteen].concat(),
            "this is text in UTF-16, not a Pajé trace; convert it to UTF-8 first, with iconv for example",
        ),
        (
            b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x04\0\x3e\0".to_vec(),
            "this is a core dump, not a Pajé trace",
        ),
        (b"%PDF-1.7\n".to_vec(), "this is a PDF document, not a Pajé trace"),
    ] {
        folder.write("thing", &bytes);
        for options in [&[][..], &["--sort"], &["--recover"]] {
            let found = said(&[options, &["thing"]].concat());
            assert_eq!(found, (2, format!("pj_dump: thing: {wanted}\n")));
        }
        let wanted_of_stdin = format!("pj_dump: <stdin>: {wanted}\n");
        assert_eq!(folder.fed(&[], &bytes), (2, String::new(), wanted_of_stdin));
        let named = said(&["--files-from=.", "run/root"]);
        let place = format!(":10: cannot read 'run/../thing': {wanted}\n");
        assert!(named.0 == 2 && named.1.contains(&place), "{}", named.1);
        for how in testkit::COMPRESSIONS {
            folder.write("thing", testkit::pack(how, &bytes));
            let found = said(&["thing"]);
            assert_eq!(found, (2, format!("pj_dump: thing: {how}: {wanted}\n")));
        }
    }
}
