//! Special cases of the replay that no message describes.

use pj_validate::{Options, Report, check};

use crate::world::{SOUND, trace};

fn report(lines: &str) -> Report {
    check(trace(lines).as_bytes(), &Options::default()).unwrap()
}

fn errors(lines: &str) -> Vec<&'static str> {
    let report = report(lines);
    let errors = report.findings.iter();
    let errors = errors.filter(|finding| finding.severity == pj_validate::Severity::Error);
    errors.map(|finding| finding.code()).collect()
}

#[test]
fn objects_are_counted_as_a_dump_prints_them() {
    let summary = report(SOUND).summary;
    assert_eq!(summary.containers.len(), 4);
    assert_eq!(summary.types.len(), 7);
    let counts = [summary.states, summary.variables, summary.events, summary.links, summary.values];
    assert_eq!(counts, [3, 3, 1, 1, 4]);
    assert_eq!(summary.times, Some((0.0, 5.0)));
    let objects: Vec<u64> = summary.types.iter().map(|type_| type_.objects).collect();
    assert_eq!(objects, [0, 1, 2, 3, 3, 1, 1]);
}

#[test]
fn a_change_at_the_same_time_replaces() {
    assert_eq!(
        report("14 1 Load p 1\n14 1 Load p 2\n15 1 Load p 3\n14 2 Load p 1\n").summary.variables,
        2
    );
}

#[test]
fn lanes_do_not_order_one_another() {
    assert_eq!(errors("10 5 State p w\n10 1 State q w\n14 0 Load p 1\n9 3 Mark p m\n"), [""; 0]);
}

#[test]
fn destruction_compares_with_the_last_event_in_file_order() {
    // The last event in the file counts, even if another one has a later time, as in PajeNG 1.3.6.
    assert_eq!(errors("10 5 State p w\n14 3 Load p 1\n8 4 Process p\n"), [""; 0]);
    assert_eq!(
        errors("17 5 Message h d p k\n18 5 Message h d q k\n8 4 Host h\n"),
        ["destroyed-too-early"]
    );
    // The creation and the children do not count as events.
    assert_eq!(errors("7 9 r Process h\n10 9 State r w\n8 1 Host h\n"), [""; 0]);
}

#[test]
fn children_end_with_their_ancestors() {
    // This includes children created after the container's end.
    let lines = "0 Thread Process\n2 Mode Thread\n8 1 Process p\n7 2 t Thread p\n10 3 Mode t a\n8 5 Host h\n10 2 Mode t b\n";
    let report = report(lines);
    assert!(report.is_valid());
    let ignored = report.findings.iter().find(|finding| finding.code() == "after-destroy").unwrap();
    assert_eq!(ignored.count, 1);
    // A child created after its ancestors have ended stays alive.
    assert_eq!(
        errors("8 1 Host h\n7 2 r Process h\n10 3 State r w\n10 2 State r w\n"),
        ["not-time-ordered"]
    );
    // The root can be destroyed, together with everything in it.
    assert_eq!(errors("8 1 0 0\n12 2 State p\n7 3 r Process p\n"), ["not-child-type"]);
}

#[test]
fn a_destroyed_container_still_learns_values() {
    assert_eq!(
        errors("8 1 Process p\n10 2 State p late\n6 late State late ff0000\n"),
        ["value-exists"]
    );
}

#[test]
fn nothing_is_checked_in_the_lanes_of_a_destroyed_container() {
    assert_eq!(errors("8 1 Process p\n12 2 State p\n15 0 Load p 1\n"), [""; 0]);
    assert_eq!(
        errors("8 1 Process p\n14 2 Load p x\n10 2 Load p x\n"),
        ["bad-number", "wrong-nature"]
    );
}

#[test]
fn the_end_of_a_link_may_be_in_a_destroyed_container() {
    assert_eq!(errors("8 1 Process p\n17 2 Message h d p k\n18 3 Message h d q k\n"), [""; 0]);
}

#[test]
fn deep_trees_take_linear_time() {
    use std::fmt::Write;
    let mut lines = String::new();
    let depth = 20_000;
    for i in 0..depth {
        let above = if i == 0 { "0".into() } else { format!("d{}", i - 1) };
        writeln!(lines, "0 d{i} {above}\n7 0 c{i} d{i} {}", above.replace('d', "c")).unwrap();
    }
    for i in (0..depth).rev() {
        writeln!(lines, "8 1 d{i} c{i}\n5 l{i} 0 d{i} d{i}").unwrap();
    }
    let started = std::time::Instant::now();
    assert_eq!(errors(&lines), [""; 0]);
    assert!(started.elapsed().as_secs() < 60, "took {:?}", started.elapsed());
}

#[test]
fn the_report_is_in_file_order() {
    let report =
        report("6 v State late ff0000\n10 5 State q w\n10 4 State q w\n17 0 Message h d p k\n");
    let lines: Vec<Option<u64>> = report.findings.iter().map(|finding| finding.line()).collect();
    let known: Vec<u64> = lines.iter().flatten().copied().collect();
    assert!(known.is_sorted(), "{lines:?}");
    assert_eq!(lines.last(), Some(&None), "a finding without a line should be last");
}
