"""`pajereplay.dask`: data frames and reports equal those of the whole trace."""

import os
import random
import re
import signal
import subprocess
import sys
import threading
import time

import pajereplay
import pytest
from conftest import EXAMPLES, program
from test_partitions import KEYWORDS, TABLES, packed

dask = pytest.importorskip("dask")
pandas = pytest.importorskip("pandas")
distributed = pytest.importorskip("distributed")
import pajereplay.dask as paje  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture(scope="module")
def trace(tmp_path_factory, generated):
    """Returns the text of a trace and the trace packed."""
    text = generated("mpi", 2_000_000, 3)
    return text, packed(text, tmp_path_factory.mktemp("packed"), "256K")


@pytest.fixture(autouse=True)
def _in_this_process():
    with dask.config.set(scheduler="synchronous"):
        yield


def plain(frame):
    """Returns the sorted rows of a data frame."""
    return sorted(frame.astype({name: "object" for name in frame.columns}).itertuples(index=False, name=None))


def whole(source, table, **keywords):
    return getattr(pajereplay.read(source, durations=True, **keywords), table).to_pandas()


@pytest.mark.parametrize("name", ["mpi", "task-runtime", "variables", "quoted", "unique-values", "old-names", "deep"])
def test_frames_of_examples(tmp_path, name):
    keywords = KEYWORDS.get(name, {})
    text = EXAMPLES / f"{name}.trace"
    for source in (str(text), packed(text, tmp_path)):
        for table in TABLES:
            frame = getattr(paje, table)(source, **keywords)
            assert plain(frame.compute()) == plain(whole(text, table, **keywords)), table


@pytest.mark.parametrize("table", TABLES)
def test_frames_of_partitions(trace, table):
    text, path = trace
    frame = getattr(paje, table)(path, size="256K")
    assert frame.npartitions > 3 and frame.known_divisions
    expected = whole(text, table)
    found = frame.compute()
    assert plain(found) == plain(expected) and list(found.columns) == list(expected.columns)
    begins = "Time" if table == "events" else "Start"
    assert (found.index == found[begins]).all()
    assert found.index.is_monotonic_increasing
    # All partitions have the same categories, and rows in their divisions.
    for number, (first, last) in enumerate(zip(frame.divisions, frame.divisions[1:])):
        part = frame.get_partition(number).compute()
        assert list(part.dtypes) == list(frame.dtypes), number
        assert part.empty or first <= part.index.min() and part.index.max() <= last


def test_a_window_reads_its_partitions_only(trace, monkeypatch):
    text, path = trace
    read, seen = pajereplay.dask.read, []
    frame = paje.states(path, size="256K")
    monkeypatch.setattr(pajereplay.dask, "read", lambda part, **keywords: seen.append(part) or read(part, **keywords))
    expected = whole(text, "states")
    start, end = 0.4 * expected["End"].max(), 0.5 * expected["End"].max()
    found = frame.loc[start:end][["Value", "Duration"]].compute()
    expected = expected[(expected["Start"] >= start) & (expected["Start"] <= end)]
    assert plain(found) == plain(expected[["Value", "Duration"]])
    assert 0 < len(seen) < frame.npartitions
    some = paje.states(path, size="256K", start=start, end=end, types="MPI_STATE", containers=["rank-1", "rank-2"])
    expected = whole(text, "states", types="MPI_STATE", containers=["rank-1", "rank-2"])
    assert plain(some.compute()) == plain(expected[(expected["Start"] >= start) & (expected["Start"] < end)])


def test_columns_are_pushed_down(trace):
    frame = paje.states(trace[1], size="256K")
    optimized = frame["Duration"].optimize()
    assert "columns=['Duration']" in str(optimized.expr.tree_repr()) if hasattr(optimized.expr, "tree_repr") else True
    assert frame["Duration"].sum().compute() == pytest.approx(whole(trace[0], "states")["Duration"].sum())


