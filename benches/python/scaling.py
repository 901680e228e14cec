#!/usr/bin/env python3
"""Measures how pj_dump scales with threads, and optionally what splitting a trace costs.

Strong scaling uses the same trace for any number of threads, weak scaling a trace whose size is proportional to it. Given files are
used for strong scaling only.

Speedup is S(p) = T(1, s) / T(p, s) for strong scaling, Z(p) = p · T(1, s) / T(p, p·s) for weak scaling. T(p, s) is the time with p
threads on a trace of s bytes: wall clock of the whole process, rows to /dev/null, the minimum of the runs. T(1) is measured with
the same program, placement and state of the page cache. Efficiency is speedup / p.

The floor is the minimum work of any such program: with as many processes, read the file, look at its bytes, and copy as many bytes
as the rows have. Its processes are not placed.

With --pieces, pj_split splits each trace into this many pieces, compared with cp, and pj_dump replays them, with and without rows.

Before anything is timed, every number of threads and pieces must give the rows of one thread. Then all cases take turns in each
repetition, so that the noise of a shared machine affects all of them alike. Prints tables in Markdown, and writes them, every run
and a description of the machine to a folder; plots.py draws them. Traces whose runs fail are skipped. The exit status is 1 then,
and 2 if nothing could be measured.
"""

import argparse
import csv
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, replace
from typing import NamedTuple

from processes import BLOCK, Failed, build, exit_with, floor, generate, machine, output, processor, size, timed

COLUMNS = "trace bytes kind program pieces threads pin cache run seconds cpu peak_memory serial imbalance".split()
HEAD = (
    "| program | pieces | MB | pin | cache | threads | seconds | processor s | MB/s | × time | × processor | of | speedup "
    "| efficiency | serial | imbalance | peak MB |\n|---|--:|--:|---|---|--:|--:|--:|--:|--:|--:|---|--:|--:|--:|--:|--:|\n"
)


class Case(NamedTuple):
    """A configuration. Runs of the same configuration are repetitions."""

    kind: str
    program: str
    pieces: int
    pin: str
    cache: str
    threads: int


@dataclass
class Trace:
    kind: str
    path: pathlib.Path
    # The single file that pj_split splits.
    whole: pathlib.Path
    threads: list
    # Number of pieces, and the number that pj_split was asked to make.
    pieces: int = 0
    asked: int = 0
    # Number of bytes of the rows, and their hash.
    rows: tuple = ()

    def files(self):
        return list(self.path.parent.iterdir()) if self.pieces else [self.path]


def drop(path):
    """Asks the kernel to drop the pages of a file. This needs no privileges and affects no other file."""
    with open(path, "rb") as file:
        # Dirty pages are not dropped.
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def warm(path):
    with open(path, "rb", buffering=0) as file:
        while file.read(BLOCK):
            pass


def can_drop(path):
    """Returns whether the file is read from its device again after its pages are dropped."""

    def device_bytes():
        return int(re.search(r"^read_bytes: (\d+)", pathlib.Path("/proc/self/io").read_text(), re.MULTILINE)[1])

    drop(path)
    before = device_bytes()
    warm(path)
    # Readahead for other files may have fetched a part of the file.
    return device_bytes() - before >= os.path.getsize(path) / 2


