"""Tests overlays and panels that explain a run: waits, critical path, verdict, communication, durations, two traces."""

import pathlib
import subprocess

import people
import run

PAGE = "window.pajeView.page"


def ring(rounds):
    """Returns a trace of two ranks that pass a message back and forth. Each waits for the other in each round."""
    text = run.header(
        "PajeDefineContainerType", "PajeDefineStateType", "PajeCreateContainer", "PajeSetState", "PajeDefineLinkType",
        "PajeStartLink", "PajeEndLink",
    ) + "1 Rank 0\n2 MPI_STATE Rank\n5 MPI_LINK 0 Rank Rank\n3 0 rank-0 Rank 0\n3 0 rank-1 Rank 0\n"
    events = []
    for i in range(rounds):
        (one, other), start = ((0, 1), (1, 0))[i % 2], i * 1.0
        events += [
            (start, f"4 {start} MPI_STATE rank-{other} MPI_Recv"),
            (start + 0.5, f"4 {start + 0.5} MPI_STATE rank-{one} MPI_Send\n6 {start + 0.5} MPI_LINK 0 rank-{one} PTP k{i}"),
            (start + 0.75, f"7 {start + 0.75} MPI_LINK 0 rank-{other} PTP k{i}\n4 {start + 0.75} MPI_STATE rank-{other} computing"),
            (start + 0.8, f"4 {start + 0.8} MPI_STATE rank-{one} computing"),
        ]
    return text + "\n".join(text for _, text in sorted(events)) + "\n"


def overview(browser):
    """Returns what the page knows about waits and the critical path."""
    return browser.evaluate("(async () => { for (;;) { const it = await (await fetch('explained')).json(); if (it.state !== 'computing') return it; } })()")


def is_on(browser, overlay):
    return browser.evaluate(f"document.getElementById('overlay-{overlay}').getAttribute('aria-pressed')") == "true"


def toggle(browser, overlay):
    """Switches an overlay. Returns whether it is on."""
    browser.press(f"#overlay-{overlay}")
    return is_on(browser, overlay)


def open_panel(browser, panel):
    browser.evaluate(f"{PAGE}.panels.open('{panel}')")
    browser.settle()
    return browser.evaluate(f"document.querySelector('#{panel} details > div').innerText")


def place_of(browser, lane, time):
    """Returns the position of a time in a lane, and the height of the lane."""
    browser.evaluate(f"{PAGE}.navigator.reveal({{ lane: {lane}, row: 0, start: {time}, end: {time} }})")
    browser.settle()
    view = browser.state()
    line = next(line for line in view["lines"] if line["lane"] == lane)
    x = browser.evaluate(f"{PAGE}.viewport.gutter + {PAGE}.viewport.x({time})")
    return x, run.AXIS + line["top"] - view["scroll"], line["height"]


def colour_at(browser, x, y):
    return run.pixels(browser.screenshot())[int(y)][int(x)]


def rgb(text):
    return tuple(int(text[i : i + 2], 16) for i in (1, 3, 5))


def click_button(browser, panel, title):
    browser.press(f"#{panel} button[title='{title}']")


def off_costs_nothing(browser, url):
    """While overlays and panels are off, nothing is asked for."""
    browser.open(url)
    asked = [it.removeprefix(url) for it in browser.requests]
    assert not [it for it in asked if it.startswith(("explained", "waits?", "path?", "verdict", "matrix", "messages", "histogram"))], asked


def wait_to_cause_and_back(browser, url):
    browser.open(url)
    assert toggle(browser, "waits")
    found = overview(browser) if url.startswith("http") else browser.evaluate(f"{PAGE}.data.model.explained")
    wait = next(it for it in found["waits"]["longest"] if it["release"] is not None)
    middle = (wait["start"] + wait["end"]) / 2
    browser.evaluate(f"{PAGE}.viewport.around({wait['start']}, {wait['end']})")
    x, top, height = place_of(browser, wait["lane"], middle)
    colour = rgb(found["colours"][wait["kind"]])
    for dark in (False, True):
        browser.evaluate(f"{PAGE}.state.dark = {str(dark).lower()}; {PAGE}.state.changed('look')")
        browser.settle()
        assert colour_at(browser, x, top + height - 5) == colour, colour_at(browser, x, top + height - 5)
    browser.mouse("mouseMoved", x, top + height - 5)
    browser.settle()
    tip = browser.evaluate("document.getElementById('tip').innerText")
    assert found["kinds"][wait["kind"]] in tip and "waits for" in tip, tip
    browser.click(x, top + height - 5)
    selected = browser.state()["selected"]
    assert (selected["lane"], selected["row"]) == (wait["whom"], wait["release"]), (selected, wait)
    text = open_panel(browser, "cause")
    assert "It ends these waits" in text, text
    click_button(browser, "cause", "Go to the wait")
    selected = browser.state()["selected"]
    lanes = {it["lane"] for it in found["waits"]["longest"]}
    assert selected["lane"] in lanes, selected
    click_button(browser, "cause", "Go to its cause")
    selected = browser.state()["selected"]
    assert (selected["lane"], selected["row"]) == (wait["whom"], wait["release"]), (selected, wait)
    text = open_panel(browser, "waiting")
    assert found["kinds"][wait["kind"]] in text and "The longest waits" in text, text
    # The address remembers the overlay.
    browser.wait("location.hash.includes('on=waits')")


