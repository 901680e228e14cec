//! Random traces.

use std::fmt::Write;

use datasets::Rng;

pub(crate) const HEADER: &str = "\
%EventDef PajeDefineContainerType 1\n% Name string\n% Type string\n%EndEventDef
%EventDef PajeCreateContainer 2\n% Time date\n% Name string\n% Alias string\n% Type string\n% Container string\n%EndEventDef
%EventDef PajeSetState 3\n% Time date\n% Type string\n% Container string\n% Value string\n%EndEventDef
%EventDef PajePushState 4\n% Time date\n% Type string\n% Container string\n% Value string\n%EndEventDef
%EventDef PajePopState 5\n% Time date\n% Type string\n% Container string\n%EndEventDef
%EventDef PajeSetVariable 6\n% Time date\n% Type string\n% Container string\n% Value double\n%EndEventDef
%EventDef PajeNewEvent 7\n% Time date\n% Type string\n% Container string\n% Value string\n%EndEventDef
%EventDef PajeStartLink 8\n% Time date\n% Type string\n% Container string\n% Value string\n% StartContainer string\n% Key string\n%EndEventDef
%EventDef PajeEndLink 9\n% Time date\n% Type string\n% Container string\n% Value string\n% EndContainer string\n% Key string\n%EndEventDef
%EventDef PajeDefineStateType 10\n% Name string\n% Type string\n%EndEventDef
%EventDef PajeDefineVariableType 11\n% Name string\n% Type string\n%EndEventDef
%EventDef PajeDefineEventType 12\n% Name string\n% Type string\n%EndEventDef
%EventDef PajeDefineLinkType 13\n% Name string\n% Type string\n% StartContainerType string\n% EndContainerType string\n%EndEventDef
1 Host 0
10 State Host
11 Load Host
12 Mark Host
13 Message 0 Host Host
";

/// A valid trace of so many events in a few containers, in bursts and pauses.
pub(crate) fn trace(seed: u64, events: u64) -> String {
    let mut random = Rng::new(seed + 1);
    let mut text = HEADER.to_owned();
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
                // It ends all that were pushed.
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
