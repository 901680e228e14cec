"""Runs the example in examples/python, which docs/how-to/figures.md shows."""

import os
import re
import subprocess
import sys

import pytest

from conftest import EXAMPLES, HEADER, ROOT, program


def draw(tmp_path, trace, *window):
    """Runs the example. The names of its files in the folder begin with `plot`."""
    path = os.pathsep.join([str(program("pj_dump").parent), os.environ["PATH"]])
    script = ROOT / "examples" / "python" / "space_time.py"
    return subprocess.run(
        [sys.executable, script, trace, tmp_path / "plot", *window],
        env={**os.environ, "PATH": path, "MPLCONFIGDIR": str(tmp_path / "config")},
        capture_output=True,
        text=True,
        check=False,
    )


def drawn(tmp_path):
    assert (tmp_path / "plot-space-time.png").read_bytes().startswith(b"\x89PNG")
    return (tmp_path / "plot-space-time.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize("window", [(), ("0.005", "0.015")])
def test_profile_and_plot_from_parquet(tmp_path, window):
    run = draw(tmp_path, EXAMPLES / "mpi.trace", *window)
    assert run.returncode == 0, run.stderr
    assert "│ computing           │     16 │ 0.094973 │   55.0 │" in run.stdout, run.stdout
    assert drawn(tmp_path).count("<path") > 50


@pytest.mark.parametrize("name", ["task-runtime", "deep", "one-container", "links-reversed", "many-containers"])
def test_other_traces_are_plotted(tmp_path, name):
    """Traces without links, with links between other containers, and with many lanes."""
    run = draw(tmp_path, EXAMPLES / f"{name}.trace")
    assert run.returncode == 0, run.stderr
    assert drawn(tmp_path).count("<path") > 5


def test_a_trace_without_states_is_an_error(tmp_path):
    run = draw(tmp_path, EXAMPLES / "variables.trace")
    assert run.returncode == 1 and "there are no states in" in run.stderr
    assert not list(tmp_path.glob("plot*"))


@pytest.mark.parametrize("shape", ["mpi", "many-containers"])
def test_large_traces_give_small_pictures(tmp_path, generated, shape):
    """States shorter than a pixel are merged in the picture."""
    run = draw(tmp_path, generated(shape, 10_000_000, 1))
    assert run.returncode == 0, run.stderr
    svg = drawn(tmp_path)
    assert len(svg) < 1_000_000 and svg.count("<path") < 2000 and "<image" in svg


def test_long_names_fit(tmp_path):
    name = "a process on the last of all machines, of which there are many"
    trace = tmp_path / "long.trace"
    trace.write_text(HEADER.replace("first", f'"{name}"') + f'4 1 Power "{name}" on\n4 2 Power "{name}" off\n')
    run = draw(tmp_path, trace)
    assert run.returncode == 0, run.stderr
    svg = drawn(tmp_path)
    assert f"<!-- {name[:19]}…{name[-20:]} -->" in svg
    places = [float(x) for x in re.findall(r'<g transform="translate\((-?[0-9.]+) ', svg)]
    assert min(places) >= 0
