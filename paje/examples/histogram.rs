//! Prints how many states last how long, of a trace of any length in little memory: `histogram TRACE`.

use std::convert::Infallible;
use std::error::Error;
use std::path::Path;

use paje::{Lane, States, TraceReader, VisitError, Visitor};

/// Number of states by the power of ten of their duration, from 1 ns to 1000 s.
#[derive(Default)]
struct Histogram([u64; 13]);

impl Visitor for Histogram {
    type Error = Infallible;

    fn states(&mut self, _: Lane<'_>, states: States<'_>) -> Result<(), Infallible> {
        for (start, end) in states.start.iter().zip(states.end) {
            let power = (end - start).log10().floor().clamp(-9.0, 3.0);
            self.0[(power + 9.0) as usize] += 1;
        }
        Ok(())
    }
}

pub(crate) fn report(trace: &Path) -> Result<String, VisitError<Infallible>> {
    let mut histogram = Histogram::default();
    TraceReader::new().visit(trace, &mut histogram)?;
    let counts = histogram.0.iter().zip(-9..);
    Ok(counts.map(|(count, power)| format!("1e{power:<3} {count}\n")).collect())
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1).ok_or("usage: histogram TRACE")?;
    print!("{}", report(path.as_ref())?);
    Ok(())
}
