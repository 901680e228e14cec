#!/usr/bin/env python3
"""Tests what the page can do on four kinds of traces: `sentences.py PROGRAMS EXAMPLES [TEST|TRACE...]`.

PROGRAMS is the folder with pj_view, pj_profile, pj_convert and datasets. Names of tests and beginnings of traces' names
select some of them. The traces are LU's sweeps on 16 ranks (made with
SMPI), a Cholesky factorisation by StarPU, a generated large trace (50 MB; 1 GB with PAJE_LARGE=1) and an OTF2 archive.

| sentence | test |
|---|---|
| Wait states are coloured by kind on the timeline, and can be switched off | waits_by_kind |
| A click leads from a wait to its cause, and back | wait_to_cause_and_back |
| The critical path is a line through the ranks, and can be switched off | critical_path |
| Overlays are drawn as fast as the timeline | overlays_are_fast |
| Communication matrix with bytes, count and time; a click lists the messages | communication |
| Profile of the visible window, and of a selection, as pj_profile has it | profile |
| The verdict is that of pj_profile why | verdict |
| Histogram of the durations of a value; a click leads to the longest | durations |
| Search for values, containers, keys and fields, with a list of hits | search |
| Markers | markers |
| Pins | pins |
| The address has the whole view; Back and Forward work | address, back_and_forward |
| Colours by value, class, duration and field | colours |
| Nested states, such as stacks of calls | nested_states |
| Two traces on one scale, aligned at their beginnings, at markers or at selected rows | two_traces |
| Keyboard and screen reader: each row can be reached, one live region, keys only with focus | keyboard |
| Touch | fingers |
| Light and dark, no violation of WCAG 2.1 AA | accessible |
| From 320 to 3,840 pixels | widths |
| --html has all of it in one file that loads nothing | one_file |
| --svg draws the overlays | drawing |

If a trace lacks what a function needs, the test checks that the page says so.
"""

import collections
import csv
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import traceback

import chromium
import explain
import people
import run

PAGE = "window.pajeView.page"
SMPI = pathlib.Path(__file__).parents[2].parent / "pj-whatif" / "tests" / "smpi"

# `waits`, `messages`, `fields` and `nested` say whether the trace has waits, messages, user-defined
# fields and nested states. `other` is another trace.
Subject = collections.namedtuple("Subject", "name path value container options waits messages fields nested programs folder other")


def lu(folder):
    """Returns a trace of sweeps over a grid of 16 ranks, as in LU of the NAS benchmarks."""
    settings = ["tracing/smpi/computing:yes", "tracing/smpi/display-sizes:yes", "tracing/precision:9", "smpi/simulate-computation:no"]
    settings.append(f"tracing/filename:{folder}/lu.trace")
    subprocess.run(["smpicc", "-O1", SMPI / "patterns.c", "-o", folder / "patterns"], check=True, capture_output=True)
    (folder / "hosts").write_text("".join(f"host-{i}\n" for i in range(16)))
    command = ["smpirun", "-np", "16", "-platform", SMPI / "platform.xml", "-hostfile", folder / "hosts", "-trace", "--log=root.thres:error"]
    command += [f"--cfg={it}" for it in settings] + [folder / "patterns", "wavefront", "plain", "1000", "20"]
    subprocess.run(command, check=True, capture_output=True, cwd=folder)
    return folder / "lu.trace"


def subjects(programs, examples, folder):
    """Makes the traces."""
    found, more = [], (programs, folder, examples / "mpi.trace")
    if shutil.which("smpirun") and shutil.which("smpicc"):
        found.append(Subject("LU on 16 ranks", lu(folder), "PMPI_Recv", "rank-5", [], True, True, True, False, *more))
    else:
        print("left out: LU on 16 ranks (needs smpicc and smpirun)")
    cholesky = examples / "tutorial" / "cholesky-10.trace.xz"
    tasks = ["--tasks", cholesky.with_name("cholesky-10.rec.xz")]
    found.append(Subject("Cholesky by StarPU", cholesky, "GEMM", "CPU", tasks, False, False, True, False, *more))
    large, size = folder / "large.trace", "1G" if os.environ.get("PAJE_LARGE") == "1" else "50M"
    subprocess.run([programs / "datasets", "mpi", "--size", size, "-o", large], check=True)
    found.append(Subject(f"generated, {size}", large, "PMPI_Send", "rank-1", [], True, True, size == "50M", True, *more))
    archive = folder / "archive"
    command = [programs / "pj_convert", "-z", "--time-unit", "s", "--to", "otf2", "-o", archive, examples / "mpi.trace"]
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    found.append(Subject("OTF2", archive / "traces.otf2", "PMPI_Send", "rank-1", [], True, True, True, True, *more))
    return found


