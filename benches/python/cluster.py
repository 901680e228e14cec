#!/usr/bin/env python3
"""Compares reports that Dask's workers compute with those of one machine: cluster.py --size 10G --containers 256

    pip install './bindings/python[dask]'
    cargo build --release -p datasets -p pj-pack -p pj-profile
    benches/python/cluster.py --size 1G --folder /var/tmp

A generated trace goes through a pipe into pj_pack, so its text needs no disk. Then `pj_profile` computes reports with
as many threads as there are workers, and a LocalCluster computes them with one process per thread. Each process may
use the memory that --memory states. All values must be equal, to the last printed digit. The last line of the table is
a window of 1 % of the time and four containers, of which the bytes are counted. The exit status is 1 if a report
differs or cannot be computed, or if the window reads more than 3 % of the file.

pj_profile prints communication from the report that is stored with the trace, which takes no time. It computes profiles by
container and waiting times.
"""

import argparse
import csv
import io
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import dask
import pajereplay
import pajereplay.dask as paje
from distributed import Client, LocalCluster

# Arguments of pj_profile, the function of pajereplay.dask, and its keywords.
REPORTS = {
    "profile": (["states", "--by", "container"], paje.profile, {"by": "container"}),
    "comm": (["comm"], paje.comm, {}),
    "waits": (["waits"], paje.waits, {}),
}

MICROSECOND = 1e6


def timed(work):
    began = time.perf_counter()
    found = work()
    return found, time.perf_counter() - began


def pack(options, path):
    """Generates and packs the trace."""
    shape = [options.shape, "--size", options.size, "--seed", str(options.seed)]
    if options.containers:
        shape += ["--containers", str(options.containers)]
    with subprocess.Popen([options.programs / "datasets", *shape], stdout=subprocess.PIPE) as text:
        command = [options.programs / "pj_pack", "-", "-o", path, "--no-progress", "--threads", str(options.workers)]
        subprocess.run(command, stdin=text.stdout, check=True)
    if text.returncode != 0:
        raise RuntimeError("datasets failed")


def printed(options, path, arguments):
    """Returns the report of pj_profile as rows of text."""
    limit = ["--memory-limit", options.limit] if options.limit else []
    command = [options.programs / "pj_profile", *arguments, path, "--format", "csv", "--no-progress"]
    command += ["--no-warnings", "--threads", str(options.workers), *limit]
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    return list(csv.reader(io.StringIO(run.stdout.decode())))


def difference(expected, found):
    """Returns the first difference between a printed report and a data frame, or None."""
    head, *rows = expected
    if head != list(found.columns):
        return f"columns {head} and {list(found.columns)}"
    if len(rows) != len(found):
        return f"{len(rows)} and {len(found)} rows"
    for row, ours in zip(rows, found.itertuples(index=False)):
        for column, cell, value in zip(head, row, ours):
            is_missing = value is None or value != value
            text = "" if is_missing else f"{value:.9f}" if isinstance(value, float) else str(value)
            if text != cell:
                return f"{column}: {cell!r} and {text!r} in {row}"
    return None


def micros(states):
    """Returns durations in microseconds. The times of the trace have six decimals, so the sums are exact."""
    begin, end = ((states[column] * MICROSECOND).round().astype("int64") for column in ("Start", "End"))
    return states[["Value"]].assign(micros=end - begin)


def grouped_sums(path, options):
    """Returns the sum and number of states for each value."""
    frame = paje.states(path, size=options.part).map_partitions(micros)
    sums = frame.groupby("Value", observed=True)["micros"].agg(["sum", "count"]).compute()
    return {str(value): (row["sum"], row["count"]) for value, row in sums.iterrows() if row["count"]}


def sums_of_profile(rows):
    """Returns the same sums, from the profile by value."""
    head, *rows = rows
    value, count, seconds = (head.index(name) for name in ("value", "count", "inclusive"))
    return {row[value]: (round(float(row[seconds]) * MICROSECOND), int(row[count])) for row in rows}


