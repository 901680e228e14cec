//! Refuses archives, in builds without the feature `otf2`.

use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::input::compression::Decoder;
use crate::input::segments::Segments;

/// Never exists.
#[derive(Debug)]
pub(in crate::input) enum OpenArchive {}

impl OpenArchive {
    pub(in crate::input) fn new(_: &Path) -> io::Result<Arc<OpenArchive>> {
        let why = "this is an OTF2 archive; reading it needs the feature `otf2` of the crate paje";
        Err(io::Error::new(io::ErrorKind::Unsupported, why))
    }

    pub(in crate::input) fn recover(&self) {
        match *self {}
    }

    pub(in crate::input) fn faults(&self) -> Vec<String> {
        match *self {}
    }

    pub(in crate::input) fn prepare(&self, _: usize) -> io::Result<()> {
        match *self {}
    }

    pub(in crate::input) fn segments(&self, _: usize) -> Option<Segments> {
        match *self {}
    }
}

pub(in crate::input) fn text(archive: &Arc<OpenArchive>) -> Decoder {
    match **archive {}
}

/// Returns whether an error says that an OTF2 archive is damaged or incomplete.
#[must_use]
pub fn is_damaged_archive(_: &io::Error) -> bool {
    false
}
