"""Partitions add up to the whole trace: rows and reports."""

import errno
import pickle
import shutil
import subprocess
from math import inf

import pajereplay
import pytest
from conftest import EXAMPLES, program
from pajereplay import _native

TABLES = ["containers", "states", "variables", "events", "links"]

# Keywords that some examples need.
KEYWORDS = {
    "old-names": {"strict": False},
    "open-links": {"ignore_incomplete_links": True},
    "no-imbrication": {"no_imbrication": True},
    "unsorted": {"sort": True},
}

EXAMPLE_NAMES = sorted(path.stem for path in EXAMPLES.glob("*.trace"))


def packed(trace, folder, segment="4K"):
    """Packs a trace in small segments."""
    path = folder / f"{trace.stem}.pjp"
    command = [program("pj_pack"), trace, "-o", path, "--segment", segment, "--no-progress"]
    subprocess.run([str(word) for word in command], check=True)
    return path


def rows(trace):
    """Returns the sorted rows of all tables."""

    def key(row):
        return [(value is None, str(type(value)), value) for value in row]

    tables = {}
    for name in TABLES:
        table = getattr(trace, name)
        tables[name] = sorted(zip(*(table[column].to_list() for column in table.column_names)), key=key)
    return tables


def added(parts, **keywords):
    """Returns the sorted rows of all tables of all partitions."""
    found = [rows(pajereplay.read(part, **keywords)) for part in parts]
    return {name: sorted(row for one in found for row in one[name]) for name in TABLES}


def same(found, expected):
    for name in TABLES:
        assert found[name] == sorted(expected[name]), name


def report(analysis):
    return analysis.to_arrow().to_pydict()


def report_of_parts(name, parts, by=None, **keywords):
    """Adds up the parts of a report in two different groupings."""
    bytes_ = [pajereplay.read(part, **keywords)._part(name, by, None) for part in parts]
    first = pajereplay.read(parts[0], **keywords)
    whole = report(first._whole(name, by, bytes_))
    half = len(bytes_) // 2
    halves = [_native.add_parts(name, bytes_[half:]), _native.add_parts(name, bytes_[:half])]
    assert report(first._whole(name, by, halves)) == whole
    return whole


@pytest.mark.parametrize("name", EXAMPLE_NAMES)
def test_partitions_of_examples_add_up(tmp_path, name):
    keywords = KEYWORDS.get(name, {})
    text = EXAMPLES / f"{name}.trace"
    whole = pajereplay.read(text, **keywords)
    expected = rows(whole)
    for path in (text, packed(text, tmp_path)):
        parts = pajereplay.partitions(path, size="3K")
        assert parts[0].start == -inf and parts[-1].end == inf
        assert all(one.end == other.start for one, other in zip(parts, parts[1:]))
        same(added(parts, **keywords), expected)
    for by in ("value", "container"):
        trace = pajereplay.read(text, **keywords)
        assert report_of_parts("profile", parts, by, **keywords) == report(trace.profile(by=by))
    fields = {**keywords, "user_defined": True}
    assert report_of_parts("comm", parts, None, **fields) == report(pajereplay.read(text, **fields).comm())


@pytest.mark.parametrize("shape", ["mpi", "mpi-wild", "task-runtime", "one-container", "quoted", "deep"])
def test_partitions_of_generated_traces_add_up(tmp_path, generated, shape):
    text = generated(shape, 2_000_000, 3)
    path = packed(text, tmp_path, "256K")
    whole = pajereplay.read(text)
    parts = pajereplay.partitions(path, size="300K")
    # The trace of nested states has no index, because too many of them are open.
    assert len(parts) > 2 or shape == "deep"
    if shape != "deep":
        # Most of the file is in other partitions.
        size = path.stat().st_size
        assert all(pajereplay.read(part).metadata["bytes_read"] < 0.8 * size for part in parts)
        assert sum(part.rows for part in parts) >= sum(whole.counts.values())
    same(added(parts), rows(whole))
    for by in ("value", "container"):
        assert report_of_parts("profile", parts, by) == report(whole.profile(by=by))
    assert report_of_parts("comm", parts) == report(whole.comm())


def test_partitions_of_pieces_add_up(tmp_path, generated):
    text = generated("mpi", 8_000_000, 3)
    command = [program("pj_split"), text, "-o", tmp_path / "pieces", "--pieces", "3", "--no-progress"]
    subprocess.run([str(word) for word in command], check=True)
    pieces = [tmp_path / "pieces" / "root.trace", *sorted((tmp_path / "pieces").glob("piece-*.trace"))]
    whole = rows(pajereplay.read(text))
    parts = pajereplay.partitions(pieces)
    assert len(parts) == 4
    same(added(parts), whole)
    small = [pieces[0], *(packed(piece, tmp_path, "256K") for piece in pieces[1:])]
    same(added(pajereplay.partitions(small, size="1M")), whole)


