//! Options, exit statuses and files.

use std::fs;
use std::io::Write;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::world::{Served, example, program};

const HEADER: &str = "\
%EventDef PajeDefineContainerType 1\n% Name string\n% Type string\n%EndEventDef
%EventDef PajeDefineStateType 2\n% Name string\n% Type string\n%EndEventDef
%EventDef PajeCreateContainer 3\n% Time date\n% Name string\n% Type string\n% Container string\n%EndEventDef
%EventDef PajeSetState 4\n% Time date\n% Type string\n% Container string\n% Value string\n%EndEventDef
1 Host 0
2 State Host
";

/// Returns a trace with names that harm a page, a drawing or a terminal unless they are escaped.
pub(crate) fn hostile() -> String {
    let names = [
        "<script>alert(1)</script>",
        "</script><img src=x onerror=alert(2)>",
        "'quoted' & &amp;",
        "\u{1b}[31mred\u{7}",
        "right\u{202e}to left",
        "${7*7} {{7*7}}",
        "]]>--><!--",
    ];
    let mut text = HEADER.to_owned();
    for (i, name) in names.iter().enumerate() {
        text.push_str(&format!(
            "3 {i} \"c {name}\" Host 0\n4 {i}.5 State \"c {name}\" \"{name}\"\n"
        ));
    }
    text
}

#[test]
fn an_invalid_trace_is_reported_and_not_served() {
    let mut child = program();
    child.arg("--no-open").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = child.spawn().expect("it starts");
    let text = format!("{HEADER}4 0 State nobody on\n");
    child.stdin.take().expect("a pipe").write_all(text.as_bytes()).expect("written");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty(), "no address is printed");
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.starts_with("pj_view: <stdin>:") && message.contains("nobody"), "{message}");
}

#[test]
fn failures_are_reported() {
    let run = |arguments: &[&str]| {
        let output = program().args(arguments).stdin(Stdio::null()).output().expect("it runs");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let trace = example("mpi.trace").display().to_string();
    let (status, message) = run(&["--no-open", "/nowhere.trace"]);
    assert_eq!(status, Some(2), "{message}");
    assert!(message.contains("/nowhere.trace: No such file"), "{message}");
    let (status, message) = run(&["--svg", "/nowhere/x.svg", &trace]);
    assert!(status == Some(2) && message.contains("/nowhere/x.svg"), "{message}");
    let (status, message) = run(&["--html", "x", "--svg", "y", &trace]);
    assert!(status == Some(2) && message.contains("cannot be used with"), "{message}");
    let (status, message) = run(&["--png", "-", "--width", "20000", "--height", "50000", &trace]);
    assert!(status == Some(2) && message.contains("pixels are more than"), "{message}");
    let (status, message) = run(&["--width", "500", &trace]);
    assert!(status == Some(2) && message.contains("--svg"), "{message}");
    let (status, message) = run(&["--svg", "-", "--in", "nobody", &trace]);
    assert!(message.contains("--in 'nobody': the trace has no such container; there"), "{message}");
    assert_eq!(status, Some(2));
    let (status, message) = run(&["--svg", "-", "-s", "2", "-e", "1", &trace]);
    assert_eq!(status, Some(2));
    assert!(message.contains("the window from 2 s to 1 s ends before it begins"), "{message}");
    let (status, message) = run(&["--svg", "-", "-s", "7", &trace]);
    assert_eq!(status, Some(2));
    assert!(message.contains("begins after the end of the trace, 0.043388 s"), "{message}");
    let taken = Served::of(&example("mpi.trace"), &[]);
    let port = taken.host.rsplit_once(':').expect("a port").1;
    let (status, message) = run(&["--no-open", "--port", port, &trace]);
    assert!(status == Some(2) && message.contains("in use"), "{message}");
}

#[test]
fn an_interrupt_quits_at_once() {
    let mut served = Served::of(&example("mpi.trace"), &[]);
    let idle = served.connect();
    let began = Instant::now();
    assert!(testkit::signal::send(&served.child, testkit::signal::INT));
    served.child.wait().expect("it ends");
    // The server waits 10 s for a silent client.
    assert!(began.elapsed() < Duration::from_secs(9));
    drop(idle);
}

#[test]
fn the_html_file_is_self_contained() {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = folder.path().join("hostile.trace");
    fs::write(&trace, hostile()).expect("written");
    let page = folder.path().join("page.html");
    let output = program().arg("--html").arg(&page).arg(&trace).output().expect("it runs");
    assert!(output.status.success() && output.stdout.is_empty(), "{output:?}");
    let text = fs::read_to_string(&page).expect("the file exists");
    assert!(!text.contains("alert(1)</script>") && !text.contains("<img"), "a name became markup");
    for word in ["http://", "https://", " src=\"", "href=\"style", "@import", "import {"] {
        assert!(!text.replace("http://www.w3.org", "").contains(word), "it has {word}");
    }
    assert!(text.contains("default-src 'none'"));
}

#[test]
fn the_html_file_respects_the_maximum_size() {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = folder.path().join("long.trace");
    let mut text = HEADER.to_owned();
    text.push_str("3 0 c Host 0\n");
    for i in 0..200_000u64 {
        text.push_str(&format!(
            "4 {}.{:06} State c v{}\n",
            i / 1000,
            (i % 1000) * 1000 + i * 7 % 1000,
            i * i % 11
        ));
    }
    fs::write(&trace, text).expect("written");
    let page = folder.path().join("page.html");
    for (size, most) in [("1M", 1 << 20), ("20M", 20 << 20)] {
        let output = program()
            .arg("--html")
            .arg(&page)
            .args(["--max-size", size])
            .arg(&trace)
            .output()
            .expect("it runs");
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success() && message.contains("the finest levels are omitted"),
            "{message}"
        );
        assert!(fs::metadata(&page).expect("the file exists").len() <= most, "{size}");
    }
}

