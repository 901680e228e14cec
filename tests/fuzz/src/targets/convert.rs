//! Tests that converted traces can be read: protocol buffers, JSON, tables and Pajé.

use paje_console::Quotes;
use pj_convert::{Conversion, Format, NotConverted, convert};
use paje_sim::{FieldNames, Options, Progress, Source, Trace};
use paje_workers::Workers;

pub fn run(text: &[u8]) {
    let mut options = crate::options(text.last().copied().unwrap_or(0));
    options.user_defined = true;
    // Converters do not support states that end other states.
    options.no_imbrication = false;
    let given = Trace::read(text, &options);
    for format in [Format::Perfetto, Format::Chrome, Format::Pipit, Format::Paje] {
        let file = converted(text, format, &options);
        // Reused keys are not detected if the trace is not kept in memory.
        assert!(file.is_some() || given.is_err(), "{format:?}");
        let (Some(file), Ok(given)) = (file, &given) else { continue };
        match format {
            Format::Perfetto => assert!(is_message(&file, PACKETS)),
            Format::Chrome => {
                let value: serde_json::Value = serde_json::from_slice(&file).expect("JSON");
                assert!(value["traceEvents"].is_array());
            }
            Format::Pipit => assert!(str::from_utf8(&file).is_ok_and(|text| text.ends_with('\n'))),
            Format::Otf2 => unreachable!("an archive is a folder"),
            Format::Paje => {
                let mut normal = Options::default();
                normal.value_names = options.value_names;
                normal.field_names = FieldNames::Strict;
                let again = Trace::read(&file[..], &normal).expect("a valid trace");
                let (again, given) = (again.counts(), given.counts());
                assert_eq!(again.containers, given.containers);
                // Rows that start after their container's end are lost.
                assert!(again.states <= given.states && again.variables <= given.variables);
                assert!(again.events <= given.events && again.links <= given.links);
            }
        }
    }
}

fn converted(text: &[u8], format: Format, options: &Options) -> Option<Vec<u8>> {
    let conversion = Conversion { format, quotes: Quotes::Auto, options: options.clone() };
    let (workers, progress) = (Workers::one(), Progress::default());
    match convert(Source::stream(text), &conversion, &workers, &progress, Vec::new()) {
        Ok((_, file, _)) => Some(file),
        Err(NotConverted::Trace(_)) => None,
        Err(NotConverted::Output(error)) => panic!("{error}"),
    }
}

/// A field that contains a message, and the fields with messages inside it. Traces contain packets,
/// which contain interned data, events and tracks.
struct Inner(u64, &'static [Inner]);

const PACKETS: &[Inner] = &[Inner(
    1,
    &[
        Inner(12, &[Inner(1, &[]), Inner(2, &[]), Inner(3, &[])]),
        Inner(11, &[Inner(4, &[])]),
        Inner(60, &[]),
    ],
)];

/// Returns whether bytes are a message whose inner messages are valid.
fn is_message(mut bytes: &[u8], inner: &[Inner]) -> bool {
    while !bytes.is_empty() {
        let Some(tag) = varint(&mut bytes) else { return false };
        let len = match tag & 7 {
            0 if varint(&mut bytes).is_some() => continue,
            1 => 8,
            2 => match varint(&mut bytes) {
                Some(len) => len as usize,
                None => return false,
            },
            _ => return false,
        };
        let Some((field, rest)) = bytes.split_at_checked(len) else { return false };
        bytes = rest;
        let known = inner.iter().find(|Inner(number, _)| *number == tag >> 3);
        if known.is_some_and(|Inner(_, further)| !is_message(field, further)) {
            return false;
        }
    }
    true
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if *byte < 0x80 {
            return Some(value);
        }
    }
    None
}
