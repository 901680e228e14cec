"""Tasks, done as a new reader would do them: with the pointer and the keyboard, in at most five actions each."""

import pathlib

import explain
import run

MOST_ACTIONS = 5


class Reader:
    """Acts like a person, and counts actions: clicks, drags, and texts that are typed into a field."""

    def __init__(self, browser, url):
        self.browser, self.actions = browser, 0
        browser.open(url)

    def centre(self, selector, at=0):
        """Scrolls to an element, and returns its centre."""
        self.browser.evaluate(f"document.querySelectorAll({selector!r})[{at}].scrollIntoView({{ block: 'center' }})")
        return self.browser.evaluate(
            f"(() => {{ const {{ left, top, width, height }} = document.querySelectorAll({selector!r})[{at}].getBoundingClientRect();"
            "return [left + Math.min(width / 2, 40), top + height / 2]; })()"
        )

    def click(self, selector, at=0):
        self.actions += 1
        self.browser.click(*self.centre(selector, at))

    def open(self, panel):
        self.click(f"#{panel} summary")

    def click_at(self, x, y):
        self.actions += 1
        self.browser.click(x, y)

    def drag_axis(self, first, last):
        """Selects a part of the visible times."""
        self.actions += 1
        left, width = self.browser.evaluate("[window.pajeView.page.viewport.gutter, window.pajeView.page.viewport.width]")
        top = self.browser.evaluate("document.getElementById('stage').getBoundingClientRect().top")
        self.browser.drag(int(left + width * first) + 1, top + 20, int(left + width * last), top + 20)

    def type(self, field, text):
        self.actions += 1
        self.browser.type(field, text)

    def text(self, selector):
        return self.browser.evaluate(f"document.querySelector({selector!r}).innerText")

    def selected(self):
        selected = self.browser.state()["selected"]
        lanes = "window.pajeView.page.data.model.lanes.get(%d)" % selected["lane"]
        name = self.browser.evaluate(f"window.pajeView.page.data.model.containers.get({lanes}.container).name")
        return selected, name


def longest_wait_and_its_culprit(reader):
    reader.open("waiting")
    waiter, culprit = reader.text("#waiting table + table tbody tr").split("\t")[:2]
    reader.click("#waiting table + table tbody tr button[title='Go to its cause']")
    assert (waiter.strip(), reader.selected()[1]) == ("rank-1", culprit.strip()), (waiter, culprit)
    return f"{waiter.strip()} waits for {culprit.strip()}"


def pair_that_talks_most_in_the_second_half(reader):
    reader.drag_axis(0.5, 0.98)
    reader.open("communication")
    pair, count = reader.text("#communication table tbody tr").split("\t")
    assert "→" in pair and int(count) > 3
    return f"{pair.strip()}, {count} messages"


def cause_of_the_slowness(reader):
    reader.open("why")
    text = reader.text("#why .reason")
    assert "rank-3 computes 1.52 times as long as the others" in text, text
    return text.splitlines()[0]


def rank_on_the_critical_path_at_a_time(reader):
    reader.click("#overlay-path")
    reader.type("goto", "0.005")
    view = reader.browser.state()
    middle = reader.browser.evaluate("window.pajeView.page.viewport.gutter + window.pajeView.page.viewport.width / 2")
    hit = None
    for line in (line for line in view["lines"] if line["lane"] is not None):
        reader.browser.mouse("mouseMoved", middle, run.AXIS + line["top"] + line["height"] / 2 - view["scroll"])
        text = reader.text("#tip")
        hit = hit or (text if text.startswith("critical path") else None)
    assert hit and "rank-3" in hit, hit
    return hit.splitlines()[1]


def longest_call_of_a_kind(reader):
    reader.type("search", "PMPI_Sendrecv")
    reader.open("durations")
    reader.click("#durations tbody button.go")
    selected, name = reader.selected()
    assert name == "rank-2" and round(selected["end"] - selected["start"], 6) == 0.003697, (selected, name)
    return f"3.697 ms in {name}"


def longest_message_of_a_pair(reader):
    reader.open("communication")
    reader.click("#communication button[title='List these messages']")
    reader.click("#communication button[title='Longest first']")
    reader.click("#messages tbody button")
    selected, _ = reader.selected()
    assert selected["from"] != selected["to"], selected
    return f"{(selected['end'] - selected['start']) * 1e6:.0f} µs"


def profile_of_a_range(reader):
    reader.drag_axis(0.1, 0.3)
    profile = reader.browser.state()["profile"]
    assert profile["states"] and "Selected range" in reader.text("#profile")
    return reader.text("#profile table tbody tr").split("\t")[0].strip()


def what_a_state_waits_for(reader):
    reader.click("#overlay-waits")
    wait = explain.overview(reader.browser)["waits"]["longest"][0]
    view = reader.browser.state()
    line = next(line for line in view["lines"] if line["lane"] == wait["lane"])
    x = reader.browser.evaluate(f"window.pajeView.page.viewport.gutter + window.pajeView.page.viewport.x({(wait['start'] + wait['end']) / 2})")
    y = run.AXIS + line["top"] + line["height"] - 5 - view["scroll"]
    reader.click_at(int(x), int(y))
    selected, name = reader.selected()
    assert (selected["lane"], selected["row"]) == (wait["whom"], wait["release"])
    return name