#[test]
fn drawings_are_well_formed_for_all_names() {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = folder.path().join("hostile.trace");
    fs::write(&trace, hostile()).expect("written");
    let output = program().args(["--svg", "-"]).arg(&trace).output().expect("it runs");
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(text.starts_with("<svg ") && text.ends_with("</svg>\n"));
    assert!(text.contains(">time axis in seconds; the trace has times in seconds"), "{text}");
    assert!(
        text.contains("&lt;script&gt;")
            && !text.contains("<script")
            && !text.contains('\u{1b}')
            && !text.contains('\u{202e}')
    );
    assert_eq!(text.matches("<path fill=\"#").count(), 7, "{text}");
}

#[test]
fn a_drawing_of_a_window_has_its_rows() {
    let trace = example("mpi.trace");
    let draw = |options: &[&str]| {
        let output =
            program().args(["--svg", "-"]).args(options).arg(&trace).output().expect("it runs");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    let (all, states) = (draw(&[]), draw(&["--nature", "state", "--width", "400"]));
    assert!(all.contains("width=\"1200\"") && states.contains("width=\"400\""));
    assert!(states.len() < all.len());
    assert!(draw(&["--height", "300"]).contains("height=\"300\""));
    assert_ne!(all, draw(&["-s", "0.001", "-e", "0.002"]));
}

#[test]
fn png_drawings_have_the_requested_size() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let hostile = path("hostile.trace");
    fs::write(&hostile, self::hostile()).expect("written");
    for trace in [example("mpi.trace"), hostile] {
        let mut command = program();
        command.arg("--svg").arg(path("a.svg")).arg("--png").arg(path("a.png"));
        let output = command.args(["--width", "500"]).arg(&trace).output().expect("it runs");
        assert!(output.status.success() && output.stdout.is_empty(), "{output:?}");
        let bytes = fs::read(path("a.png")).expect("the file exists");
        let drawing = fs::read_to_string(path("a.svg")).expect("the file exists");
        assert!(bytes.starts_with(b"\x89PNG\r\n\x1a\n") && bytes.len() > 2000);
        let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().expect("four"));
        assert_eq!(number(16), 500);
        assert!(drawing.contains(&format!("width=\"500\" height=\"{}\"", number(20))));
    }
}

#[test]
fn names_are_sent_escaped() {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = folder.path().join("hostile.trace");
    fs::write(&trace, hostile()).expect("written");
    let served = Served::of(&trace, &[]);
    let model = served.ask("GET", &format!("/{}/model", served.token), "");
    assert!(
        model.contains("Content-Type: application/json") && model.contains("<script>alert(1)"),
        "{model}"
    );
    assert!(!model.contains('\u{1b}'), "control characters are escaped");
    assert!(!served.get("").contains("alert"), "the page itself contains no names");
}

#[test]
fn the_example_in_the_documentation_works() {
    let document = include_str!("../../../docs/how-to/figures.md");
    let line = document
        .lines()
        .find(|line| line.starts_with("pj_view --svg figure.svg"))
        .expect("an example");
    let folder = tempfile::tempdir().expect("a folder");
    let words = line.split(' ').skip(1).map(|word| {
        match word.trim_matches('\'').strip_prefix("datasets/examples/") {
            Some(name) => example(name),
            None => word.trim_matches('\'').into(),
        }
    });
    let output = program().args(words).current_dir(folder.path()).output().expect("it runs");
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    let drawing = fs::read_to_string(folder.path().join("figure.svg")).expect("the file exists");
    assert!(drawing.contains("width=\"800\"") && drawing.contains("rank-3"));
}

