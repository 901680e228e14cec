#!/usr/bin/env python3
"""Counts the instructions of pj_dump on a trace of each shape: per line for decoding, replaying and everything else but output, and
per row for output.

Prints a table, and keeps it in a record. Unlike times, these counts depend only on the compiler and the processor's instruction set.
Needs valgrind (Debian: apt-get install valgrind), and programs from `cargo build --release -p pj-dump -p datasets`. Exit status: 0;
1 if --check finds a shape that costs more than the record says; 2 if something could not be counted.
"""

import argparse
import csv
import io
import pathlib
import re
import subprocess
import tempfile

from processes import ROOT, Failed, exit_with, generate, size

SHAPES = "mpi,task-runtime,many-containers,unique-values,all-links,variables,quoted,deep"
HEAD = "shape               decode   replay     rest  without rows  a row of output      all a line"
# Entry points of the phases. The cost of a call counts for the called phase, even if another phase makes the call.
PHASES = {
    "decode": ["paje_decode::decode::Decoder::decode"],
    "replay": ["paje_replay::replay::shard::Shard::replay", "paje_replay::replay::link_merger::LinkMerger::merge"],
    "export": ["pj_dump::output::rows::RowFormatter::lane_rows", "pj_dump::output::rows::RowFormatter::container_row"],
}


def phase_of(function):
    # Recursive calls and copies of a function have a suffix after its name.
    is_door = lambda door: function.startswith(door) and function[len(door) :][:1] in ("", "'", "<", ":")
    return next((phase for phase, doors in PHASES.items() if any(map(is_door, doors))), None)


def read(profile):
    """Returns the totals of a profile and the instructions of each phase.

    Valgrind's manual describes the format in "Callgrind Format Specification". The line after `calls=` is the inclusive cost of these
    calls. A name stands only once, after its number in brackets.
    """
    names, totals, phases, called = {}, {}, dict.fromkeys(PHASES, 0), None
    caller = callee = ""
    for line in profile.splitlines():
        if found := re.match(r"(c?fn)=(\(\d+\))(?: (.*))?", line):
            kind, number, name = found.groups()
            name = names.setdefault(number, name or "")
            caller, callee = (name, callee) if kind == "fn" else (caller, name)
        elif line.startswith("calls="):
            phase = phase_of(callee)
            called = phase if phase != phase_of(caller) else None
        elif line[:1] in "0123456789+-*" and called and line:
            phases[called] += int(line.split()[1])
            called = None
        elif line.startswith("events: "):
            events = line.split()[1:]
        elif line.startswith("totals: "):
            totals = dict(zip(events, map(int, line.split()[1:])))
    if "Ir" not in totals or 0 in phases.values():
        raise Failed("a phase is missing in the profile; build the program with symbols")
    return totals, phases


def count(given, name, trace):
    """Prints the counts of a trace, and returns them as a row of the record."""
    with tempfile.NamedTemporaryFile() as profile:
        words = ["valgrind", "--tool=callgrind", "--quiet", "--compress-pos=no", f"--callgrind-out-file={profile.name}"]
        words += ["--branch-sim=yes", "--cache-sim=yes"] if given.misses else []
        run = subprocess.run([*words, given.program, "--threads", "1", trace], stdin=subprocess.DEVNULL, capture_output=True)
        if run.returncode:
            raise Failed(f"{given.program} {trace}: {run.stderr.decode(errors='replace')}")
        totals, phases = read(pathlib.Path(profile.name).read_text())
    lines, rows = trace.read_bytes().count(b"\n"), run.stdout.count(b"\n")
    without = totals["Ir"] - phases["export"]
    rest = without - phases["decode"] - phases["replay"]
    row = {"shape": name, "decode": phases["decode"] / lines, "replay": phases["replay"] / lines, "rest": rest / lines}
    row |= {"without_rows": without / lines, "export_a_row": phases["export"] / max(rows, 1), "all_a_line": totals["Ir"] / lines}
    print("{:<17} {:8.1f} {:8.1f} {:8.1f} {:13.1f} {:16.1f} {:15.1f}".format(*row.values()), flush=True)
    if given.misses:
        branches, nearest = totals["Bcm"] + totals["Bim"], totals["D1mr"] + totals["D1mw"]
        print(f"    {branches / lines:.2f} mispredicted branches and {nearest / lines:.2f} first-level cache misses per line")
    return {column: cell if column == "shape" else f"{cell:.1f}" for column, cell in row.items()}


def worse(now, before):
    """Returns a line for each shape that costs more than 2 % more than before."""
    known = {row["shape"]: row for row in before}
    for row in now:
        if row["shape"] not in known:
            yield f"{row['shape']} is not in the record"
            continue
        for column, what in [("without_rows", "per line without rows"), ("all_a_line", "per line in total")]:
            new, old = float(row[column]), float(known[row["shape"]][column])
            if new > old * 1.02:
                more = 100 * (new / old - 1)
                yield f"{row['shape']} takes {new} instructions {what}, {more:.1f} % more than the record's {old}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace", nargs="?", type=pathlib.Path, help="another trace, which is counted but not recorded")
    help_ = "compare with the record instead of writing it, and fail if a shape costs 2 %% more"
    parser.add_argument("--check", action="store_true", help=help_)
    parser.add_argument("--shapes", default=SHAPES, help="shapes of the traces (datasets --list)")
    parser.add_argument("--size", type=size, default="2MB", help="size of the traces (2MB)")
    help_ = "also count mispredicted branches and first-level cache misses of a simple processor"
    parser.add_argument("--misses", action="store_true", help=help_)
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "target/release/pj_dump", help="path of pj_dump")
    parser.add_argument("--record", type=pathlib.Path, default=ROOT / "benches/records/instructions.csv", help="the record")
    given = parser.parse_args()
    print(HEAD)
    if given.trace:
        count(given, given.trace.name, given.trace)
        return 0
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "generated.trace")
        for shape in given.shapes.split(","):
            generate(given.program.parent, shape, given.size, path)
            rows.append(count(given, shape, path))
    compiler = subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=True).stdout.split(" (")[0]
    title = f"# {compiler}, {given.size} bytes\n"
    if not given.check:
        with given.record.open("w", newline="") as file:
            file.write(title)
            writer = csv.DictWriter(file, rows[0], lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
        return 0
    before, text = given.record.read_text().split("\n", 1)
    if f"{before}\n" != title:
        print(f"the record is of {before[2:]}, this is {title[2:-1]}: they cannot be compared; record anew")
        return 0
    found = list(worse(rows, csv.DictReader(io.StringIO(text))))
    print("".join(f"{line}\n" for line in found), end="")
    if found:
        print(f"if the change is worth it, record the new counts ({given.record})")
    return int(bool(found))


if __name__ == "__main__":
    exit_with("instructions", main)
