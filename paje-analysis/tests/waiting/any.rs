//! Tests arbitrary traces with a meaningless map. The sums must agree nevertheless.

use datasets::{Shape, generate};
use paje_analysis::Seconds;
use paje_analysis::classes::Map;
use paje_analysis::critical::CriticalPath;
use paje_analysis::waits::{Options, Waits};
use paje_sim::Trace;

/// The last letter of a value determines its class.
const MAP: &str = "\
[classes]
\"*[a-c]\" = \"send\"
\"*[d-f]\" = \"recv\"
\"*[g-i]\" = \"wait\"
\"*[j-l]\" = \"nxn\"
\"*[m-o]\" = \"1xn\"
\"*[p-r]\" = \"nx1\"
\"*[s-u]\" = \"scan\"
\"*[v-z]\" = \"barrier\"
\"*[02468]\" = \"sendrecv\"
\"*\" = \"compute\"
";

fn check(name: &str, bytes: &[u8]) -> usize {
    let mut replay = paje_sim::Options::default();
    replay.recover = true;
    replay.user_defined = true;
    let Ok(trace) = Trace::read(bytes, &replay) else { return 0 };
    let map = Map::parse("letters", MAP).expect("a map");
    let waits = Waits::new(&trace, &map, &Options { eager: Some(0), ..Options::default() });
    let Some(path) = CriticalPath::new(&waits) else { return 0 };
    let (begin, end) = waits.whole();
    assert_eq!(path.length((begin, end)), Seconds::between(begin, end), "{name}");
    let on_path: Seconds = path.by_activity(&waits, (begin, end)).iter().map(|r| r.seconds).sum();
    assert_eq!(on_path, Seconds::between(begin, end), "{name}");
    assert!(path.imbalance(&waits, (begin, end)).iter().all(|row| row.cost >= row.imbalance));
    for wait in waits.iter() {
        let track = &waits.facts.tracks.list()[wait.waiter as usize];
        let state = wait.state as usize;
        let within = track.start[state] <= wait.from && wait.until <= track.end[state];
        assert!(within && wait.from < wait.until, "{name}: {wait:?}");
    }
    let costs = waits.costs((begin, end));
    let direct = costs.iter().map(|cost| cost.direct).sum::<Seconds>().to_f64();
    let delay: f64 = costs.iter().map(|cost| cost.delay).sum();
    assert!((direct - delay).abs() <= 1e-6 * direct, "{name}: {direct} {delay}");
    waits.iter().count()
}

#[test]
fn sums_agree_for_arbitrary_traces() {
    let mut waits = 0;
    for seed in 0..300 {
        waits += check(&format!("seed {seed}"), &datasets::random::trace(seed).bytes);
    }
    for shape in Shape::ALL {
        for seed in 0..3 {
            waits += check(&format!("{shape} {seed}"), &generate(shape, 40_000, seed));
        }
    }
    assert!(waits > 1000, "{waits}");
}