def pixels_of(browser, colour):
    return sum(row.count(explain.rgb(colour)) for row in run.pixels(browser.screenshot()))


def is_refused(browser, overlay, panel, why):
    """Checks that the page says why it shows no overlay."""
    assert not explain.toggle(browser, overlay)
    assert why in browser.text("live"), why
    assert why.split(";")[0][:60] in explain.open_panel(browser, panel)


def waits_by_kind(browser, url, subject):
    browser.open(url)
    found = explain.overview(browser)
    if not subject.waits:
        return is_refused(browser, "waits", "waiting", found["waits"]["refused"])
    wait = found["waits"]["longest"][0]
    browser.evaluate(f"{PAGE}.viewport.around({wait['start']}, {wait['end']})")
    explain.place_of(browser, wait["lane"], (wait["start"] + wait["end"]) / 2)
    colour = found["colours"][wait["kind"]]
    without = pixels_of(browser, colour)
    assert explain.toggle(browser, "waits")
    assert pixels_of(browser, colour) > without + 100
    assert not explain.toggle(browser, "waits") and pixels_of(browser, colour) == without


def wait_to_cause_and_back(browser, url, subject):
    if subject.waits:
        explain.wait_to_cause_and_back(browser, url)


def overlays_are_fast(browser, url, subject):
    took = []
    for address in (url, f"{url}#on=waits,path" if subject.waits else f"{url}#on=path"):
        browser.open(address)
        browser.evaluate(f"(async () => {{ for (const {{ loading }} of {PAGE}.overlays.all.values()) await loading; }})()")
        took.append(run.frames(browser, url, subject.name))
    # Machines that run tests are busy. frames.py measures.
    assert took[1] < 50 + took[0], took


def communication(browser, url, subject):
    browser.open(url)
    text = explain.open_panel(browser, "communication")
    if not subject.messages:
        return None
    assert "Pairs with most" in text, text
    shown = {}
    for measure in ("count", "bytes", "time"):
        if browser.evaluate(f"document.querySelector('#measure option[value={measure}]').disabled"):
            assert measure == "bytes" and "bytes" in text.lower(), text
            continue
        browser.choose("measure", measure)
        shown[measure] = browser.evaluate("document.querySelector('#communication td.number').textContent")
    assert len(shown) > 1 and len({*shown.values()}) == len(shown), shown
    browser.choose("measure", "count")
    explain.click_button(browser, "communication", "List these messages")
    caption = browser.evaluate("document.querySelector('#messages caption').textContent")
    assert caption.split()[0] == shown["count"], (caption, shown)
    explain.click_button(browser, "communication", "Longest first")
    rows = browser.evaluate("document.querySelectorAll('#messages tbody tr').length")
    assert rows == min(20, int(shown["count"])), (rows, shown)
    explain.click_button(browser, "communication", "Select this message")
    selected = browser.state()["selected"]
    assert selected["from"] != selected["to"], selected
    # A click in the matrix lists the messages of the pair below the pointer.
    pair = browser.evaluate(
        """(() => {
          const matrix = document.getElementById("matrix");
          const { left, top } = matrix.getBoundingClientRect();
          for (let y = 2; y < matrix.clientHeight; y += 2) {
            for (let x = 2; x < matrix.clientWidth; x += 2) {
              const at = { clientX: left + x, clientY: top + y };
              matrix.dispatchEvent(new MouseEvent("mousemove", at));
              if (!matrix.title) continue;
              matrix.dispatchEvent(new MouseEvent("click", at));
              return matrix.title;
            }
          }
        })()"""
    )
    browser.settle()
    name, _, count = pair.rpartition(": ")
    assert browser.evaluate("document.getElementById('messages').caption.textContent") == f"{count} messages {name}", pair


