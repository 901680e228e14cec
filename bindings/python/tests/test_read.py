"""Sources of traces, errors and options of reading."""

import bz2
import copy
import errno
import gzip
import io
import lzma
import os
import pickle
import random
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import pajereplay
from conftest import COLUMNS, HEADER, dump, program

PROBLEM = HEADER + "4 1 Power first on\n4 2 Power frist off\n"


def states(trace):
    return trace.states.to_arrow().to_pylist()


def test_all_kinds_of_sources(example, tmp_path):
    path = example("mpi")
    wanted = states(pajereplay.read(path))
    content = path.read_bytes()
    given = [str(path), content, bytearray(content), memoryview(content), io.BytesIO(content), [path]]
    for compress in (gzip.compress, bz2.compress, lzma.compress):
        squeezed = compress(content)
        file = tmp_path / "trace.bin"
        file.write_bytes(squeezed)
        given += [squeezed, io.BytesIO(squeezed)]
        assert states(pajereplay.read(file)) == wanted
    for one in given:
        assert states(pajereplay.read(one)) == wanted, type(one)
    with open(path, "rb") as file:
        assert states(pajereplay.read(file)) == wanted
    with open(path, "rb", buffering=0) as file:
        assert states(pajereplay.read(file)) == wanted


@pytest.mark.parametrize("name", ["mpi", "task-runtime", "variables", "user-fields"])
def test_packed_traces_equal_the_text(example, name, tmp_path):
    path, file = example(name), tmp_path / "trace.pjp"
    subprocess.run([program("pj_pack"), "--segment", "8K", "-o", file, path], check=True)
    content = file.read_bytes()
    text = pajereplay.read(path, user_defined=True)
    for one in (file, content, io.BytesIO(content)):
        packed = pajereplay.read(one, user_defined=True)
        for table in COLUMNS:
            wanted = getattr(text, table).to_arrow()
            assert getattr(packed, table).to_arrow().equals(wanted), (type(one), table)


