//! Finds links that SMPI wrote twice. If it traces the messages of collectives, it also writes each
//! message of a sending call a second time.

use rustc_hash::FxHashSet;

use super::Messages;
use crate::classes::Class;
use crate::tracks::Tracks;

impl Messages {
    /// Leaves out the second one of two equal links, if there is such a pair for each sending call.
    /// A call sends only one message.
    pub(super) fn drop_doubles(&mut self, tracks: &Tracks<'_>) {
        let of_track = |at: usize| {
            let classes = tracks.classes().of_type(tracks.list()[at].type_);
            let values = tracks.list()[at].value.iter();
            values.filter(|value| classes[value.index()] == Class::Send).count()
        };
        let calls: usize = (0..tracks.list().len()).map(of_track).sum();
        if calls == 0 || self.list.len() < 2 * calls {
            return;
        }
        let mut seen = FxHashSet::default();
        let is_first: Vec<bool> = self
            .list
            .iter()
            .map(|it| {
                let times = [it.start, it.end, it.bytes].map(f64::to_bits);
                // A third link begins another pair.
                seen.insert((it.from, it.to, times)) || !seen.remove(&(it.from, it.to, times))
            })
            .collect();
        let doubles = is_first.iter().filter(|is_first| !**is_first).count();
        if doubles >= calls {
            let mut is_first = is_first.into_iter();
            self.list.retain(|_| is_first.next() == Some(true));
            self.doubled = doubles as u64;
            self.find_states(tracks);
        }
    }
}
