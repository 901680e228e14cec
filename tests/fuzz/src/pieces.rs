//! Checks that `pj_split` agrees with the replay of the whole trace.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use clap::Parser;
use paje_console::Failure;
use pj_dump::output::{Quotes, Style};
use paje_sim::{FieldNames, Options, Progress, Source, Trace, ValueNames, WarningKind};
use pj_split::cli::Cli;
use pj_split::run::{Made, split};
use splitter::{Folders, Input, Limits};
use paje_workers::Workers;

use crate::{replayed, rows, style, team};

/// Options of `pj_split`: a number of pieces, or a type to split by. All traces have these types.
const HOW: [[&str; 2]; 4] = [["-p", "1"], ["-p", "2"], ["-p", "100"], ["--by", "0"]];

/// Checks that the pieces together have the trace's rows, and that traces which the replay refuses
/// are not split. `choice` determines the pieces, blocks and workers.
pub fn agree(trace: &[u8], options: &Options, choice: u8) {
    let (mut options, style) = (options.clone(), style(choice));
    if style.quotes == Quotes::Keep {
        // The programs also set this option when they keep quotes.
        options.value_names = ValueNames::AsWritten;
        // Recovery makes up names. The pieces contain them, quoted if necessary, but the trace does
        // not.
        options.recover = false;
    }
    let (whole, verdict) = replayed(trace, &options, &Workers::one());
    // The folder is in memory if possible.
    let shared = Path::new("/dev/shm");
    let place = if shared.is_dir() { shared.to_owned() } else { std::env::temp_dir() };
    let folder = tempfile::tempdir_in(place).expect("a folder");
    fs::write(folder.path().join("t"), trace).expect("the folder is writable");
    let done = make(folder.path(), &options, style, choice);
    let Some(whole) = whole else {
        let refused = matches!(&done, Err(failure) if failure.status() == 1);
        // `pj_split` does not detect reused keys, nor lines that are out of order only because
        // popped states continue in new rows.
        let may_be_fine = matches!(verdict, Err((_, "key-reused", _))) || options.no_imbrication;
        return assert!(refused || may_be_fine && done.is_ok(), "{verdict:?}, but {done:?}");
    };
    if whole.warnings().iter().any(|warning| warning.kind == WarningKind::FileNotRead) {
        return assert!(matches!(done, Err(failure) if failure.status() == 2), "a trace in several files is refused");
    }
    let made = match done {
        // States before their container's creation may have ended: see docs/dev/recover.md.
        Err(Failure::Unsuitable(..)) if options.recover => return,
        done => done.expect("the trace can be split"),
    };
    assert_eq!(made.was_sound, whole.recovered().problems.is_empty());
    options.recover &= !made.are_sound;
    let entries = fs::read_dir(folder.path().join("d")).expect("it was made");
    let mut files: Vec<_> = entries.map(|entry| entry.expect("readable").path()).collect();
    files.sort();
    // The last file is the root, which names the others.
    let (root, pieces) = files.split_last().expect("the root exists");
    let team = if choice & 0x40 == 0 { &Workers::one() } else { team() };
    let whole = rows(&whole, style, team);
    for files in [std::slice::from_ref(root), pieces] {
        let input = Input::open(Some(&files[0])).expect("it was written");
        let folders = Folders::of(files.iter().map(std::path::PathBuf::as_path));
        let source = Source::from(input).reading_files(Some(files[0].clone()), folders);
        let source = source.followed_by(files[1..].to_vec());
        let together = Trace::read_with(source, &options, team, &Progress::default());
        let together = together.unwrap_or_else(|error| panic!("{error}: {:?}", error.position()));
        let together = rows(&together, style, team);
        assert_eq!(String::from_utf8_lossy(&together), String::from_utf8_lossy(&whole));
    }
}

fn make(folder: &Path, options: &Options, style: Style, choice: u8) -> Result<Made, Failure> {
    let (trace, pieces) = (folder.join("t"), folder.join("d"));
    let mut words: Vec<&OsStr> = vec![
        "pj_split".as_ref(),
        trace.as_os_str(),
        "-o".as_ref(),
        pieces.as_os_str(),
        "--no-warnings".as_ref(),
        "--no-progress".as_ref(),
    ];
    words.extend(HOW[usize::from(choice) % 4].map(OsStr::new));
    words.extend(["--threads", if choice & 0x80 == 0 { "1" } else { "3" }].map(OsStr::new));
    for (asked, option) in [
        (options.field_names == FieldNames::Old, "-n"),
        (options.ignore_incomplete_links, "-z"),
        (style.quotes == Quotes::Keep, "--quotes=keep"),
        (options.recover, "--recover"),
    ] {
        if asked {
            words.push(option.as_ref());
        }
    }
    let block = [1 << 17, 1, 64, 500][usize::from(choice >> 2) % 4];
    split(&Cli::parse_from(words), Limits { block, ..options.limits })
}
