#!/usr/bin/env python3
"""Reads the pieces of a trace as one data frame, with a partition for each piece.

    pj_split trace.paje -o pieces --pieces 64
    dask_pieces.py pieces

Each task runs pj_dump on one piece, so workers hold only their own pieces. This example starts
processes on one machine. Another Client (dask-jobqueue's SLURMCluster, or the address of a
scheduler) uses many machines, all of which need access to the pieces and pj_dump.
"""

import argparse
import subprocess
import sys
from pathlib import Path

import dask
import dask.dataframe as dd
import pandas as pd
from dask.distributed import Client, LocalCluster

# Names and types of the columns of pj_dump's rows, after the first one, which is the nature.
COLUMNS = {
    "Container": [("Parent", "str"), ("Type", "str"), ("Start", "float"), ("End", "float"),
                  ("Duration", "float"), ("Name", "str")],
    "State": [("Container", "str"), ("Type", "str"), ("Start", "float"), ("End", "float"),
              ("Duration", "float"), ("Imbrication", "float"), ("Value", "str")],
    "Variable": [("Container", "str"), ("Type", "str"), ("Start", "float"), ("End", "float"),
                 ("Duration", "float"), ("Value", "float")],
    "Event": [("Container", "str"), ("Type", "str"), ("Time", "float"), ("Value", "str")],
    "Link": [("Container", "str"), ("Type", "str"), ("Start", "float"), ("End", "float"),
             ("Duration", "float"), ("Value", "str"), ("StartContainer", "str"),
             ("EndContainer", "str"), ("Key", "str")],
}


def empty(nature):
    """Returns an empty frame with the columns of a nature."""
    return pd.DataFrame({name: pd.Series(dtype=kind) for name, kind in COLUMNS[nature]})


def rows(trace, nature, pj_dump="pj_dump", options=()):
    """Returns the rows of one nature of a trace or of a piece."""
    command = [pj_dump, "--threads", "1", *options, str(trace)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as dump:
        beginning = nature.encode() + b","
        of_nature = Lines(line for line in dump.stdout if line.startswith(beginning))
        columns = COLUMNS[nature]
        try:
            frame = pd.read_csv(
                of_nature,
                names=["Nature", *(name for name, _ in columns)],
                usecols=[name for name, _ in columns],
                dtype=dict(columns),
                skipinitialspace=True,
                keep_default_na=False,
                na_values={name: ["nan", "-nan"] for name, kind in columns if kind == "float"},
            )
        except pd.errors.EmptyDataError:
            frame = empty(nature)
    if dump.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: exit status {dump.returncode}")
    return frame


class Lines:
    """Presents lines as a file, for pandas."""

    def __init__(self, lines):
        self.lines = lines
        self.rest = b""

    def __iter__(self):
        return self

    def __next__(self):
        return next(self.lines)

    def read(self, size=-1):
        parts, length = [self.rest], len(self.rest)
        for line in self.lines:
            parts.append(line)
            length += len(line)
            if 0 <= size <= length:
                break
        text = b"".join(parts)
        if size < 0:
            size = len(text)
        self.rest = text[size:]
        return text[:size]


def pieces_of(folder):
    """Returns the pieces in a folder of pj_split, in order."""
    pieces = sorted(Path(folder).glob("piece-*.trace*"))
    if not pieces:
        sys.exit(f"{folder} has no piece-*.trace; split a trace with pj_split first")
    return pieces


def frame_of(pieces, nature, pj_dump, options):
    """Returns a Dask data frame with a partition for each piece, in order."""
    return dd.from_map(rows, pieces, nature=nature, pj_dump=pj_dump, options=options,
                       meta=empty(nature))


def in_order(frame, nature):
    """Sorts the rows into an order that does not depend on pieces, and removes duplicates of containers."""
    if nature == "Container":
        frame = frame.drop_duplicates()
    return frame.sort_values(list(frame.columns), kind="stable", ignore_index=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", help="folder written by pj_split")
    parser.add_argument("--workers", type=int, default=2, help="number of processes (2)")
    parser.add_argument("--pj-dump", default="pj_dump", help="path of pj_dump")
    parser.add_argument("--option", action="append", default=[], help="an option for pj_dump, such as -z")
    parser.add_argument("--equals", metavar="TRACE", help="fail unless the rows equal those of this trace")
    arguments = parser.parse_args()
    # Keep pandas' own types, so that frames can be compared exactly.
    dask.config.set({"dataframe.convert-string": False})
    pieces, options = pieces_of(arguments.folder), tuple(arguments.option)
    with LocalCluster(n_workers=arguments.workers, threads_per_worker=1, processes=True,
                      dashboard_address=None) as cluster, Client(cluster):
        states = frame_of(pieces, "State", arguments.pj_dump, options)
        busy = states[states["Imbrication"] == 0].groupby("Value")["Duration"].agg(["count", "sum"])
        print(f"{len(pieces)} pieces, {len(states)} states; values with most time:")
        print(busy.compute().nlargest(10, "sum").to_string())
        if arguments.equals is None:
            return
        for nature in COLUMNS:
            whole = in_order(rows(arguments.equals, nature, arguments.pj_dump, options), nature)
            frame = frame_of(pieces, nature, arguments.pj_dump, options).compute()
            pd.testing.assert_frame_equal(in_order(frame, nature), whole, check_exact=True)
            print(f"{nature}: {len(whole)} rows, equal to those of {arguments.equals}")


if __name__ == "__main__":
    main()
