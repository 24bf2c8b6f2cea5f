"""The views of one variant: the icicle, what is pinned, events, segments over time, the minimap.

Usage: views_test.py OHM SOURCE_DIR OUTPUT_DIR. Screenshots stay in OUTPUT_DIR.
"""

import json
import os
import re
import unittest

from support import (ARROW_DOWN, ARROW_LEFT, ARROW_RIGHT, ARROW_UP, END, ENTER, ESCAPE, HOME, OUTPUT,
                     SOURCE, column, human, main, peak_of, run_ohm)
from webdriver import Browser

JOB = os.path.join(SOURCE, "tests/golden/snapshots/finetune.pickle")


class Job:
    """What the JSON of the recorded job says, in lists."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.variant = json.load(file)["scenarios"][0]["variants"][0]
        self.history = self.variant["history"]
        self.device = self.history["devices"][0]
        self.blocks = self.spans("blocks")
        self.segments = self.spans("segments")
        self.calls = {key: column(text) for key, text in self.history["calls"].items()}

    def spans(self, kind):
        columns = {key: column(text) for key, text in self.device[kind].items()}
        return [dict(zip(columns, row)) for row in zip(*columns.values())]

    def alive(self, event, kind="blocks"):
        return [i for i, one in enumerate(getattr(self, kind)) if one["begin"] <= event < one["end"]]

    def stack(self, site):
        """file:line of each call, the innermost first."""
        at, lines = self.history["sites"][site].get("call", 0), []
        while at:
            line = self.history["lines"][self.calls["line"][at - 1]]
            lines.append(f"{line['file']}:{line['line']}" if line["line"] else line["file"])
            at = self.calls["caller"][at - 1]
        return lines


class ViewsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.page, data = (os.path.join(OUTPUT, "finetune" + end) for end in (".html", ".json"))
        run_ohm("report", JOB, "-o", cls.page, "-o", data)
        cls.job = Job(data)
        cls.browser = Browser()
        cls.browser.__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.browser.__exit__()

    def setUp(self):
        self.browser.open("about:blank")
        self.browser.open("file://" + self.page + "#finetune/recorded")
        self.browser.frame()

    def tearDown(self):
        self.assertEqual([], [entry["message"] for entry in self.browser.log()])
        self.assertEqual([], self.browser.requests())

    def text(self, selector):
        return self.browser.js("return document.querySelector(arguments[0]).textContent", selector)

    def cursor(self):
        return self.browser.js("return document.querySelector('article.shown').view.cursor")

    def choose(self, label, value):
        self.browser.js(
            "const box = [...document.querySelectorAll('article.shown .icicle label')].find("
            "one => one.firstChild.textContent === arguments[0]).querySelector('select');"
            "box.value = arguments[1]; box.dispatchEvent(new Event('change'))", label, value)
        self.browser.frame()

    def rows(self):
        """Level, label and share of the width of each row of the icicle."""
        return self.browser.js(
            "const whole = document.querySelector('article.shown .icicle-rows').clientWidth;"
            "return [...document.querySelectorAll('article.shown .icicle-rows [role=treeitem]')].map(row => "
            "[+row.getAttribute('aria-level'), row.getAttribute('aria-label'), row.offsetWidth / whole])")

    # ---- the icicle -------------------------------------------------------------------------------

    def test_the_icicle_is_as_wide_as_what_the_calls_made(self):
        peak = peak_of(self.job.variant)
        whole = sum(self.job.blocks[i]["bytes"] for i in self.job.alive(self.job.device["peak_event"]))
        self.assertEqual(peak, whole)
        rows = self.rows()
        self.assertIn(human(peak), rows[0][1])
        outermost = {}
        for i in self.job.alive(self.job.device["peak_event"]):
            block = self.job.blocks[i]
            site = self.job.history["sites"][block["site"]]
            stack = self.job.stack(block["site"])
            key = stack[-1] if stack else site["op"]
            outermost[key] = outermost.get(key, 0) + block["bytes"]
        expected = sorted((n for n in outermost.values() if n > peak / 50), reverse=True)
        shown = sorted((row for row in rows if row[0] == 2 and row[2] > 1 / 50),
                       key=lambda row: -row[2])
        self.assertGreater(len(expected), 2)
        self.assertEqual([human(n) for n in expected],
                         [re.search(r": ([\d.]+ \w+), ", row[1]).group(1) for row in shown])
        for count, row in zip(expected, shown):
            self.assertAlmostEqual(count / peak, row[2], delta=0.01)

    def test_the_icicle_by_line_has_the_bytes_of_the_lines(self):
        self.choose("by", "line")
        by_line = {}
        for i in self.job.alive(self.job.device["peak_event"]):
            block = self.job.blocks[i]
            site = self.job.history["sites"][block["site"]]
            if site["file"]:
                place = f"{os.path.basename(site['file'])}:{site['line']}"
                by_line[place] = by_line.get(place, 0) + block["bytes"]
        place, count = max(by_line.items(), key=lambda item: item[1])
        self.assertTrue(any(place in label and human(count) in label for _, label, _ in self.rows()),
                        (place, self.rows()))

    def test_the_icicle_by_module_has_the_calls_of_forward(self):
        self.choose("by", "module")
        outside = sum(
            self.job.blocks[i]["bytes"] for i in self.job.alive(self.job.device["peak_event"])
            if not self.is_of_forward(self.job.blocks[i]["site"]))
        self.assertTrue(any(label.startswith("outside of modules") and human(outside) in label
                            for _, label, _ in self.rows()), self.rows())

    def is_of_forward(self, site):
        at = self.job.history["sites"][site].get("call", 0)
        while at:
            if self.job.history["lines"][self.job.calls["line"][at - 1]]["function"] == "forward":
                return True
            at = self.job.calls["caller"][at - 1]
        return False

    def test_keys_walk_the_icicle_and_go_into_a_call(self):
        def selected():
            return self.browser.js(
                "const row = document.querySelector('article.shown .icicle-rows [aria-selected=true]');"
                "return [+row.getAttribute('aria-level'), row.getAttribute('aria-label'), row.offsetWidth,"
                "        row === document.activeElement]")
        tree = "article.shown .icicle-rows [tabindex='0']"
        self.browser.press(tree, ARROW_DOWN)
        first = selected()
        self.assertEqual([2, True], [first[0], first[3]])
        self.browser.press(tree, ARROW_RIGHT)
        second = selected()
        self.assertEqual(2, second[0])
        self.assertLess(second[2], first[2])
        self.browser.press(tree, ENTER)
        wide = selected()
        self.assertEqual(second[1], wide[1])
        self.assertGreater(wide[2], 2 * second[2])
        self.assertIn(re.search(r": ([\d.]+ \w+), ", wide[1]).group(1), self.text("article.shown .icicle-about"))
        self.browser.press(tree, ESCAPE)
        self.assertEqual(1, selected()[0])

    def test_the_icicle_of_what_is_new_leaves_out_what_was_there(self):
        event = self.job.device["peak_event"] // 2
        self.browser.js("document.querySelector('article.shown').view.look(arguments[0])", event)
        self.choose("alive", "new")
        new = sum(self.job.blocks[i]["bytes"] for i in self.job.alive(self.job.device["peak_event"])
                  if self.job.blocks[i]["begin"] > event)
        self.assertIn(human(new), self.rows()[0][1])

    # ---- what is pinned -----------------------------------------------------------------------------

    def pinned_calls(self):
        return self.browser.js(
            "return [...document.querySelectorAll('article.shown .pinned .calls .path')].map(one => one.textContent)")

    def test_a_click_pins_a_block_with_its_whole_stack(self):
        found = max((i for i, one in enumerate(self.job.blocks) if len(self.job.stack(one["site"])) > 2),
                    key=lambda i: self.job.blocks[i]["bytes"] * (self.job.blocks[i]["end"] - self.job.blocks[i]["begin"]))
        block = self.job.blocks[found]
        self.browser.js(
            "const view = document.querySelector('article.shown').view, [begin, end] = arguments;"
            "view.move(begin, end - begin)", block["begin"], block["end"])
        self.browser.frame()
        x, y = self.browser.js(
            "const chart = [...charts].find(chart => chart.canvas.closest('article.shown .blocks'));"
            "return [chart.x(arguments[0]), chart.y(arguments[1])]",
            (block["begin"] + block["end"]) / 2, block["position"] + block["bytes"] / 2)
        self.browser.click_at("article.shown .blocks canvas", x, y)
        self.assertEqual(self.job.stack(block["site"]), self.pinned_calls())
        self.assertIn(f"{block['bytes']:,} bytes", self.text("article.shown .pinned"))
        # It stays when the pointer goes.
        self.browser.point_at("article.shown h3", 2, 2)
        self.assertEqual(self.job.stack(block["site"]), self.pinned_calls())

    def test_up_and_down_pin_the_blocks_in_their_order(self):
        event = self.job.device["peak_event"]
        self.browser.js("document.querySelector('article.shown').view.look(arguments[0])", event)
        order = sorted(self.job.alive(event), key=lambda i: self.job.blocks[i]["position"])
        self.browser.press("article.shown .blocks canvas", *[ARROW_UP] * 4, ARROW_DOWN)
        shown = self.browser.js("return document.querySelector('article.shown').view.pinned.index")
        self.assertEqual(order[2], shown)

    def test_a_pinned_segment_says_what_keeps_it(self):
        event = self.job.device["peak_event"]
        self.browser.js("document.querySelector('article.shown').view.look(arguments[0])", event)
        self.browser.frame()
        segment = max(self.job.alive(event, "segments"), key=lambda i: self.job.segments[i]["bytes"])
        one = self.job.segments[segment]
        x, y = self.browser.js(
            "const chart = [...charts].find(chart => chart.canvas.closest('article.shown .segments'));"
            "return [chart.x(arguments[0] + 0.5), chart.y(arguments[1])]",
            event, one["position"] + one["bytes"] / 2)
        self.browser.click_at("article.shown .segments canvas", x, y)
        held = [i for i in self.job.alive(self.cursor())
                if one["position"] <= self.job.blocks[i]["position"] < one["position"] + one["bytes"]]
        text = self.text("article.shown .pinned")
        self.assertIn(f"Pinned: segment of {human(one['bytes'])}", text)
        self.assertIn(f"{len(held)} block", text)

    # ---- events ---------------------------------------------------------------------------------------

    def test_arrow_keys_walk_the_events_and_the_segments_follow(self):
        rows = "article.shown .event-rows"
        self.browser.press(rows, HOME)
        self.assertEqual(0, self.cursor())
        # Behind what was there already.
        self.browser.js("document.querySelector('article.shown').view.look(0)")
        seen = []
        self.browser.press(rows, END)
        for _ in range(4):
            selected = self.browser.js(
                "const row = document.querySelector('article.shown .event-rows [aria-selected=true]');"
                "return [...row.children].map(cell => cell.textContent)")
            event = self.cursor()
            self.assertEqual(f"{event:,}", selected[0])
            seen.append((event, selected[1]))
            shown = self.browser.js("return {...document.querySelector('article.shown .map .readout').dataset}")
            reserved = sum(self.job.segments[i]["bytes"] for i in self.job.alive(event, "segments"))
            active = sum(self.job.blocks[i]["bytes"] for i in self.job.alive(event))
            self.assertEqual({"event": str(event), "reserved": str(reserved), "active": str(active)}, shown)
            self.browser.press(rows, ARROW_UP)
        self.assertEqual(sorted(seen, reverse=True, key=lambda one: one[0]), seen)
        ends = {one["end"] for one in self.job.blocks}
        self.assertTrue(any(event in ends and kind == "free" for event, kind in seen), seen)

    def test_the_list_has_every_event_and_can_be_searched(self):
        last = self.job.history["events"]
        every = sum(1 + (one["end"] < last) for one in self.job.blocks + self.job.segments)
        self.assertEqual(f"{every:,} events", self.text("article.shown .events .readout"))
        op = self.job.history["sites"][self.job.blocks[-1]["site"]]["op"]
        self.browser.js(
            "const search = document.querySelector('article.shown .events input'); search.value = arguments[0];"
            "search.dispatchEvent(new Event('input'))", op)
        self.browser.frame()
        listed = self.browser.js(
            "return [...document.querySelectorAll('article.shown .event-rows [role=option]')].map(row => row.textContent)")
        self.assertTrue(listed)
        for row in listed:
            self.assertIn(op, row)

    def test_only_the_rows_that_are_seen_are_made(self):
        rows = self.browser.js("return document.querySelectorAll('article.shown .event-rows [role=option]').length")
        self.assertLess(rows, 60)
        self.assertGreater(rows, 5)

    # ---- segments over time, minimap ------------------------------------------------------------------

    def test_the_segments_over_time_are_those_of_the_record(self):
        event = self.job.device["peak_event"]
        self.browser.js("document.querySelector('article.shown').view.look(arguments[0])", event)
        self.browser.frame()
        alive = self.job.alive(event, "segments")
        reserved = sum(self.job.segments[i]["bytes"] for i in alive)
        self.assertIn(f"{len(alive)} segments of {human(reserved)} reserved",
                      self.text("article.shown .segments .readout"))

    def test_the_minimap_chooses_what_the_charts_show(self):
        def view():
            return self.browser.js(
                "const view = document.querySelector('article.shown').view; return [view.start, view.end]")
        box = "article.shown .minimap"
        events = self.job.history["events"]
        width = self.browser.js("return document.querySelector(arguments[0]).clientWidth", box)
        self.browser.drag(box, width / 4, 20, width / 2, 20)
        start, end = view()
        self.assertAlmostEqual(events / 4, start, delta=events / 100)
        self.assertAlmostEqual(events / 2, end, delta=events / 100)
        self.browser.drag(box, 3 * width / 8, 20, 5 * width / 8, 20)
        self.assertAlmostEqual(start + events / 4, view()[0], delta=events / 100)
        self.browser.press(box + " .edge:last-of-type", *[ARROW_LEFT] * 3)
        self.assertAlmostEqual(end + events / 4 - 3 * events / 100, view()[1], delta=events / 100)
        self.assertEqual(str(round(view()[1])), self.browser.js(
            "return document.querySelector('article.shown .minimap .edge:last-of-type').getAttribute('aria-valuenow')"))

    def test_screenshots(self):
        for width in (1280, 390):
            for dark in (False, True):
                with Browser(width=width, dark=dark) as browser:
                    browser.open("file://" + self.page + "#finetune/recorded/3698")
                    browser.frame()
                    browser.press("article.shown .event-rows", ARROW_DOWN)
                    for part in (".lanes", ".icicle", ".blocks", ".pinned", ".segments", ".walk"):
                        name = f"views-{'dark' if dark else 'light'}-{width}-{part[1:]}.png"
                        browser.screenshot(os.path.join(OUTPUT, name), "article.shown " + part)
                    self.assertEqual([], browser.log())
                    wide = browser.js("return document.documentElement.scrollWidth")
                    self.assertLessEqual(wide, width, f"the page is wider than {width}")


if __name__ == "__main__":
    main()
