"""A report of a million events: small enough, and drawn with little work.

Usage: large_report_test.py OHM SOURCE_DIR OUTPUT_DIR. Screenshots stay in OUTPUT_DIR.
"""

import json
import os
import re
import time
import unittest

from support import ARROW_UP, END, OUTPUT, column, main, peak_of, run_ohm, written
from webdriver import Browser

EVENTS = 1_000_000
MOST_BYTES = 5 * 10**6
# Work is counted, not timed: what is drawn follows from the width of a chart and from the blocks and
# buckets that a report keeps, never from the number of events.
MOST_NODES = 5_000
MOST_CALLS_A_COLUMN = 40

COUNT_CALLS = """
window.calls = 0;
for (const name of ["moveTo", "lineTo", "rect", "fillRect", "fillText", "stroke", "fill"]) {
  const original = CanvasRenderingContext2D.prototype[name];
  CanvasRenderingContext2D.prototype[name] = function(...given) {
    ++window.calls;
    return original.apply(this, given);
  };
}
"""

SCENARIO = """
local function train(device)
  local weights, kept, a, b = ohm.empty(1 << 20, {device = device}), {}, nil, nil
  for step = 1, 400 do
    for layer = 1, 417 do
      a = ohm.empty(256 * (1 + layer % 37), {device = device})
      b = ohm.empty(64 * (1 + (layer * step) % 91), {device = device})
    end
    if step % 8 == 0 then kept[#kept + 1] = b end
    ohm.step()
  end
end
return ohm.scenario {
  name = "million", summary = "A million events", gpu = {profile = "tiny-64m"},
  limits = {"growth_bytes_per_step == 0"}, problems = {long = train},
}
"""


class LargeReportTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        script = written("million.lua", SCENARIO)
        cls.page = os.path.join(OUTPUT, "million.html")
        data = os.path.join(OUTPUT, "million.json")
        run_ohm("run", script, "--size-only", "--timeout", "0", "--history", "--report", "json=" + data,
                "--report", "html=" + cls.page, "-q")
        with open(data, encoding="utf-8") as file:
            cls.variant = json.load(file)["scenarios"][0]["variants"][0]
        cls.url = "file://" + cls.page

    def test_the_file_is_small_and_nothing_of_the_peak_is_lost(self):
        history = self.variant["history"]
        self.assertGreaterEqual(history["events"], EVENTS)
        self.assertLessEqual(os.path.getsize(self.page), MOST_BYTES)
        curve = column(history["devices"][0]["allocated_high"])
        self.assertEqual(peak_of(self.variant), max(curve))
        self.assertGreater(history["devices"][0]["blocks_left_out"], 0)

    def test_opening_it_draws_no_more_than_can_be_seen(self):
        with Browser() as browser:
            browser.before_scripts(COUNT_CALLS)
            browser.open(self.url)
            browser.frame()
            calls, nodes, columns = browser.js(
                "return [calls, document.getElementsByTagName('*').length,"
                "        [...charts].reduce((sum, chart) => sum + chart.canvas.clientWidth, 0)]")
            painted = browser.js("return performance.getEntriesByName('first-contentful-paint').length")
            self.assertEqual([], browser.log())
        print(f"{calls:,} calls for {columns:,} columns, {nodes:,} nodes, "
              f"{os.path.getsize(self.page):,} bytes")
        self.assertEqual(1, painted)
        self.assertLess(nodes, MOST_NODES)
        self.assertLess(calls, MOST_CALLS_A_COLUMN * columns)

    def test_zooming_draws_no_more_than_can_be_seen(self):
        with Browser() as browser:
            browser.before_scripts(COUNT_CALLS)
            browser.open(self.url + "#million/long")
            browser.frame()
            frames = browser.js(
                "const view = document.querySelector('article.shown').view;"
                "const drawn = [...charts].filter(chart => chart.canvas.closest('article.shown'));"
                "const frames = [];"
                "for (let i = 0; i < 24; ++i) {"
                "  view.zoom(i < 12 ? 0.6 : 1.6, 300000 + 20000 * i);"
                "  for (const chart of drawn) {"
                "    calls = 0;"
                "    chart.paint();"
                "    frames.push([chart.constructor.name, calls, chart.canvas.clientWidth]);"
                "  }"
                "}"
                "return frames")
            self.assertEqual([], browser.log())
        most = max(calls / width for _, calls, width in frames)
        print(f"at most {most:.1f} calls a column of a chart")
        for name, calls, width in frames:
            self.assertGreater(calls, 0, name)
            self.assertLess(calls, MOST_CALLS_A_COLUMN * width, name)

    def test_the_events_are_walked_with_few_rows(self):
        with Browser() as browser:
            browser.open(self.url + "#million/long")
            browser.frame()
            browser.press("article.shown .event-rows", END)
            rows, row, cursor = browser.js(
                "const rows = [...document.querySelectorAll('article.shown .event-rows [role=option]')];"
                "const row = rows.find(one => one.getAttribute('aria-selected') === 'true');"
                "return [rows.length, [...row.children].map(cell => cell.textContent),"
                "        document.querySelector('article.shown').view.cursor]")
            browser.press("article.shown .event-rows", ARROW_UP, ARROW_UP)
            before, shown = browser.js(
                "return [document.querySelector('article.shown').view.cursor,"
                "        {...document.querySelector('article.shown .map .readout').dataset}]")
            self.assertEqual([], browser.log())
        # The segments are those of the event, though blocks that are left out are not known there.
        blocks = [column(text) for text in (self.variant["history"]["devices"][0]["blocks"][key]
                                            for key in ("begin", "end", "bytes"))]
        known = sum(size for begin, end, size in zip(*blocks) if begin <= before < end)
        self.assertEqual(str(before), shown["event"])
        self.assertGreaterEqual(int(shown["active"]), known)
        self.assertLessEqual(int(shown["active"]), int(shown["reserved"]))
        self.assertLess(rows, 60)
        self.assertEqual(f"{cursor:,}", row[0])
        device = self.variant["history"]["devices"][0]
        ends = [end for end in column(device["blocks"]["end"]) if end < self.variant["history"]["events"]]
        self.assertEqual(max(ends + column(device["blocks"]["begin"])), cursor)

    def test_the_slider_moves_through_the_whole_time(self):
        device = self.variant["history"]["devices"][0]
        stops = [frame["event"] for frame in device["frames"]]
        self.assertGreater(len(stops), 20)
        with Browser() as browser:
            browser.open(self.url + "#million/long")
            browser.frame()
            for index in (0, len(stops) // 2, len(stops) - 1):
                browser.js(
                    "const slider = document.querySelector('article.shown .map input[type=range]');"
                    "slider.value = arguments[0]; slider.dispatchEvent(new Event('input'))", index)
                browser.frame()
                shown = browser.js(
                    "return {...document.querySelector('article.shown .map .readout').dataset}")
                self.assertEqual(str(stops[index]), shown["event"])
                # With those that are drawn as one, every byte in blocks is there.
                at = stops[index] // self.variant["history"]["events_per_bucket"]
                self.assertLessEqual(int(shown["active"]), int(shown["reserved"]))
                self.assertGreaterEqual(int(shown["active"]),
                                        column(device["allocated_low"])[at])

    def test_screenshots(self):
        for dark in (False, True):
            with Browser(dark=dark) as browser:
                browser.open(self.url + "#million/long/500000")
                for part in ("section.scenario", "article.shown .lanes", "article.shown .blocks",
                             "article.shown .map"):
                    name = re.sub(r"\W+", "-", f"{'dark' if dark else 'light'}-{part}") + ".png"
                    started = time.monotonic()
                    browser.screenshot(os.path.join(OUTPUT, name), part)
                    self.assertLess(time.monotonic() - started, 30)
                self.assertEqual([], browser.log())


if __name__ == "__main__":
    main()
