use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};

use datasets::Shape;
use paje_sim::Options;
use paje_workers::Pin;

use super::*;

const STYLE: Style = Style::DEFAULT;

/// Accepts this many buffers, slowly; then fails or panics.
struct Ends {
    left: u32,
    panics: bool,
}

impl Write for Ends {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        std::thread::sleep(Duration::from_micros(300));
        self.left = match self.left.checked_sub(1) {
            Some(left) => left,
            None if self.panics => panic!("as the test wants"),
            None => return Err(io::Error::other("full")),
        };
        Ok(buffer.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Nobody waits for ever, wherever the output ends and however many there are.
#[test]
fn an_output_that_ends_anywhere() {
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
