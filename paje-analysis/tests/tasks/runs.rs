//! Runs of tasks for tests.

use std::fmt::Write;
use std::io::BufReader;
use std::path::PathBuf;

use paje_analysis::classes::Map;
use paje_analysis::tasks::{Records, TaskRun, TasksError};
use paje_sim::{Options, Progress, Source, Trace};
use paje_workers::Workers;
use splitter::{Input, Kind};

pub(crate) const RECORDED: [&str; 3] = ["cholesky-cpu", "cholesky-gpu", "lu-gpu"];

fn options() -> Options {
    let mut options = Options::default();
    options.user_defined = true;
    options
}

pub(crate) fn map() -> Map {
    Map::built_in("starpu").expect("a map")
}

/// Reads a recorded run.
pub(crate) fn recorded(name: &str) -> (Trace, Records) {
    let open = |ending: &str| {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../paje-analysis/tests/starpu");
        let path = PathBuf::from(folder).join(format!("{name}.{ending}.xz"));
        Input::open(Some(&path)).expect("a file")
    };
    let (source, progress) = (Source::from(open("trace")), Progress::default());
    let trace = Trace::read_with(source, &options(), &Workers::one(), &progress).expect("valid");
    let Kind::Stream(file) = open("rec").into_kind() else { panic!("it is compressed") };
    (trace, Records::read(BufReader::new(file)).expect("valid"))
}

/// A task: job id, kernel, dependencies, submission, worker, start and end. Times are in milliseconds.
pub(crate) type Line<'l> = (u32, &'l str, &'l [u32], f64, usize, f64, f64);

const HEAD: &str = "\
%EventDef PajeDefineContainerType 1\n% Alias string\n% Type string\n% Name string\n%EndEventDef
%EventDef PajeDefineStateType 2\n% Alias string\n% Type string\n% Name string\n%EndEventDef
%EventDef PajeCreateContainer 3\n% Time date\n% Alias string\n% Type string\n% Container string\n% Name string\n%EndEventDef
%EventDef PajeSetState 4\n% Time date\n% Container string\n% Type string\n% Value string\n%EndEventDef
%EventDef PajeSetState 5\n% Time date\n% Container string\n% Type string\n% Value string\n% JobId string\n%EndEventDef
1 R 0 \"MPI Program\"\n1 M R \"Memory Node\"\n1 T M Thread\n1 W T Worker\n2 WS W \"Worker State\"
3 0 r R 0 r\n3 0 m M r m\n3 0 t T m t\n";

/// Writes a trace and its file of tasks. `more` are states of workers between tasks.
pub(crate) fn written(
    workers: &[&str],
    tasks: &[Line<'_>],
    more: &[(usize, f64, &str)],
) -> (String, String) {
    let (mut trace, mut file) = (HEAD.to_owned(), String::new());
    for (at, worker) in workers.iter().enumerate() {
        let _ = writeln!(trace, "3 0 w{at} W t {worker}");
    }
    let mut states: Vec<(f64, usize, String)> = Vec::new();
    for (job, kernel, depends_on, submit, worker, start, end) in tasks {
        states.push((*start, *worker, format!("5 {start} w{worker} WS {kernel} {job}")));
        states.push((*end, *worker, format!("4 {end} w{worker} WS Idle")));
        let _ = writeln!(
            file,
            "Name: {kernel}\nJobId: {job}\nSubmitTime: {submit}\nWorkerId: {worker}"
        );
        let _ = writeln!(file, "StartTime: {start}\nEndTime: {end}\nPriority: 0");
        if !depends_on.is_empty() {
            let list: Vec<String> = depends_on.iter().map(u32::to_string).collect();
            let _ = writeln!(file, "DependsOn: {}", list.join(" "));
        }
        file.push('\n');
    }
    let states_of_others = more
        .iter()
        .map(|(worker, time, value)| (*time, *worker, format!("4 {time} w{worker} WS {value}")));
    states.extend(states_of_others);
    // A task may begin at the end of the previous one.
    states.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.2[..1].cmp(&b.2[..1])));
    states.iter().for_each(|(.., line)| trace += &format!("{line}\n"));
    (trace, file)
}

pub(crate) fn read(trace: &str) -> Trace {
    Trace::read(trace.as_bytes(), &options()).expect("a trace")
}

pub(crate) fn joined<'t>(trace: &'t Trace, file: &str) -> Result<TaskRun<'t>, TasksError> {
    TaskRun::read(trace, &map(), file.as_bytes())
}
