//! Interface of a format: all that it has to say of a trace that goes by.

use paje_sim::{Annotations, ContainerId, Selected, Side, Trace, TypeId, ValueId};

/// Place where the rows of one type in one container are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Track {
    pub(crate) container: ContainerId,
    pub(crate) type_: TypeId,
    /// Number of the track in the format.
    pub(crate) number: u64,
}

/// A state, or the end of a link where there is none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slice<'f> {
    pub(crate) track: Track,
    /// The type that the value is of; the track's.
    pub(crate) value: ValueId,
    /// In nanoseconds.
    pub(crate) start: i64,
    /// Known when the slice ends.
    pub(crate) end: i64,
    /// The user-defined fields of the event that opened it, as [`Encoder::fields`] wrote them.
    pub(crate) opening: &'f [u8],
    /// Those of the event that closed it; known when the slice ends.
    pub(crate) closing: &'f [u8],
}

/// An end of a link, in a slice.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FlowEnd {
    /// Number of the link.
    pub(crate) link: u64,
    pub(crate) type_: TypeId,
    pub(crate) value: ValueId,
    /// The track of the slice, and a nanosecond at which it is the innermost one.
    pub(crate) track: Track,
    pub(crate) at: i64,
    /// True if the other end comes later.
    pub(crate) is_first: bool,
}

/// Containers that came up since so many were known, without the root, of those that are selected. All are known then.
pub(crate) fn new_containers<'t>(
    trace: &'t Trace,
    selected: &'t Selected,
    known: &mut usize,
) -> impl Iterator<Item = ContainerId> + use<'t> {
    let containers = trace.containers();
    let since = std::mem::replace(known, containers.len()).max(1);
    containers.ids().skip(since).filter(|id| selected.wants_container(*id))
}

/// Writes what comes in a format. Of one track, everything comes in order; tracks come in any order.
///
/// Definitions are seen by one thread; rows of several tracks are written by several.
pub(crate) trait Encoder: Sync {
    /// Times before this nanosecond have no place in the format.
    const EARLIEST: i64;
    /// True if a slice is written at its beginning and at its end, and not as a whole when it is over.
    const WRITES_BEGINNINGS: bool;
    /// Separator of two things that are written; all that is written begins with it.
    const SEPARATOR: &'static [u8] = b"";

    /// The beginning of the file.
    fn head(&mut self, _out: &mut Vec<u8>) {}

    /// Writes definitions that came up since: types, values, containers.
    fn define(&mut self, trace: &Trace, selected: &Selected, out: &mut Vec<u8>);

    /// A track that is to be written to for the first time; returns its number.
    fn track(
        &mut self,
        trace: &Trace,
        container: ContainerId,
        type_: TypeId,
        out: &mut Vec<u8>,
    ) -> u64;

    /// The number of a track that there is.
    fn known_track(&self, container: ContainerId, type_: TypeId) -> Option<u64>;

    /// The user-defined fields of one of the events of object `i`, to be written with a slice.
    fn fields(&self, all: &Annotations<'_>, i: usize, side: Side, out: &mut Vec<u8>);

    /// A slice begins: within those of the track that began and did not end.
    fn begin(&self, slice: &Slice<'_>, out: &mut Vec<u8>);

    /// The innermost slice of the track ends.
    fn end(&self, slice: &Slice<'_>, out: &mut Vec<u8>);

    /// A variable has another value; tells whether the format can say it.
    fn counter(&self, track: Track, at: i64, value: f64, fields: &[u8], out: &mut Vec<u8>) -> bool;

    /// Something happened.
    fn instant(&self, track: Track, at: i64, value: ValueId, fields: &[u8], out: &mut Vec<u8>);

    /// A link begins or ends in a slice.
    fn flow(&self, end: &FlowEnd, out: &mut Vec<u8>);

    /// The end of the file.
    fn finish(&mut self, _out: &mut Vec<u8>) {}
}
