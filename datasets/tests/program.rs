//! Tests the program `datasets`, started from a shell.

#[cfg(target_os = "linux")]
#[test]
fn a_closed_standard_output_is_an_error() {
    use std::process::Command;

    let run = |redirection: &str| {
        let script = format!("exec \"$0\" mpi --size 20K {redirection}");
        let mut shell = Command::new("sh");
        let output = shell.args(["-c", &script, env!("CARGO_BIN_EXE_datasets")]).output();
        let output = output.expect("the shell starts");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), said, output.stdout.len() > 10_000)
    };
    let closed = "datasets: standard output is closed\n".to_owned();
    assert_eq!(run(">&-"), (Some(2), closed, false));
    assert_eq!(run(">/dev/null"), (Some(0), String::new(), false));
    assert_eq!(run(""), (Some(0), String::new(), true));
}
