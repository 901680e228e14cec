//! Tests traces of programs run by SimGrid's SMPI, which are described in `tests/smpi`.

use crate::cli::{csv, run, text};

fn trace(name: &str) -> String {
    format!("{}/tests/smpi/{name}.trace.xz", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn a_program_with_wildcard_receives_has_races() {
    let output = run(&["races", "--wildcard=PMPI_Recv", "--format=csv", &trace("wildcard")]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let rows =
        csv(&text(&output.stdout), &["container", "first_state", "first_from", "second_from"]);
    assert!(rows.len() > 4, "{rows:?}");
    for row in rows {
        assert_eq!(row[..2], ["rank-0", "PMPI_Recv"]);
        assert_ne!(row[2], row[3]);
    }
}

#[test]
fn a_program_that_names_its_senders_has_no_races() {
    let output = run(&["races", "--wildcard=PMPI_Recv", &trace("specific")]);
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(0), "no races\n".to_owned()));
    // Without `--wildcard`, all receives count as wildcard receives.
    assert_eq!(run(&["races", &trace("specific")]).status.code(), Some(1));
}

#[test]
fn the_cause_of_a_deadlock_of_240_ranks_is_found() {
    let output = run(&["deadlock", "--format=csv", &trace("stuck")]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let names = ["kind", "container", "state", "waits_for", "waiting", "hanging"];
    let rows = csv(&text(&output.stdout), &names);
    assert_eq!(rows, [["circle", "rank-137", "PMPI_Recv", "rank-136", "239", "238"]]);
}
