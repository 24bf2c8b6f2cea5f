"""Opens HTML reports in a headless Chromium and compares what they show with the JSON.

Usage: browser_test.py OHM SOURCE_DIR OUTPUT_DIR. Screenshots stay in OUTPUT_DIR.
"""

import json
import os
import re
import unittest

from support import (ARROW_LEFT, ARROW_RIGHT, END, HOME, OUTPUT, column, human, main, peak_of,
                     run_ohm, written)
from webdriver import Browser

# A script with everything that a report shows, small enough to be read whole.
SCENARIO = """
local nn, F = ohm.nn, ohm.nn.functional
local function train(device, keep)
  local model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 8)):to(device)
  local total, x, y, loss = 0, nil, nil, nil
  for _ = 1, 40 do
    x = ohm.randn(512, 64, {device = device})
    y = ohm.randint(8, {512}, {device = device})
    loss = F.cross_entropy(model(x), y)
    total = keep(total, loss)
    ohm.step()
  end
  return {total = total}
end
return ohm.scenario {
  name = "kept_graphs", summary = "A sum of </script> losses keeps <every> graph",
  gpu = {profile = "tiny-64m", capacity = "16MiB", values = true},
  limits = {"growth_bytes_per_step == 0", "peak_allocated_bytes < 8 MiB"},
  problems = {sum = function(d) return train(d, function(t, l) return t + l end) end},
  mitigations = {item = function(d) return train(d, function(t, l) return t + l:item() end) end},
}
"""


class Report:
    """One run: its JSON, and its page."""

    def __init__(self, name, *files):
        self.page = os.path.join(OUTPUT, name + ".html")
        data = os.path.join(OUTPUT, name + ".json")
        run_ohm("run", *files, "--history", "--report", "json=" + data,
                "--report", "html=" + self.page, "-q")
        with open(data, encoding="utf-8") as file:
            self.scenarios = json.load(file)["scenarios"]
        self.again = os.path.join(OUTPUT, name + ".again.html")
        run_ohm("report", data, "-o", self.again)

    @property
    def url(self):
        return "file://" + self.page


class BrowserTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        script = written("kept_graphs.lua", SCENARIO)
        cls.report = Report("report", script, "scenarios/unbalanced_data_parallel.lua")
        cls.kept, cls.several = cls.report.scenarios
        cls.problem = next(v for v in cls.kept["variants"] if v["name"] == "sum")
        cls.browser = Browser()
        cls.browser.__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.browser.__exit__()

    def setUp(self):
        self.browser.open("about:blank")
        self.browser.open(self.report.url + "#kept_graphs")
        self.browser.js("open(document.querySelector('section.scenario'))")
        self.browser.frame()

    def tearDown(self):
        self.assertEqual([], [entry["message"] for entry in self.browser.log()])
        self.assertEqual([], self.browser.requests())

    # ---- what the page says is what the JSON says -------------------------------------------------

    def test_the_card_shows_the_peak_and_verdict_of_every_variant(self):
        shown = self.browser.js(
            "return [...document.querySelectorAll('section.scenario')].map(section => "
            "Object.fromEntries([...section.querySelectorAll('table.card tr[data-variant]')].map("
            "row => [row.dataset.variant, [+row.querySelector('[data-peak]').dataset.peak, "
            "row.querySelector('[data-peak]').textContent.trim(), "
            "row.querySelector('.mark').title]])))")
        for scenario, rows in zip(self.report.scenarios, shown):
            expected = {v["name"]: [peak_of(v), human(peak_of(v)), v["verdict"]]
                        for v in scenario["variants"]}
            self.assertEqual(expected, rows)

    def test_bars_are_as_long_as_the_peaks_and_the_limit_is_drawn_through_them(self):
        bars = self.browser.js(
            "const box = node => node.getBoundingClientRect();"
            "return [...document.querySelectorAll('section.scenario table.card')].map(card => "
            "[...card.querySelectorAll('tr[data-variant]')].map(row => ({"
            "peak: +row.querySelector('[data-peak]').dataset.peak,"
            "width: box(row.querySelector('.fill')).width,"
            "limits: [...row.querySelectorAll('.limit')].map(limit => "
            "[limit.classList.contains('capacity'), box(limit).left - box(row.querySelector('.bar')).left])"
            "})))[0]")
        by_peak = sorted(bars, key=lambda bar: bar["peak"])
        scale = by_peak[-1]["width"] / by_peak[-1]["peak"]
        for bar in bars:
            self.assertAlmostEqual(bar["peak"] * scale, bar["width"], delta=2)
            limits = dict(bar["limits"])
            self.assertAlmostEqual(8 * 2**20 * scale, limits[False], delta=2)
            self.assertAlmostEqual(16 * 2**20 * scale, limits[True], delta=2)

    def test_the_overlay_has_the_figures_of_all_variants_at_an_event(self):
        event = 100
        self.browser.js("return open(document.querySelector('section.scenario'))"
                        ".then(view => view.overlayView.look(arguments[0]))", event)
        self.browser.frame()
        text = self.browser.js("return document.querySelector('.overlay .readout').textContent")
        for variant in self.kept["variants"]:
            high = column(variant["history"]["devices"][0]["allocated_high"])
            self.assertIn(f"{variant['name']} {human(high[event])}", text)

    def test_steps_and_the_out_of_memory_error_are_marked_where_they_were(self):
        drawn = self.browser.js(
            "const chart = [...charts].find(one => one.canvas.closest('.overlay'));"
            "const paper = CanvasRenderingContext2D.prototype, texts = [], lines = [];"
            "const {fillText, moveTo} = paper;"
            "paper.fillText = function(text, x, y) { texts.push([text, x]); return fillText.call(this, text, x, y); };"
            "paper.moveTo = function(x, y) { lines.push(x); return moveTo.call(this, x, y); };"
            "try { chart.paint(); } finally { Object.assign(paper, {fillText, moveTo}); }"
            "return {texts, lines, places: arguments[0].map(event => chart.x(event + 1))}",
            [self.problem["history"]["oom_event"], *column(self.problem["history"]["steps"])])
        error, *steps = drawn["places"]
        marks = [x for text, x in drawn["texts"] if text == "OOM"]
        self.assertEqual(1, len(marks))
        self.assertAlmostEqual(error, marks[0], delta=12)
        self.assertGreater(len(steps), 20)
        for step in steps:
            self.assertTrue(any(abs(step - x) <= 1 for x in drawn["lines"]), step)

    def test_the_highest_point_of_the_curve_is_the_peak(self):
        for scenario in self.report.scenarios:
            for variant in scenario["variants"]:
                for device, history in zip(variant["devices"], variant["history"]["devices"]):
                    curve = column(history["allocated_high"])
                    self.assertEqual(device["peak_allocated_bytes"], max(curve, default=0))
                    total = sum(holder["bytes"] for holder in device["peak"]["holders"])
                    self.assertEqual(device["peak_allocated_bytes"], total)

    def test_the_holders_are_those_of_the_result(self):
        shown = self.browser.js(
            "return [...document.querySelectorAll('section:first-of-type article.shown table.holders tr[data-bytes]')]"
            ".map(row => +row.dataset.bytes)")
        holders = self.problem["devices"][0]["peak"]["holders"]
        self.assertEqual([holder["bytes"] for holder in holders], shown)

    def test_the_source_has_the_bytes_of_its_lines(self):
        shown = self.browser.js(
            "return Object.fromEntries([...document.querySelector('.source table').rows].filter("
            "row => row.cells[0].title).map(row => [row.dataset.line, row.cells[0].title]))")
        expected = {}
        for holder in self.problem["devices"][0]["peak"]["holders"]:
            if holder["file"] == self.kept["file"]:
                expected[str(holder["line"])] = expected.get(str(holder["line"]), 0) + holder["bytes"]
        self.assertTrue(expected)
        self.assertEqual({line: f"{bytes_:,} bytes" for line, bytes_ in expected.items()}, shown)

    def test_a_block_of_a_scenario_has_its_module_and_its_stack(self):
        history = self.problem["history"]
        sites = column(history["devices"][0]["blocks"]["site"])
        modules = [history["sites"][site].get("module", "") for site in sites]
        self.assertEqual({"", "Sequential.0", "Sequential.1", "Sequential.2"}, set(modules))
        index = modules.index("Sequential.1")
        calls = {key: column(text) for key, text in history["calls"].items()}
        at, stack = history["sites"][sites[index]]["call"], []
        while at:
            line = history["lines"][calls["line"][at - 1]]
            stack.append(f"{line['file']}:{line['line']}")
            at = calls["caller"][at - 1]
        script = SCENARIO.split("\n")
        number = lambda text: next(i for i, line in enumerate(script, 1) if text in line)
        self.assertEqual([f"{self.kept['file']}:{number(text)}" for text in ("model(x)", "problems = ")], stack)
        self.browser.js(
            "const view = document.querySelector('article.shown').view;"
            "const chart = [...charts].find(chart => chart.canvas.closest('article.shown .blocks'));"
            "view.pin({kind: 'block', device: chart.device, index: arguments[0]})", index)
        self.browser.frame()
        self.assertEqual(stack, self.browser.js(
            "return [...document.querySelectorAll('article.shown .pinned .calls .path')].map(one => one.textContent)"))
        self.assertIn("in Sequential.1", self.browser.js(
            "return document.querySelector('article.shown .pinned').textContent"))
        self.browser.js(
            "const box = document.querySelector('article.shown .icicle select'); box.value = 'module';"
            "box.dispatchEvent(new Event('change'))")
        self.browser.frame()
        rows = self.browser.js(
            "return [...document.querySelectorAll('article.shown .icicle-rows [role=treeitem]')].map("
            "row => row.getAttribute('aria-label').split(':')[0])")
        self.assertIn("Sequential", rows)

    def test_the_line_that_holds_most_is_scrolled_into_view(self):
        # In a box that is too low for the whole script.
        shown = self.browser.js(
            "const box = document.querySelector('.source'); box.style.maxHeight = '120px'; box.scrollTop = 0;"
            "const page = scrollY;"
            "return open(document.querySelector('section.scenario')).then(view => {"
            "view.select(view.selected);"
            "const inside = box.getBoundingClientRect();"
            "const seen = [...box.querySelectorAll('tr')].filter(row => { const one = row.getBoundingClientRect();"
            "  return one.top >= inside.top && one.bottom <= inside.bottom; }).map(row => +row.dataset.line);"
            "return [seen, box.scrollHeight > box.clientHeight, page === scrollY]; })")
        held = {}
        for holder in self.problem["devices"][0]["peak"]["holders"]:
            if holder["file"] == self.kept["file"]:
                held[holder["line"]] = held.get(holder["line"], 0) + holder["bytes"]
        self.assertIn(max(held, key=held.get), shown[0])
        self.assertEqual([True, True], shown[1:])

    def test_why_it_is_retained_stands_above_the_charts(self):
        above = self.browser.js(
            "const top = selector => document.querySelector('article.shown ' + selector).getBoundingClientRect().top;"
            "return top('table.retention') < top('.lanes')")
        self.assertTrue(above)

    def test_retention_names_the_variable_that_keeps_the_graphs(self):
        rows = self.browser.js(
            "return [...document.querySelectorAll('section:first-of-type article.shown table.retention tr[data-bytes]')]"
            ".map(row => [row.dataset.variable || '', +row.dataset.bytes, "
            "(row.querySelector('.path') || row).textContent])")
        self.assertEqual("total", rows[0][0])
        self.assertIn("grad_fn", rows[0][2])
        self.assertEqual(self.problem["retention"]["bytes"], sum(row[1] for row in rows))

    # ---- it can be used ---------------------------------------------------------------------------

    def test_keys_zoom_and_move_through_time(self):
        def view():
            return self.browser.js(
                "const view = document.querySelector('article.shown').view;"
                "return [view.start, view.end, view.cursor]")
        canvas = "article.shown .lanes canvas"
        events = self.problem["history"]["events"]
        self.browser.press(canvas, HOME, ARROW_RIGHT, ARROW_RIGHT, "+", "+")
        start, end, cursor = view()
        self.assertEqual(2, cursor)
        self.assertAlmostEqual(events / 4, end - start, delta=1)
        self.browser.press(canvas, "0")
        self.assertEqual([0, events], view()[:2])
        self.browser.press(canvas, END)
        self.assertEqual(events - 1, view()[2])

    def test_buttons_zoom(self):
        self.browser.click("article.shown .lanes button[aria-label='zoom in']")
        start, end = self.browser.js(
            "const view = document.querySelector('article.shown').view; return [view.start, view.end]")
        self.assertAlmostEqual(self.problem["history"]["events"] / 2, end - start, delta=1)

    def test_pointing_at_a_block_says_what_it_is(self):
        history = self.problem["history"]
        blocks = {key: column(text) for key, text in history["devices"][0]["blocks"].items()}
        size = [(end - begin) * bytes_ for begin, end, bytes_ in
                zip(blocks["begin"], blocks["end"], blocks["bytes"])]
        found = size.index(max(size))
        x, y = self.browser.js(
            "const chart = [...charts].find(chart => chart.canvas.closest('article.shown .blocks'));"
            "return [chart.x(arguments[0]), chart.y(arguments[1])]",
            (blocks["begin"][found] + blocks["end"][found]) / 2,
            blocks["position"][found] + blocks["bytes"][found] / 2)
        self.browser.point_at("article.shown .blocks canvas", x, y)
        tip = self.browser.js("return document.querySelector('.tip').textContent")
        site = history["sites"][blocks["site"][found]]
        self.assertIn(f"{blocks['bytes'][found]:,} bytes", tip)
        self.assertIn(f"{site['file']}:{site['line']}", tip)
        self.assertIn(f"from event {blocks['begin'][found]:,}", tip)
        self.assertIn(f"{blocks['end'][found] - blocks['begin'][found]:,} events", tip)

    def test_the_slider_shows_the_segments_of_its_event(self):
        device = self.problem["history"]["devices"][0]
        spans = {kind: {key: column(text) for key, text in device[kind].items()}
                 for kind in ("segments", "blocks")}

        def bytes_at(kind, event):
            rows = spans[kind]
            return sum(bytes_ for begin, end, bytes_ in
                       zip(rows["begin"], rows["end"], rows["bytes"]) if begin <= event < end)
        for event in (0, 3, 57, self.problem["history"]["events"] - 1):
            self.browser.js(
                "const slider = document.querySelector('article.shown .map input[type=range]');"
                "slider.value = arguments[0]; slider.dispatchEvent(new Event('input'))", event)
            self.browser.frame()
            shown = self.browser.js(
                "return {...document.querySelector('article.shown .map .readout').dataset}")
            self.assertEqual({"event": str(event), "reserved": str(bytes_at("segments", event)),
                              "active": str(bytes_at("blocks", event))}, shown)
        self.browser.press("article.shown .map canvas", ARROW_LEFT)
        self.assertEqual(str(event - 1), self.browser.js(
            "return document.querySelector('article.shown .map .readout').dataset.event"))

    def test_another_variant_can_be_chosen_and_linked_to(self):
        self.browser.js(
            "const choice = document.querySelector('.variant-pick select'); choice.value = '1';"
            "choice.dispatchEvent(new Event('change'))")
        self.browser.frame()
        self.assertEqual("item", self.browser.js(
            "return document.querySelector('section.scenario article.shown').dataset.name"))
        self.assertTrue(self.browser.js("return location.hash").endswith("/item"))
        self.browser.open("about:blank")
        self.browser.open(self.report.url + "#kept_graphs/item/42")
        self.browser.frame()
        self.assertEqual(["item", 42], self.browser.js(
            "const article = document.querySelector('section.scenario article.shown');"
            "return [article.dataset.name, article.view.cursor]"))

    def test_every_gpu_has_a_lane(self):
        lanes = self.browser.js(
            "const section = document.querySelectorAll('section.scenario')[1];"
            "return open(section).then(() => [...section.querySelectorAll('article.shown .lanes canvas')]"
            ".map(canvas => canvas.getAttribute('aria-label')))")
        most = max((v for v in self.several["variants"] if v["role"] == "problem"), key=peak_of)
        self.assertEqual([f"Memory of {device['device']} over time, by category"
                          for device in most["devices"]], lanes)

    def test_slash_filters_the_scenarios(self):
        self.browser.press("body", "/")
        self.browser.js("const search = document.activeElement; search.value = 'unbalanced';"
                        "search.dispatchEvent(new Event('input'))")
        self.assertEqual([True, False], self.browser.js(
            "return [...document.querySelectorAll('section.scenario')].map(one => one.hidden)"))

    def test_charts_are_drawn(self):
        for canvas in (".overlay canvas", "article.shown .lanes canvas",
                       "article.shown .blocks canvas", "article.shown .map canvas"):
            colours = self.browser.js(
                "const canvas = document.querySelector(arguments[0]);"
                "const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;"
                "const seen = new Set(); for (let i = 0; i < data.length; i += 4)"
                " if (data[i + 3] > 200) seen.add(data[i] << 16 | data[i + 1] << 8 | data[i + 2]);"
                "return seen.size", canvas)
            self.assertGreater(colours, 2, canvas)

    def test_a_report_of_the_json_is_the_report_of_the_run(self):
        with open(self.report.page, "rb") as first, open(self.report.again, "rb") as second:
            self.assertEqual(first.read(), second.read())

    def test_screenshots(self):
        for dark in (False, True):
            for width in (1280, 420):
                with Browser(width=width, dark=dark) as browser:
                    browser.open(self.report.url + "#kept_graphs/sum/300")
                    name = f"{'dark' if dark else 'light'}-{width}"
                    for part in ("section.scenario", ".overlay", "article.shown .lanes",
                                 "article.shown .blocks", "article.shown .map",
                                 "article.shown table.holders", ".source"):
                        file = re.sub(r"\W+", "-", f"{name}-{part}") + ".png"
                        browser.screenshot(os.path.join(OUTPUT, file), part)
                    self.assertEqual([], browser.log())
                    wide = browser.js("return document.documentElement.scrollWidth")
                    self.assertLessEqual(wide, width, f"the page is wider than {width}")


class WithoutScriptTest(unittest.TestCase):
    def test_every_variant_can_be_read(self):
        with Browser() as browser:
            browser.cdp("Emulation.setScriptExecutionDisabled", value=True)
            browser.open("file://" + os.path.join(OUTPUT, "report.html"))
            seen = browser.cdp("Runtime.evaluate", returnByValue=True, expression=(
                "[document.documentElement.className, "
                "[...document.querySelectorAll('article.variant')].map(one => one.offsetHeight > 100), "
                "[...document.querySelectorAll('canvas, .js-only')].filter(one => one.offsetHeight)"
                ".length]"))["result"]["value"]
        with open(os.path.join(OUTPUT, "report.json"), encoding="utf-8") as file:
            variants = sum(len(one["variants"]) for one in json.load(file)["scenarios"])
        self.assertEqual(["", [True] * variants, 0], seen)


if __name__ == "__main__":
    main()
