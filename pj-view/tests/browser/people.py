"""Tests what people do with keyboard, screen reader, fingers, and the browser's Back."""

import pathlib

AXE = pathlib.Path(__file__).parents[2] / "node_modules" / "axe-core" / "axe.min.js"


def first_state(browser):
    """Returns a point in the first wide state."""
    return browser.evaluate(
        """(() => {
          const { viewport, scene, data } = window.pajeView.page;
          const stage = document.getElementById("stage").getBoundingClientRect();
          for (const line of scene.layout.lines) {
            if (line.lane?.nature !== "state") continue;
            const block = data.tiles.segments(line.lane.id, scene.frame.level, viewport.from, viewport.to)[0]?.block;
            for (let i = 0; block?.isRows && i < block.n; i++) {
              const [x0, x1] = [Math.max(viewport.x(block.start[i]), 0), Math.min(viewport.x(block.end[i]), viewport.width)];
              if (block.others[i] === 0 && x1 - x0 > 30) return [stage.left + viewport.gutter + (x0 + x1) / 2, stage.top + 34 + line.top - viewport.scroll + 8];
            }
          }
          return null;
        })()"""
    )


def one_live_region(browser, url):
    """Only announcements are live: neither tips nor panels are read out while the reader moves about."""
    browser.open(url)
    live = browser.evaluate(
        """[...document.querySelectorAll("[aria-live], [role=status], [role=alert], [role=log]")].map((it) => it.id)"""
    )
    assert live == ["live"], live
    browser.evaluate(
        """window.heard = [];
        new MutationObserver(() => window.heard.push(document.getElementById("live").textContent)).observe(
          document.getElementById("live"), { childList: true, characterData: true, subtree: true })"""
    )
    browser.drag(600, 300, 560, 300)
    browser.mouse("mouseMoved", 640, 200)
    browser.key("d")
    assert browser.evaluate("window.heard") == [], "moving about announces nothing"
    browser.click(*first_state(browser))
    heard = browser.evaluate("window.heard")
    assert len(heard) == 1 and "in rank-" in heard[0], heard


def keys_need_focus(browser, url):
    """Letters act only while the timeline has the focus."""
    browser.open(url)
    before = browser.state()
    for target in ("#legend button", "#fit", "#legend summary"):
        browser.evaluate(f"document.querySelector('{target}').focus()")
        for key in ("t", "l", "w", "d", "j", "n", "/", "?", "0"):
            browser.key(key)
        after = browser.state()
        same = ("dark", "from", "to", "cursor", "selected")
        assert [after[it] for it in same] == [before[it] for it in same], target
        assert browser.evaluate("document.activeElement.id !== 'search' && !document.getElementById('keys').open")
    browser.evaluate("document.getElementById('stage').focus()")
    browser.key("t")
    assert browser.state()["dark"] != before["dark"]


def rows_by_keyboard(browser, url):
    """Each row can be reached and is announced."""
    browser.open(url)
    heard = lambda: browser.text("live")
    browser.key("j")
    assert heard().startswith("rank-0"), heard()
    browser.key("j")
    assert "MPI_STATE of rank-0" in heard() and "rows" in heard(), heard()
    browser.key(".")
    first = browser.state()["selected"]
    assert first is not None and "in rank-0" in heard(), heard()
    rows = browser.evaluate(f"window.pajeView.page.data.model.lanes.get({first['lane']}).rows")
    for _ in range(3):
        browser.key(",")
    low = browser.state()["selected"]["row"]
    browser.key(".")
    assert browser.state()["selected"]["row"] == min(low + 1, rows - 1)
    # The next lane has rows of its own.
    browser.key("j")
    browser.key(".")
    other = browser.state()["selected"]
    assert other["lane"] != first["lane"] and "POWER" in heard(), heard()


