//! Links half of which end before they start: the `PajeEndLink` line comes first and carries the earlier time.

use std::io::{self, Write};

use crate::rng::Rng;
use crate::sink::Sink;

pub(super) fn write<W: Write + ?Sized>(
    sink: &mut Sink<'_, W>,
    size: u64,
    rng: Rng,
) -> io::Result<()> {
    super::all_links::links(sink, size, rng, |rng| rng.percent(50))
}
