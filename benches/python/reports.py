#!/usr/bin/env python3
"""Compares the reports of pj_profile with other ways to the same results, for the table of docs/profile.md.

    pip install polars pandas                  # for the other ways, which are skipped without them
    git clone https://github.com/hpcgroup/pipit                              # the pipit of PyPI is empty
    benches/python/reports.py --pipit pipit --runs 3 lu.trace mpi.trace

All ways take turns, as separate processes. Traces are read into the page cache first. The table has
medians of the elapsed time, the processor time, and the peak memory of a process. Traces may be
compressed with xz. The other ways are:

- PajeNG's pj_dump; polars reads its states or links, with given types, and groups them.
- Pipit's flat_profile, from the CSV that it reads (`pj_convert --to pipit` is not part of the time).

The results are compared: counts must be equal, and times as close as pj_dump prints them. `--peer-runs` sets the number of runs
of the other ways.
"""

import argparse
import csv
import importlib.util
import io
import os
import pathlib
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

STATES = ["Nature", "Container", "Type", "Start", "End", "Duration", "Imbrication", "Value"]
LINKS = ["Nature", "Container", "Type", "Start", "End", "Duration", "Value", "From", "To", "Key"]


def grouped_by_polars(nature, file, out):
    """Computes counts and sums of PajeNG's rows, as in pj_profile's reports. Runs in a child process."""
    import polars as pl

    columns, keys = (STATES, ["Value"]) if nature == "State" else (LINKS, ["From", "To"])
    types = {name: pl.Float64 if name in ("Start", "End", "Duration", "Imbrication") else pl.String for name in columns}
    which = [place for place, name in enumerate(columns) if name in [*keys, "Duration"]]
    rows = pl.read_csv(file, has_header=False, schema=types, columns=which, quote_char=None)
    found = rows.group_by(keys).agg(pl.len().alias("count"), pl.col("Duration").sum().alias("seconds"))
    for *names, count, seconds in found.iter_rows():
        print(*(name.strip() for name in names), count, f"{seconds:.9f}", sep="\t", file=out)


def profiled_by_pipit(folder, file, out):
    """Computes the exclusive time of each name. Runs in a child process."""
    sys.path.insert(0, folder)
    import pipit

    profile = pipit.Trace.from_csv(file).flat_profile(metrics=["time.exc"], per_process=True)
    for name, seconds in profile.groupby(level=0, observed=True).sum()["time.exc"].items():
        print(name, f"{seconds / 1e9:.9f}", sep="\t", file=out)


def run(command, out=None):
    """Runs a shell command. Returns elapsed time, processor time and peak memory in bytes."""
    began = time.perf_counter()
    with open(out or os.devnull, "wb") as to:
        child = subprocess.Popen(["bash", "-c", f"set -o pipefail; {command}"], stdout=to)
        _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"{command} ended with {child.returncode}")
    return time.perf_counter() - began, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024


def ours(given, trace, folder):
    """Yields names and commands of our programs."""
    programs, threads = given.programs.resolve(), f"--threads={given.threads} --no-progress --no-warnings"
    dump, profile = f"exec {programs}/pj_dump {threads}", f"exec {programs}/pj_profile {threads}"
    yield "`pj_dump -q`", f"{dump} -q {trace}"
    yield "`pj_dump -q -o`", f"{dump} -q -o {trace}"
    for report in ("states", "comm", "time", "variables", "events", "summary"):
        yield f"`pj_profile {report}`", f"{profile} {report} {trace}"
    if given.waits:
        for report in ("waits", "critical", f"summary --html {folder}/page.html"):
            yield f"`pj_profile {report.replace(f'{folder}/', '')}`", f"{profile} {report} {trace}"
    yield "`pj_profile states`, through a pipe", f"{profile} states <(cat {trace})"


def peers(given, trace, folder):
    """Yields names, commands, and the kinds of results to compare."""
    myself = f"{shlex.quote(sys.executable)} {shlex.quote(os.path.realpath(__file__))}"
    for nature, report in (("State", "states"), ("Link", "comm")):
        rows = f"{folder}/rows.csv"
        dumped = f"LC_ALL=C {given.pajeng} {trace} | LC_ALL=C grep ^{nature}, > {rows}"
        if given.has_polars:
            yield f"PajeNG and polars, {report}", f"{dumped}; {myself} --grouped {nature} {rows}", report
    if given.pipit:
        table = f"{folder}/pipit.csv"
        subprocess.run([given.programs / "pj_convert", "--to=pipit", "-o", table, trace], check=True)
        yield "Pipit, `flat_profile`", f"exec {myself} --profiled {given.pipit.resolve()} {table}", "pipit"


