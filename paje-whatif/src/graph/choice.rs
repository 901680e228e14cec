//! Chooses between assumptions about a simulated run.
//!
//! The messages of a simulation follow a network exactly. So if the record leaves an assumption open, the right one is the
//! one with which a network explains the transfers.

use std::sync::Arc;

use paje_comm::{Hosts, Run};

use super::Graph;
use crate::fit::{EXACT_MISFIT, misfit_of_network};
use crate::measure::{Assumptions, Transfer, measure};
use crate::settings::{EagerStart, Settings};

/// Numbers of ranks per host that are tried.
const RANKS_PER_HOST: [u32; 5] = [2, 3, 4, 6, 8];

/// Returns the run and the settings with the best assumptions, and what they show.
pub(super) fn choose<'t>(
    run: Run<'t>,
    chosen: &Settings,
) -> (Run<'t>, Settings, (Vec<Transfer>, Assumptions)) {
    let (mut settings, mut measured) = (chosen.clone(), measure(&run, chosen));
    if !run.facts.is_simulated() {
        return (run, settings, measured);
    }
    let mut shared = Arc::new(run);
    let misfit = |run: &Arc<Run<'t>>, settings: &Settings| {
        misfit_of_network(&Graph::with(run.clone(), settings, measure(run, settings)))
    };
    // Where messages share links, waits may contradict one another.
    if measured.1.votes.is_some_and(|(sent, posted)| sent > 0 && posted > 0) {
        let of = |start| Settings { eager_start: Some(start), ..chosen.clone() };
        let [sent, posted] =
            [EagerStart::Sent, EagerStart::Posted].map(|it| misfit(&shared, &of(it)));
        if sent != posted {
            settings = of(if posted < sent { EagerStart::Posted } else { EagerStart::Sent });
        }
    }
    // The defaults of SMPI may be wrong if no network explains the messages with them.
    let is_open = measured.1.votes == Some((0, 0));
    let own = |settings: &Settings| Settings { table: None, ..settings.clone() };
    let is_hosts_open = !shared.facts.hosts.is_known() && !chosen.is_identity && !chosen.is_ideal;
    let first = match is_open || is_hosts_open {
        true => misfit(&shared, &own(&settings)),
        false => 0.0,
    };
    if first.is_finite() && first >= EXACT_MISFIT {
        let sent = Settings { eager_start: Some(EagerStart::Sent), ..own(&settings) };
        if is_open && misfit(&shared, &sent) < EXACT_MISFIT {
            settings = Settings { table: settings.table, ..sent };
        } else if is_hosts_open {
            let ranks = shared.steps.len() as u32;
            let with = |per| {
                let mut run = Run::clone(&shared);
                run.facts.hosts = Hosts::blocks(ranks, per);
                Arc::new(run)
            };
            let all = RANKS_PER_HOST.into_iter().filter(|per| *per < ranks).map(with);
            let mut all = all.map(|run| (misfit(&run, &own(&settings)), run));
            // A few transfers may agree by chance.
            let limit = EXACT_MISFIT.min(0.1 * first);
            if let Some((_, found)) = all.find(|(misfit, _)| *misfit < limit) {
                shared = found;
                measured = measure(&shared, &settings);
            }
        }
    }
    // Upper bounds can show that messages within a host are too fast to use its links. They cannot show
    // that these messages use the links.
    if measured.1.is_local_linked == Some(true) && settings.is_local_linked.is_none() {
        let of = |is_linked| Settings { is_local_linked: Some(is_linked), ..settings.clone() };
        let [linked, apart] = [true, false].map(|it| misfit(&shared, &of(it)));
        if apart < 0.5 * linked {
            settings = of(false);
        }
    }
    let key = |it: &Settings| (it.eager_start, it.is_local_linked);
    if key(&settings) != key(chosen) {
        let votes = measured.1.votes;
        measured = measure(&shared, &settings);
        measured.1.votes = votes;
    }
    (Arc::unwrap_or_clone(shared), settings, measured)
}