class Study:
    def __init__(self, given, source, folder):
        self.given, self.source, self.folder = given, source, pathlib.Path(folder)
        self.name = source.name if isinstance(source, pathlib.Path) else source

    def say(self, text):
        print(f"{self.name}: {text}", file=sys.stderr)

    def program(self, name, threads, pin, *words):
        return [self.given.programs / name, "--threads", str(threads), "--pin", pin, *self.given.options.split(), *words]

    def dump(self, path, threads, pin="none"):
        return self.program("pj_dump", threads, pin, "--stats=json", path)

    def split(self, trace, asked, threads, pin, to):
        return self.program("pj_split", threads, pin, "--pieces", str(asked), "--output", to, trace.whole)

    def generated(self, kind, amount, threads):
        path = self.folder / f"{kind}-{threads[0]}.trace"
        generate(self.given.programs, self.source, amount, path)
        return Trace(kind, path, path, threads)

    def traces(self):
        """Returns the traces and their pieces. Every number of threads and pieces gives the rows of one thread."""
        if isinstance(self.source, pathlib.Path):
            traces = [Trace("strong", self.source, self.source, self.given.threads)]
        else:
            traces = [self.generated("strong", self.given.size, self.given.threads)]
            traces += [self.generated("weak", self.given.weak_size * threads, [threads]) for threads in self.given.threads]
        for trace in traces:
            trace.rows = output(self.dump(trace.path, 1))
            for threads in trace.threads:
                if threads > 1 and output(self.dump(trace.path, threads)) != trace.rows:
                    raise Failed(f"{threads} threads print other rows than one")
        most, single = max(self.given.threads), traces[0]
        for asked in self.given.pieces:
            to = self.folder / f"pieces-{asked}"
            timed(self.split(single, asked, most, "none", to))
            pieces = len(list(to.iterdir())) - 1
            if traces[-1].pieces >= pieces:
                self.say(f"skipping {asked} pieces: there are no more than {pieces}")
                shutil.rmtree(to)
                continue
            traces.append(replace(single, path=to / "root.trace", pieces=pieces, asked=asked))
            if output(self.dump(traces[-1].path, most)) != single.rows:
                raise Failed(f"{pieces} pieces give other rows than the trace")
        return traces

    def cases(self, trace, cache):
        """Returns the cases of a trace in a state of the page cache, in the order of their runs."""
        split = trace.kind == "strong" and self.given.pieces
        programs = ["pj_split" if trace.pieces else "floor", "pj_dump", *(["pj_dump -q"] if split else [])]
        if split and not trace.pieces:
            yield Case(trace.kind, "cp", 0, "none", cache, 1)
        for threads in trace.threads:
            for pin in self.given.pins:
                for program in programs:
                    yield Case(trace.kind, program, trace.pieces, pin, cache, threads)

    def once(self, trace, case, run):
        if case.cache == "dropped":
            for file in trace.files():
                drop(file)
        copy = self.folder / "copy"
        if case.program == "floor":
            took = floor(trace.path, trace.rows[0], case.threads)
        elif case.program == "cp":
            took = timed(["cp", "--reflink=never", "--", trace.path, copy])
        elif case.program == "pj_split":
            took = timed(self.split(trace, trace.asked, case.threads, case.pin, copy))
        else:
            took = timed([*self.dump(trace.path, case.threads, case.pin), *case.program.split()[1:]])
        # Remove files now, so that the kernel does not write them to the device during the next run.
        if copy.is_dir():
            shutil.rmtree(copy)
        else:
            copy.unlink(missing_ok=True)
        lines = [line for line in took.stderr.splitlines() if line.startswith("{")]
        stats = json.loads(lines[-1]) if lines else {}
        parts = stats.get("seconds", {})
        row = {"trace": self.name, "bytes": os.path.getsize(trace.whole), "run": run, **case._asdict()}
        row |= {"seconds": took.seconds, "cpu": took.user + took.system, "peak_memory": took.peak}
        row["serial"] = parts["serial"] / parts["total"] if "serial" in parts else None
        return row | {"imbalance": stats.get("imbalance")}

    def measure(self):
        traces, caches, rows = self.traces(), self.given.caches, []
        if "dropped" in caches and not can_drop(traces[0].path):
            self.say("the page cache cannot be dropped here; skipping runs without it")
            caches = [cache for cache in caches if cache != "dropped"]
        for run in range(1, self.given.runs + 1):
            for cache in caches:
                for file in (file for trace in traces for file in trace.files()):
                    # One thread reads the file again, so that all runs find its pages on the same memory node.
                    drop(file)
                    warm(file)
                for trace in traces:
                    rows += [self.once(trace, case, run) for case in self.cases(trace, cache)]
            self.say(f"repetition {run} of {self.given.runs}")
        return rows


def tables(rows):
    """Returns the runs of one trace as Markdown tables, one for each kind of scaling. Noise only adds time, so minima are shown."""
    runs = {}
    for row in rows:
        runs.setdefault(Case(*(row[field] for field in Case._fields)), []).append(row)
    best = {case: min(same, key=lambda row: row["seconds"]) for case, same in runs.items()}
    cpu = {case: min(row["cpu"] for row in same) for case, same in runs.items()}
    for kind, title in [
        ("strong", "the same trace for any number of threads"),
        ("weak", "a trace whose size is proportional to the number of threads"),
    ]:
        cases = sorted(case for case in runs if case.kind == kind)
        if cases:
            yield f"{kind.title()} scaling of {rows[0]['trace']}: {title}.\n\n{HEAD}"
        for case in cases:
            yield table_row(case, best, cpu, max(row["peak_memory"] for row in runs[case]))
        yield "\n" if cases else ""


def table_row(case, best, cpu, peak):
    here = best[case]
    # Compare with the run that has the same number of threads on the same CPUs.
    beside = {
        "pj_dump": case._replace(pieces=0) if case.pieces else case._replace(program="floor"),
        "pj_dump -q": case._replace(pieces=0) if case.pieces else case._replace(program="cp", pin="none", threads=1),
        "pj_split": case._replace(program="pj_dump -q", pieces=0),
    }.get(case.program)
    time, work, of = "–", "–", "–"
    if beside in best:
        time, work = f"{here['seconds'] / best[beside]['seconds']:.2f}", f"{cpu[case] / cpu[beside]:.2f}" if cpu[beside] else "–"
        of = "single file" if beside.program == case.program else beside.program
    gain = efficiency = "–"
    if one := best.get(case._replace(threads=1)):
        gain = one["seconds"] / here["seconds"] * (case.threads if case.kind == "weak" else 1)
        gain, efficiency = f"{gain:.2f}", f"{gain / case.threads:.0%}".replace("%", " %")
    serial = "–" if here["serial"] is None else f"{here['serial']:.0%}".replace("%", " %")
    imbalance = "–" if here["imbalance"] is None else f"{here['imbalance']:.2f}"
    megabytes = here["bytes"] / 1e6
    cells = [case.program, case.pieces or "–", f"{megabytes:.1f}", case.pin, case.cache, case.threads, f"{here['seconds']:.3f}"]
    cells += [f"{cpu[case]:.3f}", f"{megabytes / here['seconds']:.0f}", time, work, of, gain, efficiency, serial, imbalance]
    return f"| {' | '.join(map(str, cells))} | {peak / 1e6:.1f} |\n"