def profile(browser, url, subject):
    """Compares the seconds of each value in the selected times with those of pj_profile."""
    browser.open(url)
    whole = browser.state()["profile"]
    browser.evaluate(f"{PAGE}.viewport.zoom(0.5, {PAGE}.viewport.width / 2)")
    browser.evaluate(f"{PAGE}.state.changed('window')")
    browser.settle()
    zoomed = browser.state()
    assert zoomed["profile"]["from"] > whole["from"] and zoomed["profile"]["to"] < whole["to"], "it follows the window"
    browser.drag(700, 300, 860, 300, shift=True)
    chosen = browser.state()
    shown = chosen["profile"]
    assert [shown["from"], shown["to"]] == chosen["range"]
    types = browser.evaluate(f"{PAGE}.data.model.types.map((type) => [type.name, Object.fromEntries(Object.entries(type.values).map(([i, value]) => [i, value.name]))])")
    found = {(types[type_][0], types[type_][1][str(value)]): seconds for type_, value, seconds in shown["states"]}
    unit = browser.evaluate(f"{PAGE}.data.model.second")
    command = [subject.programs / "pj_profile", "states", "--by", "value", "--format", "csv", "-s", repr(shown["from"]), "-e", repr(shown["to"]), subject.path]
    rows = csv.DictReader(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines())
    wanted = {(row["type"], row["value"]): float(row["inclusive"]) for row in rows}
    assert wanted, command
    for key, seconds in wanted.items():
        assert abs(found.get(key, 0) / unit - seconds) < 1e-6 * max(wanted.values()), (key, found.get(key), seconds)


def words(text):
    return " ".join(text.split())


def verdict(browser, url, subject):
    browser.open(url)
    shown = words(explain.open_panel(browser, "why"))
    command = [subject.programs / "pj_profile", "why", "--format", "csv", *subject.options, subject.path]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    rows = [row for row in csv.DictReader(told.splitlines()) if row["kind"] != "doubt"]
    assert rows
    for row in rows:
        assert words(row["text"]) in shown, (row["text"], shown)


def durations(browser, url, _):
    browser.open(url)
    explain.durations(browser)


def search(browser, url, subject):
    browser.open(url)
    hits = lambda: browser.evaluate("[...document.querySelectorAll('#hits tbody tr')].map((it) => it.textContent)")
    browser.type("search", subject.value)
    listed = hits()
    assert listed and all(subject.value in it for it in listed), listed
    first = browser.state()["selected"]
    browser.key("n")
    assert browser.state()["selected"] != first
    browser.choose("within", "container")
    browser.type("search", subject.container.upper())
    listed = hits()
    assert listed and all(subject.container.lower() in it.lower() for it in listed), listed
    browser.choose("within", "key")
    key = browser.evaluate(
        f"""(async () => {{
          const {{ data }} = {PAGE};
          for (const lane of data.model.lanes.values()) if (lane.nature === "link") return (await data.source.row(lane.id, 0)).key ?? null;
          return null;
        }})()"""
    )
    if key is not None:
        browser.type("search", key)
        assert hits() or not subject.fields, key
    browser.choose("within", "field")
    browser.type("search", "no such text")
    heard = browser.text("live")
    assert heard == "Nothing contains no such text" or "field" in heard.lower(), heard


def with_wide_states(browser, url):
    """Returns the address of a window with a state that is wide enough for a finger."""
    browser.open(url)
    for factor in (1, 0.1, 0.01, 0.001, 0.0001):
        browser.evaluate(f"{PAGE}.navigator.fit()")
        browser.evaluate(f"{PAGE}.viewport.zoom({factor}, 300)")
        browser.evaluate(f"{PAGE}.state.changed('window')")
        browser.settle()
        if people.first_state(browser):
            browser.wait("location.hash.includes('t=')")
            return browser.evaluate("location.href")
    raise AssertionError("a state is wide enough")


def pins(browser, url, _):
    """A pinned container stays at the top."""
    browser.open(url)
    names = [line["label"] for line in browser.state()["lines"] if line.get("folded") is not None]
    last = names[-1]
    browser.choose("within", "container")
    browser.type("search", last)
    browser.key("p")
    assert browser.state()["lines"][0]["label"] == last
    browser.open(browser.evaluate("location.href"))
    assert browser.state()["lines"][0]["label"] == last, "the address has the pin"
    browser.type("search", last)
    browser.key("p")
    assert browser.state()["lines"][0]["label"] != last or len(names) == 1


def colours(browser, url, subject):
    browser.open(f"{with_wide_states(browser, url)}&theme=light&links=0")
    picture = lambda: browser.screenshot()
    by_value = picture()
    browser.choose("color", "duration")
    by_duration = picture()
    assert by_duration != by_value
    if subject.messages:
        browser.choose("color", "class")
        assert picture() not in (by_value, by_duration)
    browser.choose("color", "value")
    browser.settle()
    if not subject.fields:
        return
    browser.click(*people.first_state(browser))
    field = "document.querySelector('#details [aria-label^=\"Colour by\"]')"
    if browser.evaluate(f"Boolean({field})"):
        browser.evaluate(f"{field}.click()")
        browser.settle()
        browser.settle()
        assert browser.evaluate("document.querySelectorAll('#legend .scale li').length > 0"), "the legend lists the texts"


