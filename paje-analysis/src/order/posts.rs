//! Steps in which receives are posted.

use paje_comm::Facts;
use paje_comm::classes::Class;

use super::{Order, Step};

/// Returns, for each message, the first step that begins after its receive is posted. A message
/// without such a step does not block its sender.
#[must_use]
pub fn posts(facts: &Facts<'_>, order: &Order) -> Vec<Option<Step>> {
    let mut posted = vec![None; facts.messages.list().len()];
    for (at, track) in facts.tracks.list().iter().enumerate() {
        for it in paje_comm::received(facts, at) {
            let message = it.message as usize;
            let Some((post, recv)) = it.post().zip(it.recv()) else { continue };
            posted[message] = match facts.tracks.class(at, recv) {
                Class::Wait if post == recv => None,
                Class::Wait => order.at(at, track.start[post]),
                _ => Some(order.recv(message)),
            };
        }
    }
    posted
}
