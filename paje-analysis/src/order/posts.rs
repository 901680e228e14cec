//! Steps at which receives were posted.

use super::{Order, Step};
use crate::classes::Class;
use crate::messages::Messages;
use crate::tracks::Tracks;

/// By message, the step that begins when or after its receive was posted: at the latest, its sender is then free.
///
/// A receiving call posts what it receives. What a waiting call completes was posted by a receiving call before it
/// that received nothing itself; as traces do not say which, by the first that is left. If none is left, there is no
/// step: nobody is kept back.
#[must_use]
pub fn posts(tracks: &Tracks<'_>, messages: &Messages, order: &Order) -> Vec<Option<Step>> {
    let list = messages.list();
    let mut posted = vec![None; list.len()];
    for (at, track) in tracks.list().iter().enumerate() {
        let received = messages.received(at);
        let mut receives = vec![false; track.len()];
        for message in received {
            if let Some(state) = list[*message as usize].recv() {
                receives[state] = true;
            }
        }
        let begun = (0..track.len())
            .filter(|state| tracks.class(at, *state) == Class::Recv && !receives[*state]);
        let mut begun = begun.peekable();
        for message in received {
            let message = *message as usize;
            let Some(state) = list[message].recv() else { continue };
            if tracks.class(at, state) != Class::Wait {
                posted[message] = Some(order.recv(message));
            } else if let Some(call) = begun.next_if(|call| *call < state) {
                posted[message] = order.at(at, track.start[call]);
            }
        }
    }
    posted
}
