#!/usr/bin/env python3
"""Compares the waits and delays that pj_profile finds with those of Scalasca's scout.

Usage: scalasca.py PROGRAM FOLDER [-v]

FOLDER has scalasca.tsv and scalasca-callpath.tsv (trace, metric, call path, location, milliseconds), and
traces/NAME.tar.xz. Values agree if they differ by at most 1 % or 0.1 ms.
"""
import collections
import csv
import os
import re
import subprocess
import sys
import tarfile
import tempfile

MAP = os.path.join(os.path.dirname(__file__), "../../paje-analysis/paje-comm/src/classes/mpi.toml")

# Scalasca's metric: kind and column of the report.
METRICS = {
    "mpi_latesender": ("late sender", "seconds"),
    "mpi_latereceiver": ("late receiver", "seconds"),
    "mpi_barrier_wait": ("wait at barrier", "seconds"),
    "mpi_wait_nxn": ("wait at all-to-all", "seconds"),
    "mpi_latebroadcast": ("late broadcast", "seconds"),
    "mpi_earlyreduce": ("early reduce", "seconds"),
    "mpi_earlyscan": ("late scan", "seconds"),
    "delay_latesender": ("late sender", "delay"),
    "delay_latesender_longterm": ("late sender", "indirect"),
    "delay_latereceiver": ("late receiver", "delay"),
    "delay_barrier": ("wait at barrier", "delay"),
    "delay_barrier_longterm": ("wait at barrier", "indirect"),
    "delay_n2n": ("wait at all-to-all", "delay"),
    "delay_n2n_longterm": ("wait at all-to-all", "indirect"),
    "delay_12n": ("late broadcast", "delay"),
    "delay_n21": ("early reduce", "delay"),
}
METRIC_OF = {place: metric for metric, place in METRICS.items()}

# Differences that docs/dev/scalasca.md explains: a pattern of trace, metric and call path, and the operations that scout leaves
# out. With these left out here too, the values must agree. `None` means that nothing makes them agree.
ALLTOALLV, SCAN = "mpi_alltoallv", "mpi_{,ex}scan"
EXPLAINED = [
    (r"sp_coll\S+ (mpi_wait_nxn|delay_n2n|delay_barrier).*", (ALLTOALLV,)),
    (r"sp_coll\S+ delay_barrier.*", (ALLTOALLV, SCAN)),
    # Scout follows waiting at OpenMP's barriers.
    (r"sp_omp2x3 delay_latesender.*", None),
    # Scout has a region of its own while the measurement is off.
    (r"sp_userreg2 delay_barrier main/timestep.*", None),
    # After late broadcasts and late receivers, scout compares containers since the ends of their calls.
    (r"sp_subcomm8 delay_(n2n main.*|barrier_longterm.*)", None),
    (r"sp_latereceiver4 delay_barrier main", None),
    # Scout divides the time of a blocking send that lasts longer than its receive in another way.
    (r"sp_ring8_big delay_latesender.*", None),
]


def natural(name):
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


def ours(program, archive, without=()):
    """Returns milliseconds by metric, call path and location, without the operations that match these patterns."""
    def run(*options):
        command = [program, *options, "--format", "csv", archive]
        return list(csv.DictReader(subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()))

    names = sorted({row["container"] for row in run("states", "--by", "container")}, key=natural)
    index = {name: str(at) for at, name in enumerate(names)}
    found = collections.defaultdict(float)
    changed = "[classes]\n" + "".join(f'"{operation}" = "other"\n' for operation in without)
    with open(MAP, encoding="utf-8") as file, tempfile.NamedTemporaryFile("w", suffix=".toml") as changed_map:
        changed_map.write(file.read().replace("[classes]\n", changed))
        changed_map.flush()
        rows = run("waits", "--by", "path", *(["--map", changed_map.name] if without else []))
    for row in rows:
        for column in ("seconds", "delay", "indirect"):
            metric = METRIC_OF.get((row["kind"], column))
            if metric and float(row[column]) > 0:
                found[metric, row["path"], index[row["container"]]] += 1000 * float(row[column])
    return found


def agree(a, b):
    return abs(a - b) <= max(0.1, 0.01 * abs(b))


def read(path):
    found = collections.defaultdict(dict)
    with open(path, encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            if row["metric"] in METRICS:
                path = row.get("callpath", "")
                # The name of the program stands for the time outside of all regions.
                path = "(between states)" if path.endswith("_sp") else path
                key = (row["metric"], path, row["location"])
                found[row["trace"]][key] = float(row["value"])
    return found


def main():
    program, folder = sys.argv[1], sys.argv[2]
    is_verbose = "-v" in sys.argv[3:]
    with open(os.path.join(folder, "scalasca.tsv"), encoding="utf-8") as file:
        traces = sorted({row["trace"] for row in csv.DictReader(file, delimiter="\t")})
    tables = [("location", read(os.path.join(folder, "scalasca.tsv"))),
              ("call path", read(os.path.join(folder, "scalasca-callpath.tsv")))]
    counts = {(metric, name): collections.Counter() for metric in METRICS for name, _ in tables}
    differences = []
    with tempfile.TemporaryDirectory() as temporary:
        for trace in traces:
            with tarfile.open(os.path.join(folder, "traces", trace + ".tar.xz")) as archive:
                archive.extractall(temporary, filter="data")
            variants = {}

            def values(without, by):
                if without not in variants:
                    by_path = ours(program, os.path.join(temporary, trace), without)
                    by_location = collections.defaultdict(float)
                    for (metric, _, location), value in by_path.items():
                        by_location[metric, "", location] += value
                    variants[without] = {"call path": by_path, "location": by_location}
                return variants[without][by]

            for name, theirs in tables:
                theirs, mine = theirs.get(trace, {}), values((), name)
                for key in sorted(set(theirs) | set(mine)):
                    metric, path, location = key
                    a, b = mine.get(key, 0.0), theirs.get(key, 0.0)
                    if agree(a, b):
                        counts[metric, name]["agree"] += 1
                        continue
                    place = f"{trace} {metric} {path}".strip()
                    reasons = [without for pattern, without in EXPLAINED if re.fullmatch(pattern, place)]
                    is_explained = any(without is None or agree(values(without, name).get(key, 0.0), b) for without in reasons)
                    counts[metric, name]["explained" if is_explained else "differ"] += 1
                    if not is_explained or is_verbose:
                        differences.append(f"{place}, location {location}: {a:.4f}, scout {b:.4f}")
    print(f"{'metric':<28}{'by':<12}{'agree':>8}{'explained':>11}{'differ':>8}")
    total = collections.Counter()
    for (metric, name), count in counts.items():
        total += count
        print(f"{metric:<28}{name:<12}{count['agree']:>8}{count['explained']:>11}{count['differ']:>8}")
    print(f"{'all':<40}{total['agree']:>8}{total['explained']:>11}{total['differ']:>8}")
    print(*differences, sep="\n")
    return 1 if total["differ"] else 0


sys.exit(main())
