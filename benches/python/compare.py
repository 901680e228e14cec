#!/usr/bin/env python3
"""Compares pj_dump and pj_validate with PajeNG's pj_dump: seconds, megabytes per second, peak memory.

Prints tables in Markdown, and writes every run to a CSV file. Needs PajeNG (Debian: apt-get install pajeng). All programs take
turns within a repetition, so that a slow phase of the machine affects all of them. Traces are skipped if their dumps differ or a
program fails. The exit status is 1 then, and 2 if nothing could be measured.
"""

import argparse
import csv
import datetime
import itertools
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

from processes import BLOCK, ROOT, Failed, build, exit_with, floor, generate, processor, size, timed

OURS, THEIRS = ["--quotes", "strip"], "PajeNG pj_dump"
JOBS = {
    "floor": None,
    "pj_dump --threads 1": ("pj_dump", *OURS, "--threads", "1"),
    "pj_dump": ("pj_dump", *OURS),
    THEIRS: (THEIRS,),
    "pj_dump -q": ("pj_dump", *OURS, "-q"),
    "pj_validate -q": ("pj_validate", "-q"),
    f"{THEIRS} -q": (THEIRS, "-q"),
}


def find_pajeng(given):
    """Returns the path of PajeNG's program. Our Debian package renames that program."""
    for program in [given] if given else ["/usr/bin/pj_dump.pajeng", "/usr/bin/pj_dump", "pj_dump"]:
        try:
            shown = subprocess.run([program, "--help"], capture_output=True, text=True)
        except OSError:
            continue
        # Only PajeNG's help mentions a reader made with flex.
        if "flex-based" in shown.stdout + shown.stderr:
            return program
    raise Failed("PajeNG's pj_dump is not installed; on Debian `apt-get install pajeng`, otherwise give its path with --pajeng")


def version(pajeng):
    """Returns the version of PajeNG's Debian package. The program itself prints "Development build"."""
    query = ["dpkg-query", "--show", "--showformat=${Version}", "pajeng"]
    try:
        found = subprocess.run(query, capture_output=True, text=True)
    except OSError:
        return "of unknown version"
    return found.stdout if found.returncode == 0 and pajeng.startswith("/usr/bin") else "of unknown version"


def command(given, job, trace):
    program, *words = JOBS[job]
    program = given.pajeng if program == THEIRS else given.programs / program
    return [program, *words, *given.options.split(), trace]


