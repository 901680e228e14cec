#!/usr/bin/env python3
"""Tests whether `pj_profile --live` keeps pace with a trace that comes through a pipe at a given rate.

    benches/python/live.py [--seconds 300] [--rate 1e6] [--report states] [--slow] [--programs target/release]

`datasets` generates the trace, whose events take the given seconds at this rate. Each second, the script prints the number of
events and the memory of pj_profile. It fails if the last report differs from that of the same trace without --live, or if memory
grows by more than 10 % and 2 MB after the first third. (pj_profile keeps up to 100,000 durations per value for medians, so the
memory of runs below a minute is not checked.) With --slow, the output is read in pieces of 200
bytes, ten times a second, and nothing may be lost.

A busy machine may not reach the rate; the script prints the actual one.
"""

import argparse
import os
import pathlib
import shlex
import subprocess
import sys
import threading
import time

# Bytes per write.
CHUNK = 1 << 16


def status(process, *names):
    """Returns these sizes of a process in kilobytes, as Linux reports them."""
    lines = pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines()
    found = dict(line.split(":", 1) for line in lines)
    # A process that has just ended reports no sizes.
    return [int(found.get(name, "0 kB").split()[0]) for name in names]


def generator(given, size):
    return subprocess.Popen([given.programs / "datasets", given.shape, f"--size={size}"], stdout=subprocess.PIPE)


def size_of(given):
    """Returns the number of bytes that the requested events take, and the number of header lines."""
    sample = generator(given, 4_000_000).stdout.read()
    header = sample[: sample.rindex(b"%EndEventDef")].count(b"\n") + 1
    events = sample.count(b"\n") - header
    return int(given.rate * given.seconds * len(sample) / events), header


def read(stream, is_slow, parts):
    """Reads everything, but slowly until `is_slow` is cleared."""
    while part := os.read(stream.fileno(), 200 if is_slow.is_set() else CHUNK):
        parts.append(part)
        if is_slow.is_set():
            time.sleep(0.1)


def feed(given, trace, program, header):
    """Writes the trace to the program at the rate and samples memory. Returns samples, events and seconds."""
    began, printed, lines, samples = time.monotonic(), 0, -header, []
    while chunk := trace.read(CHUNK):
        program.stdin.write(chunk)
        lines += chunk.count(b"\n")
        ahead = lines / given.rate - (time.monotonic() - began)
        if ahead > 0:
            time.sleep(ahead)
        elapsed = time.monotonic() - began
        if elapsed >= printed + 1:
            printed = int(elapsed)
            samples.append(status(program, "VmRSS")[0])
            print(f"{printed:4} s  {lines:12} events  {lines / elapsed:9.0f} per second  {samples[-1] / 1e3:7.1f} MB", flush=True)
    samples.append(status(program, "VmHWM")[0])
    program.stdin.close()
    return samples, lines, time.monotonic() - began


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--rate", type=float, default=1e6, help="events per second")
    parser.add_argument("--shape", default="mpi", help="shape of the generated trace")
    parser.add_argument("--report", default="states", type=shlex.split, help="report with its options, as one word: 'time -s 0 -e 9'")
    parser.add_argument("--slow", action="store_true", help="read the output slowly")
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
    print(f"{events} events in {seconds:.0f} s, {events / seconds:.0f} per second; memory at most {samples[-1] / 1e3:.1f} MB")

    wanted = subprocess.run(words, stdin=generator(given, size).stdout, capture_output=True, check=True).stdout
    shown = b"".join(parts)
    if not shown.endswith(wanted):
        sys.exit("the last report differs from that of the whole trace")
    early = max(samples[: max(len(samples) // 3, 1)])
    if given.seconds >= 60 and samples[-1] > 1.1 * early + 2000:
        sys.exit(f"memory grew from {early / 1e3:.1f} MB to {samples[-1] / 1e3:.1f} MB")
    print(f"{shown.count(wanted.splitlines()[0].split(b',')[0])} reports; the last one is right; memory {early / 1e3:.1f} MB, then at most {samples[-1] / 1e3:.1f} MB")


if __name__ == "__main__":
    main()
