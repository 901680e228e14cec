//! Tests that hazards do not depend on the number of workers, and that no trace causes a panic.

use paje_analysis::classes::Map;
use crate::team;
use pj_hazards::barriers::{Barrier, barriers};
use pj_hazards::deadlock::{self, deadlock};
use pj_hazards::model::{Model, Options};
use pj_hazards::orders::{Stage, groups, stages};
use pj_hazards::races::{Races, races};
use paje_sim::{Progress, Source, Trace};
use paje_workers::Workers;

/// Maximum number of races to list, and of sets of messages to examine.
const LIMIT: usize = 1000;

pub fn run(bytes: &[u8]) {
    let made;
    let text = match bytes.starts_with(b"%") {
        true => bytes,
        false => {
            made = crate::structured(bytes);
            &made
        }
    };
    let one = found(text, &Workers::one());
    let three = found(text, team());
    assert_eq!(one, three);
    if let Some((races, ..)) = one {
        assert_eq!(races.list.len() as u128, races.count.min(LIMIT as u128));
    }
}

type Found = (Races, Vec<Stage>, String, Vec<Barrier>);

fn found(text: &[u8], workers: &Workers) -> Option<Found> {
    let (source, progress) = (Source::stream(text), Progress::default());
    let mut options = paje_sim::Options::default();
    options.ignore_incomplete_links = true;
    let trace = Trace::read_with(source, &options, workers, &progress).ok()?;
    Some(workers.run(|| {
        let model = Model::new(&trace, &Map::of_trace(&trace), &Options::default());
        let order = model.order();
        for group in groups(&model, &order) {
            if let Some(poset) = group.poset {
                let _ = poset.late();
                let _ = poset.pairs(LIMIT);
            }
        }
        let options = deadlock::Options { limit: LIMIT, ..deadlock::Options::default() };
        let stopped = format!("{:?}", deadlock(&model, &order, &options));
        let mut driven = model.clone();
        driven.is_driven = true;
        let counted = [stages(&model, &order, LIMIT), stages(&driven, &order, LIMIT)].concat();
        (races(&model, &order, LIMIT), counted, stopped, barriers(&model, &order))
    }))
}
