#!/usr/bin/env python3
"""Tests the page in a browser: `run.py PROGRAM TRACE-FOLDER [PICTURES]`. Needs Chromium.

Opens traces in a headless browser, sends input as users do, and checks the state of the page
(`window.pajeView`), pixels, the console and requests.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import zlib

import chromium
import explain
import fixed
import people
import tasks

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "tests" / "testkit"))
from header import header  # noqa: E402

# Position of the first lane in pixels: to the right of short names of containers, below the page's head and the
# axis.
GUTTER, AXIS = 210, 42 + 34
HEADER = header(
    "PajeDefineContainerType", "PajeDefineStateType", "PajeCreateContainer", "PajeSetState", "PajeDefineEntityValue"
) + """\
1 Host 0
2 State Host
"""


class Served:
    """Program that serves a trace."""

    def __init__(self, program, trace, *options):
        command = [program, "--no-open", *options, str(trace)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip()
        assert self.url.startswith("http://127.0.0.1:"), self.process.stderr.read()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()


def pixels(png):
    """Decodes a screenshot (8 bits, no interlacing) to rows of (red, green, blue)."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    at, data = 8, b""
    while at < len(png):
        length, kind = int.from_bytes(png[at : at + 4], "big"), png[at + 4 : at + 8]
        body = png[at + 8 : at + 8 + length]
        if kind == b"IHDR":
            width, depth, colors = int.from_bytes(body[:4], "big"), body[8], body[9]
            assert depth == 8 and colors in (2, 6)
            step = 3 if colors == 2 else 4
        elif kind == b"IDAT":
            data += body
        at += length + 12
    data = zlib.decompress(data)
    stride, rows, before = width * step, [], bytearray(width * step)
    for start in range(0, len(data), stride + 1):
        how, line = data[start], bytearray(data[start + 1 : start + 1 + stride])
        for i in range(stride):
            left = line[i - step] if i >= step else 0
            up, corner = before[i], before[i - step] if i >= step else 0
            if how == 1:
                line[i] = (line[i] + left) & 255
            elif how == 2:
                line[i] = (line[i] + up) & 255
            elif how == 3:
                line[i] = (line[i] + (left + up) // 2) & 255
            elif how == 4:
                guess = left + up - corner
                near = min((abs(guess - it), order, it) for order, it in enumerate((left, up, corner)))[2]
                line[i] = (line[i] + near) & 255
        rows.append([tuple(line[i : i + 3]) for i in range(0, stride, step)])
        before = line
    return rows


def clean(browser, url):
    """Checks that the head has its height, the console is empty, and no other server was used."""
    assert browser.evaluate("document.getElementById('stage').getBoundingClientRect().top") == AXIS - 34
    assert browser.console == [], browser.console
    foreign = [it for it in browser.requests if not it.startswith((url, "data:", "about:"))]
    assert foreign == [], foreign
    browser.requests.clear()
    assert browser.state()["failed"] is None


def lane_line(view):
    return next(line for line in view["lines"] if line["lane"] is not None)


def walk_through(browser, url):
    """Zooms, pans, folds, searches, selects, follows links, and reloads the page from its address."""
    browser.open(url)
    first = browser.state()
    assert first["from"] < first["to"] and first["lines"], first
    room = browser.evaluate("window.pajeView.page.viewport.width")
    # Browsers round positions of the pointer.
    half = room // 2
    middle = 1280 - 320 - room + half
    at = browser.evaluate(f"window.pajeView.page.viewport.time({half})")
    browser.mouse("mouseWheel", middle, 200, deltaX=0, deltaY=-240)
    browser.settle()
    zoomed = browser.state()
    assert zoomed["to"] - zoomed["from"] < 0.7 * (first["to"] - first["from"]), "zoomed"
    still = browser.evaluate(f"window.pajeView.page.viewport.time({half})")
    assert abs(still - at) < 1e-6 * (first["to"] - first["from"]), "the time below the pointer stays there"
    browser.key("w")
    closer = browser.state()
    browser.drag(middle, 300, middle - 100, 300)
    panned = browser.state()
    assert panned["from"] > closer["from"] and abs((panned["to"] - panned["from"]) / (closer["to"] - closer["from"]) - 1) < 1e-6
    browser.key("a")
    assert browser.state()["from"] < panned["from"]
    browser.key("0")
    fitted = browser.state()
    assert abs(fitted["to"] - fitted["from"] - (first["to"] - first["from"])) < 0.05 * (first["to"] - first["from"])

    folding = next((line for line in fitted["lines"] if line["folded"] is False and line["lane"] is None), None)
    if folding:
        y = AXIS + folding["top"] + folding["height"] / 2
        browser.click(60, y)
        folded = browser.state()
        assert len(folded["lines"]) < len(fitted["lines"]), "folded"
        browser.click(60, y)
        assert len(browser.state()["lines"]) == len(fitted["lines"]), "unfolded"

    browser.drag(middle - 100, AXIS + 60, middle + 100, AXIS + 60, shift=True)
    # The page computes the profile a little later.
    browser.wait("((it) => it.range && it.profile.from === it.range[0])(window.pajeView.state())")
    ranged = browser.state()
    span = ranged["range"][1] - ranged["range"][0]
    for type_ in {it[0] for it in ranged["profile"]["states"]}:
        assert sum(it[2] for it in ranged["profile"]["states"] if it[0] == type_) > 0 or span == 0
    browser.key("Escape")
    assert browser.state()["range"] is None

    values = browser.evaluate(
        "(() => { const m = window.pajeView.page.data.model;"
        "const t = m.types.find((t) => t.used && t.nature === 'state'); return t.values.map((v) => v.name); })()"
    )
    browser.type("search", values[-1])
    found = browser.state()
    assert found["search"] is not None, values
    if found["selected"]:
        browser.key("n")
        second = browser.state()["selected"]
        browser.key("N", shift=True)
        back = browser.state()["selected"]
        assert (back["lane"], back["row"]) == (found["selected"]["lane"], found["selected"]["row"]), (back, second)
        assert "end" in back and browser.evaluate("document.querySelector('#details table').textContent.length > 20")
        browser.key("f")
        close = browser.state()
        assert close["to"] - close["from"] <= fitted["to"] - fitted["from"]
        # The selected state is drawn in its colour.
        y = AXIS + next(it for it in close["lines"] if it["lane"] == back["lane"])["top"] - close["scroll"]
        assert y > 0

    browser.key("t")
    dark = browser.state()
    browser.evaluate("new Promise((done) => setTimeout(done, 400))")
    address = browser.evaluate("location.href")
    browser.open(address)
    again = browser.state()
    for name in ("from", "to", "dark", "search"):
        assert again[name] == dark[name], (name, again[name], dark[name])
    if dark["selected"]:
        assert again["selected"]["row"] == dark["selected"]["row"]
    clean(browser, url)


def follow_a_link(browser, url):
    """Follows a link to the state at the link's other end."""
    browser.open(url)
    start = browser.evaluate(
        """(async () => {
          const { page } = window.pajeView;
          for (const lane of page.data.model.lanes.values()) {
            if (lane.nature !== "state") continue;
            for (let row = 0; row < Math.min(lane.rows, 400); row++) {
              const details = await page.data.source.row(lane.id, row);
              const link = details.links.find((it) => it.other && it.other[0] !== lane.id);
              if (link) { await page.navigator.select(details); return { lane: lane.id, link }; }
            }
          }
          return null;
        })()"""
    )
    assert start, "no state has links"
    browser.settle()
    place = browser.evaluate(
        f"window.pajeView.page.state.links.findIndex((it) => it.lane === {start['link']['lane']} && it.row === {start['link']['row']})"
    )
    browser.press("#linktable button", place)
    selected = browser.state()["selected"]
    assert [selected["lane"], selected["row"]] == start["link"]["other"], (selected, start)
    clean(browser, url)


def keys_for_containers(browser, url, page):
    """Selects, folds and moves containers with the keyboard."""
    for address in (url, page):
        browser.open(address)
        labels = [line["label"] for line in browser.state()["lines"] if line.get("folded") is False]
        assert labels[:2] == ["rank-0", "rank-1"], labels
        browser.key("j")
        assert browser.state()["cursor"] is not None
        browser.key("Enter")
        view = browser.state()
        folded = view["lines"][0]
        assert folded["label"] == "rank-0" and folded["folded"] and folded["summary"], folded
        tip = browser.text("live")
        assert tip.startswith("rank-0, folded"), tip
        rows = pixels(browser.screenshot())
        area = rows[int(AXIS + folded["top"] + folded["height"] / 2)][GUTTER + 20 : 1280 - 340]
        back = rows[int(AXIS + view["lines"][-1]["top"] + view["lines"][-1]["height"] + 20)][GUTTER + 20]
        assert sum(pixel != back for pixel in area) > 0.9 * len(area), "a folded container shows its contents"
        browser.mouse("mouseMoved", GUTTER + 300, AXIS + folded["top"] + folded["height"] / 2)
        assert "%" in browser.text("tip")
        browser.key("J", shift=True)
        names = [line["label"] for line in browser.state()["lines"] if line.get("folded") is not None]
        assert [name for name in names if name.startswith("rank")][:2] == ["rank-1", "rank-0"], names
        browser.key("Enter", shift=True)
        browser.key("Enter", shift=True)
        assert all(line.get("folded") for line in browser.state()["lines"]), "all containers of the type are folded"
        browser.key("?")
        keys = browser.text("keylist")
        assert "J, K" in keys and "Shift Enter" in keys
        browser.evaluate("document.getElementById('keys').close()")
        clean(browser, address)


def colours(browser, program, folder):
    """States have their colours, both as rows and as shares. No state longer than a pixel is missing."""
    trace = pathlib.Path(folder, "colours.trace")
    lines = [HEADER, '5 on State "1 0 0"\n', '5 off State "0 0 1"\n', "3 0 c Host 0\n"]
    lines += [f"4 {i} State c {'off' if i % 2 else 'on'}\n" for i in range(8)]
    trace.write_text("".join(lines) + "4 8 State c off\n4 9 State c off\n")
    with Served(program, trace) as served:
        browser.open(f"{served.url}#t=0,8&theme=light")
        rows = pixels(browser.screenshot())
        line = lane_line(browser.state())
        y = int(AXIS + line["top"] + line["height"] - 8)
        x = lambda time: GUTTER + int(time * (1280 - 320 - GUTTER) / 8)
        for i in range(8):
            assert rows[y][x(i + 0.8)] == ((0, 0, 255) if i % 2 else (255, 0, 0)), (i, rows[y][x(i + 0.8)])
        clean(browser, served.url)
    # Ten thousand states, one of them a pixel wide and in another colour.
    lines[4:] = [f"4 {i / 100:.2f} State c on\n" for i in range(10000) if not 5000 < i < 5013]
    lines.append("4 50.01 State c off\n")
    body = sorted(lines[4:], key=lambda line: float(line.split()[1]))
    trace.write_text("".join(lines[:4] + body))
    with Served(program, trace) as served:
        browser.open(f"{served.url}#t=0,100&theme=light")
        rows = pixels(browser.screenshot())
        line = lane_line(browser.state())
        area = [row[GUTTER + 1 : 1280 - 320] for row in rows[int(AXIS + line["top"]) : int(AXIS + line["top"] + line["height"])]]
        blue = sum(pixel == (0, 0, 255) for row in area for pixel in row)
        assert blue > 0, "a state longer than a pixel is drawn"
        clean(browser, served.url)


def many_values(browser, program, folder):
    """The page fetches names and colours of thousands of values when they are seen or searched for."""
    trace = pathlib.Path(folder, "values.trace")
    count, page = 5000, 1024
    named = [f'5 v{i} State "0 {i % 2} 1"\n' for i in range(count)]
    rows = [f"4 {i} State c v{i}\n" for i in range(count)]
    trace.write_text("".join([HEADER, *named, "3 0 c Host 0\n", *rows, f"4 {count} State c v0\n"]))
    # Numbers of the values whose names are known.
    known = "Object.keys(window.pajeView.page.data.model.types.find((it) => it.name === 'State').values).map(Number)"
    with Served(program, trace) as served:
        browser.open(f"{served.url}#t=0,8&theme=light")
        assert browser.evaluate(known) == [*range(page)]
        browser.open(f"{served.url}#t=2500,2508&theme=light")
        browser.settle()
        there = {page * (2500 // page) + i for i in range(page)} | {*range(page)}
        # The first profile, which covers the whole trace, may have fetched other values.
        assert there <= {*browser.evaluate(known)} and len(browser.evaluate(known)) < count
        rows = pixels(browser.screenshot())
        line = lane_line(browser.state())
        y = int(AXIS + line["top"] + line["height"] - 8)
        x = lambda time: GUTTER + int((time - 2500) * (1280 - 320 - GUTTER) / 8)
        for i in range(2500, 2508):
            assert rows[y][x(i + 0.8)] == (0, 255 * (i % 2), 255), (i, rows[y][x(i + 0.8)])
        browser.type("search", "V4999")
        # Wait for the profile of the new window.
        browser.wait("window.pajeView.state().profile.from > 4000")
        browser.settle()
        view = browser.state()
        assert view["search"]["value"] == count - 1 and view["selected"]["start"] == count - 1, view
        assert browser.evaluate("document.getElementById('search').value") == f"v{count - 1}"
        assert "v4999" in browser.text("details")
        clean(browser, served.url)


def hostile(browser, program, folder):
    """Names are shown as text, and no script in them runs."""
    names = ["<script>window.hurt = 1</script>", "<img src=x onerror=window.hurt=2>", "'\\\" & &amp;", "r\u202eight", "\x1b[31m"]
    trace = pathlib.Path(folder, "hostile.trace")
    lines = [f'3 {i} "c{i} {name}" Host 0\n4 {i}.5 State "c{i} {name}" "{name}"\n' for i, name in enumerate(n for n in names if '"' not in n)]
    trace.write_text(HEADER + "".join(lines))
    page = pathlib.Path(folder, "hostile.html")
    subprocess.run([program, "--html", page, trace], check=True)
    with Served(program, trace) as served:
        for url in (served.url, page.as_uri()):
            browser.open(url)
            selected = 0
            for line in browser.state()["lines"]:
                browser.click(GUTTER + 500, AXIS + line["top"] + line["height"] / 2)
                selected += browser.state()["selected"] is not None
            assert selected > 1, "more than one state can be selected"
            assert browser.evaluate("window.hurt === undefined && document.querySelectorAll('img').length === 0")
            clean(browser, url)


def single_file(browser, program, trace, folder):
    """The HTML file shows the same as the served page, without any requests."""
    page = pathlib.Path(folder, "page.html")
    subprocess.run([program, "--recover", "--html", page, trace], check=True, stderr=subprocess.DEVNULL)
    browser.open(f"{page.as_uri()}#theme=light&links=0")
    filed, seconds = pixels(browser.screenshot()), browser.state()["profile"]["states"]
    clean(browser, page.as_uri())
    with Served(program, trace, "--recover") as served:
        browser.open(f"{served.url}#theme=light&links=0")
        browser.requests.clear()
        there, shown = pixels(browser.screenshot()), browser.state()["profile"]["states"]
    area = lambda rows: [row[GUTTER + 1 : 1280 - 320] for row in rows[AXIS + 1 :]]
    differ = sum(a != b for one, other in zip(area(filed), area(there)) for a, b in zip(one, other))
    assert differ < 0.1 * len(area(there)) * len(area(there)[0]), f"{differ} pixels differ"
    assert abs(sum(it[2] for it in seconds) - sum(it[2] for it in shown)) <= 1e-6 * (1 + sum(it[2] for it in shown))


def progress(browser, program, trace):
    """The page shows progress while a trace is read, then the trace or an error."""
    lines = pathlib.Path(trace).read_bytes().splitlines(keepends=True)
    begin, end = b"".join(lines[: len(lines) // 2]), b"".join(lines[len(lines) // 2 :])
    for rest, fine in ((end, True), (b"no line of a trace\n", False)):
        command = [program, "--no-open", "-"]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            process.stdin.write(begin)
            process.stdin.flush()
            url = process.stdout.readline().decode().strip()
            browser.call("Page.navigate", url=url)
            browser.wait("document.getElementById('doing')?.textContent.startsWith('Reading the trace')")
            assert browser.evaluate("window.pajeView === undefined")
            process.stdin.write(rest)
            process.stdin.close()
            if fine:
                browser.wait("Boolean(window.pajeView)")
                browser.settle()
                assert browser.state()["lines"]
                clean(browser, url)
            else:
                assert process.wait(30) == 1, "an invalid trace"
                assert b"<stdin>:" in process.stderr.read()
                browser.wait("document.getElementById('doing').textContent.startsWith('The trace cannot be shown')")
                browser.console.clear()
                browser.requests.clear()
        finally:
            process.kill()
            process.wait()


def frames(browser, url, name):
    """Measures frames while zooming in and out."""
    browser.open(url)
    browser.evaluate("window.pajeView.page.scene.times.length = 0")
    browser.evaluate(
        """(async () => {
          const { page } = window.pajeView;
          const frame = () => new Promise((done) => requestAnimationFrame(done));
          for (let i = 0; i < 160; i++) {
            page.viewport.zoom(i < 80 ? 0.93 : 1 / 0.93, page.viewport.width * 0.4);
            page.scene.redraw();
            await frame();
          }
        })()"""
    )
    took = sorted(browser.state()["frames"])
    clean(browser, url)
    late = took[int(len(took) * 0.95)]
    print(f"{name}: {len(took)} frames drawn; median {took[len(took) // 2]:.1f} ms, 95 % within {late:.1f} ms")
    return late


def main():
    program, examples = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
    further = [pathlib.Path(it) for it in sys.argv[3:]]
    with tempfile.TemporaryDirectory() as folder, chromium.Chromium() as browser:
        print(json.dumps(browser.call("Browser.getVersion").get("product")))
        colours(browser, program, folder)
        many_values(browser, program, folder)
        hostile(browser, program, folder)
        page = pathlib.Path(folder, "keys.html")
        subprocess.run([program, "--html", page, examples / "mpi.trace"], check=True)
        with Served(program, examples / "mpi.trace") as served:
            keys_for_containers(browser, served.url, page.as_uri())
        single_file(browser, program, examples / "mpi.trace", folder)
        progress(browser, program, examples / "mpi.trace")
        for trace in [examples / "mpi.trace", examples / "deep.trace", *further]:
            with Served(program, trace, "--recover") as served:
                walk_through(browser, served.url)
                explain.any_trace(browser, served.url)
                frames(browser, served.url, trace.name)
                print(f"{trace.name}: fine")
        with Served(program, examples / "mpi.trace") as served:
            follow_a_link(browser, served.url)
            fixed.dragging_names(browser, served.url)
            fixed.memory_of_tiles(browser, served.url)
            for test in (people.one_live_region, people.keys_need_focus, people.rows_by_keyboard, people.back_and_forward, people.fingers, people.widths, people.accessible):
                test(browser, served.url)
                clean(browser, served.url)
                print(f"{test.__name__}: fine")
            for test in (people.hits, people.markers, people.pins, people.flame):
                for url in (served.url, page.as_uri()):
                    test(browser, url)
                    clean(browser, url)
                print(f"{test.__name__}: fine")
            people.colours_by(browser, served.url, pixels)
            clean(browser, served.url)
        with Served(program, examples / "user-fields.trace") as served:
            people.colour_by_field(browser, served.url, pixels)
            clean(browser, served.url)
        fixed.embedded_rows(browser, page.as_uri())
        clean(browser, page.as_uri())
        ring = pathlib.Path(folder, "ring.trace")
        ring.write_text(explain.ring(6000))
        subprocess.run([program, "--html", page, ring], check=True)
        fixed.embedded_scans(browser, page.as_uri())
        clean(browser, page.as_uri())
        explain.all_tests(browser, program, examples, folder)
        tasks.ten_tasks(browser, program, examples)
        tasks.is_late_in_the_same_iteration(browser, program, folder)
    print("all tests passed")


if __name__ == "__main__":
    main()
