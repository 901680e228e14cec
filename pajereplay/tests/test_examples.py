"""The example in examples/python, as docs/r.md shows it."""

import os
import subprocess
import sys

import pytest

from conftest import EXAMPLES, ROOT, program


@pytest.mark.parametrize("window", [(), ("0.005", "0.015")])
def test_profile_and_plot_from_parquet(tmp_path, window):
    path = os.pathsep.join([str(program("pj_dump").parent), os.environ["PATH"]])
    script = ROOT / "examples" / "python" / "space_time.py"
    run = subprocess.run(
        [sys.executable, script, EXAMPLES / "mpi.trace", tmp_path / "mpi", *window],
        env={**os.environ, "PATH": path, "MPLCONFIGDIR": str(tmp_path / "config")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.rstrip() in (ROOT / "docs" / "r.md").read_text(encoding="utf-8")
    assert (tmp_path / "mpi-space-time.png").read_bytes().startswith(b"\x89PNG")
    svg = (tmp_path / "mpi-space-time.svg").read_text(encoding="utf-8")
    assert svg.count("<path") > 50
