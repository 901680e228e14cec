#!/usr/bin/env python3
"""Compares the waits that pj_profile finds in EZTrace's archives with the delays that the traced programs contain.

Usage: eztrace.py PROGRAM FOLDER

FOLDER has traces/NAME.tar.xz. Values agree if they differ by at most 5 %. EZTrace records no end of the receives and
sends that a later call completes, so waiting in MPI_Wait is not compared.
"""
import collections
import csv
import os
import subprocess
import sys
import tarfile
import tempfile

NXN = ["MPI_Allreduce", "MPI_Alltoall", "MPI_Alltoallv", "MPI_Allgather"]
# Archive, kind, call, ranks that wait, and how long each of them waits, in milliseconds.
EXPECTED = [
    # The senders are 20 ms late, three times.
    ("ez_latesender4", "late sender", "MPI_Recv", [1, 3], 60),
    # The receivers are 20 ms late, twice for each call.
    ("ez_latereceiver4", "late receiver", "MPI_Ssend", [0, 2], 40),
    ("ez_latereceiver4", "late receiver", "MPI_Send", [0, 2], 40),
    # Rank 1 is 10 ms late.
    *(("ez_coll4", "wait at all-to-all", call, [0, 2, 3], 10) for call in NXN),
    *(("ez_coll4", "early reduce", call, [0], 10) for call in ["MPI_Gather", "MPI_Gatherv"]),
    # Here, its sleep took longer, by its own clock.
    ("ez_coll4", "early reduce", "MPI_Reduce", [0], 11.64),
    # The first row of ranks, which has the roots, is 5 ms late, three times.
    ("ez_subcomm6", "late broadcast", "MPI_Bcast", [2, 3, 4, 5], 15),
]


def waits(program, archive):
    """Returns milliseconds by kind, call and rank."""
    command = [program, "waits", "--by", "path", "--format", "csv", archive]
    rows = csv.DictReader(subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines())
    found = collections.defaultdict(float)
    for row in rows:
        rank = int(row["container"].removeprefix("P#").split("T")[0])
        found[row["kind"], row["path"].split("/")[-1], rank] += 1000 * float(row["seconds"])
    return found


def main():
    program, folder = sys.argv[1:3]
    found, differ = {}, 0
    with tempfile.TemporaryDirectory() as temporary:
        for archive in sorted({archive for archive, *_ in EXPECTED}):
            with tarfile.open(os.path.join(folder, "traces", archive + ".tar.xz")) as file:
                file.extractall(temporary, filter="data")
            found[archive] = waits(program, os.path.join(temporary, archive))
    for archive, kind, call, ranks, expected in EXPECTED:
        for rank in ranks:
            value = found[archive][kind, call, rank]
            agrees = abs(value - expected) <= 0.05 * expected
            differ += not agrees
            print(f"{archive:<18}{kind:<20}{call:<15}rank {rank}{value:>9.3f} ms of {expected} ms{'' if agrees else '  differs'}")
    return 1 if differ else 0


sys.exit(main())
