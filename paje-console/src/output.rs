//! Standard output that reports every failure.
//!
//! If standard output is closed when the program starts (`>&-`), Rust's runtime opens `/dev/null`
//! instead, and [`io::Stdout`] ignores a bad descriptor. In both cases rows would be lost silently.
//! So this module makes a closed standard output unwritable before the runtime starts, and programs
//! write to [`standard_output`].

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::fd::AsFd;
use std::path::Path;

use crate::Failure;
use crate::aside::write_with;

/// Returns standard output without a buffer. If it was closed when the program started, writing
/// fails.
///
/// # Errors
/// The process cannot open another file.
pub fn standard_output() -> io::Result<File> {
    Ok(File::from(io::stdout().as_fd().try_clone_to_owned()?))
}

/// Calls `write` with a buffer in front of `file`.
pub fn buffered(
    file: &File,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut out = BufWriter::new(file);
    let written = write(&mut out).and_then(|()| out.flush());
    if written.is_err() {
        // Otherwise, dropping the writer would write the buffer again.
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

/// Runs `write` on the file at `path`, which appears when it is complete. Without a path, runs it
/// on standard output.
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
    // Rust's runtime starts. This one takes no arguments, does not unwind, and makes only a few
    // system calls, for which it needs neither the runtime nor memory. On a closed descriptor they
    // merely fail.
    #[allow(unsafe_code)]
    #[used]
    #[unsafe(link_section = ".init_array")]
    static AT_START: extern "C" fn() = keep_unwritable;

    /// Opens a closed standard output as read-only, so that writing to it still fails.
    extern "C" fn keep_unwritable() {
        if fcntl_getfd(stdout()) != Err(Errno::BADF) {
            return;
        }
        let Ok(null) = open(c"/dev/null", OFlags::RDONLY, Mode::empty()) else { return };
        if null.as_raw_fd() == stdout().as_raw_fd() {
            // The descriptor has the right number, so keep it open.
            let _ = null.into_raw_fd();
        } else {
            let _ = dup2_stdout(null);
        }
    }
}