def compare_dumps(given, trace):
    """Returns the number of bytes of the rows, which must be the same from both programs."""
    jobs = ["pj_dump", THEIRS]
    nothing = {"stdin": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    dumps = [subprocess.Popen(command(given, job, trace), stdout=subprocess.PIPE, **nothing) for job in jobs]
    copied, line, differs = 0, 1, None
    while any(blocks := [dump.stdout.read(BLOCK) for dump in dumps]):
        copied += len(blocks[0])
        if not differs and blocks[0] != blocks[1]:
            pairs = enumerate(itertools.zip_longest(*blocks))
            at = next(at for at, (ours, theirs) in pairs if ours != theirs)
            differs = line + blocks[0][:at].count(b"\n")
        line += blocks[0].count(b"\n")
    for job, dump in zip(jobs, dumps):
        if dump.wait():
            raise Failed(f"{job} failed (exit status {dump.returncode})")
    if differs and not given.different_too:
        raise Failed(f"the dumps differ in line {differs}")
    return copied


def measure(given, name, trace):
    """Compares the two dumps, then runs every program. Returns a row of the record for each run."""
    copied, rows = compare_dumps(given, trace), []

    def once(job):
        if job == "floor":
            return floor(trace, copied)
        # The validator refuses some traces that PajeNG accepts, but reads them completely.
        return timed(command(given, job, trace), (0, 1) if job.startswith("pj_validate") else (0,))

    for run in range(1, given.runs + 1):
        for job in JOBS:
            took = once(job)
            # After PajeNG's program has run, the next run may be slow because the host of a virtual machine has reclaimed memory.
            # So run ours twice and count the second run.
            if not job.startswith(THEIRS):
                took = once(job)
            rows.append({"trace": name, "bytes": os.path.getsize(trace), "program": job, "run": run, "seconds": took.seconds})
            rows[-1] |= {"user_s": took.user, "system_s": took.system}
            rows[-1] |= {"mb_per_s": rows[-1]["bytes"] / 1e6 / took.seconds, "peak_bytes": took.peak}
    return rows


def tables(runs, count, pajeng):
    """Returns tables of medians for dumps, replays and checks, with a row for each trace."""
    traces = list(dict.fromkeys(run["trace"] for run in runs))

    def seconds(trace, job):
        return statistics.median(run["seconds"] for run in runs if (run["trace"], run["program"]) == (trace, job))

    def peak(trace, job):
        return max(run["peak_bytes"] for run in runs if (run["trace"], run["program"]) == (trace, job)) / 1e6

    def speed(trace, theirs, job):
        fast = seconds(trace, job)
        return f"{fast:.3f} s | {seconds(trace, theirs) / fast:.0f}× | {megabytes[trace] / fast:.0f}"

    def pair(trace, theirs, job):
        much, little = peak(trace, theirs), peak(trace, job)
        return f"{speed(trace, theirs, job)} | {much:.0f} MB | {little:.0f} MB | {much / little:.1f}×"

    megabytes = {run["trace"]: run["bytes"] / 1e6 for run in runs}
    memory = "faster | MB/s | PajeNG's memory | ours | less |\n|---"
    yield f"Medians of {count} runs on {processor()}, against PajeNG {pajeng}.\n\n"
    yield f"| trace | MB | floor | PajeNG `pj_dump` | one thread | faster | MB/s | all threads | {memory}{'|--:' * 12}|\n"
    for trace in traces:
        yield f"| {trace} | {megabytes[trace]:.1f} | {seconds(trace, 'floor'):.3f} s | {seconds(trace, THEIRS):.2f} s "
        yield f"| {speed(trace, THEIRS, 'pj_dump --threads 1')} | {pair(trace, THEIRS, 'pj_dump')} |\n"
    for job in ["pj_dump -q", "pj_validate -q"]:
        yield f"\n| trace | PajeNG `pj_dump -q` | `{job}` | {memory}{'|--:' * 7}|\n"
        for trace in traces:
            theirs = f"{THEIRS} -q"
            yield f"| {trace} | {seconds(trace, theirs):.2f} s | {pair(trace, theirs, job)} |\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("traces", nargs="*", type=pathlib.Path, help="traces to measure after the generated ones")
    parser.add_argument("--shapes", default="mpi,task-runtime,many-containers", help="shapes of the generated traces")
    parser.add_argument("--sizes", default="10MB,40MB,160MB", help="sizes of the generated traces")
    parser.add_argument("--only-given", action="store_true", help="measure the given traces only")
    parser.add_argument("--runs", type=int, default=3, help="number of repetitions; the tables show medians (3)")
    parser.add_argument("--options", default="", help='options for all the programs, such as "-n -z"')
    parser.add_argument("--different-too", action="store_true", help="also measure traces whose dumps differ (docs/dev/compat.md)")
    parser.add_argument("--pajeng", default=os.environ.get("PAJENG_PJ_DUMP"), help="PajeNG's pj_dump")
    parser.add_argument("--programs", type=pathlib.Path, help="folder of our programs (default: build them for release)")
    parser.add_argument("--csv", type=pathlib.Path, help="file for every run (default: benches/records/DATE-CPU.csv)")
    given = parser.parse_args()
    given.pajeng = find_pajeng(given.pajeng)
    given.programs = given.programs or build("pj-dump", "pj-validate", "datasets")
    runs, failed = [], False

    def add(name, trace):
        nonlocal failed
        print(f"{name} …", file=sys.stderr)
        try:
            runs.extend(measure(given, name, trace))
        except (Failed, OSError) as error:
            print(f"compare: {name}: {error}", file=sys.stderr)
            failed = True

    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder, "generated.trace")
        for shape, amount in itertools.product(given.shapes.split(","), given.sizes.split(",")):
            if not given.only_given:
                generate(given.programs, shape, size(amount), trace)
                add(f"{shape}, {size(amount) / 1e6:.0f} MB", trace)
    for trace in given.traces:
        add(trace.name, trace)
    if not runs:
        raise Failed("nothing could be measured")
    print("".join(tables(runs, given.runs, version(given.pajeng))))
    words = [str(datetime.date.today()), *re.findall("[a-z0-9]+", processor().lower())]
    path = given.csv or ROOT / "benches/records" / f"{'-'.join(words)}.csv"
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, runs[0], lineterminator="\n")
        writer.writeheader()
        decimals = {"seconds": 6, "user_s": 6, "system_s": 6, "mb_per_s": 1}
        writer.writerows({name: f"{run[name]:.{decimals[name]}f}" if name in decimals else run[name] for name in run} for run in runs)
    print(f"every run is in {path}", file=sys.stderr)
    return int(failed)


if __name__ == "__main__":
    exit_with("compare", main)