def numbers(text):
    return sorted({int(number) for number in text.split(",")})


def pins(text):
    """Reads policies that are separated by commas. Numbers after a list of CPUs or nodes belong to the list."""
    return re.split(r",(?!\d)|(?<![\d]),", text)


def default_threads(most):
    """Returns the powers of two below `most`, and `most`."""
    return [*(1 << power for power in range(most.bit_length()) if 1 << power < most), most]


def read_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    shapes = "mpi,task-runtime,one-container,many-containers,unique-values,all-links,quoted"
    parser.add_argument("traces", nargs="*", type=pathlib.Path, help="traces to measure after the generated ones")
    parser.add_argument("--only-given", action="store_true", help="measure the given traces only")
    parser.add_argument("--runs", type=int, help="number of repetitions (5, quick: 2)")
    parser.add_argument("--quick", action="store_true", help="use small traces and few runs, to test the study")
    parser.add_argument("--shapes", default=shapes, help="shapes of the generated traces (datasets --list)")
    parser.add_argument("--size", type=size, help="size of a generated trace for strong scaling (160MB, quick: 1MB)")
    parser.add_argument("--weak-size", type=size, help="size per thread for weak scaling (40MB, quick: 500kB)")
    parser.add_argument("--threads", type=numbers, help="numbers of threads besides 1 (the CPUs, and powers of two below)")
    help_ = "where threads run, as in pj_dump --pin; can be repeated (none,compact,scatter; quick: none,compact)"
    parser.add_argument("--pins", "--pin", action="append", type=pins, help=help_)
    help_ = "where the trace is when a run starts; `dropped` is skipped if the kernel keeps pages"
    parser.add_argument("--caches", default="cached,dropped", help=help_)
    parser.add_argument("--pieces", type=numbers, default=[], help="numbers of pieces to split traces into")
    parser.add_argument("--options", default="", help='further options of pj_dump and pj_split, such as "-n -z"')
    parser.add_argument("--programs", type=pathlib.Path, help="folder of pj_dump, pj_split and datasets (default: build them)")
    parser.add_argument("--temp-dir", type=pathlib.Path, help="temporary folder for traces and pieces (default: --out)")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("target/scaling"), help="folder for the results")
    given = parser.parse_args()
    quick, cpus = given.quick, len(os.sched_getaffinity(0))
    given.runs = given.runs or (2 if quick else 5)
    given.size = given.size or (1_000_000 if quick else 160_000_000)
    given.weak_size = given.weak_size or (500_000 if quick else 40_000_000)
    given.threads = sorted({1, *(given.threads or default_threads(min(cpus, 4) if quick else cpus))})
    policies = [pin for some in given.pins or [["none", "compact"] if quick else ["none", "compact", "scatter"]] for pin in some]
    given.pins, given.caches = list(dict.fromkeys(policies)), given.caches.split(",")
    given.programs = given.programs or build("pj-dump", "pj-split", "datasets")
    given.sources = [*([] if given.only_given else given.shapes.split(",")), *given.traces]
    return given


def main():
    given = read_options()
    temporary, all_rows, failed = given.temp_dir or given.out, [], False
    for folder in [given.out, temporary]:
        folder.mkdir(parents=True, exist_ok=True)
    text = f"Minimum of {given.runs} runs; {processor()}.\n\n"
    for source in given.sources:
        print(f"{source} …", file=sys.stderr)
        with tempfile.TemporaryDirectory(prefix="traces-", dir=temporary) as folder:
            try:
                rows = Study(given, source, folder).measure()
            except (Failed, OSError, subprocess.CalledProcessError) as error:
                print(f"scaling: {source}: {error}", file=sys.stderr)
                failed = True
                continue
        all_rows += rows
        text += "".join(tables(rows))
        # Write the files after every trace, so that an interrupted study keeps its results.
        with (given.out / "runs.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows({name: f"{cell:.6f}" if isinstance(cell, float) else cell for name, cell in row.items()} for row in all_rows)
        (given.out / "tables.md").write_text(text)
        (given.out / "machine.txt").write_text(machine())
    if not all_rows:
        print("scaling: nothing could be measured", file=sys.stderr)
        return 2
    print(text, end="")
    print(f"results are in {given.out}", file=sys.stderr)
    return int(failed)


if __name__ == "__main__":
    exit_with("scaling", main)
