//! Small traces with changed, missing and unusual bytes. The result must agree with the checker's
//! verdict. Each block size and number of threads must give the same rows or a clear error.
//!
//! `PAJE_ALL_BYTES=1` replaces every byte by every value.

use crate::agree::{assert_agree, options};
use crate::world::{dump, said, sandbox, trace};

/// A short trace with an object of each nature. Tests change each of its bytes.
const EVENTS: [(&str, &str, &str); 9] = [
    ("0", "DefineContainerType", "Name Type"),
    ("1", "DefineStateType", "Name Type"),
    ("2", "DefineLinkType", "Name Type StartContainerType EndContainerType"),
    ("3", "CreateContainer", "Time:date Name Type Container"),
    ("4", "PushState", "Time:date Type Container Value Size:int"),
    ("5", "PopState", "Time:date Type Container"),
    ("6", "StartLink", "Time:date Type Container Value StartContainer Key"),
    ("7", "EndLink", "Time:date Type Container Value EndContainer Key"),
    ("8", "DestroyContainer", "Time:date Name Type"),
];

const SMALL: &str = "\
0 P 0
1 S P
2 L 0 P P
3 0 p P 0
3 0 q P 0
4 0.5 S p a 17
4 1 S p \"b c\" 18 # once more
6 1.25 L 0 m p k
7 1.5e0 L 0 m q k
5 2 S p
8 3 q P
";

fn small() -> Vec<u8> {
    (testkit::definitions(EVENTS) + SMALL).into_bytes()
}

#[test]
fn every_prefix_is_handled() {
    let bytes = small();
    for length in 0..=bytes.len() {
        assert_agree(&bytes[..length], options(false, false, true));
    }
}

#[test]
fn every_byte_may_change() {
    let all = std::env::var_os("PAJE_ALL_BYTES").is_some();
    // Bytes that are special in some part of the format. At each position, one more byte is tried
    // that depends on the position.
    let likely = b"\n\r\t \"#%-.019eSpq\0\xff";
    let mut bytes = small();
    for at in 0..bytes.len() {
        let old = bytes[at];
        for value in 0..=255_u8 {
            let chosen = value.wrapping_mul(167).wrapping_add(at as u8) == 0;
            if value == old || !(all || chosen || (at % 29 == 0 && likely.contains(&value))) {
                continue;
            }
            bytes[at] = value;
            assert_agree(&bytes, options(false, at % 2 == 0, value % 2 == 0));
        }
        bytes[at] = old;
    }
}

#[test]
fn names_may_be_any_bytes() {
    let name: Vec<u8> = (1..=255).filter(|byte| !b"\t\n\x0b\x0c\r \"#,".contains(byte)).collect();
    let name = [b"n\0", &name[..]].concat();
    let lines = [b"create 0 ", &name[..], b" P h\nset 1 S ", &name, b" ", &name, b"\n"].concat();
    let text = trace(&lines);
    let folder = sandbox(&[]);
    folder.write("t", &text);
    let found = |options: &[&str]| {
        let output = dump(options, &text);
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        output.stdout
    };
    let row = [b"State, ", &name[..], b", State, 1.000000, 1.000000, 0.000000, 0.000000, ", &name];
    let row = [&row.concat()[..], b"\n"].concat();
    for options in [&[][..], &["-o"], &["--sort"], &["--quotes=keep"], &["--quotes=strip"]] {
        let rows = found(options);
        assert!(rows.windows(row.len()).any(|found| found == row), "{options:?}");
    }
    let holds = |text: &[u8]| text.windows(name.len()).filter(|found| *found == name).count();
    assert_eq!(holds(&found(&["-c"])), 2);
    let hierarchies = ["-q", "--type-hierarchy=t.csv", "--entity-hierarchy=e.csv", "t"];
    assert_eq!(folder.run(&hierarchies), (0, String::new(), String::new()));
    for (file, times) in [("t.csv", 1), ("e.csv", 3)] {
        let text = folder.read(file);
        assert!(holds(&text) >= times, "{file}: {}", String::from_utf8_lossy(&text));
    }
    let wrong = [&lines[..], b"set 0 S ", &name, b" x\n"].concat();
    let output = dump(&[], &trace(&wrong));
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
    assert!(String::from_utf8(output.stderr).is_ok());
}

#[test]
fn extreme_numbers_are_printed_or_refused() {
    for time in ["nan", "inf", "-inf", "NaN(1)", "1e309", "-1e400", "0x1p1024", "1..5", "--1"] {
        let output = dump(&[], &trace(format!("set {time} S p a\n").as_bytes()));
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{time}");
        let wanted = format!("'{time}' is not a time; expected a finite number");
        assert!(said(&output).contains(&wanted), "{}", said(&output));
    }
    let row = |start: f64, end: f64| {
        // Rust's digits are exact, as C's are.
        format!("State, p, State, {start:.6}, {end:.6}, {:.6}, 0.000000, a\n", end - start)
    };
    let (least, most) = (5e-324, f64::MAX);
    for (start, end) in [
        (least, 1e308),
        (0.0, least),
        (2.5e-7, 5e-7),
        (-1e308, 1.0),
        (1e22, 1e23),
        (most / 2.0, most),
    ] {
        let text = format!("set {start:e} S p a\nset {end:e} S p a\n");
        for options in [&[][..], &["-o"]] {
            let output = dump(options, &trace(text.as_bytes()));
            let rows = String::from_utf8(output.stdout.clone()).expect("text");
            assert!(rows.contains(&row(start, end)), "{start} to {end}: {rows}{}", said(&output));
        }
    }
    // Numbers beyond doubles are infinite, as in C.
    let output = dump(&[], &trace(b"set -1.7e308 S p a\nset 1.7e308 S p a\n"));
    let rows = String::from_utf8(output.stdout).expect("text");
    assert!(rows.contains(", inf, 0.000000, a\n"), "{rows}");
    for (value, shown) in [("nan", "nan"), ("inf", "inf"), ("-inf", "-inf"), ("1e39", "inf")] {
        let text = format!("vset 0 V p {value}\nvset 1 V p 0\n");
        let rows = String::from_utf8(dump(&[], &trace(text.as_bytes())).stdout).expect("text");
        let wanted = format!("Variable, p, Load, 0.000000, 1.000000, 1.000000, {shown}\n");
        assert!(rows.contains(&wanted), "{rows}");
    }
}