def longest_part(browser, count):
    """Returns lane, start and end of the longest of some hundred parts of the critical path, in the middle of the run."""
    parts = browser.evaluate(
        f"""(async () => {{
          const {{ extent: [from, to], origin, tick }} = {PAGE}.data.model;
          const level = Math.min(63, Math.ceil(Math.log2((to - from) / tick / Math.max(1, {count} / 300))));
          const first = Math.floor(((from + to) / 2 - origin) / (tick * 2 ** level));
          const view = new DataView(await (await fetch(`path?level=${{level}}&first=${{first}}&count=1&rows=16384`)).arrayBuffer());
          const n = view.getUint32(12, true);
          return Array.from({{ length: n }}, (_, i) => [view.getUint32(32 + 32 * n + 4 * i, true), view.getFloat64(32 + 8 * i, true), view.getFloat64(32 + 8 * (n + i), true)]);
        }})()"""
    )
    return max(parts, key=lambda part: part[2] - part[1])


def the_path_is_drawn(browser, url):
    browser.open(url)
    assert toggle(browser, "path")
    found = overview(browser)
    lane, start, end = longest_part(browser, found["path"]["parts"])
    browser.evaluate(f"{PAGE}.viewport.around({start}, {end})")
    x, top, height = place_of(browser, lane, (start + end) / 2)
    line, colour = range(int(top), int(top + height)), rgb(found["pathColour"])
    shown = lambda: sum(row[int(x)] == colour for row in run.pixels(browser.screenshot())[line.start : line.stop])
    assert shown() > 0
    assert not toggle(browser, "path") and shown() == 0
    run.clean(browser, url)


def many_waits(browser, program, folder):
    """Where single waits do not fit, their shares are drawn, and the path in each bin."""
    path = pathlib.Path(folder, "ring.trace")
    path.write_text(ring(6000))
    with run.Served(program, path, "--waits", "--critical-path") as served:
        browser.open(served.url)
        browser.settle()
        assert browser.evaluate(f"[...{PAGE}.state.overlays].sort().join()") == "path,waits"
        found = overview(browser)
        waits, line = rgb(found["colours"][0]), rgb(found["pathColour"])
        rows = run.pixels(browser.screenshot())
        assert sum(row.count(waits) for row in rows) > 500
        # The path is in each lane half of the time, so its line is lighter, and hides little of the rest.
        reddish = sum(1 for row in rows for red, green, blue in row if red > 140 and green < 90 and blue < 120)
        assert 500 < reddish < 8000, reddish
        browser.evaluate(f"{PAGE}.viewport.show(100, 112)")
        browser.evaluate(f"{PAGE}.state.changed('window')")
        browser.settle()
        rows = run.pixels(browser.screenshot())
        assert all(sum(row.count(colour) for row in rows) > 500 for colour in (waits, line))
        # A folded container shows the mean of its lanes.
        browser.evaluate(f"(() => {{ const {{ state, data }} = {PAGE}; for (const it of data.model.containers.values()) if (it.id) state.folded.add(it.id); state.changed('layout'); }})()")
        browser.settle()
        assert all(it["summary"] for it in browser.state()["lines"])
        assert sum(row.count(waits) for row in run.pixels(browser.screenshot())) > 300
        run.clean(browser, served.url)