def nested_states(browser, url, subject):
    if subject.nested:
        people.flame(browser, url)
        return
    browser.open(url)
    browser.press("#flame summary")
    assert browser.evaluate("document.querySelectorAll('#flame button').length > 0")


def two_traces(browser, _, subject):
    explain.two_traces(browser, subject.programs / "pj_view", subject.path, subject.other)


def keyboard(browser, url, _):
    people.keys_need_focus(browser, url)
    browser.open(url)
    live = browser.evaluate("""[...document.querySelectorAll("[aria-live], [role=status], [role=alert], [role=log]")].map((it) => it.id)""")
    assert live == ["live"], live
    lanes = 0
    for _ in range(40):
        browser.key("j")
        if " rows" in browser.text("live"):
            lanes += 1
            browser.key(".")
            assert browser.state()["selected"] is not None
            if lanes == 2:
                return
    raise AssertionError("two lanes are reached")


def one_file(browser, _, subject):
    page = subject.folder / "page.html"
    overlays = ["--waits"] * subject.waits + ["--critical-path"]
    subprocess.run([subject.programs / "pj_view", "--html", page, *overlays, *subject.options, subject.path], check=True, stderr=subprocess.DEVNULL)
    assert page.stat().st_size < 22e6
    browser.call("Page.navigate", url="about:blank")
    browser.requests.clear()
    browser.open(page.as_uri())
    assert len(overlays) == browser.evaluate(f"{PAGE}.state.overlays.size")
    for panel in ("why", "waiting", "cause", "communication", "durations"):
        assert explain.open_panel(browser, panel).strip(), panel
    browser.type("search", subject.value)
    text = browser.evaluate("document.getElementById('hits').innerText")
    assert "no single rows" in text or browser.evaluate("document.querySelectorAll('#hits tbody tr').length > 0"), text
    run.clean(browser, page.as_uri())
    page.unlink()


def drawing(_, __, subject):
    command = [subject.programs / "pj_view", "--svg", "-", *subject.options, subject.path]
    draw = lambda *overlays: subprocess.run([*command, *overlays], capture_output=True, text=True, check=False)
    plain, path, waits = draw(), draw("--critical-path"), draw("--waits")
    assert plain.returncode == path.returncode == 0, (plain.stderr, path.stderr)
    colour = "#d00020"
    assert colour in path.stdout and colour not in plain.stdout
    if subject.waits:
        assert waits.returncode == 0 and len(waits.stdout) > len(plain.stdout), waits.stderr
    else:
        assert waits.returncode == 2 and "no waiting can be shown" in waits.stderr, waits.stderr


def on_page(test):
    return lambda browser, url, _: test(browser, url)


def on_wide_states(test):
    return lambda browser, url, _: test(browser, with_wide_states(browser, url))


OWN = [waits_by_kind, wait_to_cause_and_back, overlays_are_fast, communication, profile, verdict, durations, search, pins, colours, nested_states, two_traces, keyboard, one_file, drawing]
TESTS = {test.__name__: test for test in OWN} | {
    "critical_path": on_page(explain.the_path_is_drawn),
    "address": on_page(run.walk_through),
    "accessible": on_page(people.accessible),
    "widths": on_page(people.widths),
    "markers": on_wide_states(people.markers),
    "back_and_forward": on_wide_states(people.back_and_forward),
    "fingers": on_wide_states(people.fingers),
}


def main():
    programs, examples = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    names, failed = sys.argv[3:], 0
    tests = {name: test for name, test in TESTS.items() if name in names} or TESTS
    with tempfile.TemporaryDirectory() as folder, chromium.Chromium() as browser:
        folder = pathlib.Path(folder)
        found = subjects(programs, examples, folder)
        for subject in [it for it in found if it.name.startswith(tuple(names))] or found:
            with run.Served(programs / "pj_view", subject.path, *subject.options) as served:
                for name, test in tests.items():
                    try:
                        test(browser, served.url, subject)
                        assert browser.console == [], browser.console
                    except Exception:
                        print(f"{subject.name}: {name} fails\n{traceback.format_exc()}", flush=True)
                        failed += 1
                        browser.resize(1280, 720)
                        browser.console.clear()
                    browser.requests.clear()
            print(f"{subject.name}: {len(tests)} tests, {failed} failures so far", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
