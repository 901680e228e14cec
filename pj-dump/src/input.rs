//! Where the trace comes from.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The trace to read, opened.
pub struct Input {
    name: PathBuf,
    reader: Box<dyn Read + Send>,
}

/// What compressed files begin with.
const COMPRESSED: [(&[u8], &str, &str); 4] = [
    (b"\x1f\x8b", "gzip", "zcat"),
    (b"\x28\xb5\x2f\xfd", "zstd", "zstdcat"),
    (b"\xfd7zXZ\0", "xz", "xzcat"),
    (b"BZh", "bzip2", "bzcat"),
];

impl Input {
    /// Opens a file, or standard input for none and for `-`.
    ///
    /// # Errors
    /// The file cannot be opened or read, or it is compressed.
    pub fn open(path: Option<&Path>) -> io::Result<Input> {
        let (name, mut reader): (_, Box<dyn Read + Send>) =
            match path.filter(|path| *path != Path::new("-")) {
                Some(path) => (path.to_owned(), Box::new(File::open(path)?)),
                None => ("<stdin>".into(), Box::new(io::stdin())),
            };
        let mut head = Vec::new();
        reader.by_ref().take(6).read_to_end(&mut head)?;
        if let Some((_, kind, program)) =
            COMPRESSED.iter().find(|(magic, ..)| head.starts_with(magic))
        {
            let message = format!(
                "compressed ({kind}); decompress it first, as in `{program} FILE | pj_dump`"
            );
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        let reader = Box::new(io::Cursor::new(head).chain(reader));
        Ok(Input { name, reader })
    }

    /// What messages call it.
    #[must_use]
    pub fn name(&self) -> &Path {
        &self.name
    }
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.reader.read(buffer)
    }
}
