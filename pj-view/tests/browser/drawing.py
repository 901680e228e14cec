#!/usr/bin/env python3
"""Checks that Chromium, rsvg-convert and --png render a drawing alike: `drawing.py PROGRAM TRACE [OPTION...]`.

Fonts and antialiasing differ, so it compares the mean colours of squares of eight pixels.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import chromium
from run import pixels

SQUARE = 8


def squares(rows):
    """Returns the mean colour of each square."""
    found = []
    for top in range(0, len(rows) - SQUARE + 1, SQUARE):
        for left in range(0, len(rows[0]) - SQUARE + 1, SQUARE):
            part = [rows[top + y][left + x] for y in range(SQUARE) for x in range(SQUARE)]
            found.append([sum(pixel[i] for pixel in part) / len(part) for i in range(3)])
    return found


def differ(one, other):
    """Returns the share of squares that differ visibly, and the mean difference of colours (of 255)."""
    gaps = [max(abs(a - b) for a, b in zip(first, second)) for first, second in zip(one, other)]
    return sum(gap > 24 for gap in gaps) / len(gaps), sum(gaps) / len(gaps)


def main():
    program, trace, options = os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[3:]
    with tempfile.TemporaryDirectory() as folder, chromium.Chromium() as browser:
        folder = pathlib.Path(folder)
        drawing = folder / "drawing.svg"
        subprocess.run([program, "--svg", drawing, *options, trace], check=True)
        text = drawing.read_text()
        size = [int(text.split(f'{name}="')[1].split('"')[0]) for name in ("width", "height")]
        browser.resize(*size)
        browser.call("Page.navigate", url=drawing.as_uri())
        browser.wait("document.readyState === 'complete'")
        pictures = {"chromium": squares(pixels(browser.screenshot()))}
        if shutil.which("rsvg-convert"):
            subprocess.run(["rsvg-convert", "-o", folder / "rsvg.png", drawing], check=True)
            pictures["rsvg"] = squares(pixels((folder / "rsvg.png").read_bytes()))
        done = subprocess.run([program, "--png", folder / "own.png", *options, trace], capture_output=True, check=False)
        if done.returncode == 0:
            pictures["--png"] = squares(pixels((folder / "own.png").read_bytes()))
        else:
            assert b"without --png" in done.stderr, done.stderr
        print(f"{os.path.basename(trace)}: {len(text) / 1e6:.3f} MB, {size[0]} × {size[1]}")
        assert len(text) < 1e6, "larger than 1 MB"
        for name, picture in list(pictures.items())[1:]:
            part, mean = differ(pictures["chromium"], picture)
            print(f"Chromium and {name}: {part:.2%} of the squares differ, colours by {mean:.2f} of 255")
            assert part < 0.02 and mean < 4, name


if __name__ == "__main__":
    main()
