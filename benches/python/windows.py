#!/usr/bin/env python3
"""Compares windows of packed traces with all rows: windows.py [OPTIONS] TRACE.pjp...

Prints a table with some windows of each trace, for all containers or those that --in names. It
shows the bytes read, the time of the process, and that time as a share of the time for all rows.
The last row is a trace of a few lines, which shows the start-up time. Times are medians. All
configurations take turns, so that the noise of a shared machine affects all of them alike.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile
import time

SOON_DONE = b"%EventDef PajeDefineContainerType 0\n%  Name string\n%  Type string\n%EndEventDef\n0 P 0\n"


def stats(given, arguments):
    """Returns the statistics of a run."""
    run = subprocess.run([given.program, "-q", "--stats=json", *arguments], capture_output=True, check=True)
    return json.loads(run.stderr)


def seconds(given, arguments):
    """Returns the time of a run whose rows are discarded."""
    began = time.perf_counter()
    subprocess.run([given.program, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return time.perf_counter() - began


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default="target/release/pj_dump")
    parser.add_argument("--part", type=float, default=0.01, help="length of a window, as a part of the trace (0.01)")
    parser.add_argument("--places", type=int, default=3, help="number of windows of each trace (3)")
    parser.add_argument("--runs", type=int, default=50, help="runs of each window (50)")
    parser.add_argument("--threads", help="number of threads of the program")
    parser.add_argument("--in", dest="containers", help="containers of the windows")
    parser.add_argument("traces", nargs="+", type=pathlib.Path)
    given = parser.parse_args()
    threads = [f"--threads={given.threads}"] if given.threads else []
    print("| trace | window | bytes read | | ms | of all rows |\n|---|---|--:|--:|--:|--:|")
    for trace in given.traces:
        end = stats(given, [*threads, str(trace)])["contents"]["time"][1]
        asked = {"all rows": [*threads, str(trace)]}
        for place in range(given.places):
            start = end * (place + 0.5) / given.places
            window = ["-s", f"{start:.6f}", "-e", f"{start + end * given.part:.6f}"]
            window += ["--in", given.containers] if given.containers else []
            asked[" ".join(window)] = [*window, *threads, str(trace)]
        with tempfile.TemporaryDirectory() as folder:
            short = pathlib.Path(folder, "short.trace")
            short.write_bytes(SOON_DONE)
            asked["start of the program"] = [*threads, str(short)]
            took = {name: [] for name in asked}
            for _ in range(given.runs):
                for name, arguments in asked.items():
                    took[name].append(seconds(given, arguments))
        rows = statistics.median(took["all rows"])
        for name, arguments in asked.items():
            packed = {} if name.startswith("start") else stats(given, arguments).get("packed", {})
            read, size = packed.get("read", 0), packed.get("size", 1)
            median = statistics.median(took[name])
            print(f"| {trace.stem} | {name} | {read:,} | {read / size:.1%} | {median * 1e3:.2f} | {median / rows:.1%} |")


if __name__ == "__main__":
    main()
