#!/usr/bin/env python3
"""Makes a picture of the page: `picture.py PROGRAM TRACE PICTURE.png [WIDTH HEIGHT [ADDRESS]]`.

ADDRESS is the part of the page's address after `#`: times, selection, theme.
"""

import os
import pathlib
import sys

import chromium
from run import Served


def main():
    program, trace, picture = sys.argv[1:4]
    width, height = (int(it) for it in (sys.argv[4:6] or (1280, 720)))
    with Served(os.path.abspath(program), trace) as served, chromium.Chromium(width, height, 2) as browser:
        browser.open("#".join([served.url, *sys.argv[6:7]]))
        pathlib.Path(picture).write_bytes(browser.screenshot())


if __name__ == "__main__":
    main()
