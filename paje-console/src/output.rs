//! Standard output that reports every failure.
//!
//! If standard output is closed when the program starts (`>&-`), Rust's runtime opens `/dev/null`
//! instead, and [`io::Stdout`] ignores a bad descriptor. In both cases, rows would be lost
//! silently. So this module makes a closed standard output unwritable before the runtime starts.
//! Programs write to [`standard_output`].

use std::fs::{self, File, Metadata};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::termios::tcgetwinsize;

use crate::Failure;
use crate::aside::write_with;

/// Returns the width of a terminal in columns; of another file, the value of `COLUMNS`, if set.
pub fn columns(out: &(impl IsTerminal + AsFd)) -> Option<usize> {
    if out.is_terminal() {
        return Some(tcgetwinsize(out).map_or(80, |size| usize::from(size.ws_col)));
    }
    std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok())
}

/// Returns standard output without a buffer. If it was closed when the program started, writing
/// fails.
///
/// # Errors
/// The process cannot open another file.
pub fn standard_output() -> io::Result<File> {
    Ok(File::from(io::stdout().as_fd().try_clone_to_owned()?))
}

/// Refuses outputs that are also inputs, even under another path. An input `-` is standard input.
///
/// # Errors
/// Names the first such output.
pub fn refuse_inputs<'p>(
    inputs: &[impl AsRef<Path>],
    outputs: impl IntoIterator<Item = &'p Path>,
) -> Result<(), Failure> {
    let file = |metadata: Metadata| metadata.is_file().then(|| (metadata.dev(), metadata.ino()));
    let standard = || io::stdin().as_fd().try_clone_to_owned().map(File::from)?.metadata();
    let input = |path: &Path| match path == Path::new("-") {
        true => standard().ok().and_then(file),
        false => fs::metadata(path).ok().and_then(file),
    };
    let inputs: Vec<_> = match inputs {
        [] => input(Path::new("-")).into_iter().collect(),
        some => some.iter().filter_map(|path| input(path.as_ref())).collect(),
    };
    for output in outputs {
        if fs::metadata(output).ok().and_then(file).is_some_and(|file| inputs.contains(&file)) {
            let why = "is also the input; write to another file";
            return Err(Failure::Unsuitable(output.to_owned(), why.into()));
        }
    }
    Ok(())
}

/// Calls `write` with a buffer in front of `file`.
pub fn buffered(
    file: &File,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut out = BufWriter::new(file);
    let written = write(&mut out).and_then(|()| out.flush());
    if written.is_err() {
        // Taking the writer apart prevents it from writing the buffer again when it is dropped.
        let _ = out.into_parts();
    }
    written
}

/// Calls `write` with standard output.
///
/// # Errors
/// Standard output cannot be written, or its [pipe was closed](Failure::is_closed_pipe), which ends
/// a program silently.
pub fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    standard_output().and_then(|out| buffered(&out, write)).map_err(Failure::Output)
}

/// Calls `write` with the file at `path`, which appears when it is complete. Without a path, calls
/// it with standard output.
pub fn write_to(
    path: Option<&Path>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    match path {
        Some(path) => {
            write_with(path, write).map_err(|error| Failure::File(path.to_owned(), error))
        }
        None => print(write),
    }
}

#[cfg(target_os = "linux")]
mod before_main {
    use std::os::fd::{AsRawFd, IntoRawFd};

    use rustix::fs::{Mode, OFlags, open};
    use rustix::io::{Errno, fcntl_getfd};
    use rustix::stdio::{dup2_stdout, stdout};

    // SAFETY: the loader calls the functions of this section once, on the only thread, before
    // Rust's runtime starts. This function takes no arguments, does not unwind, and makes only a
    // few system calls, which need neither the runtime nor memory. If the descriptor is closed,
    // these calls merely fail.
    #[allow(unsafe_code)]
    #[used]
    #[unsafe(link_section = ".init_array")]
    static AT_START: extern "C" fn() = keep_unwritable;

    /// If standard output is closed, opens it as read-only, so that writing to it still fails.
    extern "C" fn keep_unwritable() {
        if fcntl_getfd(stdout()) != Err(Errno::BADF) {
            return;
        }
        let Ok(null) = open(c"/dev/null", OFlags::RDONLY, Mode::empty()) else { return };
        if null.as_raw_fd() == stdout().as_raw_fd() {
            // The descriptor has the right number, so it stays open.
            let _ = null.into_raw_fd();
        } else {
            let _ = dup2_stdout(null);
        }
    }
}
