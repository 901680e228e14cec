#!/usr/bin/env python3
"""Draws the results of scaling.py: plots.py [FOLDER]

Reads FOLDER/runs.csv (default: target/scaling) and writes speedup-TRACE.svg and efficiency-TRACE.svg (strong scaling), weak-TRACE.svg,
and pieces-TRACE.svg if traces were split. Needs matplotlib.
"""

import csv
import pathlib
import re
import sys
from collections import defaultdict

import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot  # noqa: E402

# Published results of a parallel PajeNG, with pinned threads and traces split into files.
THESIS = {"threads": [8, 16], "speedup": [7.16, 11.87], "efficiency": [0.89, 0.74]}
AXES = {"speedup": "speedup T(1) / T(p)", "efficiency": "efficiency T(1) / T(p) / p", "weak": "sizeup p · T(1, s) / T(p, p·s)"}


def save(figure, folder, kind, trace):
    figure.axes[0].legend(fontsize="small", loc="upper left", bbox_to_anchor=(1, 1))
    figure.axes[0].grid(alpha=0.3)
    name = re.sub(r"[^a-z0-9]+", "-", trace.lower()).strip("-")
    figure.savefig(folder / f"{kind}-{name}.svg", bbox_inches="tight")
    pyplot.close(figure)


def scaling(folder, trace, kind, times):
    """Plots the gain against the number of threads, with a line for each program, placement and state of the page cache."""
    figure, axes = pyplot.subplots()
    all_threads = sorted({key[-1] for key in times})
    axes.plot(all_threads, [1] * len(all_threads) if kind == "efficiency" else all_threads, "k:", label="ideal")
    for line in sorted({key[:-1] for key in times}):
        threads = [count for count in all_threads if (*line, count) in times]
        gain = [times[(*line, 1)] / times[(*line, count)] * (count if kind == "weak" else 1) for count in threads]
        gain = [value / count if kind == "efficiency" else value for value, count in zip(gain, threads)]
        axes.plot(threads, gain, "k--" if line[0] == "floor" else "o-", alpha=0.3 if line[0] == "floor" else 1, label=", ".join(line))
    if kind != "weak" and all_threads[-1] >= 8:
        axes.plot(THESIS["threads"], THESIS[kind], "x", label="parallel PajeNG (thesis)")
    axes.set(title=trace, xlabel="threads", ylabel=AXES[kind], xticks=all_threads)
    save(figure, folder, kind, trace)


def pieces(folder, trace, times):
    """Draws seconds over pieces, with a line for each program, placement, state of the page cache and number of threads."""
    figure, axes = pyplot.subplots()
    for line in sorted({key[1:] for key in times}):
        counts = sorted(key[0] for key in times if key[1:] == line)
        axes.plot(counts, [times[(count, *line)] for count in counts], "o-", label=", ".join(map(str, line)))
    axes.set(title=trace, xlabel="pieces (0: the single file)", ylabel="seconds", ylim=0)
    axes.set_xscale("symlog")
    axes.set_xlim(left=0)
    save(figure, folder, "pieces", trace)


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "target/scaling")
    gains, split = defaultdict(dict), defaultdict(dict)
    with open(folder / "runs.csv", newline="") as file:
        for run in csv.DictReader(file):
            line, threads, count = (run["program"], run["pin"], run["cache"]), int(run["threads"]), int(run["pieces"])
            tables = [(split[run["trace"]], (count, *line, threads))] if run["kind"] == "strong" and run["program"] != "floor" else []
            if count == 0 and run["program"] in ("floor", "pj_dump"):
                tables.append((gains[run["trace"], run["kind"]], (*line, threads)))
            for table, key in tables:
                table[key] = min(float(run["seconds"]), table.get(key, float("inf")))
    for (trace, kind), times in gains.items():
        for plot in ("speedup", "efficiency") if kind == "strong" else ("weak",):
            scaling(folder, trace, plot, times)
    for trace, times in split.items():
        if any(key[0] for key in times):
            pieces(folder, trace, times)


if __name__ == "__main__":
    main()
