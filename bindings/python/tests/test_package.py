"""Tests of the package itself: stubs, docstrings, optional dependencies and documentation."""

import ast
import importlib.util
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import pajereplay
from conftest import ROOT
from pajereplay import _native


def test_stubs_list_all_members():
    tree = ast.parse(Path(pajereplay.__file__).with_name("_native.pyi").read_text())
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            class_ = getattr(_native, node.name)
            listed = {one.name for one in node.body if isinstance(one, ast.FunctionDef)}
            there = {name for name in vars(class_) if not name.startswith("__")}
            assert {name for name in listed if not name.startswith("__")} == there
            assert all(hasattr(class_, name) for name in listed)
        elif isinstance(node, ast.FunctionDef):
            assert callable(getattr(_native, node.name))
    assert Path(pajereplay.__file__).with_name("py.typed").exists()


def test_public_names_have_docstrings():
    for name in pajereplay.__all__:
        one = getattr(pajereplay, name)
        if name == "__version__":
            continue
        assert inspect.getdoc(one), name
        if inspect.isclass(one):
            for attribute, value in vars(one).items():
                if not attribute.startswith("_") and (callable(value) or inspect.isgetsetdescriptor(value)):
                    assert inspect.getdoc(value), f"{name}.{attribute}"
    keywords = inspect.signature(pajereplay.read).parameters
    assert all(f"{keyword}:" in pajereplay.read.__doc__ for keyword in keywords)


def test_other_packages_are_optional(example):
    """Everything except conversions works without other packages. Conversions name the missing package."""
    code = f"""
import sys
for name in ("pyarrow", "polars", "pandas", "numpy", "duckdb", "tqdm"):
    sys.modules[name] = None
import pajereplay
trace = pajereplay.read({str(example('mpi'))!r})
print(len(trace.states), type(trace.states.__arrow_c_stream__()).__name__)
for convert, package in (("to_arrow", "pyarrow"), ("to_polars", "polars"), ("to_pandas", "pandas")):
    try:
        getattr(trace.states, convert)()
    except ImportError as error:
        assert str(error) == f"this needs {{package}}, which is not installed: pip install {{package}}", error
    else:
        print("converted")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "158 PyCapsule\n", done.stderr


def test_unread_streams_are_freed(example):
    trace = pajereplay.read(example("mpi"))
    for _ in range(1000):
        trace.states.__arrow_c_stream__()
        trace.states.__arrow_c_schema__()


def test_the_example_of_the_guide_works():
    """The example prints the output shown below it."""
    text = (ROOT / "docs" / "how-to" / "python.md").read_text()
    found = re.search(r"```python\n((?:(?!```).)*?)```\n\n```text\n(.*?)```", text, re.DOTALL)
    done = subprocess.run([sys.executable, "-c", found[1]], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.stderr == ""
    assert [line.rstrip() for line in done.stdout.splitlines()] == [line.rstrip() for line in found[2].splitlines()]


def test_type_hints(tmp_path, example):
    """mypy accepts typical code, if it is installed."""
    if importlib.util.find_spec("mypy") is None:
        pytest.skip("mypy is not installed")
    program = tmp_path / "program.py"
    program.write_text(
        "import pajereplay\n"
        "from pathlib import Path\n"
        "trace: pajereplay.Trace = pajereplay.read(Path('a'), threads=2, progress=print)\n"
        "end: float = trace.end\n"
        "table: pajereplay.Table = trace.states\n"
        "lines: list[int] = [problem.line or 0 for problem in pajereplay.validate(b'').errors]\n"
    )
    command = [sys.executable, "-m", "mypy", "--strict", "--ignore-missing-imports", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stdout


def test_the_example_of_the_analyses_works():
    document = (ROOT / "docs" / "how-to" / "python.md").read_text()
    code, printed = re.search(r"```text\n>>> (.*?)\n(.*?)```", document, re.DOTALL).groups()
    code = f"import pajereplay\n{code}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT)
    assert (done.stderr, done.stdout) == ("", printed)
