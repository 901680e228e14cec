//! Counts the rows of a trace that a program sends over the network: `socket ADDRESS`, such as `socket localhost:7000`.
//! `nc -N localhost 7000 <run.trace` sends a trace.

use std::error::Error;
use std::net::TcpListener;

use paje::{Counts, TraceReader};

pub(crate) fn count(listener: &TcpListener) -> Result<Counts, Box<dyn Error>> {
    let (stream, from) = listener.accept()?;
    let trace = TraceReader::new().read(stream).map_err(|error| format!("{from}: {error}"))?;
    Ok(trace.counts())
}

fn main() -> Result<(), Box<dyn Error>> {
    let address = std::env::args().nth(1).ok_or("usage: socket ADDRESS")?;
    let listener = TcpListener::bind(address)?;
    println!("{:#?}", count(&listener)?);
    Ok(())
}