def same(found, expected):
    pandas.testing.assert_frame_equal(found, expected.to_pandas(), check_exact=True)


def test_reports_equal_those_of_the_whole_trace(trace):
    text, path = trace
    whole = pajereplay.read(text, user_defined=True)
    for size in ("256K", "1M", "1G"):
        for by in ("value", "container", "Rank"):
            same(paje.profile(path, by=by, size=size), whole.profile(by=by))
        same(paje.comm(path, size=size), whole.comm())
    same(paje.waits(path, by="waiter", size="1M"), whole.waits(by="waiter"))
    for size in ("10K", "256K", "1G"):
        same(paje.waits(path, size=size), whole.waits())
        same(paje.waits(text, size=size, start=0.5, end=0.7), pajereplay.read(text, start=0.5, end=0.7).waits())
    same(paje.profile(text), whole.profile())
    same(paje.profile(path, types="MPI_*"), pajereplay.read(text, types="MPI_*").profile())
    window = pajereplay.read(text, start=0.5, end=0.7)
    same(paje.profile(path, start=0.5, end=0.7), window.profile())


def test_reports_equal_the_printed_ones(trace):
    """Compares with pj_profile, whose sums are printed with nine decimals."""
    import csv

    printed = subprocess.run(
        [str(program("pj_profile")), "states", "--format", "csv", str(trace[0])], check=True, capture_output=True, text=True
    )
    rows = list(csv.DictReader(printed.stdout.splitlines()))
    found = paje.profile(trace[1], size="256K")
    assert len(rows) == len(found)
    for row, (_, ours) in zip(rows, found.iterrows()):
        assert row["value"] == ours["value"] and int(row["count"]) == ours["count"]
        for column in ("inclusive", "exclusive", "min", "mean", "max"):
            assert row[column] == f"{ours[column]:.9f}", column


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, memory_limit="2GiB", dashboard_address=None, processes=True
    ) as cluster, distributed.Client(cluster) as client:
        yield client


@pytest.mark.parametrize("seed", range(int(os.environ.get("PAJE_SEEDS", "2"))))
def test_killed_workers_lose_no_rows(trace, cluster, seed):
    """A worker is killed at a random moment. Its tasks are repeated."""
    text, path = trace
    expected = whole(text, "states").groupby("Value", observed=True)["Duration"].count()

    def compute():
        frame = paje.states(path, size="256K")
        return frame.groupby("Value", observed=True)["Duration"].count().compute(scheduler=cluster)

    cluster.wait_for_workers(2, timeout=60)
    began = time.monotonic()
    compute()
    moment = random.Random(seed).uniform(0, time.monotonic() - began)
    workers = sorted(cluster.run(os.getpid).values())
    killer = threading.Timer(moment, os.kill, [workers[seed % 2], signal.SIGKILL])
    with dask.config.set({"distributed.scheduler.allowed-failures": 20}):
        killer.start()
        found = compute()
        killer.join()
    assert found.sort_index().to_dict() == expected.sort_index().to_dict()


def test_a_worker_with_little_memory_is_right_or_an_error(generated):
    """Dask kills a worker that it sees with too much memory, and reports the partition in the end."""
    settings = {
        "distributed.scheduler.allowed-failures": 1,
        "distributed.worker.memory.pause": False,
        "distributed.worker.memory.spill": False,
        "distributed.worker.memory.target": False,
    }
    path = generated("mpi", 40_000_000, 3)
    with dask.config.set(settings), distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, memory_limit="200MB", dashboard_address=None, processes=True
    ) as cluster, distributed.Client(cluster):
        try:
            rows = len(paje.states(path))
        except distributed.KilledWorker as error:
            assert f"-of-{path.name}-" in str(error)
        else:
            # Dask looks at the memory now and then, so a short peak may pass.
            assert rows == len(pajereplay.read(path).states)


