"""Compares analyses with simple loops over rows."""

from collections import defaultdict

import pandas
import polars
import pyarrow
import pytest

import pajereplay
from conftest import EXAMPLES

MPI = EXAMPLES / "mpi.trace"


@pytest.fixture(scope="module")
def trace():
    return pajereplay.read(MPI)


def test_profiles_are_sums_of_rows(trace):
    sums, counts = defaultdict(float), defaultdict(int)
    rows = pyarrow.table(trace.states).to_pylist()
    for row in rows:
        sums[row["Value"]] += row["End"] - row["Start"]
        counts[row["Value"]] += 1
    found = trace.profile().to_arrow().to_pylist()
    assert {row["value"]: row["count"] for row in found} == counts
    for row in found:
        assert row["inclusive"] == pytest.approx(sums[row["value"]], abs=1e-9)
    by_container = trace.profile(by="container").to_arrow()
    assert by_container.column_names[0] == "container"
    assert sum(by_container["count"].to_pylist()) == len(rows)


def test_communication_is_counted(trace):
    counts = defaultdict(int)
    for row in pyarrow.table(trace.links).to_pylist():
        counts[row["StartContainer"], row["EndContainer"]] += 1
    found = defaultdict(int)
    for row in trace.comm().to_arrow().to_pylist():
        found[row["from"], row["to"]] += row["count"]
    assert found == counts


def test_bins_add_up_to_the_exclusive_time(trace):
    exclusive = sum(trace.profile().to_arrow()["exclusive"].to_pylist())
    for keywords in ({"bins": 7}, {"bins": 7, "by": "value"}, {"bins": 40, "classes": True}):
        seconds = trace.time(**keywords).to_arrow()["seconds"].to_pylist()
        assert sum(seconds) == pytest.approx(exclusive, abs=1e-9)
    classes = set(trace.time(classes=True).to_arrow()["value"].to_pylist())
    assert {"compute", "sendrecv", "barrier"} <= classes


def test_waits_and_the_critical_path_agree_with_rows(trace):
    waiters = trace.waits(by="waiter", root="rank-0").to_arrow().to_pylist()
    assert max(waiters, key=lambda row: row["delay"])["container"] == "rank-3"
    rows = trace.waits(root="rank-0").to_arrow().to_pylist()
    kinds = [row["seconds"] for row in rows if not row["kind"].startswith("(")]
    assert sum(kinds) == pytest.approx(sum(row["seconds"] for row in waiters), abs=1e-9)
    path = trace.critical_path(root="rank-0").to_arrow()["seconds"].to_pylist()
    assert sum(path) == pytest.approx(trace.end, abs=1e-4)
    by_value = trace.critical_path(by="value", root="rank-0").to_arrow()
    assert by_value["value"][0].as_py() == "computing"


def test_the_number_of_threads_does_not_matter(trace):
    other = pajereplay.read(MPI, threads=3)
    for ask in (
        lambda trace: trace.profile(by="container"),
        lambda trace: trace.comm(),
        lambda trace: trace.time(bins=9),
        lambda trace: trace.waits(by="pair", root="rank-0"),
        lambda trace: trace.critical_path(root="rank-0"),
    ):
        assert ask(trace).to_arrow().equals(ask(other).to_arrow())


def test_analyses_cover_selected_rows_only():
    trace = pajereplay.read(MPI, containers=["rank-1"])
    assert set(trace.profile(by="container").to_pandas()["container"]) == {"rank-1"}


def test_analyses_convert_to_other_packages(trace):
    profile = trace.profile()
    assert len(profile) == profile.num_rows == len(pyarrow.table(profile)) == len(polars.DataFrame(profile))
    assert profile.column_names == list(profile.to_pandas()) == profile.to_polars().columns
    assert isinstance(profile.to_pandas(), pandas.DataFrame)
    assert "states" in repr(profile)


def test_invalid_arguments_are_errors(trace):
    for ask, why in (
        (lambda: trace.waits(by="nothing"), "kind, waiter, pair"),
        (lambda: trace.critical_path(by="pair"), "container, value"),
        (lambda: trace.time(bins=0), "from 1 to 1000000"),
        (lambda: trace.waits(root="nobody"), 'root="nobody"'),
        (lambda: trace.waits(group="nothing"), 'group="nothing"'),
        (lambda: trace.waits(map="classes = 3"), "map"),
        (lambda: trace.waits(map="starpu"), "knows|known"),
    ):
        with pytest.raises(ValueError, match=why):
            ask()
