#!/usr/bin/env python3
"""Compares two ways to make polars data frames: pajereplay, and PajeNG's pj_dump with polars' CSV
reader.

    pip install ./bindings/python polars
    benches/python/polars_frame.py trace.paje --runs 3 --threads 2

Both ways take turns in this process. Their frames must have the same rows in the same order. Names
and integers must be equal, and times as close as pj_dump prints them. The result is the median.

For PajeNG, this is the fastest way that we know: grep selects a nature, and polars reads the rows from memory with
given types and without durations. The blank before names is not removed, which saves time. The trace and intermediate
files should be in memory too (/dev/shm).
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

import polars as pl

# Columns of pj_dump's rows. Columns without a type are skipped.
NAME, NUMBER = pl.String, pl.Float64
COLUMNS = {
    "containers": ("Container", {"Parent": NAME, "Type": NAME, "Start": NUMBER, "End": NUMBER, "Duration": None, "Name": NAME}),
    "states": ("State", {"Container": NAME, "Type": NAME, "Start": NUMBER, "End": NUMBER, "Duration": None,
                         "Imbrication": NUMBER, "Value": NAME}),
    "variables": ("Variable", {"Container": NAME, "Type": NAME, "Start": NUMBER, "End": NUMBER, "Duration": None, "Value": NUMBER}),
    "events": ("Event", {"Container": NAME, "Type": NAME, "Time": NUMBER, "Value": NAME}),
    "links": ("Link", {"Container": NAME, "Type": NAME, "Start": NUMBER, "End": NUMBER, "Duration": None, "Value": NAME,
                       "StartContainer": NAME, "EndContainer": NAME, "Key": NAME}),
}

# Accepted differences: half of the last digit that pj_dump prints, and the rounding errors of
# reading and subtracting.
CLOSE, LOST = 0.5e-6, 1e-15


def of_pajeng(options):
    """Returns the frames made from PajeNG's text."""
    environment = {**os.environ, "LC_ALL": "C", "POLARS_MAX_THREADS": str(options.threads)}
    frames = {}
    with tempfile.TemporaryDirectory(dir=options.between) as folder:
        dump = f"'{options.pj_dump}' '{options.trace}'"
        if len(options.tables) > 1:
            # Runs the program only once for all tables.
            subprocess.run(f"{dump} > {folder}/all", shell=True, check=True, env=environment)
            dump = f"cat {folder}/all"
        for table in options.tables:
            nature, columns = COLUMNS[table]
            rows = f"{folder}/{table}.csv"
            command = f"set -o pipefail; {dump} | {{ grep ^{nature}, || true; }} > {rows}"
            subprocess.run(["bash", "-c", command], check=True, env=environment)
            schema = {"Nature": pl.String, **{name: kind or NUMBER for name, kind in columns.items()}}
            wanted = [name for name, kind in columns.items() if kind is not None]
            if os.path.getsize(rows) == 0:
                frames[table] = pl.DataFrame(schema={name: schema[name] for name in wanted})
            else:
                which = [place for place, name in enumerate(schema) if name in wanted]
                frames[table] = pl.read_csv(rows, has_header=False, schema=schema, columns=which, quote_char=None)
            os.remove(rows)
    return frames


def of_pajereplay(options):
    """Returns the frames made from Arrow tables."""
    import pajereplay

    # Rows of other natures are checked but not kept, as with grep. Variables have single precision,
    # as in PajeNG.
    natures = [COLUMNS[table][0].lower() for table in options.tables]
    trace = pajereplay.read(options.trace, threads=options.threads, natures=natures, variable_precision="single")
    return {table: pl.DataFrame(getattr(trace, table)) for table in options.tables}


def compare(table, ours, theirs):
    """Fails if two frames have different rows."""
    if ours.columns != theirs.columns or ours.height != theirs.height:
        sys.exit(f"{table}: {ours.shape} and {theirs.shape}, {ours.columns} and {theirs.columns}")
    for name in ours.columns:
        mine, other = ours[name], theirs[name]
        if other.dtype != pl.Float64:
            equal = (mine.cast(pl.String) == other.str.strip_chars_start()).all()
        elif table == "containers":
            # Times of containers are printed with six digits.
            equal = ((mine - other).abs() <= 1e-5 * mine.abs()).all()
        else:
            equal = ((mine - other).abs() <= CLOSE + LOST * mine.abs()).all()
        if not equal:
            sys.exit(f"{table}: the columns {name} differ")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--tables", choices=["states", "all"], default="states")
    parser.add_argument("--pj-dump", default="/usr/bin/pj_dump", help="path of PajeNG's pj_dump")
    parser.add_argument("--between", default="/dev/shm" if os.path.isdir("/dev/shm") else None, metavar="DIR",
                        help="folder for PajeNG's rows")
    options = parser.parse_args()
    options.tables = list(COLUMNS) if options.tables == "all" else [options.tables]
    size = os.path.getsize(options.trace)
    seconds = {of_pajereplay: [], of_pajeng: []}
    for run in range(options.runs):
        frames = {}
        for way in seconds:
            began = time.perf_counter()
            frames[way] = way(options)
            seconds[way].append(time.perf_counter() - began)
            print(f"run {run + 1}: {way.__name__[3:]:10} {seconds[way][-1]:9.3f} s", flush=True)
        for table in options.tables:
            compare(table, frames[of_pajereplay][table], frames[of_pajeng][table])
        rows = sum(frame.height for frame in frames[of_pajereplay].values())
        frames.clear()
    ours, theirs = (statistics.median(seconds[way]) for way in (of_pajereplay, of_pajeng))
    print(
        f"{size / 1e6:.0f} MB, {rows} rows ({', '.join(options.tables)}), {options.threads} threads, medians of {options.runs}: "
        f"pajereplay {ours:.3f} s ({size / ours / 1e6:.0f} MB/s), PajeNG {theirs:.1f} s, {theirs / ours:.1f} times as fast; same frames"
    )


if __name__ == "__main__":
    # The variable must be set before polars starts its threads.
    if "POLARS_MAX_THREADS" not in os.environ:
        threads = sys.argv[sys.argv.index("--threads") + 1] if "--threads" in sys.argv[:-1] else "2"
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, "POLARS_MAX_THREADS": threads})
    main()
