//! Steps in which receives are posted.

use super::{Order, Step};
use crate::classes::Class;
use crate::messages::Messages;
use crate::tracks::Tracks;

/// For each message, returns the first step that begins after its receive is posted.
///
/// A receiving call posts its own receive. If a waiting call completes a receive, an earlier
/// receiving call that received nothing has posted it. Traces do not record which call this was, so
/// the earliest remaining one is taken. If none remains, the sender is not blocked.
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
