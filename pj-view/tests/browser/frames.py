#!/usr/bin/env python3
"""Measures frames while zooming through a trace, and the page's memory: `frames.py PROGRAM TRACE [--help]`.

Prints the times between frames, the page's part of them, and the number of requests. Run it on an
idle machine.
"""

import argparse
import os
import random
import time

import chromium
from run import Served

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
# Whether all tiles of the first picture are there, and drawn.
DRAWN = """(({ pajeView: view }) => Boolean(view && view.page.data.tiles.cache.size > 0 && view.page.data.tiles.idle() && !view.page.scene.pending))(window)"""
PARTS = (0.5, 0.95, 0.99)


class Started(Served):
    """Program that serves a trace, and when it was started."""

    def __init__(self, asked):
        self.began = time.monotonic()
        super().__init__(os.path.abspath(asked.program), asked.trace)


def quantile(values, part):
    ordered = sorted(values)
    return ordered[min(int(len(ordered) * part), len(ordered) - 1)]


def milliseconds(values):
    middle, late, latest = (quantile(values, part) for part in PARTS)
    return f"median {middle:.1f} ms, 95 % within {late:.1f} ms, 99 % within {latest:.1f} ms"


def between(shown):
    return [b - a for a, b in zip(shown, shown[1:])]


def megabytes(browser):
    """Returns the memory of the page: its objects, its elements and its arrays."""
    usage = browser.call("Runtime.getHeapUsage")
    return sum(usage.get(name, 0) for name in ("usedSize", "embedderHeapUsedSize", "backingStorageSize")) / 1e6


def zoom_about(browser, minutes):
    """Zooms to random places for some minutes. Returns times between frames, and the memory after each zoom."""
    shown, memory, places = [], [], random.Random(0)
    until = time.monotonic() + 60 * minutes
    while time.monotonic() < until:
        shown += between(browser.evaluate(f"{ZOOM}({places.random()})")["shown"])
        memory.append(megabytes(browser))
        # Most traces have more lanes than fit on the screen.
        browser.evaluate(f"(({{ scene, viewport }}) => {{ viewport.scroll = scene.layout.lines.at(-1).top * {places.random()}; }})(window.pajeView.page)")
    browser.settle()
    return shown, memory


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("program")
    parser.add_argument("trace")
    parser.add_argument("--size", type=int, nargs=2, default=(1280, 720), metavar=("WIDTH", "HEIGHT"), help="of the window, in pixels")
    parser.add_argument("--minutes", type=float, default=0, help="also zooms to random places for so long, and prints the page's memory")
    parser.add_argument("--on", default="", help="overlays that are shown: waits, path, or both with a comma")
    asked = parser.parse_args()
    width, height = asked.size
    with chromium.Chromium(width, height) as browser, Started(asked) as served:
        browser.call("Page.navigate", url=f"{served.url}#on={asked.on}" if asked.on else served.url)
        while not browser.evaluate(DRAWN):
            time.sleep(0.01)
        print(f"{os.path.basename(asked.trace)}, {width} × {height}: first picture {time.monotonic() - served.began:.2f} s after the start")
        browser.settle()
        lanes = browser.evaluate("window.pajeView.page.data.model.lanes.size")
        print(f"{lanes} lanes, {len(browser.state()['lines'])} lines")
        all_shown = []
        ways = [(f"zoom at {place:.0%}", f"{ZOOM}({place})") for place in (0.5, 0.15, 0.85)]
        ways += [(f"along {part:.1%} of it", f"{PAN}({part})") for part in (0.5, 0.02, 0.001)]
        for name, script in ways:
            browser.requests.clear()
            result = browser.evaluate(script)
            requests = len(browser.requests)
            browser.settle()
            frames = between(result["shown"])
            all_shown += frames
            print(f"{name}: {len(frames)} frames, {milliseconds(frames)}; drawn in {milliseconds(result['drawn'])}; {requests} requests")
        within = sum(it <= 20 for it in all_shown) / len(all_shown)
        print(f"all: {len(all_shown)} frames, {milliseconds(all_shown)}; {within:.1%} within 20 ms")
        if asked.minutes:
            frames, memory = zoom_about(browser, asked.minutes)
            browser.call("HeapProfiler.collectGarbage")
            print(f"{asked.minutes:g} minutes at random places: {len(frames)} frames, {milliseconds(frames)}")
            print(f"memory of the page: {memory[0]:.0f} MB after the first zoom, at most {max(memory):.0f} MB; {megabytes(browser):.0f} MB in use at the end")
        assert browser.console == [], browser.console


if __name__ == "__main__":
    main()
