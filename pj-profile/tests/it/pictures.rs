//! Checks that pictures and pages match the tables, are well-formed, load nothing, and escape
//! names.

use std::fs;
use std::path::Path;
use std::process::Output;

use tempfile::TempDir;

use crate::cli::program;

const MPI: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../datasets/examples/mpi.trace");

/// Every report with each kind of its pictures.
const PICTURES: [&[&str]; 19] = [
    &["states"],
    &["states", "--by=container"],
    &["states", "--by=container", "--picture=density", "--grid=2x2", "--value=PMPI_Sendrecv"],
    &["comm"],
    &["comm", "--picture=graph"],
    &["comm", "--picture=density"],
    &["time"],
    &["time", "--by=value"],
    &["time", "--picture=matrix", "--value=computing"],
    &["time", "--classes", "--picture=matrix", "--value=compute"],
    &["time", "--picture=quadrant"],
    &["waits", "--root=rank-0"],
    &["waits", "--by=waiter", "--root=rank-0"],
    &["waits", "--by=waiter", "--picture=density", "--root=rank-0"],
    &["waits", "--by=pair", "--root=rank-0"],
    &["waits", "--by=pair", "--picture=matrix", "--root=rank-0"],
    &["critical", "--root=rank-0"],
    &["critical", "--by=value", "--root=rank-0"],
    &["compare", MPI],
];

fn run(words: &[&str]) -> Output {
    program(words).arg("--no-warnings").output().expect("it runs")
}

fn written(option: &str, words: &[&str], trace: &str) -> String {
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("file");
    let option = format!("{option}={}", file.display());
    let out = run(&[words, &[trace, &option]].concat());
    assert!(out.status.success(), "{words:?}: {}", String::from_utf8_lossy(&out.stderr));
    fs::read_to_string(file).expect("the file exists")
}

fn assert_sound(text: &str, what: &str) {
    let mut open = Vec::new();
    let style = text.find("<style>").zip(text.find("</style>"));
    let script = text.find("<script>").zip(text.find("</script>"));
    for (at, _) in text.match_indices('<') {
        let within = |ends: Option<(usize, usize)>| ends.is_some_and(|(a, b)| at > a && at < b);
        if within(style) || within(script) {
            continue;
        }
        let tag = &text[at + 1..at + text[at..].find('>').expect("it ends")];
        let name = tag.split([' ', '\n']).next().expect("a name").trim_end_matches('/');
        if let Some(name) = name.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "{what}, at {at}");
        } else if !tag.ends_with('/') && !name.starts_with('!') && name != "meta" {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{what}: {open:?}");
    for number in ["NaN", "inf", "undefined"] {
        assert!(!text.contains(&format!("\"{number}")), "{what}: {number}");
    }
}

fn assert_closed(text: &str, what: &str) {
    let text = text.replace("http://www.w3.org/2000/svg", "").replace("url(#arrow)", "");
    for foreign in ["http:", "https:", "src=", "url(", "@import", "href=\"/", "<link", "<iframe"] {
        assert!(!text.contains(foreign), "{what}: {foreign}");
    }
}

#[test]
fn pictures_are_well_formed_and_do_not_depend_on_threads() {
    for words in PICTURES {
        let [one, three] = ["--threads=1", "--threads=3"]
            .map(|threads| written("--svg", &[words, &[threads]].concat(), MPI));
        assert_eq!(one, three, "{words:?}");
        assert_sound(&one, &format!("{words:?}"));
        assert_closed(&one, &format!("{words:?}"));
        assert!(one.contains("prefers-color-scheme:dark"), "{words:?}");
        let page = written("--html", words, MPI);
        assert_sound(&page, &format!("{words:?}"));
        assert_closed(&page, &format!("{words:?}"));
        assert!(page.contains("<svg"), "{words:?}");
    }
}

#[test]
fn the_length_of_bars_shows_shares() {
    let picture = written("--svg", &["states"], MPI);
    let csv = run(&["states", "--format=csv", MPI]);
    let csv = String::from_utf8(csv.stdout).expect("text");
    let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().expect("a header");
    let column = |name| header.iter().position(|head| *head == name).expect("a column");
    let (value, share) = (column("value"), column("share"));
    let mut whole = 0.0;
    let mut count = 0;
    for line in lines {
        let part: f64 = line[share].parse().expect("a share");
        let told = format!("<title>{}: {:.1} %", line[value], part * 100.0);
        let rect = picture.split("<rect").find(|rect| rect.contains(&told)).expect("its bar");
        let width = rect.split("width=\"").nth(1).and_then(|rest| rest.split('"').next());
        let width: f64 = width.and_then(|width| width.parse().ok()).expect("a width");
        if whole == 0.0 {
            whole = width / part;
        }
        assert!((width - whole * part).abs() < 0.4, "{line:?}: {width}");
        count += 1;
    }
    assert_eq!(count, 11);
}

#[test]
fn the_page_of_a_summary_has_all_sections() {
    let page = written("--html", &["summary", "--root=rank-0"], MPI);
    assert_sound(&page, "summary");
    assert_closed(&page, "summary");
    for heading in
        ["Where the time goes", "Load balance", "When", "Traffic", "Waiting", "Critical path"]
    {
        assert!(page.contains(&format!("<h2>{heading}</h2>")), "{heading}");
    }
    // Time of `rank-3` in the report of waits.
    assert!(page.contains("38.3 ms"));
    assert!(page.contains("Content-Security-Policy"));
}

#[test]
fn the_page_of_two_runs_has_one_time_axis() {
    let page = written("--html", &["compare", MPI], MPI);
    assert_sound(&page, "compare");
    assert!(page.contains(">A: MPI_STATE<") && page.contains(">B: MPI_STATE<"));
}