def window(path, end, options):
    """Reads 1 % of the time and four containers. Returns the share of the file that was read."""
    start, containers = 0.4 * end, [f"{options.names}{number}" for number in (1, 2, 4, 7)]
    part = pajereplay.read(path, start=start, end=start + 0.01 * end, containers=containers, threads=1)
    if part.states.num_rows == 0:
        raise RuntimeError("the window has no states")
    return part.metadata["bytes_read"] / Path(path).stat().st_size


def measure(options, path):
    """Prints the table. Returns the failures."""
    failures = []

    def line(name, one, other, note):
        factor = f"{other / one:.2f}" if one and other else ""
        cells = (name, *("" if it is None else f"{it:.1f}" for it in (one, other)), factor, note)
        print("| " + " | ".join(cells) + " |", flush=True)

    print(f"| | {options.workers} threads, s | {options.workers} workers, s | factor | |\n|---|--:|--:|--:|---|")
    if not path.exists():
        _, took = timed(lambda: pack(options, path))
        line("generate and pack", took, None, f"{path.stat().st_size / 1e6:.0f} MB")
    cluster = LocalCluster(
        n_workers=options.workers, threads_per_worker=1, memory_limit=options.memory, dashboard_address=None
    )
    with cluster, Client(cluster) as client:
        # Imports take time in each worker.
        client.run(lambda: __import__("pajereplay.dask"))
        for name, (arguments, compute, keywords) in REPORTS.items():
            if name not in options.only:
                continue
            if name == "waits":
                keywords = {**keywords, "memory_limit": options.task_limit, "temp_dir": str(options.folder)}
            else:
                keywords = {**keywords, "size": options.part}
            expected, one = timed(lambda: printed(options, path, arguments))
            try:
                found, other = timed(lambda: compute(str(path), **keywords))
            except ValueError as error:
                # The analysis of waiting refuses to exceed its limit.
                line(name, one, None, str(error))
                failures.append(f"{name}: {error}")
                continue
            unequal = difference(expected, found)
            line(name, one, other, unequal or f"{len(found)} rows equal")
            failures += [f"{name}: {unequal}"] if unequal else []
        if "sums" in options.only:
            expected, one = timed(lambda: sums_of_profile(printed(options, path, ["states", "--by", "value"])))
            found, other = timed(lambda: grouped_sums(str(path), options))
            line("sums of states", one, other, f"{len(found)} sums {'equal' if found == expected else 'differ'}")
            failures += [] if found == expected else [f"sums: {expected} and {found}"]
    if "window" in options.only:
        end = max(part.last for part in pajereplay.partitions(str(path)))
        share, took = timed(lambda: window(str(path), end, options))
        line("window", None, took, f"{share:.2%} of the bytes")
        failures += [f"the window reads {share:.2%}"] if share > 0.03 else []
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    every = [*REPORTS, "sums", "window"]
    parser.add_argument("--size", default="1G", help="size of the text (1G)")
    parser.add_argument("--shape", default="mpi", help="shape of the trace (mpi)")
    parser.add_argument("--containers", type=int, default=256, help="number of ranks (256)")
    parser.add_argument("--names", default="rank-", help="what the names of containers begin with (rank-)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2, help="number of processes, and of threads (2)")
    parser.add_argument("--memory", default="1GB", help="memory of a worker (1GB)")
    parser.add_argument("--task-limit", default="600M", help="memory limit of waits (600M)")
    parser.add_argument("--limit", help="memory limit of pj_profile")
    parser.add_argument("--part", default="64M", help="size of the text in a partition (64M)")
    parser.add_argument("--only", nargs="+", choices=every, default=every, help="measures only these")
    parser.add_argument("--programs", type=Path, default=Path("target/release"), help="folder of the programs")
    parser.add_argument("--folder", type=Path, default=Path("/var/tmp"), help="folder for the packed trace")
    parser.add_argument("--trace", type=Path, help="packed trace, which is kept; written if it is missing")
    options = parser.parse_args()
    dask.config.set({"distributed.worker.memory.spill": False, "temporary-directory": str(options.folder)})
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        failures = measure(options, options.trace or Path(folder, "run.pjp"))
    for failure in failures:
        print(failure, file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
