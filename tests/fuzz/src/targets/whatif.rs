//! Tests re-timed runs. Without changes, all times stay the same. With changes, the written trace
//! is valid.

use paje_analysis::classes::Map;
use paje_export::paje::{self, Form};
use crate::team;
use paje_sim::{NameOrder, Options, Precision, Selection, Trace};
use paje_whatif::hypothesis::{Changes, Hypothesis};
use paje_whatif::{Changed, Graph, Plan, Settings};

/// A map in which a letter of a value determines its class, so that any trace has messages and
/// collectives.
const MAP: &str = "[classes]\n\"*[a-c]\" = \"send\"\n\"*[d-f]\" = \"recv\"\n\"*[g-i]\" = \"wait\"\n\"*[j-l]\" = \"nxn\"\n\
    \"*[m-o]\" = \"1xn\"\n\"*[p-r]\" = \"nx1\"\n\"*[s-u]\" = \"scan\"\n\"*[v-z]\" = \"barrier\"\n\"*\" = \"compute\"\n";

pub fn run(bytes: &[u8]) {
    let choice = bytes.last().copied().unwrap_or(0);
    let mut options = Options::default();
    (options.recover, options.user_defined) = (true, true);
    let Ok(trace) = Trace::read(bytes, &options) else { return };
    let mut settings = Settings::new(Map::parse("letters", MAP).expect("a map"));
    settings.reading.eager = (choice & 1 == 1).then_some(10);
    let graph = Graph::new(&trace, &settings);
    let same = graph.retime(&Plan::default(), true, true).expect("it is mended");
    for (track, (start, end)) in graph.tracks().list().iter().zip(same.start.iter().zip(&same.end)) {
        assert_eq!((&track.start, &track.end), (start, end));
    }
    let text = ["state=*,factor=0.5", "state=*,factor=3", "state=*a,factor=0"][choice as usize % 3];
    let Ok(hypothesis) = Hypothesis::parse("scale", text) else { return };
    let hypotheses = [hypothesis];
    let changes = Changes { hypotheses: &hypotheses, network: None, random: None };
    let Ok(applied) = changes.apply(&graph) else { return };
    let Ok(run) = graph.retime(&applied.plan, true, true) else { return };
    let mut out = Vec::new();
    let selected = trace.select(&Selection::default());
    let changed = Changed::new(&graph, &applied.plan, &run);
    let form = Form { order: NameOrder::Bare, precision: Precision::Double };
    paje::write(&trace, &selected, form, &changed, team(), &mut out).expect("memory");
}
