#!/usr/bin/env python3
"""The table of sizes of docs/pack.md: packed.py [--programs FOLDER] TRACE...

Traces are plain or compressed with xz. Needs gzip, zstd, xz, and pj_pack, which is looked for in FOLDER, target/release if not given.
"""

import argparse
import pathlib
import subprocess
import tempfile

COMPRESSORS = [
    ("gzip", ["gzip", "-c"]),
    ("zstd -3", ["zstd", "-q", "-3", "-c"]),
    ("zstd -19 --long=27", ["zstd", "-q", "-19", "--long=27", "-c"]),
    ("xz -9", ["xz", "-9", "-T1", "-c"]),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", default="target/release", type=pathlib.Path)
    parser.add_argument("traces", nargs="+", type=pathlib.Path)
    given = parser.parse_args()
    pack = given.programs / "pj_pack"
    with tempfile.TemporaryDirectory() as folder:
        for trace in given.traces:
            text = pathlib.Path(folder, "t.trace")
            if trace.suffix == ".xz":
                text.write_bytes(subprocess.run(["xz", "-dc", trace], capture_output=True, check=True).stdout)
            else:
                text.write_bytes(trace.read_bytes())
            sizes = []
            for name, command in [*COMPRESSORS, ("pj_pack", [pack, "-o", "-"])]:
                packed = subprocess.run([*command, text], capture_output=True, check=True).stdout
                sizes.append(len(packed))
            unpacked = subprocess.run([pack, "-u", "-"], input=packed, capture_output=True, check=True).stdout
            assert unpacked == text.read_bytes(), f"{trace}: other bytes"
            whole, name = len(unpacked), trace.name.removesuffix(".xz").removesuffix(".trace")
            cells = " | ".join(f"{100 * size / whole:.2f}" for size in sizes)
            print(f"| {name} | {whole / 1e6:.1f} | {cells} | {sizes[-1] / sizes[2]:.2f} |", flush=True)


if __name__ == "__main__":
    main()
