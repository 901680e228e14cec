//! Standard output that tells when it fails.
//!
//! Of a standard output that was closed when the program started (`>&-`), Rust's runtime makes `/dev/null`,
//! which looks like one that was asked for; and what [`io::Stdout`] cannot write to a bad descriptor it
//! takes for written. So rows would be lost without a word. What is closed is therefore made
//! unwritable before the runtime looks, and programs write to the file below instead.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::fd::AsFd;
use std::path::Path;

use crate::Failure;
use crate::aside::write_with;

/// Standard output, without a buffer. If it was closed when the program started, writing to it fails.
///
/// # Errors
/// The process has no room for another file.
pub fn standard_output() -> io::Result<File> {
    Ok(File::from(io::stdout().as_fd().try_clone_to_owned()?))
}

/// Writes to a file what `write` writes, through a buffer.
///
/// # Errors
/// Those of `write`, and of the file.
pub fn buffered(
    file: &File,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut out = BufWriter::new(file);
    let written = write(&mut out).and_then(|()| out.flush());
    if written.is_err() {
        // Bytes still buffered would fail again.
        let _ = out.into_parts();
    }
    written
}

/// Prints what `write` writes to standard output.
///
/// # Errors
/// It cannot be written. A [closed pipe](Failure::is_closed_pipe) is among these, and ends a program without a word.
pub fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    standard_output().and_then(|out| buffered(&out, write)).map_err(Failure::Output)
}

/// Writes to the file at `path`, which appears when it is complete, or to standard output without a path.
///
/// # Errors
/// It cannot be written.
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

    // SAFETY: the loader calls what stands in this section once, in the only thread, before Rust's runtime
    // begins. The function takes no arguments, does not unwind, and needs neither the runtime nor memory:
    // it makes a few system calls. On a descriptor that is closed they only fail.
    #[allow(unsafe_code)]
    #[used]
    #[unsafe(link_section = ".init_array")]
    static AT_START: extern "C" fn() = keep_unwritable;

    /// Opens a standard output that is closed for reading only, so that writing to it goes on to fail.
    extern "C" fn keep_unwritable() {
        if fcntl_getfd(stdout()) != Err(Errno::BADF) {
            return;
        }
        let Ok(null) = open(c"/dev/null", OFlags::RDONLY, Mode::empty()) else { return };
        if null.as_raw_fd() == stdout().as_raw_fd() {
            // It is where it should be, and stays open.
            let _ = null.into_raw_fd();
        } else {
            let _ = dup2_stdout(null);
        }
    }
}