def test_damaged_and_missing_files_are_errors(trace, tmp_path):
    path = tmp_path / "damaged.pjp"
    good = trace[1].read_bytes()
    path.write_bytes(good)
    frame = paje.states(path, size="256K")
    place = len(good) // 2
    path.write_bytes(good[:place] + bytes([good[place] ^ 1]) + good[place + 1 :])
    with pytest.raises(OSError, match="damaged.pjp"):
        frame["Duration"].sum().compute()
    with pytest.raises(OSError, match="damaged.pjp"):
        paje.profile(path, size="256K")
    path.unlink()
    with pytest.raises(FileNotFoundError, match="damaged.pjp"):
        frame["Duration"].sum().compute()


@pytest.mark.parametrize("name", ["mpi", "old-names", "deep", "variables"])
def test_waits_of_examples(name):
    keywords = KEYWORDS.get(name, {})
    path = EXAMPLES / f"{name}.trace"
    try:
        expected = pajereplay.read(path, **keywords).waits()
    except ValueError as error:
        with pytest.raises(ValueError, match=re.escape(str(error))):
            paje.waits(path, size="2K", **keywords)
    else:
        same(paje.waits(path, size="2K", **keywords), expected)


def test_waits_that_need_too_much_memory_are_refused(generated):
    path = generated("mpi", 40_000_000, 3)
    with pytest.raises(ValueError, match="needs about [0-9]+ MB beside the rows, but memory_limit is 34 MB"):
        paje.waits(path, memory_limit="32M", by="waiter")
    with pytest.raises(ValueError, match="needs about [0-9]+ MB beside the rows, but memory_limit is 34 MB"):
        paje.waits(path, memory_limit="32M", size="64M")
    same(paje.waits(path, memory_limit="32M", size="1M"), pajereplay.read(path).waits())


def test_memory_for_waits_does_not_depend_on_the_length(generated):
    """Compares the largest memory of processes for two traces."""
    program = "import resource, sys, pajereplay.dask as paje; paje.waits(sys.argv[1], size='1M', threads=1, ignore_incomplete_links=True);"
    program += "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    with_pool = "import dask; dask.config.set(scheduler='synchronous');"

    def kilobytes(size):
        run = subprocess.run(
            [sys.executable, "-c", with_pool + program, str(generated("mpi", size, 3))], check=True, capture_output=True, text=True
        )
        return int(run.stdout)

    short, long = kilobytes(5_000_000), kilobytes(60_000_000)
    assert long < short + 20_000, (short, long)


def test_wrong_keywords_of_waits_are_errors(trace):
    for keywords in ({"threads": 0}, {"map": "none"}, {"root": "nobody"}, {"time_unit": "weeks"}, {"size": "much"}):
        with pytest.raises(ValueError):
            paje.waits(trace[1], **keywords)
    with pytest.raises(TypeError):
        paje.waits(trace[1], unknown=1)


def test_archives_are_divided_by_container(trace, tmp_path):
    command = [program("pj_convert"), trace[0], "-o", tmp_path / "run", "--to", "otf2", "--no-progress"]
    subprocess.run([str(word) for word in command], check=True, capture_output=True)
    frame = paje.states(tmp_path / "run", size="1K", containers="rank-1*")
    expected = whole(trace[0], "states", containers="rank-1*")
    assert frame.npartitions == expected["Container"].nunique() > 1
    assert plain(frame.compute()) == plain(expected)
    same(paje.profile(tmp_path / "run"), pajereplay.read(tmp_path / "run").profile())
    same(paje.profile(tmp_path / "run", containers="rank-1*"), pajereplay.read(tmp_path / "run", containers="rank-1*").profile())


def test_parquet(trace, tmp_path):
    text, path = trace
    paje.states(path, size="256K").to_parquet(tmp_path / "states")
    found = dask.dataframe.read_parquet(tmp_path / "states").compute()
    assert plain(found) == plain(whole(text, "states"))
