"""Compares reports with the output of pj_validate."""

import gzip
import io
import os
import subprocess

import pytest

import pajereplay
from conftest import EXAMPLES, HEADER, program

WRONG = HEADER + "4 1 Power first on\n4 O.5 Power first off\n4 2 Power second on\n4 3 Power second on\n"


def test_a_valid_trace(example):
    report = pajereplay.validate(example("mpi"))
    assert report and report.errors == [] and report.error_count == 0
    assert report.files == [str(example("mpi"))]
    assert report.summary["states"] == 158 and report.summary["lines"] == 735
    assert (report.summary["start"], report.summary["end"]) == (0, 0.043388)
    assert repr(report) == f"<pajereplay.Report {example('mpi')}: sound, 0 errors, {report.warning_count} warnings>"
    assert len(report.warnings) == len(report.problems)


def test_all_problems_are_listed():
    report = pajereplay.validate(WRONG.encode())
    assert not report
    lines = WRONG.count("\n")
    time, container = report.errors
    assert (time.code, time.line, time.column, time.count) == ("bad-time", lines - 2, 3, 1)
    assert time.message == "'O.5' is not a time; expected a finite number"
    assert time.excerpt.splitlines()[1].strip(" |") == "^^^"
    assert (container.code, container.line, container.count) == ("unknown-container", lines - 1, 2)
    assert report.error_count == 3
    assert str(time) == f"<bytes>:{time.line}:3: error[bad-time]: {time.message}"
    assert str(report).startswith("<bytes> is not sound: 3 errors, 2 warnings\n")
    assert [problem.code for problem in report.warnings] == ["unused-event", "never-closed"]
    short = pajereplay.validate(io.BytesIO(WRONG.encode()), max_problems=1)
    assert len(short.errors) == 1 and short.error_count == 3
    assert len(pajereplay.validate(WRONG.encode(), max_problems=None).errors) == 2


@pytest.mark.parametrize("name", sorted(path.stem for path in EXAMPLES.glob("*.trace")))
def test_reports_equal_the_output_of_pj_validate(name, example, tmp_path):
    validate = program("pj_validate")
    # With this variable, lines are filled.
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    squeezed = tmp_path / "trace"
    squeezed.write_bytes(gzip.compress(example(name).read_bytes()))
    for path in (example(name), squeezed):
        done = subprocess.run([str(validate), str(path)], capture_output=True, text=True, check=False, env=environment)
        report = pajereplay.validate(path)
        assert bool(report) == (done.returncode == 0)
        # Excerpts differ, and so do hints that mention the program's options.
        plain = [line for line in str(report).splitlines() if " | " not in line]
        assert plain == [line for line in done.stdout.splitlines() if " | " not in line and "--only" not in line]


def test_names_and_aliases():
    trace = b"""%EventDef PajeDefineContainerType 0
% Name string
% Alias string
% Type string
%EndEventDef
%EventDef PajeDefineStateType 1
% Name string
% Alias string
% Type string
%EndEventDef
%EventDef PajeCreateContainer 2
% Time date
% Name string
% Alias string
% Type string
% Container string
%EndEventDef
%EventDef PajePopState 13
% Time date
% Type string
% Container string
%EndEventDef
0 Rank 1 0
1 MPI_STATE 9 1
2 0 rank-1 33 1 0
13 1 9 33
"""
    sentence = "no state of type 'MPI_STATE' (9) is open in container 'rank-1' (33); a pop needs a push before it"
    (error,) = pajereplay.validate(trace).errors
    assert error.message == sentence
    with pytest.raises(pajereplay.TraceError, match="'rank-1' \\(33\\)") as raised:
        pajereplay.read(trace)
    assert raised.value.message == sentence
    short = trace.replace(b"13 1 9 33", b"13 1")
    with pytest.raises(pajereplay.TraceError, match="the line of PajePopState \\(13\\) ends before"):
        pajereplay.read(short)


def test_options(example, tmp_path):
    assert not pajereplay.validate(example("old-names"))
    assert pajereplay.validate(example("old-names"), strict=False).error_count == 0
    assert not pajereplay.validate(example("open-links"))
    assert pajereplay.validate(example("open-links"), ignore_incomplete_links=True)
    root = example("files/root")
    assert len(pajereplay.validate(root).files) > 1
    assert len(pajereplay.validate(root, follow_files=False).files) == 1
    long = HEADER.encode() + b"#" * 5000 + b"\n"
    assert pajereplay.validate(long)
    assert pajereplay.validate(long, max_line="4K").errors[0].code == "line-too-long"


def test_unreadable_sources(tmp_path):
    with pytest.raises(FileNotFoundError) as raised:
        pajereplay.validate(tmp_path / "none")
    assert raised.value.filename == str(tmp_path / "none")
    with pytest.raises(TypeError):
        pajereplay.validate(5)
    with pytest.raises(ValueError):
        pajereplay.validate(["a", "b"])
    with pytest.raises(ValueError):
        pajereplay.validate(b"", max_problems=0)
