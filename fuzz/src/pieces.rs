//! `pj_split` beside the replay of the whole.

use std::fs;
use std::path::Path;

use clap::Parser;
use paje_sim::{FieldNames, Options, Progress, Source, Trace, WarningKind};
use paje_split::cli::Cli;
use paje_split::run::split;
use splitter::{Input, Limits};
use workers::Workers;

use crate::{replayed, rows, style, team};

/// How many pieces, or by which type, which traces of the datasets have.
const HOW: [[&str; 2]; 4] = [["-p", "1"], ["-p", "2"], ["-p", "100"], ["--by", "0"]];

/// The pieces of a trace, dumped together, give its rows; what the replay refuses is not split. `choice`
/// decides on how many pieces there are, in what blocks they are made, and who dumps them.
pub fn agree(trace: &[u8], options: &Options, choice: u8) {
    let (whole, verdict) = replayed(trace, options, &Workers::one());
    // In memory, where there is such a place.
    let shared = Path::new("/dev/shm");
    let place = if shared.is_dir() { shared.to_owned() } else { std::env::temp_dir() };
    let folder = tempfile::tempdir_in(place).expect("a folder");
    let (path, pieces) = (folder.path().join("t"), folder.path().join("d"));
    fs::write(&path, trace).expect("the folder is writable");
    let threads = if choice & 0x80 == 0 { "1" } else { "3" };
    let words = ["pj_split".as_ref(), path.as_os_str(), "-o".as_ref(), pieces.as_os_str()];
    let mut words = words.to_vec();
    words.extend(
        ["-q", "--no-progress", "--threads", threads].map(AsRef::<std::ffi::OsStr>::as_ref),
    );
    words.extend(HOW[usize::from(choice) % 4].map(AsRef::<std::ffi::OsStr>::as_ref));
    if options.field_names == FieldNames::Old {
        words.push("-n".as_ref());
    }
    if options.ignore_incomplete_links {
        words.push("-z".as_ref());
    }
    let limits =
        Limits { block: [1 << 17, 1, 64, 500][usize::from(choice >> 2) % 4], ..options.limits };
    let done = split(&Cli::parse_from(words), limits);
    let Some(whole) = whole else {
        // A key that was used before is not remembered.
        let is_key = matches!(verdict, Err((_, "key-reused", _)));
        let status = done.map_err(|failure| failure.status());
        // Popped states that go on as new rows count for the order of their lane.
        let may_be_fine = is_key || options.no_imbrication;
        return assert!(
            may_be_fine && status == Ok(()) || status == Err(1),
            "{verdict:?} {status:?}"
        );
    };
    if whole.warnings().iter().any(|warning| warning.kind == WarningKind::FileNotRead) {
        let status = done.map_err(|failure| failure.status());
        return assert_eq!(status, Err(2), "it is in pieces already");
    }
    done.expect("the trace is valid");
    let root = pieces.join("root.trace");
    let input = Input::open(Some(&root)).expect("it was written");
    let source = Source::from(input).reading_files(Some(root));
    let team = if choice & 0x40 == 0 { &Workers::one() } else { team() };
    let together = Trace::read_with(source, options, team, &Progress::default());
    let together = together.unwrap_or_else(|error| panic!("{error}: {:?}", error.position()));
    let (whole, together) =
        (rows(&whole, style(choice), team), rows(&together, style(choice), team));
    assert_eq!(String::from_utf8_lossy(&together), String::from_utf8_lossy(&whole));
}
