#!/usr/bin/env python3
"""Measures frames while zooming through a trace: `frames.py PROGRAM TRACE [WIDTH HEIGHT]`.

Prints the times between frames, the page's part of them, and the number of requests. Run it on an
idle machine.
"""

import os
import sys
import time

import chromium
from run import Served, state

# Zooms to a ten-thousandth of the trace and back with the wheel; pans in steps of some pixels.
ZOOM = """(async (place) => {
  const { page } = window.pajeView;
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  page.navigator.fit();
  page.scene.times.length = 0;
  const shown = [];
  const steps = 150;
  for (let i = 0; i < 2 * steps; i++) {
    page.viewport.zoom(i < steps ? 0.94 : 1 / 0.94, page.viewport.width * place);
    page.state.changed("window");
    shown.push(await frame());
  }
  return { shown, drawn: page.scene.times };
})"""
PAN = """(async (part) => {
  const { page } = window.pajeView;
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  page.navigator.fit();
  page.viewport.zoom(part, page.viewport.width * 0.5);
  page.scene.times.length = 0;
  const shown = [];
  for (let i = 0; i < 200; i++) {
    page.viewport.pan(i < 100 ? 12 : -12);
    page.state.changed("window");
    shown.push(await frame());
  }
  return { shown, drawn: page.scene.times };
})"""


def quantile(values, part):
    ordered = sorted(values)
    return ordered[min(int(len(ordered) * part), len(ordered) - 1)]


def main():
    program, trace = os.path.abspath(sys.argv[1]), sys.argv[2]
    width, height = (int(it) for it in (sys.argv[3:5] or (1280, 720)))
    began = time.monotonic()
    with Served(program, trace) as served, chromium.Chromium(width, height) as browser:
        browser.open(served.url)
        print(f"{os.path.basename(trace)}, {width} × {height}: shown {time.monotonic() - began:.1f} s after the start")
        lanes = browser.evaluate("window.pajeView.page.data.model.lanes.size")
        print(f"{lanes} lanes, {len(state(browser)['lines'])} lines")
        all_shown = []
        ways = [(f"zoom at {place:.0%}", f"{ZOOM}({place})") for place in (0.5, 0.15, 0.85)]
        ways += [(f"along {part:.1%} of it", f"{PAN}({part})") for part in (0.5, 0.02, 0.001)]
        for name, script in ways:
            browser.requests.clear()
            result = browser.evaluate(script)
            requests = len(browser.requests)
            browser.settle()
            between = [b - a for a, b in zip(result["shown"], result["shown"][1:])]
            all_shown += between
            print(
                f"{name}: {len(between)} frames, median {quantile(between, 0.5):.1f} ms, 95 % within "
                f"{quantile(between, 0.95):.1f} ms; drawn in {quantile(result['drawn'], 0.5):.1f} ms, 95 % within "
                f"{quantile(result['drawn'], 0.95):.1f} ms; {requests} requests"
            )
        within = sum(it <= 20 for it in all_shown) / len(all_shown)
        print(f"all: {within:.1%} of {len(all_shown)} frames within 20 ms")
        assert browser.console == [], browser.console


if __name__ == "__main__":
    main()
