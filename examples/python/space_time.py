#!/usr/bin/env python3
"""A profile of a Pajé trace's states, and its space/time plot, from Parquet through DuckDB.

    examples/python/space_time.py TRACE NAME [START END]

prints how long each state was taken, and writes NAME-space-time.svg and .png; START and END are seconds. Needs pj_dump in PATH,
and duckdb and matplotlib (pip install duckdb matplotlib). Only what is asked for is read of the files: columns, and the pages of a
window of time.
"""

import re
import subprocess
import sys
import tempfile

import duckdb
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.collections import LineCollection, PatchCollection
from matplotlib.patches import Patch, Rectangle

# Colours that most people can tell apart (Okabe and Ito), and grey for what is left.
COLOURS = ["#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7"]
OTHER = "#cccccc"


def tables(trace, folder, *options):
    subprocess.run(["pj_dump", "-z", *options, "-O", folder, trace], check=True)


def profile(folder):
    """How long each state was taken, nested ones not counted: the folder is of pj_dump --no-imbrication."""
    return duckdb.sql(f"""
        SELECT Value, count(*) AS States, round(sum("End" - Start), 6) AS Seconds,
               round(100 * sum("End" - Start) / sum(sum("End" - Start)) OVER (), 1) AS Share
        FROM '{folder}/state.parquet' GROUP BY Value ORDER BY Seconds DESC, Value""")


def by_number(name):
    """rank-2 before rank-10."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


def space_time(folder, main, window):
    overlap = f"WHERE Start <= {window[1]} AND \"End\" >= {window[0]}" if window else ""
    states = duckdb.sql(f"""
        SELECT Container, Start, "End", Imbrication, Value
        FROM '{folder}/state.parquet' {overlap} ORDER BY Imbrication""").fetchall()
    links = duckdb.sql(f"""
        SELECT Start, "End", StartContainer, EndContainer FROM '{folder}/link.parquet' {overlap}""").fetchall()
    containers = sorted({state[0] for state in states}, key=by_number, reverse=True)
    place = {container: y for y, container in enumerate(containers)}
    colour = dict(zip(main, COLOURS))

    figure, axes = plt.subplots(figsize=(8, 1.6 + min(0.5 * len(containers), 6)))
    boxes, fills = [], []
    for container, start, end, imbrication, value in states:
        # What is nested is drawn within, and thinner.
        half = 0.42 * 0.72**imbrication
        boxes.append(Rectangle((start, place[container] - half), end - start, 2 * half))
        fills.append(colour.get(value, OTHER))
    # Few things are drawn with edges and arrowheads; of many, only the density can be seen.
    edge = "white" if len(states) < 300 else "none"
    axes.add_collection(PatchCollection(boxes, facecolors=fills, edgecolors=edge, linewidths=0.4))
    ends = [((start, place[a]), (end, place[b])) for start, end, a, b in links if a in place and b in place]
    if len(ends) < 300:
        arrow = {"arrowstyle": "-|>", "color": "#262626", "linewidth": 0.6, "shrinkA": 0, "shrinkB": 0, "mutation_scale": 6}
        for tail, head in ends:
            axes.annotate("", head, tail, arrowprops=arrow)
    else:
        axes.add_collection(LineCollection(ends, colors="#262626", linewidths=0.3, alpha=300 / len(ends)))

    axes.autoscale_view()
    if window:
        axes.set_xlim(window)
    axes.xaxis.set_major_formatter(matplotlib.ticker.EngFormatter(unit="s"))
    axes.set_yticks(range(len(containers)), containers)
    axes.set_xlabel("time")
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    axes.grid(axis="x", color="#ebebeb")
    axes.set_axisbelow(True)
    drawn = {state[4] for state in states}
    legend = [Patch(facecolor=colour[value], label=value) for value in main if value in drawn]
    if drawn - set(main):
        legend.append(Patch(facecolor=OTHER, label="other"))
    figure.legend(handles=legend, ncols=4, loc="lower center", frameon=False, fontsize=8)
    figure.subplots_adjust(left=0.1, right=0.97, top=0.97, bottom=1.05 / figure.get_figheight())
    return figure


def main():
    if len(sys.argv) not in (3, 5):
        sys.exit(__doc__)
    trace, name = sys.argv[1:3]
    window = tuple(map(float, sys.argv[3:5]))
    with tempfile.TemporaryDirectory() as flat, tempfile.TemporaryDirectory() as nested:
        tables(trace, flat, "--no-imbrication")
        tables(trace, nested)
        time = profile(flat)
        print(time)
        values = [row[0] for row in time.fetchall()]
        figure = space_time(nested, values[: len(COLOURS)], window)
        for ending in ("svg", "png"):
            figure.savefig(f"{name}-space-time.{ending}", dpi=160, metadata={"Date": None} if ending == "svg" else None)


if __name__ == "__main__":
    main()