#[test]
fn hostile_names_are_escaped() {
    let evil = "</title></text></script><script>alert(1)</script><img src=x onerror=alert(1)>";
    let head = "\
%EventDef PajeDefineContainerType 1\n% Alias string\n% Type string\n% Name string\n%EndEventDef
%EventDef PajeDefineStateType 2\n% Alias string\n% Type string\n% Name string\n%EndEventDef
%EventDef PajeDefineLinkType 3\n% Alias string\n% Type string\n% StartContainerType string\n% EndContainerType string\n% Name string\n%EndEventDef
%EventDef PajeCreateContainer 4\n% Time date\n% Alias string\n% Type string\n% Container string\n% Name string\n%EndEventDef
%EventDef PajeSetState 5\n% Time date\n% Type string\n% Container string\n% Value string\n%EndEventDef
%EventDef PajeStartLink 6\n% Time date\n% Type string\n% Container string\n% StartContainer string\n% Value string\n% Key string\n%EndEventDef
%EventDef PajeEndLink 7\n% Time date\n% Type string\n% Container string\n% EndContainer string\n% Value string\n% Key string\n%EndEventDef
1 P 0 P\n";
    let body = format!(
        "2 S P \"S{evil}\"\n3 L 0 P P \"L{evil}\"\n4 0 a P 0 \"a{evil}\"\n4 0 b P 0 \"b{evil}\"\n\
         5 0 S a \"v{evil}\"\n5 1 S b \"w{evil}\"\n6 1 L 0 a \"k{evil}\" 1\n7 2 L 0 b \"k{evil}\" 1\n\
         5 3 S a \"x{evil}\"\n5 3 S b \"x{evil}\"\n"
    );
    let folder = TempDir::new().expect("a folder");
    // The file name also contains special characters.
    let trace = folder.path().join("<img src=x>.trace");
    fs::write(&trace, [head, &body].concat()).expect("the file is written");
    let trace = trace.to_str().expect("text");
    for words in PICTURES.iter().filter(|words| !words.contains(&"--root=rank-0")) {
        if words.contains(&"--picture=quadrant")
            || words.iter().any(|word| word.starts_with("--value"))
        {
            continue;
        }
        for (option, scripts) in [("--svg", 0), ("--html", 1)] {
            let text = written(option, words, trace);
            assert_eq!(text.matches("<script").count(), scripts, "{words:?}");
            assert_eq!(text.matches("<img").count(), 0, "{words:?}");
            assert_sound(&text, &format!("{words:?}"));
        }
    }
    let page = written("--html", &["summary"], trace);
    assert_eq!((page.matches("<script").count(), page.matches("<img").count()), (1, 0));
    assert_sound(&page, "summary");
}

#[test]
fn communication_is_written_for_graphviz() {
    let graph = written("--graph", &["comm"], MPI);
    let edge = |of: &str| {
        let line = graph.lines().find(|line| line.contains(of));
        line.unwrap_or_else(|| panic!("{of}: {graph}")).trim().to_owned()
    };
    assert_eq!(
        edge("\"rank-2\" -> \"rank-0\""),
        "\"rank-2\" -> \"rank-0\" [label=\"14\", penwidth=5.0];"
    );
    assert_eq!(graph.matches(" -> ").count(), 9);
    // The graph has only the rows of the report.
    assert_eq!(written("--graph", &["comm", "--top=4"], MPI).matches(" -> ").count(), 4);
    // One name would close the quotes. Another one would escape the closing quote.
    let text = fs::read_to_string(MPI).expect("an example");
    let text = text.replace("\"rank-2\"", "rank\"]->x[").replace("\"rank-0\"", "\"\\\"");
    let folder = TempDir::new().expect("a folder");
    let trace = folder.path().join("strange.trace");
    fs::write(&trace, text).expect("the file is written");
    let graph = written("--graph", &["comm"], trace.to_str().expect("text"));
    assert!(graph.contains(r#""rank\"]->x[" -> "\\" [label="14", penwidth=5.0];"#), "{graph}");
    assert_eq!(graph.lines().filter(|line| line.contains(" -> ")).count(), 9);
}

#[test]
fn impossible_pictures_are_refused() {
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("file.svg");
    let svg = format!("--svg={}", file.display());
    for (words, why) in [
        (&["summary"][..], "use --html for all of them"),
        (
            &["states", "--picture=graph"],
            "--picture graph does not apply to the report states; kinds are bars",
        ),
        (&["time", "--picture=matrix", "--value=nothing"], "no such value; there are 'PMPI_"),
        (&["states", "--start=9"], "there is nothing to draw"),
        (&["states", "--grid=8"], "expected rows and columns such as 8x8"),
        (&["states", "--classes"], "--classes applies to time, not to states"),
    ] {
        let out = run(&[words, &[MPI, &svg]].concat());
        let told = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(out.status.code(), Some(2), "{words:?}");
        assert!(told.contains(why), "{words:?}: {told}");
        assert!(!Path::new(&file).exists(), "{words:?}");
    }
}

#[test]
fn classes_add_up_to_the_values() {
    let sum = |words: &[&str]| -> f64 {
        let out = run(&[words, &["--format=csv", MPI]].concat());
        let text = String::from_utf8(out.stdout).expect("text");
        assert_eq!(text.lines().next(), Some("bin,start,end,container,type,value,seconds"));
        let seconds = text.lines().skip(1).filter_map(|line| line.rsplit(',').next());
        seconds.map(|seconds| seconds.parse::<f64>().expect("seconds")).sum()
    };
    let (values, classes) = (sum(&["time"]), sum(&["time", "--classes"]));
    assert!(values > 0.17 && (values - classes).abs() < 1e-6, "{values} {classes}");
}
