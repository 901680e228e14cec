//! Refuses packed traces, in builds without the feature `pack`.

use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use crate::input::compression::Decoder;
use crate::input::pieces::PiecesText;
use crate::input::segments::Segments;

/// Never exists.
#[derive(Debug)]
pub(in crate::input) enum PackWindow {}

impl PackWindow {
    pub(in crate::input) fn new(
        _: File,
        _: &Arc<AtomicU64>,
        _: f64,
        _: f64,
    ) -> Option<(PackWindow, Decoder)> {
        None
    }

    pub(in crate::input) fn text_bytes(&self) -> u64 {
        match *self {}
    }

    pub(in crate::input) fn segments(self, _: usize) -> Option<Segments> {
        match self {}
    }
}

pub(in crate::input) fn segments(_: File, _: &Arc<AtomicU64>, _: usize) -> Option<Segments> {
    None
}

pub(in crate::input) fn text(_: impl Read) -> io::Result<PiecesText> {
    let why = "reading packed traces needs the feature `pack` of the crate paje";
    Err(io::Error::new(io::ErrorKind::Unsupported, why))
}
