//! Prints the links with their lines and a user-defined field as CSV: `custom_csv TRACE FIELD`.

use std::error::Error;

use paje::{Trace, TraceReader};

pub(crate) fn report(trace: &Trace, field: &str) -> String {
    let mut csv = format!("line,from,to,start,end,{field}\n");
    for link in trace.links() {
        let line = link.line().map_or(String::new(), |at| at.line.to_string());
        let (from, to) = (link.start_container().name(), link.end_container().name());
        let text = String::from_utf8_lossy(link.field(field).unwrap_or_default());
        csv += &format!("{line},{from},{to},{},{},{text}\n", link.start, link.end);
    }
    csv
}

fn main() -> Result<(), Box<dyn Error>> {
    let (path, field) = (std::env::args_os().nth(1), std::env::args().nth(2));
    let (path, field) = path.zip(field).ok_or("usage: custom_csv TRACE FIELD")?;
    let trace = TraceReader::new().lines(true).open(path)?;
    print!("{}", report(&trace, &field));
    Ok(())
}