def refusals_are_shown(browser, program, examples):
    with run.Served(program, examples / "task-runtime.trace", "--recover") as served:
        browser.open(served.url)
        browser.evaluate("document.getElementById('overlay-waits').click()")
        browser.wait("document.getElementById('live').textContent.includes('do not record which task waits')")
        browser.settle()
        assert not is_on(browser, "waits")
        text = open_panel(browser, "waiting")
        assert "do not record" in text, text
        run.clean(browser, served.url)


def panels(browser, url, is_served=True):
    browser.open(url)
    text = open_panel(browser, "why")
    assert "% of the run" in text and "pj_profile" in text, text
    text = open_panel(browser, "communication")
    assert "Pairs with most" in text, text
    assert browser.evaluate("document.getElementById('matrix').width > 30")
    pair = browser.evaluate("document.querySelector('#communication button.go').textContent")
    click_button(browser, "communication", "List these messages")
    caption = browser.evaluate("document.querySelector('#messages caption').textContent")
    assert pair in caption, (pair, caption)
    most = int(browser.evaluate("document.querySelector('#communication td.number').textContent"))
    assert int(caption.split()[0]) == most, (caption, most)
    # A click in the matrix lists the messages of its pair.
    browser.evaluate(
        "(() => { const m = document.getElementById('matrix'); const { left, top } = m.getBoundingClientRect();"
        "m.dispatchEvent(new MouseEvent('click', { clientX: left + m.clientWidth - 2, clientY: top + 2, bubbles: true })); })()"
    )
    browser.settle()
    click_button(browser, "communication", "Select this message")
    selected = browser.state()["selected"]
    assert selected["from"] != selected["to"], selected

    durations(browser)
    if is_served:
        run.clean(browser, url)


def durations(browser):
    """Shows the durations of the value with the longest total time, and selects the longest."""
    open_panel(browser, "durations")
    type_, value, _ = max(browser.state()["profile"]["states"], key=lambda it: it[2])
    browser.evaluate(f"{PAGE}.navigator.clear()")
    browser.evaluate(f"{PAGE}.navigator.search({{ type: {type_}, value: {value} }})")
    browser.evaluate(f"{PAGE}.navigator.fit()")
    browser.settle()
    text = browser.evaluate("document.querySelector('#durations').innerText")
    assert "Median" in text and "The longest" in text, text
    assert browser.evaluate("document.querySelectorAll('#durations rect').length > 1")
    longest = browser.evaluate("document.querySelector('#durations tbody tr:has(button) td.number').textContent")
    click_button(browser, "durations", "Go to it")
    selected = browser.state()["selected"]
    length = browser.evaluate(f"{PAGE}.data.model.units.format({selected['end'] - selected['start']})")
    assert selected["value"] == value and length == longest, (selected, length, longest)


def any_trace(browser, url):
    """Each overlay is shown or says what the trace lacks, and each panel has contents, for any trace."""
    browser.open(url)
    found = overview(browser)
    for overlay in ("waits", "path"):
        assert toggle(browser, overlay) == ("refused" not in found[overlay]), (overlay, found[overlay])
    for panel in ("why", "waiting", "cause", "communication", "durations"):
        assert open_panel(browser, panel).strip(), panel
    wait = next((it for it in found["waits"].get("longest", []) if it["release"] is not None), None)
    if wait:
        click_button(browser, "waiting", "Go to its cause")
        assert browser.state()["selected"]["lane"] in {it["whom"] for it in found["waits"]["longest"]}
        text = browser.evaluate("document.querySelector('#cause').innerText")
        assert "It ends these waits" in text or wait["release"] is None, text
    # Zooming keeps the overlays: from single waits to shares.
    for factor in (0.001, 30, 1000):
        browser.evaluate(f"{PAGE}.viewport.zoom({factor}, 200)")
        browser.evaluate(f"{PAGE}.state.changed('window')")
        browser.settle()
    run.clean(browser, url)


def accessible(browser, url):
    """axe-core finds nothing in the open panels, light or dark, and they fit into narrow windows."""
    if not people.AXE.exists():
        print("left out: axe-core (npm install in pj-view)")
        return
    for theme in ("light", "dark"):
        for width, height in ((1280, 900), (320, 640)):
            browser.resize(width, height)
            browser.open(f"{url}#theme={theme}&on=waits,path")
            for panel in ("why", "waiting", "cause", "communication", "durations"):
                open_panel(browser, panel)
            click_button(browser, "waiting", "Go to its cause")
            click_button(browser, "communication", "List these messages")
            browser.evaluate(people.AXE.read_text() + "; true")
            found = people.violations(browser)
            assert found == [], (theme, width, found)
            wide = browser.evaluate("[...document.querySelectorAll('aside *')].filter((it) => it.getBoundingClientRect().right > innerWidth + 1).map((it) => it.outerHTML.slice(0, 100))")
            assert wide == [], (theme, width, wide)
    browser.resize(1280, 720)
    browser.settle()


