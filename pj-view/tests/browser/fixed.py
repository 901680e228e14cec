"""Regression tests of the page."""


def dragging_names(browser, url):
    """A name that is dropped outside the stage keeps its position, also at the next click."""
    browser.open(url)
    lines = [line for line in browser.state()["lines"] if line.get("folded") is not None]
    top = browser.evaluate("document.getElementById('stage').getBoundingClientRect().top")
    first, second = (top + 34 + line["top"] + line["height"] / 2 for line in lines[:2])
    labels = [line["label"] for line in lines]
    names = lambda: [line["label"] for line in browser.state()["lines"] if line.get("folded") is not None]
    dragged = lambda: browser.evaluate("window.pajeView.page.state.dragged ?? null")
    for x, y in ((60, 5), (1275, second)):
        browser.mouse("mouseMoved", 60, second)
        browser.mouse("mousePressed", 60, second, button="left", clickCount=1)
        browser.mouse("mouseMoved", 60, (first + second) / 2, button="left")
        assert dragged() is not None
        browser.mouse("mouseMoved", x, y, button="left")
        browser.mouse("mouseReleased", x, y, button="left", clickCount=1)
        browser.settle()
        assert dragged() is None and names() == labels, (x, y, names())
        browser.click(500, first)
        browser.settle()
        assert names() == labels, (x, y, names())
    # A name dropped inside the stage moves.
    browser.drag(60, second, 60, first)
    browser.settle()
    assert names()[:2] == [labels[1], labels[0]], names()


def memory_of_tiles(browser, url):
    """Blocks in the cache do not share memory, so each can be freed."""
    browser.open(url)
    shares = browser.evaluate(
        """(() => {
          const blocks = [...window.pajeView.page.data.tiles.cache.values()];
          const memory = (block) => Object.values(block).find(ArrayBuffer.isView).buffer;
          const buffers = new Set(blocks.map(memory));
          const exact = blocks.every((block) => memory(block).byteLength === block.bytes);
          return [blocks.length, buffers.size, exact];
        })()"""
    )
    assert shares[0] > 3 and shares[0] == shares[1] and shares[2], shares


def embedded_rows(browser, page):
    """In an HTML file, counting rows and finding values give the results of a scan of all rows."""
    browser.open(page)
    result = browser.evaluate(
        """(async () => {
          const { page } = window.pajeView;
          const wrong = [];
          let [counted, steps] = [0, 0];
          const types = new Map([...page.data.model.lanes.values()].map((lane) => [lane.id, lane.type]));
          const [begin, end] = page.data.model.extent;
          const places = [];
          for (const [lane, [rows]] of page.data.source.embedded) {
            if (!rows.isRows) continue;
            for (let i = 0; i < rows.n; i++) places.push({ lane, row: rows.number[i], start: rows.start[i], end: rows.end[i], type: types.get(lane), value: rows.values[i] });
            for (let i = 0; i < 40; i++) {
              const from = begin + ((end - begin) * ((i * 7) % 40)) / 40;
              const to = from + ((end - begin) * (i % 6)) / 20;
              let plain = 0;
              for (let row = 0; row < rows.n; row++) plain += Math.min(rows.start[row], rows.end[row]) <= to && Math.max(rows.start[row], rows.end[row]) >= from;
              if (page.data.tiles.countRows(rows, from, to) !== plain) wrong.push([lane, from, to]);
              counted += 1;
            }
          }
          const order = (a, b) => a.start - b.start || a.lane - b.lane || a.row - b.row;
          const one = places.find((it) => it.type !== undefined && page.data.model.types[it.type].nature === "state");
          const same = places.filter((it) => it.type === one.type && it.value === one.value).sort(order);
          for (const [i, { start, lane, row }] of same.entries()) {
            for (const back of [false, true]) {
              const found = await page.data.source.find(one.type, one.value, { time: start, lane, row }, back);
              const wanted = same.at((i + (back ? -1 : 1)) % same.length);
              if (found.lane !== wanted.lane || found.row !== wanted.row) wrong.push([i, back, found]);
              steps += 1;
            }
          }
          return { wrong, counted, steps };
        })()"""
    )
    assert result["wrong"] == [] and result["counted"] > 100 and result["steps"] > 4, result


def embedded_scans(browser, page):
    """In a large HTML file, a frame does not read all rows to count them, and a step to the next row sorts nothing."""
    browser.open(page)
    result = browser.evaluate(
        """(async () => {
          const { source, tiles, model } = window.pajeView.page.data;
          const longest = (a, b) => b[1][0].n - a[1][0].n;
          const [lane, blocks] = [...source.embedded].filter(([, it]) => it[0].isRows && it.length > 1).sort(longest)[0];
          const [rows, bins] = blocks;
          const [from, to] = model.extent;
          const draw = () => tiles.segments(lane, bins.level, to - (to - from) / 100, to);
          draw();
          let reads = 0;
          const counted = (array) => new Proxy(array, {
            get(target, name) {
              reads += Number.isInteger(Number(name));
              return target[name];
            },
          });
          const { start, end } = rows;
          Object.assign(rows, { start: counted(start), end: counted(end) });
          draw();
          Object.assign(rows, { start, end });
          const { sort } = Array.prototype;
          let sorted = 0;
          Array.prototype.sort = function (...order) {
            sorted = Math.max(sorted, this.length);
            return sort.apply(this, order);
          };
          const found = await source.find(model.lanes.get(lane).type, rows.values[1], { time: from, lane, row: 0 }, false);
          Array.prototype.sort = sort;
          return { n: rows.n, reads, sorted, found: found !== null };
        })()"""
    )
    assert result["n"] > 5000 and result["found"], result
    assert result["reads"] < 100 and result["sorted"] < 100, result
