//! Interface of the streamed formats.

use paje_sim::{Annotations, ContainerId, Selected, Side, Trace, TypeId, ValueId};

/// Timeline of one type in one container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Track {
    pub(crate) container: ContainerId,
    pub(crate) type_: TypeId,
    /// Number of the track in the format.
    pub(crate) number: u64,
}

/// A state, or an empty slice that holds the end of a link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slice<'f> {
    pub(crate) track: Track,
    /// Value, of the track's type.
    pub(crate) value: ValueId,
    /// Start in nanoseconds.
    pub(crate) start: i64,
    /// End in nanoseconds, known when the slice ends.
    pub(crate) end: i64,
    /// User-defined fields of the opening event, encoded by [`Encoder::fields`].
    pub(crate) opening: &'f [u8],
    /// User-defined fields of the closing event, known when the slice ends.
    pub(crate) closing: &'f [u8],
}

/// An end of a link, in a slice.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FlowEnd {
    /// Number of the link.
    pub(crate) link: u64,
    pub(crate) type_: TypeId,
    pub(crate) value: ValueId,
    /// Track of the slice, and a time in nanoseconds at which the slice is the innermost one.
    pub(crate) track: Track,
    pub(crate) at: i64,
    /// Whether the other end comes later.
    pub(crate) is_first: bool,
}

/// Returns the selected containers beyond the first `known`, without the root, and updates `known`.
pub(crate) fn new_containers<'t>(
    trace: &'t Trace,
    selected: &'t Selected,
    known: &mut usize,
) -> impl Iterator<Item = ContainerId> + use<'t> {
    let containers = trace.containers();
    let since = std::mem::replace(known, containers.len()).max(1);
    containers.ids().skip(since).filter(|id| selected.wants_container(*id))
}

/// Encoder of a format. The rows of a track come in order; tracks come in any order.
///
/// One thread encodes definitions; several encode rows of different tracks.
pub(crate) trait Encoder: Sync {
    /// Earliest time in nanoseconds.
    const EARLIEST: i64;
    /// Whether the start and the end of a slice are written separately, and not the whole slice at its end.
    const WRITES_BEGINNINGS: bool;
    /// Separator with which each item begins.
    const SEPARATOR: &'static [u8] = b"";

    /// Appends the head of the file.
    fn head(&mut self, _out: &mut Vec<u8>) {}

    /// Appends new types, values and containers.
    fn define(&mut self, trace: &Trace, selected: &Selected, out: &mut Vec<u8>);

    /// Appends a new track. Returns its number.
    fn track(
        &mut self,
        trace: &Trace,
        container: ContainerId,
        type_: TypeId,
        out: &mut Vec<u8>,
    ) -> u64;

    /// Returns the number of a track, if there is one.
    fn known_track(&self, container: ContainerId, type_: TypeId) -> Option<u64>;

    /// Encodes the user-defined fields of one of the events of object `i`.
    fn fields(&self, all: &Annotations<'_>, i: usize, side: Side, out: &mut Vec<u8>);

    /// Appends the start of a slice, nested in those that are open.
    fn begin(&self, slice: &Slice<'_>, out: &mut Vec<u8>);

    /// Appends the end of the track's innermost slice.
    fn end(&self, slice: &Slice<'_>, out: &mut Vec<u8>);

    /// Appends a value of a variable. Returns whether the format has such a value.
    fn counter(&self, track: Track, at: i64, value: f64, fields: &[u8], out: &mut Vec<u8>) -> bool;

    /// Appends an event.
    fn instant(&self, track: Track, at: i64, value: ValueId, fields: &[u8], out: &mut Vec<u8>);

    /// Appends an end of a link.
    fn flow(&self, end: &FlowEnd, out: &mut Vec<u8>);

    /// Appends the end of the file.
    fn finish(&mut self, _out: &mut Vec<u8>) {}
}
