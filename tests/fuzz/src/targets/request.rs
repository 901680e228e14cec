//! Tests that `pj_view` answers only requests with its token, and that a request's head may arrive
//! in any pieces.

#[path = "../../../../pj-view/tests/it/heads.rs"]
mod heads;

pub fn run(bytes: &[u8]) {
    heads::check(bytes);
}