def who_waits_for_a_state(reader):
    reader.open("waiting")
    reader.click("#waiting table + table tbody tr button[title='Go to its cause']")
    reader.open("cause")
    text = reader.text("#cause")
    assert "It ends these waits" in text and "rank-1" in text, text
    return text.splitlines()[-1].split("\t")[0].strip()


def place_of_a_container(reader):
    reader.type("filter", "rank-2")
    reader.browser.evaluate("document.getElementById('filter').dispatchEvent(new Event('input'))")
    reader.browser.settle()
    labels = [line["label"] for line in reader.browser.state()["lines"]]
    assert "rank-2" in labels and "rank-1" not in labels, labels
    return labels[0]


TASKS = [
    longest_wait_and_its_culprit, pair_that_talks_most_in_the_second_half, cause_of_the_slowness, rank_on_the_critical_path_at_a_time,
    longest_call_of_a_kind, longest_message_of_a_pair, profile_of_a_range, what_a_state_waits_for, who_waits_for_a_state, place_of_a_container,
]


def late(iteration, second):
    """Returns a run of four ranks in which rank-3 computes twice as long in one iteration. Three ranks wait for it in each."""
    text = run.header(
        "PajeDefineContainerType", "PajeDefineStateType", "PajeCreateContainer", "PajeSetState", "PajeDefineLinkType",
        "PajeStartLink", "PajeEndLink",
    ) + "1 Rank 0\n2 MPI_STATE Rank\n5 MPI_LINK 0 Rank Rank\n" + "".join(f"3 0 rank-{i} Rank 0\n" for i in range(4))
    lines, begin = [], 0.0
    for i in range(8):
        sent = begin + (2.25 if i == iteration else 1.25) * second
        lines += [(begin, f"4 {begin} MPI_STATE rank-{rank} computing") for rank in range(4)]
        lines.append((sent, f"4 {sent} MPI_STATE rank-3 MPI_Send"))
        lines += [(begin + second, f"4 {begin + second} MPI_STATE rank-{rank} MPI_Recv") for rank in range(3)]
        lines += [(sent, f"6 {sent} MPI_LINK 0 rank-3 PTP k{i}-{rank}") for rank in range(3)]
        begin = sent + 0.01 * second
        lines += [(begin, f"7 {begin} MPI_LINK 0 rank-{rank} PTP k{i}-{rank}") for rank in range(3)]
    return text + "".join(f"{line}\n" for _, line in sorted(lines, key=lambda it: it[0]))


class ReaderOfTwo(Reader):
    """Acts in one of two traces that are shown one above the other."""

    def __init__(self, browser, url):
        self.browser, self.actions = browser, 0
        browser.call("Page.navigate", url="about:blank")
        browser.call("Page.navigate", url=url)
        browser.wait("Boolean(window.pajePair?.pages())", 60)
        self.rest()

    def rest(self):
        self.browser.evaluate("new Promise((done) => setTimeout(done, 400))")
        self.browser.wait("[...document.querySelectorAll('iframe')].every((it) => it.contentWindow.pajeView.state().idle)")

    def click_in(self, trace, selector):
        self.actions += 1
        x, y = self.browser.evaluate(
            f"""(() => {{
              const frame = document.querySelectorAll("iframe")[{trace}];
              const it = frame.contentDocument.querySelector({selector!r});
              it.scrollIntoView({{ block: "center" }});
              const [outer, inner] = [frame.getBoundingClientRect(), it.getBoundingClientRect()];
              return [outer.left + inner.left + Math.min(inner.width / 2, 40), outer.top + inner.top + inner.height / 2];
            }})()"""
        )
        self.browser.point(x, y)
        self.rest()


def is_late_in_the_same_iteration(browser, program, folder):
    """Is rank-3 late in the same iteration in both runs?"""
    for iterations in ((5, 5), (5, 2)):
        traces = [pathlib.Path(folder, f"late-{i}.trace") for i in range(2)]
        for trace, iteration, second in zip(traces, iterations, (1.0, 1.5)):
            trace.write_text(late(iteration, second))
        with run.Served(program, traces[1], str(traces[0])) as served:
            reader = ReaderOfTwo(browser, served.url)
            found = []
            for trace in range(2):
                reader.click_in(trace, "#waiting summary")
                reader.click_in(trace, "#waiting button[title='Go to its cause']")
                found.append(
                    browser.evaluate(
                        f"""(() => {{
                          const {{ state, data: {{ model }} }} = window.pajePair.pages()[{trace}];
                          const {{ lane, row }} = state.selected;
                          return [model.containers.get(model.lanes.get(lane).container).name, row];
                        }})()"""
                    )
                )
            # Two states of rank-3 in each iteration.
            assert [name for name, _ in found] == ["rank-3", "rank-3"], found
            assert tuple(row // 2 for _, row in found) == iterations, (found, iterations)
            assert reader.actions <= MOST_ACTIONS
            assert browser.console == [], browser.console
            browser.requests.clear()
    print(f"is late in the same iteration: {found} ({reader.actions} actions)")


def ten_tasks(browser, program, examples):
    with run.Served(program, examples / "mpi.trace") as served:
        for task in TASKS:
            reader = Reader(browser, served.url)
            answer = task(reader)
            assert reader.actions <= MOST_ACTIONS, (task, reader.actions)
            print(f"{task.__name__.replace('_', ' ')}: {answer} ({reader.actions} actions)")
            run.clean(browser, served.url)
