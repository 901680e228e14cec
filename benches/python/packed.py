#!/usr/bin/env python3
"""Prints a table of the sizes of packed traces: packed.py [OPTIONS] TRACE-OR-FOLDER...

Traces may be compressed with xz. In folders, small traces are skipped. Packed traces are unpacked
and compared with the originals. Needs gzip, zstd, xz, pj_pack, and a pj_dump with tables for
Parquet, which contains the rows of valid traces, not their text.
"""

import argparse
import lzma
import pathlib
import random
import subprocess
import sys
import tempfile

COMPRESSORS = [
    ("gzip", ["gzip", "-c"]),
    ("zstd -3", ["zstd", "-q", "-3", "-c"]),
    ("zstd -19 --long=27", ["zstd", "-q", "-19", "--long=27", "-c"]),
    ("xz -9", ["xz", "-9", "-T1", "-c"]),
]
HEADINGS = ["trace", "text, MB", *[name for name, _ in COMPRESSORS], "Parquet", "pj_pack", "of zstd -19", "of xz -9"]


def texts(given):
    """Yields the name and the text of each trace, cut after a line if it is too long."""
    files = []
    for path in given.traces:
        files += sorted(path.iterdir()) if path.is_dir() else [path]
    for path in files:
        if not {".trace", ".paje"} & set(path.suffixes):
            continue
        with (lzma.open if path.suffix == ".xz" else open)(path, "rb") as file:
            text = file.read(given.first + 1)
        name = path.name.removesuffix(".xz").removesuffix(".trace")
        if len(text) > given.first:
            text, name = text[:text.rfind(b"\n", 0, given.first) + 1], f"{name}, first {given.first / 1e6:.0f} MB"
        if len(text) >= given.smallest:
            yield name, text
    if given.generated:
        datasets = [given.programs / "datasets", "mpi", "--size", "16M"]
        yield "`datasets mpi --size 16M`", subprocess.run(datasets, capture_output=True, check=True).stdout
        yield "random bytes", random.Random(1).randbytes(4 << 20)


def parquet(programs, trace, folder):
    """Returns the size of the tables in bytes, or None for an invalid trace."""
    tables = pathlib.Path(folder, "tables")
    # -z is needed because a trace that was cut has open links.
    done = subprocess.run([programs / "pj_dump", "-q", "-z", "-O", tables, "--format", "parquet", trace], capture_output=True)
    if done.returncode == 2:
        sys.exit(done.stderr.decode())
    sizes = [file.stat().st_size for file in tables.rglob("*") if file.is_file()] if done.returncode == 0 else []
    for file in [*tables.rglob("*"), tables] if tables.exists() else []:
        file.rmdir() if file.is_dir() else file.unlink()
    return sum(sizes) if sizes else None


def row(name, text, programs, folder):
    trace = pathlib.Path(folder, "t.trace")
    trace.write_bytes(text)
    pack, packed = programs / "pj_pack", pathlib.Path(folder, "t.pjp")
    sizes = [len(subprocess.run([*command, trace], capture_output=True, check=True).stdout) for _, command in COMPRESSORS]
    sizes.append(parquet(programs, trace, folder))
    subprocess.run([pack, trace, "-o", packed], check=True)
    sizes.append(packed.stat().st_size)
    if subprocess.run([pack, "-u", packed], capture_output=True, check=True).stdout != text:
        sys.exit(f"{name}: unpacking gives other bytes")
    cells = ["–" if size is None else f"{100 * size / len(text):.2f}" for size in sizes]
    parts = [sizes[-1] / sizes[2], sizes[-1] / sizes[3]]
    print("|", " | ".join([name, f"{len(text) / 1e6:.1f}", *cells, *[f"{part:.2f}" for part in parts]]), "|", flush=True)
    return parts


def size(text):
    factor = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}.get(text[-1:], 1)
    return int(text.rstrip("KMG")) * factor


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", default="target/release", type=pathlib.Path, help="folder of pj_pack, pj_dump and datasets")
    parser.add_argument("--first", default=20_000_000, type=size, metavar="SIZE", help="largest number of bytes of a trace (20000000)")
    parser.add_argument("--smallest", default=100_000, type=size, metavar="SIZE", help="ignore shorter traces (100000)")
    parser.add_argument("--generated", action="store_true", help="also a generated trace and random bytes")
    parser.add_argument("traces", nargs="*", type=pathlib.Path)
    given = parser.parse_args()
    print("|", " | ".join(HEADINGS), "|\n" + "|---" * len(HEADINGS) + "|")
    larger = []
    with tempfile.TemporaryDirectory() as folder:
        for name, text in texts(given):
            if max(row(name, text, given.programs, folder)) >= 1:
                larger.append(name)
    if larger:
        print("not smaller than zstd -19 and xz -9:", ", ".join(larger), file=sys.stderr)


if __name__ == "__main__":
    main()
