#!/usr/bin/env python3
"""Prints a profile of a Pajé trace's states and draws a space/time plot, from Parquet with DuckDB.

    examples/python/space_time.py TRACE NAME [START END]

Writes NAME-space-time.svg and .png. START and END are seconds. Needs pj_dump in PATH, and duckdb and matplotlib
(pip install duckdb matplotlib). Only the necessary columns and pages of the files are read.
"""

import re
import subprocess
import sys
import tempfile

import duckdb
import matplotlib
import numpy

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.collections import LineCollection, PatchCollection
from matplotlib.colors import to_rgba
from matplotlib.patches import Patch, Rectangle

# Colours that most people can distinguish (Okabe and Ito), and grey for other values.
COLOURS = ["#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7"]
OTHER = "#cccccc"
DARK = "#262626"

# Up to this number, states or links are drawn one by one. Larger numbers become a picture of this width.
MANY = 4000
ACROSS = 1200

# Largest number of lanes, and of lanes that are labelled.
LANES = 200
NAMES = 40


def tables(trace, folder):
    subprocess.run(["pj_dump", "-z", "-O", folder, trace], check=True)


def read(folder, window):
    """Creates the tables `states`, which has the value of each state's enclosing state, and `links`."""
    overlap = f"WHERE Start <= {window[1]} AND \"End\" >= {window[0]}" if window else ""
    duckdb.sql(f"""
        CREATE OR REPLACE TEMP TABLE numbered AS
        SELECT *, row_number() OVER (ORDER BY Container, Type, Start, Imbrication, "End") AS Number
        FROM '{folder}/state.parquet' {overlap}""")
    # The last earlier state that is one level less deep.
    duckdb.sql("""
        CREATE OR REPLACE TEMP TABLE states AS
        SELECT states.*, outside.Value AS Outside FROM numbered AS states ASOF LEFT JOIN numbered AS outside
        ON states.Container = outside.Container AND states.Type = outside.Type
           AND states.Imbrication = outside.Imbrication + 1 AND states.Number >= outside.Number""")
    duckdb.sql(f"CREATE OR REPLACE TEMP TABLE links AS SELECT * FROM '{folder}/link.parquet' {overlap}")


def profile():
    """Returns the exclusive time in each value of states."""
    return duckdb.sql("""
        WITH own AS (
            SELECT Value, 1 AS States, "End" - Start AS Seconds FROM states
            UNION ALL SELECT Outside, 0, Start - "End" FROM states WHERE Outside IS NOT NULL)
        SELECT Value, sum(States)::BIGINT AS States, round(sum(Seconds), 6) AS Seconds,
               round(100 * sum(Seconds) / sum(sum(Seconds)) OVER (), 1) AS Share
        FROM own GROUP BY Value ORDER BY Seconds DESC, Value""")