def two_traces(browser, program, first, second):
    with run.Served(program, first, str(second)) as served:
        browser.call("Page.navigate", url="about:blank")
        browser.call("Page.navigate", url=served.url)
        browser.wait("Boolean(window.pajePair?.pages())", 60)
        rest = "new Promise((done) => setTimeout(done, 500))"
        browser.evaluate(rest)
        views = "window.pajePair.pages().map(({ viewport: v }, i) => [v.from - window.pajePair.zeros()[i], v.to - window.pajePair.zeros()[i], v.gutter, v.width])"

        def agree():
            one, other = browser.evaluate(views)
            assert all(abs(a - b) < 1e-6 * (one[1] - one[0]) for a, b in zip(one[:2], other[:2])), (one, other)
            assert one[2:] == other[2:], (one, other)
            return one

        whole = agree()
        for moved in (0, 1):
            browser.evaluate(f"window.pajePair.pages()[{moved}].viewport.zoom(0.5, 100)")
            browser.evaluate(rest)
            assert (agree()[1] - agree()[0]) < 0.8 * (whole[1] - whole[0])
            whole = agree()
        # Selected rows can be aligned.
        browser.evaluate(
            "Promise.all(window.pajePair.pages().map((page, i) => { const lane = [...page.data.model.lanes.values()].find((it) => it.nature === 'state');"
            "return page.navigator.show({ lane: lane.id, row: 3 + i }); }))"
        )
        browser.evaluate("(() => { const s = document.getElementById('align'); s.value = 'selected'; s.dispatchEvent(new Event('change')); })()")
        browser.evaluate(rest)
        agree()
        starts = browser.evaluate("window.pajePair.pages().map((page) => page.state.selected.start)")
        assert browser.evaluate("window.pajePair.zeros()") == starts
        # So can markers. Without them, the alignment stays, and the page says what is missing.
        choose = "(() => { const s = document.getElementById('align'); s.value = 'marks'; s.dispatchEvent(new Event('change')); })()"
        browser.evaluate(choose)
        assert "Mark a time in each trace" in browser.text("said")
        assert browser.evaluate("window.pajePair.zeros()") == starts
        browser.evaluate("window.pajePair.pages().forEach(({ state, data }, i) => { state.marks = [{ time: data.model.extent[1] / (2 + i), name: 'A' }]; state.changed('marks'); })")
        browser.evaluate(choose)
        browser.evaluate(rest)
        agree()
        assert browser.evaluate("window.pajePair.zeros()") == browser.evaluate("window.pajePair.pages().map((page) => page.state.marks[0].time)")
        assert browser.text("said") == ""
        assert browser.console == [], browser.console
        if people.AXE.exists():
            browser.evaluate(people.AXE.read_text() + "; true")
            assert people.violations(browser) == []
        browser.requests.clear()


def all_tests(browser, program, examples, folder):
    page = pathlib.Path(folder, "explained.html")
    subprocess.run([program, "--html", page, "--waits", examples / "mpi.trace"], check=True)
    with run.Served(program, examples / "mpi.trace") as served:
        off_costs_nothing(browser, served.url)
        wait_to_cause_and_back(browser, served.url)
        run.clean(browser, served.url)
        the_path_is_drawn(browser, served.url)
        panels(browser, served.url)
        accessible(browser, served.url)
        run.clean(browser, served.url)
    browser.open(page.as_uri())
    # The page of the server may have sent requests until now. The file is opened again below.
    browser.requests.clear()
    assert browser.evaluate(f"[...{PAGE}.state.overlays].join()") == "waits", "--waits shows waits at once"
    browser.press("#overlay-waits")
    wait_to_cause_and_back(browser, page.as_uri() + "#theme=light")
    panels(browser, page.as_uri(), is_served=False)
    run.clean(browser, page.as_uri())
    many_waits(browser, program, folder)
    refusals_are_shown(browser, program, examples)
    two_traces(browser, program, examples / "mpi.trace", examples / "ping-pong.trace")
    print("waits, path, verdict, communication, durations, two traces: fine")
