#!/usr/bin/env python3
"""Compares the reports `time` and `variables` with loops over the rows of pj_dump, on traces of any size.

    rows.py FOLDER TRACE...

FOLDER contains the programs pj_dump and pj_profile. Rows come from `pj_dump -l 9`. Sums may differ by the rounding to nine
decimals. Traces that pj_dump refuses are skipped with a message.
"""

import csv
import io
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

BINS = 23


def rows_of(program, *options):
    done = subprocess.run([program, *options], capture_output=True)
    if done.returncode:
        raise ValueError(done.stderr.decode(errors="replace").splitlines()[-1])
    return done.stdout.decode(errors="surrogateescape")


def overlaps(edges, start, end):
    """Yields the bins that overlap a time span, with the length of each overlap."""
    width = (edges[-1] - edges[0]) / BINS
    first = int((start - edges[0]) / width) - 1 if width > 0 else 0
    for bin_ in range(max(first, 0), BINS):
        if edges[bin_] >= end:
            break
        both = min(end, edges[bin_ + 1]) - max(start, edges[bin_])
        if both > 0:
            yield bin_, both


def by_hand(rows, begin, end):
    """Computes the seconds in each bin by container, type and value, and for variables count, minimum,
    maximum, integral and seconds."""
    edges = [begin + (end - begin) * i / BINS for i in range(BINS + 1)]
    lanes = defaultdict(list)
    variables = {}
    for row in rows:
        if row[0] == "State":
            lanes[row[1], row[2]].append((float(row[3]), float(row[4]), int(float(row[6])), row[7]))
        elif row[0] == "Variable":
            start, stop, value = float(row[3]), float(row[4]), float(row[6])
            kept = variables.setdefault((row[2], row[1]), [0, value, value, 0.0, 0.0])
            kept[0] += 1
            kept[1], kept[2] = min(kept[1], value), max(kept[2], value)
            kept[3] += value * (stop - start)
            kept[4] += stop - start
    seconds = defaultdict(float)
    for (container, type_), states in lanes.items():
        states.sort(key=lambda state: (state[0], state[2]))
        open_ = []
        for state in states:
            start, stop, imbrication, value = state
            while open_ and open_[-1][2] >= imbrication:
                open_.pop()
            for bin_, both in overlaps(edges, start, stop):
                seconds[bin_, container, type_, value] += both
                if open_ and open_[-1][2] == imbrication - 1:
                    seconds[bin_, container, type_, open_[-1][3]] -= both
            open_.append(state)
    return seconds, variables


def close(one, other, scale=1.0):
    return abs(one - other) <= 2e-6 * max(1.0, abs(scale))


def check(folder, trace):
    dump, profile = folder / "pj_dump", folder / "pj_profile"
    text = rows_of(dump, "-l", "9", "--quotes", "strip", "--variable-precision", "double", trace)
    rows = [[field.strip() for field in line.split(", ")] for line in text.splitlines()]
    common = ["--format", "csv", "--quotes", "strip", "--no-warnings"]

    def report(*words):
        return list(csv.DictReader(io.StringIO(rows_of(profile, *words, *common, trace))))

    facts = {row["name"]: row["value"] for row in report("summary")}
    begin, end = (float(facts[name].split()[0]) for name in ("from", "until"))
    # Times of containers have six digits.
    ends = [float(row[4]) for row in rows if row[0] == "Container"]
    starts = [float(row[3]) for row in rows if row[0] == "Container" and row[2] != "0"]
    assert abs(max(ends) - end) <= 1e-5 * abs(end), (trace, end)
    assert not starts or abs(min(starts) - begin) <= 1e-5 * abs(begin), (trace, begin)
    seconds, variables = by_hand(rows, begin, end)
    found = defaultdict(float)
    for row in report("time", "--bins", str(BINS)):
        found[int(row["bin"]), row["container"], row["type"], row["value"]] += float(row["seconds"])
    for key in found.keys() | seconds.keys():
        assert close(found[key], seconds[key]), (trace, key, found[key], seconds[key])
    kept = report("variables")
    assert len(kept) == len(variables) or len({(r["type"], r["container"]) for r in kept}) == len(variables)
    for row in kept:
        count, least, greatest, integral, length = variables[row["type"], row["container"]]
        if len(kept) != len(variables):
            # Several variables have the same names, so they cannot be compared.
            continue
        assert int(row["count"]) == count, (trace, row)
        for name, wanted in (("min", least), ("max", greatest)):
            assert abs(float(row[name]) - wanted) <= 1e-9 * max(1.0, abs(wanted)), (trace, row, wanted)
        scale = max(abs(least), abs(greatest), 1.0) * max(count, 1)
        assert close(float(row["integral"]), integral, scale), (trace, row, integral)
        if row["mean"] and length > 1e-3:
            assert close(float(row["mean"]), integral / length, scale / length), (trace, row)
    return len(found), len(kept)


def main():
    folder = Path(sys.argv[1])
    for trace in sys.argv[2:]:
        try:
            times, variables = check(folder, trace)
        except ValueError as error:
            print(f"{trace}: left out: {error}")
            continue
        print(f"{trace}: {times} sums of time, {variables} variables are the same")


if __name__ == "__main__":
    main()
