//! Interface of the formats that can be written while the trace is read.

use paje_sim::{Annotations, ContainerId, Selected, Side, Trace, TypeId, ValueId};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Track {
    pub(crate) container: ContainerId,
    pub(crate) type_: TypeId,
    pub(crate) number: u64,
}

/// A state, or an empty slice that holds the end of a link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slice<'f> {
    pub(crate) track: Track,
    pub(crate) value: ValueId,
    pub(crate) start: i64,
    /// End in nanoseconds. It is known once the slice ends.
    pub(crate) end: i64,
    /// User-defined fields of the opening event, encoded by [`Encoder::fields`].
    pub(crate) opening: &'f [u8],
    /// User-defined fields of the closing event. They are known only when the slice ends.
    pub(crate) closing: &'f [u8],
}

/// One end of a link, which attaches to a slice.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FlowEnd {
    pub(crate) link: u64,
    pub(crate) type_: TypeId,
    pub(crate) value: ValueId,
    pub(crate) track: Track,
    /// Time in nanoseconds at which this slice is the innermost one of its track.
    pub(crate) at: i64,
    /// Whether this is the earlier end of the link.
    pub(crate) is_first: bool,
}

/// Returns the selected containers that follow the first `known` ones, and updates `known`. Skips
/// the root.
pub(crate) fn new_containers<'t>(
    trace: &'t Trace,
    selected: &'t Selected,
    known: &mut usize,
) -> impl Iterator<Item = ContainerId> + use<'t> {
    let containers = trace.containers();
    let since = std::mem::replace(known, containers.len()).max(1);
    containers.ids().skip(since).filter(|id| selected.wants_container(*id))
}

/// Encoder of a format. It gets the rows of a track in order, but the tracks in any order.
///
/// One thread encodes definitions, and several threads encode rows of different tracks.
pub(crate) trait Encoder: Sync {
    /// Earliest time that the format can represent, in nanoseconds.
    const EARLIEST: i64;
    /// Whether the start and the end of a slice are written separately. If false, the whole slice
    /// is written when it ends.
    const WRITES_BEGINNINGS: bool;
    const SEPARATOR: &'static [u8] = b"";

    fn head(&mut self, _out: &mut Vec<u8>) {}

    fn define(&mut self, trace: &Trace, selected: &Selected, out: &mut Vec<u8>);

    /// Appends a track if it is new. Returns its number.
    fn track(
        &mut self,
        trace: &Trace,
        container: ContainerId,
        type_: TypeId,
        out: &mut Vec<u8>,
    ) -> u64;

    fn known_track(&self, container: ContainerId, type_: TypeId) -> Option<u64>;

    fn fields(&self, all: &Annotations<'_>, i: usize, side: Side, out: &mut Vec<u8>);

    /// Appends the start of a slice, which is nested in the open slices.
    fn begin(&self, slice: &Slice<'_>, out: &mut Vec<u8>);

    fn end(&self, slice: &Slice<'_>, out: &mut Vec<u8>);

    /// Appends a value of a variable. Returns false if the format cannot represent it.
    fn counter(&self, track: Track, at: i64, value: f64, fields: &[u8], out: &mut Vec<u8>) -> bool;

    fn instant(&self, track: Track, at: i64, value: ValueId, fields: &[u8], out: &mut Vec<u8>);

    fn flow(&self, end: &FlowEnd, out: &mut Vec<u8>);

    fn finish(&mut self, _out: &mut Vec<u8>) {}
}
