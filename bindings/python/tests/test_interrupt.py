"""Interrupts calls in another process with a real signal."""

import os
import signal
import subprocess
import sys
import time

import pytest

import pajereplay

# Prints when the call begins, when it has ended and how many threads remain.
CODE = """
import os, signal, sys, time, threading, pajereplay
# The signal may be ignored in the parent process.
signal.signal(signal.SIGINT, signal.default_int_handler)
{before}
print("ready", flush=True)
try:
    {call}
    print("not interrupted", flush=True)
except KeyboardInterrupt:
    now = time.monotonic()
    time.sleep(0.05)
    print(now, len(os.listdir("/proc/self/task")) if os.path.isdir("/proc/self/task") else 1, flush=True)
"""


def interrupt(call, *, before="", wait=0.2, stdin=None):
    code = CODE.format(call=call, before=before)
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        time.sleep(wait)
        sent = time.monotonic()
        process.send_signal(signal.SIGINT)
        output = process.stdout.read()
        assert process.wait() == 0
    assert output != "not interrupted\n", "the trace is too small for this machine"
    over, threads = output.split()
    # The limit is generous, since the machine may be busy.
    assert float(over) - sent < 20
    return float(over) - sent, int(threads)


@pytest.fixture(scope="module")
def large(tmp_path_factory, generated):
    """A large trace."""
    return generated("mpi", 30_000_000, 3)


# File object that repeats events forever.
ENDLESS = """
class Endless:
    def __init__(self, path):
        lines = open(path, 'rb').read().splitlines(keepends=True)
        self.parts = [b''.join(lines)]
        self.again = b'# an ignored comment\\n' * 30000
    def read(self, size):
        return self.parts.pop() if self.parts else self.again
"""


def test_reading_a_file_object(large):
    _, threads = interrupt(f"pajereplay.read(Endless({str(large)!r}), threads=2)", before=ENDLESS)
    assert threads == 1


def test_validating_a_file_object(large):
    _, threads = interrupt(f"pajereplay.validate(Endless({str(large)!r}))", before=ENDLESS)
    assert threads == 1


def test_reading_files(large):
    call = f"[pajereplay.read({str(large)!r}, threads=2) for _ in range(1000)]"
    for wait in (0.05, 0.3):
        _, threads = interrupt(call, wait=wait)
        assert threads == 1


@pytest.mark.parametrize("function", ["read", "validate"])
def test_a_path_without_an_end(tmp_path, function):
    """A call that never ends must check for signals after it has opened the file."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with subprocess.Popen(["sh", "-c", f"yes '# a comment' > '{path}'"]) as feeder:
        late, threads = interrupt(f"pajereplay.{function}({str(path)!r})", wait=0.5)
        feeder.kill()
    assert threads == 1
    assert late < 1


def test_progress_of_a_path_without_an_end(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)

    class Enough(Exception):
        pass

    calls = []

    def watch(done, total):
        calls.append((done, total))
        if len(calls) == 3:
            raise Enough

    with subprocess.Popen(["sh", "-c", f"yes '# a comment' > '{path}'"]) as feeder:
        with pytest.raises(Enough):
            pajereplay.read(path, progress=watch)
        feeder.kill()
    assert calls == sorted(calls) and calls[2][0] > calls[0][0] and calls[0][1] is None


def test_making_tables(large):
    call = "[(trace.states.num_rows, trace.states.release()) for _ in range(100000)]"
    _, threads = interrupt(call, before=f"trace = pajereplay.read({str(large)!r}, threads=1)")
    assert threads == 1


def test_an_idle_pipe(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    # An open writer keeps the reader waiting.
    keep = os.open(path, os.O_RDWR)
    interrupt(f"pajereplay.read({str(path)!r})", before="")
    os.close(keep)


def test_idle_standard_input():
    _, threads = interrupt("pajereplay.read(sys.stdin.buffer)", stdin=subprocess.PIPE)
    assert threads == 1


def test_calls_in_other_threads_are_not_interrupted(example):
    code = f"""
import signal, threading, pajereplay
found = []
thread = threading.Thread(target=lambda: found.append(len(pajereplay.read({str(example('mpi'))!r}).states)))
thread.start(); thread.join(); print(found)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert done.stdout == "[158]\n"
