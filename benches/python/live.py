#!/usr/bin/env python3
"""Whether `pj_profile --live` keeps pace: a trace comes through a pipe at a rate, as of a program that runs.

    benches/python/live.py [--seconds 300] [--rate 1e6] [--report states] [--slow] [--programs target/release]

`datasets` writes the trace, complete after so many seconds at this rate of events; nothing of it is kept. Each second the events
that were taken, and the memory of pj_profile, are told. It fails if the last report is not that of the same trace read as a
file is, or if memory grows: beyond what it was in the first third, by a tenth and 2 MB. (Of each value, 100,000 durations are kept for
the median: runs of less than a minute may end before, so that their memory is told, but not judged.) --slow has a terminal that takes
200 bytes ten times a second: the program waits for it, and loses nothing.

A machine that others use may not reach the rate; what was reached is told.
"""

import argparse
import os
import pathlib
import shlex
import subprocess
import sys
import threading
import time

# Bytes that are passed on at once.
CHUNK = 1 << 16


def status(process, *names):
    """Kilobytes of these, as Linux tells them of a process."""
    lines = pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines()
    found = dict(line.split(":", 1) for line in lines)
    # One that has just ended has none.
    return [int(found.get(name, "0 kB").split()[0]) for name in names]


def generator(given, size):
    return subprocess.Popen([given.programs / "datasets", given.shape, f"--size={size}"], stdout=subprocess.PIPE)


def size_of(given):
    """How many bytes have so many events, and how many lines stand before the first."""
    sample = generator(given, 4_000_000).stdout.read()
    header = sample[: sample.rindex(b"%EndEventDef")].count(b"\n") + 1
    events = sample.count(b"\n") - header
    return int(given.rate * given.seconds * len(sample) / events), header


def read(stream, is_slow, parts):
    """Takes all that comes, or a little now and then until somebody says that it may be quicker."""
    while part := os.read(stream.fileno(), 200 if is_slow.is_set() else CHUNK):
        parts.append(part)
        if is_slow.is_set():
            time.sleep(0.1)


def feed(given, trace, program, header):
    """Passes the trace on at the rate, and samples memory. Returns samples, events, and seconds."""
    began, told, lines, samples = time.monotonic(), 0, -header, []
    while chunk := trace.read(CHUNK):
        program.stdin.write(chunk)
        lines += chunk.count(b"\n")
        ahead = lines / given.rate - (time.monotonic() - began)
        if ahead > 0:
            time.sleep(ahead)
        elapsed = time.monotonic() - began
        if elapsed >= told + 1:
            told = int(elapsed)
            samples.append(status(program, "VmRSS")[0])
            print(f"{told:4} s  {lines:12} events  {lines / elapsed:9.0f} a second  {samples[-1] / 1e3:7.1f} MB", flush=True)
    samples.append(status(program, "VmHWM")[0])
    program.stdin.close()
    return samples, lines, time.monotonic() - began


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--rate", type=float, default=1e6, help="events a second")
    parser.add_argument("--shape", default="mpi", help="of datasets")
    parser.add_argument("--report", default="states", type=shlex.split, help="and its options, as one word: 'time -s 0 -e 9'")
    parser.add_argument("--slow", action="store_true", help="a terminal that takes little")
    parser.add_argument("--programs", default="target/release", type=pathlib.Path)
    given = parser.parse_args()
    size, header = size_of(given)
    words = [given.programs / "pj_profile", *given.report, "--no-progress"]

    trace = generator(given, size)
    program = subprocess.Popen([*words, "--live"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    is_slow, parts = threading.Event(), []
    if given.slow:
        is_slow.set()
    reader = threading.Thread(target=read, args=(program.stdout, is_slow, parts))
    reader.start()
    samples, events, seconds = feed(given, trace.stdout, program, header)
    is_slow.clear()
    reader.join()
    if program.wait() != 0:
        sys.exit(f"pj_profile ended with {program.returncode}")
    print(f"{events} events in {seconds:.0f} s, {events / seconds:.0f} a second; memory at most {samples[-1] / 1e3:.1f} MB")

    wanted = subprocess.run(words, stdin=generator(given, size).stdout, capture_output=True, check=True).stdout
    shown = b"".join(parts)
    if not shown.endswith(wanted):
        sys.exit("the last report is another than that of the trace")
    early = max(samples[: max(len(samples) // 3, 1)])
    if given.seconds >= 60 and samples[-1] > 1.1 * early + 2000:
        sys.exit(f"memory grew from {early / 1e3:.1f} MB to {samples[-1] / 1e3:.1f} MB")
    print(f"{shown.count(wanted.splitlines()[0].split(b',')[0])} reports; the last is that of the trace; memory {early / 1e3:.1f} MB, then at most {samples[-1] / 1e3:.1f} MB")


if __name__ == "__main__":
    main()