def by_number(name):
    """Sorts rank-2 before rank-10."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


class Lanes:
    """Assigns a lane to each container, from top to bottom. Neighbours share a lane if there are too many containers."""

    def __init__(self, names):
        names = sorted(names, key=by_number)
        self.each = -(-len(names) // LANES)
        self.of = {name: index // self.each for index, name in enumerate(names)}
        self.names = [short(name) + " …" * (self.each > 1) for name in names[:: self.each]]

    def __len__(self):
        return len(self.names)

    def number(self, names):
        """Returns the lanes of containers, or -1 for a container without a lane."""
        return numpy.array([self.of.get(name, -1) for name in names], dtype=int)


def short(name):
    return name if len(name) <= 40 else f"{name[:19]}…{name[-20:]}"


def boxes(axes, lanes, colour):
    """Draws a small number of states as rectangles, with thinner ones for nested states."""
    states = duckdb.sql('SELECT Container, Start, "End", Imbrication, Value FROM states ORDER BY Imbrication, Start').fetchall()
    # A small number of states is separated by edges. Many states have no edges, and extend below the next state, so
    # that there are no gaps.
    few = len(states) < 300
    under = 0 if few else (max(state[2] for state in states) - min(state[1] for state in states)) / 3000
    patches = []
    for container, start, end, imbrication, _ in states:
        half = 0.42 * 0.72**imbrication
        patches.append(Rectangle((start, lanes.of[container] - half), end - start + under, 2 * half))
    fills = [colour.get(state[4], OTHER) for state in states]
    axes.add_collection(PatchCollection(patches, facecolors=fills, edgecolors="white" if few else "none", linewidths=0.4))


def shares(axes, lanes, main, window):
    """Draws many states as a picture. Each column of pixels shows each value's share of that time, largest first."""
    values = len(main) + 1
    number = {value: index for index, value in enumerate(main)}
    taken = numpy.zeros(len(lanes) * values * (ACROSS + 2))
    # A state's time is the time after its start minus the time after its end. It is subtracted from
    # the enclosing state.
    for value, sign in (("Value", 1), ("Outside", -1)):
        rows = duckdb.sql(f'SELECT Container, {value} AS Value, Start, "End" FROM states WHERE states.{value} IS NOT NULL').fetchnumpy()
        names, lane = numpy.unique(rows["Container"], return_inverse=True)
        texts, kind = numpy.unique(rows["Value"], return_inverse=True)
        cells = lanes.number(names)[lane] * values + numpy.array([number.get(text, values - 1) for text in texts], dtype=int)[kind]
        for time, more in (("Start", sign), ("End", -sign)):
            # The time after a moment covers a part of its column and all later ones, so add the parts and sum up below.
            at = numpy.clip((rows[time] - window[0]) / (window[1] - window[0]) * ACROSS, 0, ACROSS)
            column = at.astype(int)
            place = cells * (ACROSS + 2) + column
            taken += numpy.bincount(place, more * (1 - at + column), len(taken))
            taken += numpy.bincount(place + 1, more * (at - column), len(taken))
    taken = taken.reshape(len(lanes), values, -1).cumsum(axis=2)[:, :, :ACROSS]
    # States of several types, or containers of one lane, may overlap.
    reached = taken.cumsum(axis=1) / numpy.maximum(lanes.each, taken.sum(axis=1, keepdims=True))
    deep = max(5, 1000 // len(lanes))
    palette = numpy.array([to_rgba(fill) for fill in [*COLOURS[: len(main)], OTHER, "#00000000"]])
    pixels = numpy.zeros((len(lanes), deep, ACROSS, 4))
    for row in range(deep):
        # Position of the row in its lane. Values below 0 and above 1 are the gaps between lanes.
        place = ((row + 0.5) / deep - 0.08) / 0.84
        if 0 < place < 1:
            pixels[:, row] = palette[(reached < place).sum(axis=1)]
    picture(axes, pixels.reshape(-1, ACROSS, 4), window, len(lanes))


def lines(axes, lanes):
    """Draws a small number of links as arrows, and more links as lines."""
    links = duckdb.sql('SELECT Start, "End", StartContainer, EndContainer FROM links').fetchall()
    ends = [((start, lanes.of[a]), (end, lanes.of[b])) for start, end, a, b in links if a in lanes.of and b in lanes.of]
    if len(ends) < 300:
        arrow = {"arrowstyle": "-|>", "color": DARK, "linewidth": 0.6, "shrinkA": 0, "shrinkB": 0, "mutation_scale": 6}
        for tail, head in ends:
            axes.annotate("", head, tail, arrowprops=arrow)
    else:
        axes.add_collection(LineCollection(ends, colors=DARK, linewidths=0.3, alpha=max(0.15, 300 / len(ends))))


def density(axes, lanes, window, most=4e6):
    """Draws many links as a picture of the number of links at each pixel. Single links are visible."""
    rows = duckdb.sql('SELECT Start, "End", StartContainer, EndContainer FROM links').fetchnumpy()
    deep = max(5, 400 // len(lanes))
    x, end = ((rows[time] - window[0]) / (window[1] - window[0]) * ACROSS for time in ("Start", "End"))
    ends = []
    for side in ("StartContainer", "EndContainer"):
        names, lane = numpy.unique(rows[side], return_inverse=True)
        ends.append(lanes.number(names)[lane])
    known = (ends[0] >= 0) & (ends[1] >= 0)
    x, dx = x[known], (end - x)[known]
    y, dy = ((ends[0] + 0.5) * deep)[known], ((ends[1] - ends[0]) * deep)[known]
    # Compute a point for each pixel of each link, or only of some links if there are too many.
    points = numpy.ceil(numpy.maximum(abs(dx), abs(dy))).astype(int) + 1
    drawn = numpy.arange(0, len(points), max(1, int(points.sum() / most)))
    points = points[drawn]
    link = numpy.repeat(drawn, points)
    first = numpy.repeat(points.cumsum() - points, points)
    part = (numpy.arange(len(link)) - first) / numpy.maximum(numpy.repeat(points, points) - 1, 1)
    column = numpy.floor(x[link] + part * dx[link]).astype(int)
    row = numpy.floor(y[link] + part * dy[link]).astype(int)
    inside = (column >= 0) & (column < ACROSS)
    size = len(lanes) * deep
    count = numpy.bincount(row[inside] * ACROSS + column[inside], minlength=size * ACROSS).reshape(size, ACROSS)
    pixels = numpy.zeros((size, ACROSS, 4))
    pixels[:] = to_rgba(DARK)
    pixels[:, :, 3] = numpy.where(count > 0, 0.1 + 0.3 * numpy.log1p(count) / numpy.log1p(max(count.max(), 1)), 0)
    picture(axes, pixels, window, len(lanes))


def picture(axes, pixels, window, lanes):
    pixels = (pixels * 255).round().astype(numpy.uint8)
    axes.imshow(pixels, extent=(*window, lanes - 0.5, -0.5), aspect="auto", interpolation="nearest", zorder=1)


def space_time(main, window):
    states, start, end = duckdb.sql('SELECT count(*), min(Start), max("End") FROM states').fetchall()[0]
    lanes = Lanes(row[0] for row in duckdb.sql("SELECT DISTINCT Container FROM states").fetchall())
    links = duckdb.sql("SELECT count(*) FROM links").fetchall()[0][0]
    colour = dict(zip(main, COLOURS))
    figure, axes = plt.subplots(figsize=(8, 1.6 + min(0.5 * len(lanes), 6)), layout="constrained")
    # States and links smaller than a pixel are invisible and slow to draw.
    if states > MANY or lanes.each > 1:
        shares(axes, lanes, main, window or (start, end))
    else:
        boxes(axes, lanes, colour)
    if links > MANY:
        density(axes, lanes, window or (start, end))
    else:
        lines(axes, lanes)

    axes.autoscale_view()
    axes.set_ylim(len(lanes) - 0.4, -0.6)
    axes.set_xlim(window or (start, end))
    axes.xaxis.set_major_formatter(matplotlib.ticker.EngFormatter(unit="s"))
    named = range(0, len(lanes), -(-len(lanes) // NAMES))
    axes.set_yticks(named, [lanes.names[lane] for lane in named], parse_math=False)
    axes.set_xlabel("time")
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    axes.grid(axis="x", color="#ebebeb")
    axes.set_axisbelow(True)
    drawn = {row[0] for row in duckdb.sql("SELECT DISTINCT Value FROM states").fetchall()}
    legend = [Patch(facecolor=colour[value], label=short(value)) for value in main if value in drawn]
    if drawn - set(main):
        legend.append(Patch(facecolor=OTHER, label="other"))
    columns = max(1, min(4, 110 // (max(len(patch.get_label()) for patch in legend) + 6)))
    figure.legend(handles=legend, ncols=columns, loc="outside lower center", frameon=False, fontsize=8)
    return figure


def main():
    if len(sys.argv) not in (3, 5):
        sys.exit(__doc__)
    trace, name = sys.argv[1:3]
    window = tuple(map(float, sys.argv[3:5]))
    with tempfile.TemporaryDirectory() as folder:
        tables(trace, folder)
        read(folder, None)
        time = profile()
        values = [row[0] for row in time.fetchall()]
        if not values:
            sys.exit(f"there are no states in {trace}")
        print(time)
        if window:
            read(folder, window)
        figure = space_time(values[: len(COLOURS)], window)
        for ending in ("svg", "png"):
            figure.savefig(f"{name}-space-time.{ending}", dpi=160, metadata={"Date": None} if ending == "svg" else None)


if __name__ == "__main__":
    main()
