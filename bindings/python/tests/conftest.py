"""Common code of the tests: examples, rows of pj_dump for comparison, and generated traces.

PAJE_BIN is the folder of pj_dump and datasets. The default is cargo's target folder.
"""

import csv
import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "testkit"))
from header import header  # noqa: E402

EXAMPLES = ROOT / "datasets" / "examples"

# Columns of pj_dump's rows after the nature. Tables lack Duration.
COLUMNS = {
    "containers": ("Container", ["Parent", "Type", "Start", "End", "Duration", "Name"]),
    "states": ("State", ["Container", "Type", "Start", "End", "Duration", "Imbrication", "Value"]),
    "variables": ("Variable", ["Container", "Type", "Start", "End", "Duration", "Value"]),
    "events": ("Event", ["Container", "Type", "Time", "Value"]),
    "links": (
        "Link",
        ["Container", "Type", "Start", "End", "Duration", "Value", "StartContainer", "EndContainer", "Key"],
    ),
}


def program(name):
    """Returns the path of a program of the project, or skips the test if it has not been built."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    folders = [Path(os.environ["PAJE_BIN"])] if "PAJE_BIN" in os.environ else [target / "release", target / "debug"]
    for folder in folders:
        if (folder / name).exists():
            return folder / name
    if "PAJE_BIN" in os.environ:
        pytest.fail(f"{name} is not in PAJE_BIN")
    return pytest.skip(f"{name} has not been built")


def dump(trace, *options):
    """Runs pj_dump with full precision. Returns its exit status, output and messages."""
    command = [program("pj_dump"), "--variable-precision", "double", "-l", "330", "--no-progress", *options, trace]
    done = subprocess.run([str(word) for word in command], capture_output=True, check=False)
    return done.returncode, done.stdout, done.stderr.decode()


def text(field):
    """Decodes a name as tables do: as UTF-8, else as Latin-1."""
    try:
        return field.encode("latin-1").decode()
    except UnicodeDecodeError:
        return field


def rows(trace, *options):
    """Returns pj_dump's rows as lists of tuples with the columns of tables."""
    status, out, messages = dump(trace, *options)
    assert status == 0, messages
    natures = {nature: (name, columns) for name, (nature, columns) in COLUMNS.items()}
    tables = {name: [] for name in COLUMNS}
    for row in csv.reader(io.StringIO(out.decode("latin-1"), newline="\n"), skipinitialspace=True):
        name, columns = natures[row[0]]
        values = []
        for column, value in zip(columns, row[1:]):
            if column == "Duration":
                continue
            number = column in ("Start", "End", "Time", "Imbrication") or (name, column) == ("variables", "Value")
            values.append(float(value) if number else text(value))
        tables[name].append(tuple(values))
    return tables


def comparable(name, table):
    """Makes rows comparable: replaces NaN, and rounds the times of containers as pj_dump does."""

    def value(column, value):
        if name == "containers" and column in ("Start", "End"):
            return float(f"{value:g}")
        return repr(float(value)) if isinstance(value, (int, float)) else value

    columns = [column for column in COLUMNS[name][1] if column != "Duration"]
    return [tuple(map(value, columns, row)) for row in table]


@pytest.fixture(scope="session")
def generated(tmp_path_factory):
    """Returns a function that generates, only once, the trace of a shape, a size and a seed."""
    folder = tmp_path_factory.mktemp("generated")

    def make(shape, size, seed):
        path = folder / f"{shape}-{size}-{seed}.trace"
        if not path.exists():
            options = [shape, "--size", str(size), "--seed", str(seed), "-o", str(path)]
            subprocess.run([str(program("datasets")), *options], check=True)
        return path

    return make


@pytest.fixture(scope="session")
def example():
    """Returns a function that returns the path of an example."""
    return lambda name: EXAMPLES / f"{name}.trace"


# Event definitions and types of small traces.
HEADER = header(
    "PajeDefineContainerType", "PajeDefineStateType", "PajeCreateContainer", "PajeSetState", "PajeTraceFile"
) + """\
1 Host 0
2 Power Host
3 0 first Host 0
"""