def test_damaged_packed_traces_are_errors(example, tmp_path):
    file = tmp_path / "trace.pjp"
    subprocess.run([program("pj_pack"), "-o", file, example("mpi")], check=True)
    damaged = bytearray(file.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    with pytest.raises(OSError, match="pjp: the compressed data"):
        pajereplay.read(bytes(damaged))


def test_standard_input_and_pipes(example):
    path = example("mpi")
    code = "import sys, pajereplay; print(len(pajereplay.read(sys.stdin.buffer).states))"
    done = subprocess.run([sys.executable, "-c", code], input=path.read_bytes(), capture_output=True, check=True)
    assert done.stdout == b"158\n"
    with subprocess.Popen(["cat", path], stdout=subprocess.PIPE) as cat:
        assert len(pajereplay.read(cat.stdout).states) == 158


def test_a_file_called_dash(example, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("-").write_bytes(example("mpi").read_bytes())
    assert len(pajereplay.read("-").states) == 158


def test_traces_in_several_files(example, tmp_path):
    root = example("files/root")
    whole = states(pajereplay.read(example("files/whole")))
    assert states(pajereplay.read(root)) == whole
    alone = pajereplay.read(root, follow_files=False)
    assert states(alone) != whole
    assert {problem.code for problem in alone.warnings} == {"file-not-read"}
    assert all(problem.severity == "warning" and problem.line for problem in alone.warnings)
    # Several files form one trace.
    (tmp_path / "a").write_text(HEADER + "4 1 Power first on\n")
    (tmp_path / "b").write_text("4 2 Power first off\n")
    assert len(pajereplay.read([tmp_path / "a", str(tmp_path / "b")]).states) == 2


def test_forbidden_files(example, tmp_path):
    root = tmp_path / "run" / "root.trace"
    root.parent.mkdir()
    names = "%EventDef PajeTraceFile 9\n% Container string\n% Type string\n% Filename string\n%EndEventDef\n"
    root.write_text(HEADER + names + "9 0 0 ../piece\n")
    (tmp_path / "piece").write_text("4 1 Power first on\n")
    with pytest.raises(PermissionError) as raised:
        pajereplay.read(root)
    folder = os.path.realpath(tmp_path)
    assert f"not below the trace's folder; files_from='{folder}' allows it" in str(raised.value)
    assert not pajereplay.validate(root)
    for allowed in (tmp_path, str(tmp_path), [tmp_path]):
        assert len(pajereplay.read(root, files_from=allowed).states) == 1
        assert pajereplay.validate(root, files_from=allowed)
    with pytest.raises(FileNotFoundError):
        pajereplay.read(root, files_from=tmp_path / "none")


def test_counts_end_and_metadata(example):
    trace = pajereplay.read(example("mpi"), threads=2)
    assert trace.counts == {"containers": 4, "states": 158, "variables": 72, "events": 20, "links": 96}
    assert trace.end == 0.043388
    metadata = trace.metadata
    assert metadata["source"] == str(example("mpi")) and metadata["lines"] == 735
    assert metadata["bytes"] == example("mpi").stat().st_size
    assert metadata["threads"] == 2 and metadata["version"] == pajereplay.__version__
    assert trace.warnings == [] and trace.recovered == []
    assert repr(trace).startswith(f"<pajereplay.Trace {example('mpi')}: 4 containers, 158 states, ")


def test_an_invalid_trace(tmp_path):
    path = tmp_path / "wrong.trace"
    path.write_text(PROBLEM)
    with pytest.raises(pajereplay.TraceError) as raised:
        pajereplay.read(path)
    error = raised.value
    line = PROBLEM.count("\n")
    assert isinstance(error, ValueError)
    assert (error.line, error.column, error.code) == (line, 11, "unknown-container")
    assert error.file == str(path)
    assert error.message == "unknown container 'frist'; a container must be created before it is used"
    assert error.excerpt == f" {line} | 4 2 Power frist off\n    |           ^^^^^"
    assert str(error) == f"{path}:{line}:11: {error.message}\n{error.excerpt}"
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error) and vars(again) == vars(error)
    for source, name in ((PROBLEM.encode(), "<bytes>"), (io.BytesIO(PROBLEM.encode()), "<file>")):
        with pytest.raises(pajereplay.TraceError) as raised:
            pajereplay.read(source)
        assert raised.value.file == name


def test_a_problem_in_a_named_file(tmp_path):
    root, named = tmp_path / "root", tmp_path / "named"
    root.write_text(HEADER + "5 first Host named\n")
    named.write_text("4 1 Power second on\n")
    with pytest.raises(pajereplay.TraceError) as raised:
        pajereplay.read(root)
    assert (raised.value.file, raised.value.line) == (str(named), 1)
    named.unlink()
    with pytest.raises(FileNotFoundError) as raised:
        pajereplay.read(root)
    assert raised.value.filename == str(named) and raised.value.errno == errno.ENOENT


def test_messages_equal_those_of_pj_dump(example, tmp_path):
    """Examples with a missing, doubled or garbled line or word."""
    program("pj_dump")
    chance = random.Random(6)
    wrong = 0
    for name in ("mpi", "task-runtime", "destroyed", "variables", "quoted"):
        lines = example(name).read_bytes().splitlines(keepends=True)
        for _ in range(12):
            changed, at = list(lines), chance.randrange(len(lines))
            words = changed[at].split(b" ")
            how = chance.randrange(4)
            if how == 0:
                changed[at] = b""
            elif how == 1:
                changed[at] *= 2
            elif how == 2:
                words[chance.randrange(len(words))] = b"x1"
                changed[at] = b" ".join(words).rstrip(b"\n") + b"\n"
            else:
                changed[at] = b" ".join(words[:-1]) + b"\n"
            path = tmp_path / "changed.trace"
            path.write_bytes(b"".join(changed))
            status, _, said = dump(path)
            try:
                pajereplay.read(path)
            except pajereplay.TraceError as error:
                wrong += 1
                assert status == 1
                told = str(error).replace("(ignore_incomplete_links=True ignores", "(-z ignores")
                assert said.startswith(f"pj_dump: {told}\n"), said
            else:
                assert status == 0, said
    assert wrong > 10


def test_unreadable_files(tmp_path, example):
    with pytest.raises(FileNotFoundError) as raised:
        pajereplay.read(tmp_path / "none")
    assert raised.value.filename == str(tmp_path / "none")
    assert str(raised.value).startswith("[Errno 2] No such file or directory: ")
    with pytest.raises(IsADirectoryError):
        pajereplay.read(tmp_path)
    if os.geteuid() != 0:
        (tmp_path / "locked").write_text("")
        (tmp_path / "locked").chmod(0)
        with pytest.raises(PermissionError):
            pajereplay.read(tmp_path / "locked")
    squeezed = gzip.compress(example("mpi").read_bytes())
    with pytest.raises(OSError) as raised:
        pajereplay.read(squeezed[:-20])
    assert raised.value.errno == errno.EIO and "end too early" in str(raised.value)
    # Damage is reported even if it makes the trace invalid.
    damaged = bytearray(gzip.compress(PROBLEM.encode()))
    damaged[-6] ^= 1
    with pytest.raises(OSError) as raised:
        pajereplay.read(bytes(damaged))
    assert "damaged" in str(raised.value)
    with pytest.raises(pajereplay.TraceError) as raised:
        pajereplay.read(b"")
    assert raised.value.code == "empty-trace" and raised.value.line is None


def test_wrong_arguments(example):
    path = example("mpi")
    for keywords, word in [
        ({"threads": 0}, "threads"),
        ({"pin": "there"}, "there"),
        ({"stop_at": float("nan")}, "stop_at"),
        ({"start": float("nan")}, "start"),
        ({"variable_precision": "half"}, "half"),
        ({"quotes": "auto"}, "auto"),
        ({"types": []}, "types"),
        ({"natures": ["states"]}, "states"),
        ({"memory_limit": "much"}, "much"),
    ]:
        with pytest.raises(ValueError, match=word):
            pajereplay.read(path, **keywords)
    for source in (5, None, [], [5], {}):
        with pytest.raises(TypeError):
            pajereplay.read(source)
    with pytest.raises(TypeError):
        pajereplay.read(path, 2)
    with pytest.raises(TypeError, match="binary mode"):
        pajereplay.read(io.StringIO("%EventDef"))


def test_file_objects_that_fail():
    class Failing(io.RawIOBase):
        name = "network"

        def __init__(self):
            self.parts = [HEADER.encode()]

        def read(self, size):
            if self.parts:
                return self.parts.pop()
            raise ConnectionResetError("gone")

    with pytest.raises(ConnectionResetError, match="gone"):
        pajereplay.read(Failing())
    with pytest.raises(ConnectionResetError, match="gone"):
        pajereplay.validate(Failing())

    class Nothing(io.RawIOBase):
        def read(self, size):
            return None

    with pytest.raises(BlockingIOError):
        pajereplay.read(Nothing())

    class Trickle(io.RawIOBase):
        def __init__(self, content):
            self.content = content

        def read(self, size):
            part, self.content = self.content[:7], self.content[7:]
            return part

    assert pajereplay.read(Trickle(HEADER.encode())).counts["containers"] == 1
    # Returns more than requested.
    class Flood(Trickle):
        def read(self, size):
            part, self.content = self.content, b""
            return part

    content = HEADER.encode() + b"4 1 Power first on\n" * 300_000
    assert pajereplay.read(Flood(content)).counts["states"] == 300_000


def test_recover():
    with pytest.raises(pajereplay.TraceError):
        pajereplay.read(PROBLEM.encode())
    trace = pajereplay.read(PROBLEM.encode(), recover=True)
    (problem,) = trace.recovered
    assert (problem.code, problem.severity, problem.count) == ("unknown-container", "error", 1)
    assert problem.remedy in ("skipped", "created") and problem.line == PROBLEM.count("\n")
    assert str(problem) == f"<bytes>:{problem.line}:11: error[unknown-container]: {problem.message}"


def test_little_memory(generated, tmp_path):
    path = generated("mpi", 30_000_000, 3)
    wanted = pajereplay.read(path).links.to_arrow()
    for limit in (1, "32M"):
        trace = pajereplay.read(path, memory_limit=limit, temp_dir=tmp_path)
        assert trace.links.to_arrow().equals(wanted)
    with pytest.raises(OSError):
        pajereplay.read(path, memory_limit=1, temp_dir=tmp_path / "none")


def test_progress(generated, capsys):
    path = generated("mpi", 30_000_000, 3)
    calls = []
    pajereplay.read(path, threads=1, progress=lambda done, total: calls.append((done, total)))
    size = path.stat().st_size
    assert calls[-1] == (size, size)
    assert calls == sorted(calls) and all(total == size for _, total in calls)

    class Enough(Exception):
        pass

    def stop(done, total):
        raise Enough

    with pytest.raises(Enough):
        pajereplay.read(path, progress=stop)
    calls.clear()
    pajereplay.read(gzip.compress(path.read_bytes(), 1), progress=lambda *call: calls.append(call))
    assert calls[-1][0] == calls[-1][1] < size
    calls.clear()
    pajereplay.read(io.BytesIO(path.read_bytes()), progress=lambda *call: calls.append(call))
    assert calls[-1] == (size, None)
    pajereplay.read(path, progress=True)
    assert "replay" in capsys.readouterr().err
    pajereplay.read(path, progress=False)
    assert capsys.readouterr().err == ""


def test_progress_without_tqdm(example, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    pajereplay.read(example("mpi"), progress=True)
    assert "replay: 100 %" in capsys.readouterr().err


def test_other_threads_run_during_a_replay(generated):
    path = generated("mpi", 30_000_000, 3)
    counted, done = 0, threading.Event()

    def replay():
        for _ in range(3):
            pajereplay.read(path, threads=1).links.num_rows
        done.set()

    thread = threading.Thread(target=replay)
    thread.start()
    while not done.wait(0.001):
        counted += 1
    thread.join()
    assert counted > 20


def test_threads_share_a_trace(generated):
    trace = pajereplay.read(generated("mpi", 30_000_000, 3), threads=2)
    found = []
    threads = [threading.Thread(target=lambda: found.append(len(trace.states))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [trace.counts["states"]] * 6


def test_copying_is_an_error(example):
    trace = pajereplay.read(example("mpi"))
    for one in (trace, trace.states):
        for attempt in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match="cannot"):
                attempt(one)
        with pytest.raises(TypeError):
            type(one)()
        with pytest.raises(AttributeError):
            one.anything = 1