def back_and_forward(browser, url):
    """Back returns to the view before a jump, Forward to the view after it."""
    browser.open(url)
    browser.evaluate("window.loaded = true")
    begin = browser.state()
    browser.click(*first_state(browser))
    selected = browser.state()
    browser.key("f")
    close = browser.state()
    assert selected["selected"] and close["to"] - close["from"] < begin["to"] - begin["from"]
    # Moving about makes no entries.
    browser.key("d")
    browser.key("a")
    browser.key("s")
    moved = browser.state()
    browser.key("0")
    fitted = browser.state()

    def go(way):
        browser.evaluate(f"history.{way}()")
        browser.evaluate("new Promise((done) => setTimeout(done, 200))")
        browser.settle()
        return browser.state()

    def same(one, other):
        return all(abs(one[it] - other[it]) < 1e-9 for it in ("from", "to")) and (one["selected"] or {}).get("row") == (
            other["selected"] or {}
        ).get("row")

    assert same(go("back"), moved)
    assert same(go("back"), selected)
    assert same(go("back"), begin) and browser.state()["selected"] is None
    assert same(go("forward"), selected)
    assert same(go("forward"), moved)
    assert same(go("forward"), fitted)
    assert browser.evaluate("window.loaded"), "the page was not loaded again"


def fingers(browser, url):
    """One finger moves, two fingers zoom, a tap selects."""
    browser.open(url)
    browser.call("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=2)

    def touch(kind, *points):
        browser.call("Input.dispatchTouchEvent", type=kind, touchPoints=[{"x": x, "y": y, "id": i} for i, (x, y) in enumerate(points)])

    x, y = first_state(browser)
    touch("touchStart", (x, y))
    touch("touchEnd")
    browser.settle()
    assert browser.state()["selected"] is not None, "a tap selects"
    times = lambda *xs: [browser.evaluate(f"(({{ viewport }}) => viewport.time({x} - viewport.gutter))(window.pajeView.page)") for x in xs]
    before = browser.state()
    held = times(500, 600)
    touch("touchStart", (500, 300), (600, 300))
    for step in range(1, 6):
        touch("touchMove", (500 - 20 * step, 300), (600 + 20 * step, 300))
    browser.settle()
    now = times(400, 700)
    touch("touchEnd")
    browser.settle()
    after = browser.state()
    assert abs((before["to"] - before["from"]) / (after["to"] - after["from"]) - 3) < 0.01, "two fingers zoom"
    assert all(abs(a - b) < 1e-6 * (before["to"] - before["from"]) for a, b in zip(held, now)), "times stay below the fingers"
    touch("touchStart", (600, 300))
    touch("touchMove", (560, 300))
    touch("touchMove", (500, 300))
    touch("touchEnd")
    browser.settle()
    moved = browser.state()
    assert moved["from"] > after["from"] and abs((moved["to"] - moved["from"]) / (after["to"] - after["from"]) - 1) < 1e-9
    browser.call("Emulation.setTouchEmulationEnabled", enabled=False)


def violations(browser):
    """Returns what axe-core, which has been loaded, finds to violate WCAG 2.1 AA."""
    found = browser.evaluate(
        """axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"] }).then(({ violations, passes }) => ({
          wrong: violations.map((it) => [it.id, it.nodes.map((node) => node.html.slice(0, 120) + node.failureSummary)]), right: passes.length }))"""
    )
    assert found["right"] > 5, found
    return found["wrong"]


def accessible(browser, url):
    """axe-core finds no violation of WCAG 2.1 AA, light or dark, wide or narrow, with tables and the list of keys."""
    if not AXE.exists():
        print("left out: axe-core (npm install in pj-view)")
        return
    script = AXE.read_text()
    for theme in ("light", "dark"):
        for width, height in ((1280, 720), (320, 640)):
            browser.resize(width, height)
            browser.open(f"{url}#theme={theme}")
            browser.evaluate(script + "; true")
            browser.evaluate("document.getElementById('stage').focus()")
            for key in (None, "?"):
                if key:
                    browser.key(".")
                    browser.key(key)
                found = violations(browser)
                assert found == [], (theme, width, found)
    browser.resize(1280, 720)
    browser.settle()


def widths(browser, url):
    """From 320 to 3,840 pixels, nothing overflows and the timeline has room."""
    for width, height in ((320, 568), (480, 800), (800, 600), (1600, 900), (3840, 2160)):
        browser.resize(width, height)
        browser.open(url)
        sizes = browser.evaluate(
            """(() => {
              const { viewport } = window.pajeView.page;
              const out = [...document.querySelectorAll("header *, aside *")].filter((it) => {
                const { left, right, width } = it.getBoundingClientRect();
                return width > 1 && !it.closest(".hidden") && (left < -1 || right > innerWidth + 1);
              });
              return { page: document.documentElement.scrollWidth, plot: viewport.width, height: viewport.height, out: out.map((it) => it.outerHTML.slice(0, 100)) };
            })()"""
        )
        assert sizes["page"] <= width and sizes["out"] == [], (width, sizes)
        assert sizes["plot"] > 0.4 * min(width, 1280) and sizes["height"] > 100, (width, sizes)
    browser.resize(1280, 720)
    browser.settle()


def hits(browser, url):
    """A search lists its hits; a click, N and the address go to them."""
    browser.open(url)
    browser.type("search", "allreduce")
    rows = lambda: browser.evaluate("[...document.querySelectorAll('#hits tbody tr')].map((it) => it.textContent)")
    listed = rows()
    assert len(listed) > 5 and all("Allreduce" in it for it in listed), listed
    total = browser.evaluate("document.querySelector('#hits caption').textContent")
    assert total.endswith(f": {len(listed)}"), total
    first = browser.state()["selected"]
    assert first is not None
    browser.press("#hits tbody button", 3)
    third = browser.state()["selected"]
    assert third["start"] > first["start"]
    assert browser.evaluate("document.querySelectorAll('#hits [aria-current]').length") == 1
    browser.evaluate("document.getElementById('within').value = 'container'")
    browser.type("search", "RANK-2")
    assert len(rows()) == 1 and browser.text("live").endswith("rank-2")
    view = browser.state()
    assert view["search"] is None and view["cursor"] is not None
    browser.open(browser.evaluate("location.href"))
    assert len(rows()) == 1 and browser.evaluate("document.getElementById('search').value") == "RANK-2"
    browser.evaluate("document.getElementById('within').value = 'key'")
    browser.type("search", "no such key")
    heard = browser.text("live")
    assert heard == "Nothing contains no such key" or "not in this file" in heard, heard
    browser.evaluate("document.getElementById('stage').focus()")
    browser.key("Escape")
    assert browser.evaluate("document.getElementById('hits').hidden")


def markers(browser, url):
    """M marks times; markers have names, are in the panel and in the address, and go away."""
    browser.open(url)
    assert browser.evaluate("document.getElementById('marks').hidden")
    browser.mouse("mouseMoved", 500, 300)
    browser.evaluate("document.getElementById('stage').focus()")
    browser.key("m")
    browser.mouse("mouseMoved", 700, 300)
    browser.key("m")
    two = browser.state()["marks"]
    assert [it["name"] for it in two] == ["A", "B"] and two[0]["time"] < two[1]["time"]
    at = lambda x: browser.evaluate(f"(({{ viewport }}) => viewport.time({x} - viewport.gutter))(window.pajeView.page)")
    assert abs(two[0]["time"] - at(500)) < 1e-9
    browser.click(*first_state(browser))
    browser.key("m")
    three = browser.state()
    assert three["selected"]["start"] in [it["time"] for it in three["marks"]], "a marker at the start of the selected row"
    browser.evaluate("(() => { const it = document.querySelector('#marks input'); it.value = 'begin, ü'; it.dispatchEvent(new Event('change')); })()")
    browser.settle()
    browser.open(browser.evaluate("location.href"))
    kept = browser.state()["marks"]
    assert [it["time"] for it in kept] == [it["time"] for it in three["marks"]] and kept[0]["name"] == "begin, ü", kept
    for _ in range(3):
        browser.press("#marks [aria-label^=Remove]")
    assert browser.state()["marks"] == []


def color_at(browser, pixels, point):
    clip = {"x": int(point[0]), "y": int(point[1]), "width": 1, "height": 1, "scale": 1}
    return pixels(browser.screenshot(clip=clip))[0][0]


def colours_by(browser, url, pixels):
    """States can have the colour of their duration, and of a field."""
    browser.open(f"{url}#theme=light&links=0")
    x, y = first_state(browser)
    # Above the text of the state.
    point = (x, y - 4)
    by_value = color_at(browser, pixels, point)
    browser.choose("color", "duration")
    by_duration = color_at(browser, pixels, point)
    assert by_duration != by_value
    legend = browser.evaluate("[...document.querySelectorAll('#legend .scale li')].map((it) => it.textContent)")
    assert len(legend) == 7 and "ms" in legend[0] and "ns" in legend[-1], legend
    browser.open(browser.evaluate("location.href"))
    assert color_at(browser, pixels, point) == by_duration, "the address has the choice"
    browser.choose("color", "class")
    by_class = color_at(browser, pixels, point)
    classes = browser.evaluate("[...document.querySelectorAll('#legend .scale li')].map((it) => it.textContent)")
    assert "send" in " ".join(classes).lower() and by_class not in (by_value, by_duration), classes
    browser.choose("color", "value")
    assert color_at(browser, pixels, point) == by_value


def colour_by_field(browser, url, pixels):
    """A field of the selected row can decide the colours: rows with the same text have the same colour."""
    browser.open(f"{url}#theme=light&links=0")
    browser.click(*first_state(browser))
    field = browser.evaluate("document.querySelector('#details [aria-label^=\"Colour by\"]')?.getAttribute('aria-label')")
    assert field, "the row has fields"
    browser.press('#details [aria-label^="Colour by"]')
    browser.settle()
    listed = browser.evaluate(
        """[...document.querySelectorAll('#legend .scale li')].map((it) => [it.textContent, getComputedStyle(it.querySelector('.swatch')).backgroundColor])"""
    )
    assert listed, "the legend lists the texts"
    name = field.removeprefix("Colour by ")
    cell = f"[...document.querySelectorAll('#details tr')].find((it) => it.firstChild.textContent === '{name}').lastChild.textContent.replace('◐', '').trim()"
    text = browser.evaluate(cell)
    wanted = dict(listed)[text]
    browser.key("Escape")
    x, y = first_state(browser)
    # The frame of the selection is gone.
    found = color_at(browser, pixels, (x, y - 4))
    assert wanted == f"rgb({found[0]}, {found[1]}, {found[2]})", (wanted, found, text)


def flame(browser, url):
    """The flame view shows paths of nested states; its sums are those of the profile."""
    browser.open(url)
    assert browser.evaluate("document.querySelector('#flame div').children.length") == 0, "folded, it costs nothing"
    browser.press("#flame summary")
    boxes = browser.evaluate(
        """[...document.querySelectorAll('#flame button')].map((it) => [it.getAttribute('aria-label'), it.parentElement.style.left, it.parentElement.style.width, it.parentElement.style.top])"""
    )
    levels = {int(label.rsplit(" ", 1)[1]) for label, *_ in boxes}
    assert levels == set(range(1, max(levels) + 1)) and max(levels) > 1, levels
    number = lambda text: float(text.rstrip("%px"))
    first = [it for it in boxes if it[3] == "0px"]
    assert abs(sum(number(it[2]) for it in first) - 100) < 1, "boxes of the outermost states fill the width"
    for label, left, width, top in boxes:
        if number(top) > 0:
            around = [it for it in boxes if number(it[3]) == number(top) - 19 and number(it[1]) <= number(left) + 1e-6 and number(it[1]) + number(it[2]) >= number(left) + number(width) - 1e-6]
            assert len(around) == 1, (label, around)
    browser.press("#flame button")
    assert browser.state()["search"] is not None
    assert browser.evaluate("document.querySelector('#flame [aria-pressed=true]') !== null")


def pins(browser, url):
    """A pinned container stays at the top while the others scroll; clicks find its states there."""
    browser.open(url)
    line = lambda name: next(it for it in browser.state()["lines"] if it["label"] == name)
    browser.evaluate("document.getElementById('within').value = 'container'")
    browser.type("search", "rank-2")
    browser.key("p")
    assert line("rank-2")["top"] == 0 and len([it for it in browser.state()["lines"] if it["label"] == "rank-2"]) == 1
    browser.key("PageDown")
    assert browser.state()["scroll"] > 0
    height = browser.evaluate("window.pajeView.page.viewport.pinned")
    assert height > 40
    lane = next(it for it in browser.state()["lines"] if it["lane"] is not None)
    top = browser.evaluate("document.getElementById('stage').getBoundingClientRect().top") + 34
    browser.click(500, top + lane["top"] + 8)
    assert browser.state()["selected"]["lane"] == lane["lane"] and lane["top"] < height
    browser.open(browser.evaluate("location.href"))
    assert line("rank-2")["top"] == 0
    browser.press("#details [aria-label^=Unpin]")
    assert line("rank-2")["top"] > 0 and browser.evaluate("window.pajeView.page.viewport.pinned") == 0
