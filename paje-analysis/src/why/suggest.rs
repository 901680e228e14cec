//! Options of `pj_whatif` that predict a run without a cause.

use super::measures::{Measures, Rank};
use crate::waits::rest::Rest;

/// Returns the options of `pj_whatif` with which a rank computes faster, if its name needs no
/// quotes within them.
pub(super) fn faster(name: &str, factor: f64) -> Option<String> {
    let is_plain = |c: char| c.is_alphanumeric() || "-_.:/ #@+".contains(c);
    let option = format!("container={name},factor={factor:.2}");
    let option = if name.contains([' ', '#']) { format!("'{option}'") } else { option };
    name.chars().all(is_plain).then(|| format!("--cpu {option}"))
}

impl Measures<'_, '_> {
    /// Returns the options of `pj_whatif` with which all ranks compute equally long, or the only rank
    /// that has the state computes as long as the mean.
    pub(super) fn even_computing(&self, mean: f64) -> Option<String> {
        let tracks = &self.waits.facts.tracks;
        let (type_, value) = self.calls_of(Rest::Computing).into_iter().next()?;
        let name = tracks.trace().types().value_name(type_, value).to_string();
        let has_state = |rank: &&Rank| {
            let track = &tracks.list()[rank.track as usize];
            track.type_ == type_ && track.value.contains(&value)
        };
        let having: Vec<&Rank> = self.ranks.iter().filter(has_state).take(2).collect();
        let is_plain = name.chars().all(|c| c.is_alphanumeric() || "-_.:".contains(c));
        match having[..] {
            [rank] => {
                let computing = rank.rest[Rest::Computing as usize].to_f64();
                faster(&self.name(rank.track), mean / computing)
            }
            _ => is_plain.then(|| format!("--balance state={name},mode=global-instance")),
        }
    }
}
