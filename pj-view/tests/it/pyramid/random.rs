use std::fmt::Write;

use datasets::Rng;

pub(crate) fn header() -> String {
    let row = "Time:date Type Container Value";
    let definitions = testkit::definitions([
        ("1", "DefineContainerType", "Name Type"),
        ("2", "CreateContainer", "Time:date Name Alias Type Container"),
        ("3", "SetState", row),
        ("4", "PushState", row),
        ("5", "PopState", "Time:date Type Container"),
        ("6", "SetVariable", "Time:date Type Container Value:double"),
        ("7", "NewEvent", row),
        ("8", "StartLink", "Time:date Type Container Value StartContainer Key"),
        ("9", "EndLink", "Time:date Type Container Value EndContainer Key"),
        ("10", "DefineStateType", "Name Type"),
        ("11", "DefineVariableType", "Name Type"),
        ("12", "DefineEventType", "Name Type"),
        ("13", "DefineLinkType", "Name Type StartContainerType EndContainerType"),
    ]);
    definitions + "1 Host 0\n10 State Host\n11 Load Host\n12 Mark Host\n13 Message 0 Host Host\n"
}

/// Returns a valid trace with bursts and pauses in a few containers.
pub(crate) fn trace(seed: u64, events: u64) -> String {
    let mut random = Rng::new(seed + 1);
    let mut text = header();
    let containers = 1 + random.below(3);
    let digits = random.below(7) as usize + 3;
    let mut time = random.below(1000) as f64 * if seed % 4 == 1 { 1.6e6 } else { 0.01 };
    for i in 0..containers {
        let _ = writeln!(text, "2 {time:.digits$} c{i} c{i} Host 0");
    }
    let mut depth = vec![0; containers as usize];
    let (mut key, mut open) = (0u64, Vec::new());
    for _ in 0..events {
        time += match random.below(400) {
            0 => random.below(1_000_000) as f64 * 1e-4,
            1..100 => 0.0,
            _ => random.below(1000) as f64 * 1e-5,
        };
        let c = random.below(containers);
        let value = random.below(5);
        let line = match random.below(10) {
            0..3 => {
                // PajeSetState ends all pushed states.
                depth[c as usize] = 1;
                format!("3 {time:.digits$} State c{c} v{value}")
            }
            3 if depth[c as usize] < 4 => {
                depth[c as usize] += 1;
                format!("4 {time:.digits$} State c{c} v{value}")
            }
            4 | 5 if depth[c as usize] > 0 => {
                depth[c as usize] -= 1;
                format!("5 {time:.digits$} State c{c}")
            }
            6 => {
                format!("6 {time:.digits$} Load c{c} {}", random.below(1000) as f64 * 0.25 - 100.0)
            }
            7 => format!("7 {time:.digits$} Mark c{c} e{value}"),
            8 => {
                key += 1;
                open.push(key);
                format!("8 {time:.digits$} Message 0 m c{c} k{key}")
            }
            9 if !open.is_empty() => {
                let ended = open.swap_remove(random.below(open.len() as u64) as usize);
                format!("9 {time:.digits$} Message 0 m c{c} k{ended}")
            }
            _ => format!("6 {time:.digits$} Load c{c} {value}"),
        };
        let _ = writeln!(text, "{line}");
    }
    for key in open {
        let _ = writeln!(text, "9 {time:.digits$} Message 0 m c0 k{key}");
    }
    text
}