def test_windows_and_patterns_select_rows(tmp_path, generated):
    text = generated("mpi", 2_000_000, 3)
    path = packed(text, tmp_path, "256K")
    whole = pajereplay.read(text, types="MPI_STATE", containers="rank-1")
    start, end = whole.end / 4, whole.end * 3 / 4
    parts = pajereplay.partitions(
        path, size="300K", start=start, end=end, natures="State", types="MPI_STATE", containers="rank-1"
    )
    assert 1 < len(parts) < len(pajereplay.partitions(path, size="300K"))
    states = [row for row in rows(whole)["states"] if start <= row[2] < end]
    found = added(parts)
    assert found["states"] == sorted(states) and states and not found["links"]
    assert pajereplay.partitions(path, start=whole.end + 1, end=whole.end + 2)[0].start == whole.end + 1
    assert pickle.loads(pickle.dumps(parts)) == parts


def test_windows_of_packed_traces_read_few_bytes(tmp_path, generated):
    text = generated("mpi", 8_000_000, 3)
    path = packed(text, tmp_path, "256K")
    whole = pajereplay.read(text)
    start, end = 0.50 * whole.end, 0.51 * whole.end
    window = pajereplay.read(path, start=start, end=end, containers="rank-1")
    assert window.metadata["bytes_read"] < 0.2 * path.stat().st_size
    expected = pajereplay.read(text, start=start, end=end, containers="rank-1")
    assert rows(window) == rows(expected)
    # Waits and the critical path depend on rows outside of the window.
    window, expected = (pajereplay.read(source, start=start, end=end) for source in (path, text))
    for method in ("profile", "comm", "waits", "critical_path"):
        assert report(getattr(window, method)()) == report(getattr(expected, method)()), method
    for classes in (False, True):
        assert report(window.time(classes=classes)) == report(expected.time(classes=classes))


@pytest.fixture(scope="module")
def archive(tmp_path_factory, generated):
    """Returns a generated trace and an OTF2 archive of it."""
    text = generated("mpi", 2_000_000, 3)
    folder = tmp_path_factory.mktemp("otf2") / "run"
    command = [program("pj_convert"), text, "-o", folder, "--to", "otf2", "--no-progress"]
    subprocess.run([str(word) for word in command], check=True, capture_output=True)
    return text, folder


def test_partitions_of_archives_have_the_states_of_containers(archive, tmp_path):
    text, folder = archive
    whole = rows(pajereplay.read(folder, natures="state"))
    assert whole["states"] == rows(pajereplay.read(text, natures="state"))["states"]
    files = sum(file.stat().st_size for file in folder.rglob("*.evt"))
    for size, least in (("1K", 16), ("1M", 2), ("1G", 1)):
        parts = pajereplay.partitions(folder, size=size, natures="state")
        assert len(parts) >= least and (least > 1 or len(parts) == 1), size
        assert sum(part.bytes for part in parts) == files
        same(added(parts), whole)
    # Other rows depend on all locations.
    assert len(pajereplay.partitions(folder, size="1K")) == 1
    assert len(pajereplay.partitions(folder, size="1K", natures=["state", "link"])) == 1


def test_partitions_of_archives_read_only_the_files_of_their_locations(archive, tmp_path):
    text, folder = archive
    copy = tmp_path / "run"
    shutil.copytree(folder, copy)
    wanted = ["rank-1", "rank-2"]
    expected = rows(pajereplay.read(text, natures="state", containers=wanted))
    parts = pajereplay.partitions(copy, size="1K", natures="state", containers=wanted)
    files = sorted(copy.rglob("*.evt"), key=lambda file: file.stat().st_size)
    total = sum(file.stat().st_size for file in files)
    assert len(parts) == 2 and sum(part.bytes for part in parts) < 0.2 * total
    same(added(parts), expected)
    needed = 0
    for file in files:
        good = file.read_bytes()
        file.write_bytes(b"no events")
        try:
            same(added(parts), expected)
        except OSError:
            needed += len(good)
            file.write_bytes(good)
    assert needed == sum(part.bytes for part in parts)
    same(added(parts), expected)


def test_a_partition_has_no_reports(tmp_path, generated):
    path = packed(generated("mpi", 2_000_000, 3), tmp_path, "256K")
    part = pajereplay.partitions(path, size="300K")[1]
    with pytest.raises(ValueError, match="pajereplay.dask has the reports"):
        pajereplay.read(part).profile()
    with pytest.raises(ValueError, match="a partition has its own start"):
        pajereplay.read(part, start=1)
    with pytest.raises(ValueError, match="a part of the report is invalid"):
        pajereplay.read(part)._whole("profile", None, [b"part"])


def test_faults_name_the_file(tmp_path, generated):
    path = packed(generated("mpi", 2_000_000, 3), tmp_path, "256K")
    parts = pajereplay.partitions(path, size="300K")
    part = parts[len(parts) // 2]
    good = path.read_bytes()
    place = len(good) // 2
    path.write_bytes(good[:place] + bytes([good[place] ^ 1]) + good[place + 1 :])
    failed = 0
    for part in parts:
        try:
            pajereplay.read(part)
        except OSError as error:
            failed += 1
            assert error.filename == str(path) and error.errno == errno.EIO and "byte" in str(error), error
    assert failed
    path.write_bytes(good + b"more")
    with pytest.raises(OSError, match="another size"):
        pajereplay.read(part)
    path.unlink()
    with pytest.raises(FileNotFoundError):
        pajereplay.read(part)
    with pytest.raises(FileNotFoundError):
        pajereplay.partitions(path)