def compare(given, trace, report, answer):
    """Fails if two ways give different results."""
    words = [given.programs / "pj_profile", "comm" if report == "comm" else "states", "--format=csv", trace]
    rows = list(csv.DictReader(io.StringIO(subprocess.run(words, capture_output=True, check=True, text=True).stdout)))
    theirs = {}
    for line in answer.splitlines():
        fields = line.split("\t")
        numbers = 1 if report == "pipit" else 2
        theirs[tuple(fields[:-numbers])] = [float(field) for field in fields[-numbers:]]
    found = {}
    for row in rows:
        names = (row["from"], row["to"]) if report == "comm" else (row["value"],)
        count = int(row["count"])
        seconds = {
            "states": lambda: float(row["inclusive"]),
            "comm": lambda: count * float(row["mean"]),
            "pipit": lambda: float(row["exclusive"]),
        }[report]()
        sums = found.setdefault(names, [0, 0.0])
        found[names] = [sums[0] + count, sums[1] + seconds]
    for names in found.keys() | theirs.keys():
        mine, other = found.get(names, [0, 0.0]), theirs.get(names, [0.0])
        near = 1e-6 * (mine[0] + 1) + 1e-9 * abs(mine[1])
        if abs(mine[1] - other[-1]) > near or (len(other) == 2 and mine[0] != other[0]):
            sys.exit(f"{trace}, {report}: {names}: {mine} in pj_profile, but {other} there")


def measure(given, trace, folder):
    ways = [(name, command, None) for name, command in ours(given, trace, folder)]
    ways += peers(given, trace, folder)
    measured = {name: [] for name, _, _ in ways}
    # Reads the trace into the page cache.
    trace.read_bytes()
    for number in range(max(given.runs, given.peer_runs)):
        for name, command, report in ways:
            if number < (given.peer_runs if report else given.runs):
                out = f"{folder}/answer"
                measured[name].append(run(command, out))
                if report and number == 0:
                    compare(given, trace, report, pathlib.Path(out).read_text())
    title = f"{trace.stem}, {trace.stat().st_size / 1e6:.0f} MB"
    for name, runs in measured.items():
        wall, cpu, memory = (statistics.median(column) for column in zip(*runs))
        print(f"| {title} | {name} | {wall:.3f} | {cpu:.2f} | {memory / 1e6:.0f} |", flush=True)
        title = ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("traces", nargs="*", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--peer-runs", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--programs", default="target/release", type=pathlib.Path)
    parser.add_argument("--pajeng", default="/usr/bin/pj_dump", help="PajeNG's pj_dump")
    parser.add_argument("--pipit", type=pathlib.Path, metavar="FOLDER", help="a clone of Pipit's repository")
    parser.add_argument("--no-waits", dest="waits", action="store_false", help="for traces with unknown state values")
    parser.add_argument("--between", default="/dev/shm", metavar="FOLDER", help="folder for intermediate files")
    parser.add_argument("--grouped", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--profiled", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.grouped:
        return grouped_by_polars(*given.grouped, sys.stdout)
    if given.profiled:
        return profiled_by_pipit(*given.profiled, sys.stdout)
    # polars is not imported here, because Linux includes the memory of the parent in a child's
    # peak.
    given.has_polars = importlib.util.find_spec("polars") is not None and shutil.which(given.pajeng) is not None
    if not given.has_polars:
        print("left out: PajeNG and polars (one of them is missing)", file=sys.stderr)
    if not given.pipit:
        print("left out: Pipit (--pipit FOLDER)", file=sys.stderr)
    os.environ["POLARS_MAX_THREADS"] = str(given.threads)
    print("| trace | | seconds | of the processors | MB of memory |\n|---|---|--:|--:|--:|")
    for trace in given.traces:
        with tempfile.TemporaryDirectory(dir=given.between) as folder:
            if trace.suffix == ".xz":
                plain = pathlib.Path(folder, trace.stem)
                with open(plain, "wb") as out:
                    subprocess.run(["xz", "-dc", trace], stdout=out, check=True)
                trace = plain
            measure(given, trace, folder)


if __name__ == "__main__":
    main()
