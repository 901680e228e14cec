//! Conversion of a source to a format.

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::Path;

use paje_console::Quotes;
use paje_export::paje;
use paje_sim::{Error, Natures, Options, Portion, Progress, Source, Trace, TypeNature};
use paje_workers::Workers;

use crate::chrome::Chrome;
use crate::clock::Losses;
use crate::encoder::Encoder;
use crate::otf2::{self, Lacks};
use crate::perfetto::Perfetto;
use crate::pipit::Pipit;
use crate::stream::{PORTION, Stream};

/// Output format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Protocol buffers of Perfetto's track events.
    Perfetto,
    /// Chrome's trace events, in JSON.
    Chrome,
    /// Comma-separated values for Pipit.
    Pipit,
    /// Pajé, sorted by time.
    Paje,
    /// OTF2 archive, which [`convert_to_archive`] writes.
    Otf2,
}

/// Options of a conversion.
#[derive(Clone, Debug)]
pub struct Conversion {
    /// Format of the output.
    pub format: Format,
    /// Quotes around names.
    pub quotes: Quotes,
    /// Options of the replay, with the selection of rows.
    pub options: Options,
}

/// Reason why a trace was not converted.
#[derive(Debug)]
pub enum NotConverted {
    /// The trace is invalid or cannot be read.
    Trace(Error),
    /// The output failed.
    Output(io::Error),
}

/// Converts a trace. Returns the trace, the output and the losses.
///
/// For a streamed format, the returned trace has only the rows of the last portion.
///
/// # Errors
/// The trace is invalid or cannot be read, or the output fails. Part of the output may have been
/// written.
pub fn convert<W: Write + Send>(
    source: Source<'_>,
    conversion: &Conversion,
    workers: &Workers,
    progress: &Progress,
    out: W,
) -> Result<(Trace, W, Losses), NotConverted> {
    let Conversion { format, quotes, .. } = *conversion;
    let mut options = conversion.options.clone();
    options.value_names = quotes.value_names();
    let conversion = Conversion { options, ..conversion.clone() };
    match format {
        Format::Perfetto => {
            let encoder = Perfetto::new(quotes);
            stream(source, conversion, encoder, workers, progress, out)
        }
        Format::Chrome => {
            let encoder = Chrome::new(quotes);
            stream(source, conversion, encoder, workers, progress, out)
        }
        Format::Pipit => {
            let mut conversion = conversion;
            let natures = conversion.options.selection.natures;
            let shown = [TypeNature::Container, TypeNature::State, TypeNature::Event];
            conversion.options.selection.natures =
                shown.into_iter().filter(|nature| natures.contains(*nature)).collect::<Natures>();
            conversion.options.user_defined = false;
            let encoder = Pipit::new(quotes);
            stream(source, conversion, encoder, workers, progress, out)
        }
        Format::Paje => {
            let trace = Trace::read_with(source, &conversion.options, workers, progress)
                .map_err(NotConverted::Trace)?;
            let selected = trace.select(&conversion.options.selection);
            let mut out = out;
            let precision = conversion.options.variable_precision;
            let form = paje::Form { order: quotes.order(), precision };
            paje::write(&trace, &selected, form, &paje::AsRecorded, workers, &mut out)
                .map_err(NotConverted::Output)?;
            Ok((trace, out, Losses::default()))
        }
        Format::Otf2 => {
            let why = "an OTF2 archive is a folder";
            Err(NotConverted::Output(io::Error::new(io::ErrorKind::Unsupported, why)))
        }
    }
}

/// Converts a trace to an OTF2 archive in an empty folder. Returns the trace, and what the archive
/// lacks.
///
/// # Errors
/// The trace is invalid or cannot be read, or the output fails. Part of the archive may have been
/// written.
pub fn convert_to_archive(
    source: Source<'_>,
    options: &Options,
    workers: &Workers,
    progress: &Progress,
    folder: &Path,
) -> Result<(Trace, Losses, Lacks), NotConverted> {
    let trace =
        Trace::read_with(source, options, workers, progress).map_err(NotConverted::Trace)?;
    let selected = trace.select(&options.selection);
    let written = otf2::write(&trace, &selected, workers, folder);
    let (losses, lacks) = written.map_err(NotConverted::Output)?;
    Ok((trace, losses, lacks))
}

fn stream<E: Encoder + Send, W: Write + Send>(
    source: Source<'_>,
    conversion: Conversion,
    encoder: E,
    workers: &Workers,
    progress: &Progress,
    out: W,
) -> Result<(Trace, W, Losses), NotConverted> {
    let Conversion { quotes, options, .. } = conversion;
    let mut stream = Stream::new(encoder, quotes.order(), &options.selection, workers, out);
    let read = if options.recover {
        // With recovery, a problem at the end of the trace can affect all rows.
        let read = Trace::read_with(source, &options, workers, progress);
        read.inspect(|trace| {
            let _ = stream.show_all(trace);
        })
    } else {
        let mut show = |portion: &Portion<'_>| -> ControlFlow<()> { stream.show(portion) };
        Trace::read_in_portions(source, &options, workers, progress, PORTION, &mut show)
    };
    if let Some(error) = stream.take_error() {
        return Err(NotConverted::Output(error));
    }
    let trace = read.map_err(NotConverted::Trace)?;
    let (out, losses) = stream.finish(&trace).map_err(NotConverted::Output)?;
    Ok((trace, out, losses))
}
