use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};

use datasets::Shape;
use paje_sim::Options;
use paje_workers::Pin;

use super::*;
use crate::output::names::READY;

const STYLE: Style = Style::DEFAULT;

struct Ends {
    left: u32,
    panics: bool,
}

impl Write for Ends {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        std::thread::sleep(Duration::from_micros(300));
        self.left = match self.left.checked_sub(1) {
            Some(left) => left,
            None if self.panics => panic!("injected by the test"),
            None => return Err(io::Error::other("full")),
        };
        Ok(buffer.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn an_output_may_end_anywhere() {
    let text = datasets::generate(Shape::Mpi, 3_000_000, 1);
    let trace = Trace::read(&text[..], &Options::default()).expect("a generated trace");
    for threads in [1, 2, 3, 8] {
        let workers = Workers::new(NonZeroUsize::new(threads), &Pin::None).expect("threads");
        for left in 0..24 {
            for panics in [false, true] {
                let (out, written) = (Ends { left, panics }, Written::default());
                let run = || write_rows(&trace, STYLE, &workers, out, &written);
                let result = catch_unwind(AssertUnwindSafe(run));
                assert_eq!(result.is_err(), panics, "{threads} threads, {left} buffers");
                assert!(panics || result.is_ok_and(|result| result.is_err()));
            }
        }
    }
}

#[test]
fn names_beyond_the_prepared_ones_are_printed() {
    let mut text = testkit::definitions([
        ("0", "DefineContainerType", "Name Type"),
        ("1", "DefineStateType", "Name Type"),
        ("2", "DefineEventType", "Name Type"),
        ("3", "CreateContainer", "Time:date Name Type Container"),
        ("4", "SetState", "Time:date Type Container Value"),
        ("5", "NewEvent", "Time:date Type Container Value"),
    ]);
    text += "0 P 0\n1 S P\n2 E P\n3 0 p P 0\n";
    let name =
        |i: usize| if i.is_multiple_of(2) { format!("v{i}") } else { format!("a-long-value-{i}") };
    let names: Vec<String> = (0..READY + 1000).map(name).collect();
    for (i, name) in names.iter().enumerate() {
        text += &format!("4 {i} S p {name}\n5 {i} E p {name}\n");
    }
    let trace = Trace::read(text.as_bytes(), &Options::default()).expect("a valid trace");
    let (mut out, written) = (Vec::new(), Written::default());
    write_rows(&trace, STYLE, &Workers::one(), &mut out, &written).expect("memory");
    let out = String::from_utf8(out).expect("ASCII");
    for nature in ["State", "Event"] {
        let rows = out.lines().filter(|row| row.starts_with(nature));
        let last = rows.map(|row| row.rsplit(", ").next().expect("a name"));
        assert!(last.eq(names.iter().map(String::as_str)), "{nature}");
    }
}