#[test]
fn fields_and_lines_are_kept_of_small_traces() {
    let has_fields = |options: &[&str]| {
        let served = Served::of(&example("mpi.trace"), options);
        let lane = (0..99).find(|lane| {
            let answer = served.ask("GET", &format!("/{}/row?lane={lane}&row=0", served.token), "");
            answer.contains("imbrication")
        });
        served
            .get(&format!("row?lane={}&row=0", lane.expect("a lane of states")))
            .contains("\"line\":")
    };
    assert!(has_fields(&[]) && has_fields(&["--no-fields", "--fields"]));
    assert!(!has_fields(&["--no-fields"]) && !has_fields(&["--fields", "--no-fields"]));
    let cli = |arguments: &[&str]| {
        let words = ["pj_view"].iter().chain(arguments);
        <pj_view::cli::Cli as clap::Parser>::parse_from(words)
    };
    assert!(cli(&[]).keeps_fields(Some(1000)) && !cli(&[]).keeps_fields(Some(1 << 30)));
    assert!(
        cli(&["--fields"]).keeps_fields(Some(1 << 30)) && !cli(&["--svg", "-"]).keeps_fields(None)
    );
}

#[test]
fn drawings_show_waits_and_the_critical_path() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("out.svg");
    let draw = |name: &str, options: &[&str]| {
        let mut command = program();
        command.arg("--svg").arg(&out).args(options).arg(example(name));
        let done = command.output().expect("it runs");
        (done.status.code(), String::from_utf8_lossy(&done.stderr).into_owned())
    };
    let text = || fs::read_to_string(&out).expect("a drawing");
    assert_eq!(draw("mpi.trace", &[]).0, Some(0));
    let plain = text();
    assert!(!plain.contains("class=\"waits\"") && !plain.contains("critical-path"));
    assert_eq!(draw("mpi.trace", &["--waits", "--critical-path"]).0, Some(0));
    let drawn = text();
    assert!(drawn.contains(">late sender</text>") && drawn.contains(">critical path</text>"));
    assert!(drawn.contains("class=\"waits\" fill=\"#d55e00\""), "{drawn}");
    assert_eq!(drawn.matches("class=\"critical-path\"").count(), 2);
    // The states below are the same.
    let states = |text: &str| -> Vec<String> {
        let paths = text.lines().filter(|line| line.starts_with("<path fill="));
        paths.map(str::to_owned).collect()
    };
    assert_eq!(states(&plain), states(&drawn));
    // Waits of a part of the ranks are those of the whole run.
    let part = ["--waits", "--in", "rank-2", "--in", "rank-0"];
    assert_eq!(draw("mpi.trace", &part).0, Some(0));
    let waits = |text: &str| -> usize {
        let drawn = text.lines().filter(|line| line.contains("class=\"waits\""));
        drawn.map(|line| line.matches('z').count()).sum()
    };
    let of_part = waits(&text());
    assert!(of_part > 20 && of_part < waits(&drawn), "{of_part}");
    // Narrow drawings show the shares of pixels.
    assert_eq!(draw("mpi.trace", &["--waits", "--width", "200"]).0, Some(0));
    assert!(text().contains("class=\"waits\""));
    for (options, why) in [
        (&["--waits"][..], "no waiting can be shown, as StarPU's traces"),
        (&["--critical-path"], "no critical path, as StarPU's traces"),
    ] {
        let (status, said) = draw("task-runtime.trace", options);
        assert_eq!(status, Some(2), "{said}");
        assert!(said.contains(why), "{said}");
    }
}

#[test]
fn a_file_has_the_overlays() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("out.html");
    let mut command = program();
    command.arg("--waits").arg("--html").arg(&out).arg(example("mpi.trace"));
    assert!(command.status().expect("it runs").success());
    let text = fs::read_to_string(&out).expect("a page");
    let data = text.split("id=\"embedded-model\">").nth(1).expect("data");
    let data = data.split("</script>").next().expect("data");
    let model: serde_json::Value = serde_json::from_str(data).expect("JSON");
    assert_eq!(model["overlays"], serde_json::json!(["waits"]));
    assert_eq!(model["explained"]["waits"]["sums"][0][0], 33);
    assert!(model["matrix"]["pairs"].as_array().is_some_and(|pairs| pairs.len() > 4));
    assert_eq!(model["verdict"]["rows"][0]["kind"], "cause");
    let blocks = text.split("id=\"embedded-overlays\">").nth(1).expect("overlays");
    assert!(blocks.split("</script>").next().is_some_and(|blocks| blocks.len() > 500));
}

#[test]
fn two_traces_are_only_shown_in_the_browser() {
    let mut command = program();
    command.arg("--svg").arg("out.svg").args([example("mpi.trace"), example("deep.trace")]);
    let done = command.output().expect("it runs");
    assert_eq!(done.status.code(), Some(2));
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(said.contains("two traces can be shown only in the browser"), "{said}");
}
