//! Where a report goes: standard output, or a file that appears when it is complete.

use std::fs::{self, File, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use console::Failure;
use console::output::standard_output;

/// Writes to the file at a path, or to standard output. That who reads it has seen enough is no failure.
pub(super) fn write(
    path: Option<&Path>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    let Some(path) = path else {
        let out = standard_output().map_err(Failure::Output)?;
        return through(out, write).map_err(Failure::Output);
    };
    let failed = |error| Failure::File(path.to_owned(), error);
    let is_special = fs::metadata(path).is_ok_and(|metadata| !metadata.is_file());
    if is_special {
        // A pipe or a device, which cannot be replaced.
        let out = File::options().write(true).open(path).map_err(failed)?;
        return through(out, write).map_err(failed);
    }
    beside(path, write).map_err(failed)
}

fn through(file: File, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::new(file);
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) => {
            // What is still buffered would fail again.
            let _ = out.into_parts();
            Err(error)
        }
        written => written,
    }
}

/// Writes a file that then takes the place of the one that is there.
fn beside(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    // A link stays, and what it leads to is written.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = path.parent().filter(|folder| *folder != Path::new(""));
    let old = fs::metadata(&path).ok().map(|metadata| metadata.permissions());
    // What is new is for whom the process's mask says.
    let permissions = old.unwrap_or_else(|| Permissions::from_mode(0o666));
    let mut file = tempfile::Builder::new()
        .prefix(".pj_profile")
        .permissions(permissions)
        .tempfile_in(folder.unwrap_or(Path::new(".")))?;
    through(file.as_file_mut().try_clone()?, write)?;
    file.as_file().sync_all()?;
    file.persist(&path)?;
    Ok(())
}
