"""Colours and marks, paper, names of any origin, and the report of the whole catalogue.

Usage: appearance_test.py OHM SOURCE_DIR OUTPUT_DIR. Screenshots stay in OUTPUT_DIR.
"""

import base64
import glob
import itertools
import json
import os
import pickle
import re
import unittest
import zlib

from support import OUTPUT, SOURCE, main, run_ohm
from webdriver import Browser

CATEGORIES = ["parameter", "gradient", "optimizer_state", "activation", "input", "workspace", "other"]
ROLES = ["problem", "mitigation", "partial", "non_fix", "control", "check"]

# What a person without the middle cones sees of linear red, green and blue: Machado, Oliveira and
# Fernandes, 2009.
DEUTERANOPIA = ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413),
                (-0.011820, 0.042940, 0.968881))
# Of CIE Lab: a difference of 2.3 can just be seen side by side.
LEAST_DIFFERENCE = 20

NAMES = ["<img src=x onerror=alert(1)>", "\"><script>alert(2)</script>", "a\u202egpj.py", "\x1b[2J",
         "</script><b>x</b>", "</noscript><i>y</i>", "n" * 4000]


def linear(text):
    parts = [int(text[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]


def seen(colour):
    return [min(1, max(0, sum(k * c for k, c in zip(row, colour)))) for row in DEUTERANOPIA]


def lab(colour):
    r, g, b = colour
    x, y, z = ((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.95047, 0.2126 * r + 0.7152 * g + 0.0722 * b,
               (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.08883)
    fx, fy, fz = (t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in (x, y, z))
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


def difference(one, other):
    return sum((a - b) ** 2 for a, b in zip(one, other)) ** 0.5


def pages_of(pdf):
    return len(re.findall(rb"/Type\s*/Page\b", pdf))


def data_of(page):
    """What the scripts of a page read, decoded by another program."""
    with open(page, encoding="utf-8") as file:
        found = re.findall(r'class="data">([^<]*)</script>', file.read())
    for text in found:
        yield json.loads(zlib.decompress(base64.b64decode(text)))


def hostile_snapshot(path):
    """Blocks whose stacks have each of NAMES as a file and as a function, and one that is 3000 deep."""
    trace, blocks = [], []
    for i, name in enumerate(NAMES + ["deep.py"]):
        depth = 3000 if name == "deep.py" else 2
        frames = [{"filename": name, "name": name, "line": 7}] + [
            {"filename": "/home/me/train.py", "name": f"f{level}", "line": level} for level in range(1, depth)]
        event = {"action": "alloc", "addr": (1 << 30) + i * 4096, "size": 4096, "stream": 0,
                 "time_us": i + 2, "frames": frames}
        trace.append(event)
        blocks.append({"address": event["addr"], "size": 4096, "requested_size": 4096,
                       "state": "active_allocated", "frames": frames})
    trace.insert(0, {"action": "segment_alloc", "addr": 1 << 30, "size": 2 << 20, "stream": 0, "time_us": 1,
                     "frames": []})
    blocks.append({"address": (1 << 30) + len(NAMES) * 4096 + 4096, "requested_size": 0, "frames": [],
                   "size": (2 << 20) - len(NAMES) * 4096 - 4096, "state": "inactive"})
    segment = {"device": 0, "address": 1 << 30, "total_size": 2 << 20, "stream": 0, "segment_type": "small",
               "segment_pool_id": (0, 0), "is_expandable": False, "frames": [], "blocks": blocks,
               "allocated_size": 4096 * len(trace), "active_size": 4096 * len(trace),
               "requested_size": 4096 * len(trace)}
    with open(path, "wb") as file:
        pickle.dump({"segments": [segment], "device_traces": [trace]}, file)


class AppearanceTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.job = os.path.join(OUTPUT, "job.html")
        run_ohm("report", "tests/golden/snapshots/finetune.pickle", "-o", cls.job)
        cls.scenario = os.path.join(OUTPUT, "leak.html")
        run_ohm("run", "scenarios/leaked_loss_graph.lua", "--report", "html=" + cls.scenario, "-q")

    def colours(self, browser, names):
        return {name: browser.js(
            "return getComputedStyle(document.documentElement).getPropertyValue('--' + arguments[0]).trim()", name)
            for name in names}

    def test_colours_are_told_apart_under_deuteranopia(self):
        for dark in (False, True):
            with Browser(dark=dark) as browser:
                browser.open("file://" + self.job)
                for names in (CATEGORIES, ROLES):
                    colours = self.colours(browser, names)
                    for one, other in itertools.combinations(names, 2):
                        apart = difference(lab(seen(linear(colours[one]))), lab(seen(linear(colours[other]))))
                        self.assertGreater(apart, LEAST_DIFFERENCE, (dark, one, other))

    def test_categories_have_marks_of_their_own(self):
        with Browser() as browser:
            browser.open("file://" + self.job)
            images = {name: browser.js(
                "const key = document.createElement('i'); key.className = 'c-' + arguments[0];"
                "document.body.append(key); const image = getComputedStyle(key).backgroundImage; key.remove();"
                "return image", name) for name in CATEGORIES}
            patterns = browser.js(
                "return arguments[0].filter(name => fillOf(name) instanceof CanvasPattern)", CATEGORIES)
        marked = [name for name in CATEGORIES if images[name] != "none"]
        self.assertEqual(["gradient", "optimizer_state", "input", "workspace", "other"], marked)
        self.assertEqual(len(marked), len({images[name] for name in marked}))
        self.assertEqual(marked, patterns)

    def test_marks_are_drawn_in_the_charts(self):
        # What is one category is one colour without them.
        with Browser() as browser:
            browser.open("file://" + self.job + "#finetune/recorded")
            browser.frame()
            colours = browser.js(
                "const canvas = document.querySelector('article.shown .blocks canvas'), g = canvas.getContext('2d');"
                "const chart = [...charts].find(one => one.canvas === canvas), {blocks} = chart.device;"
                "const i = Array.from(blocks.bytes).indexOf(Math.max(...blocks.bytes.filter("
                "  (bytes, at) => CATEGORIES[blocks.category[at]] === 'other')));"
                "const {data} = g.getImageData(chart.x(blocks.begin[i]) + 20, chart.y(blocks.position[i] + blocks.bytes[i]) + 3,"
                "  40, 6), found = new Set();"
                "for (let at = 0; at < data.length; at += 4) found.add(data[at] << 16 | data[at + 1] << 8 | data[at + 2]);"
                "return found.size")
        self.assertGreater(colours, 1)

    def test_it_prints_on_six_pages_at_most_with_its_charts(self):
        for page in (self.job, self.scenario):
            for dark in (False, True):
                with Browser(dark=dark) as browser:
                    browser.open("file://" + page)
                    browser.js("open(document.querySelector('section.scenario'))")
                    browser.frame()
                    pdf = base64.b64decode(browser.cdp("Page.printToPDF", printBackground=True, paperWidth=8.27,
                                                       paperHeight=11.69)["data"])
                    self.assertEqual([], browser.log())
                    # On the screen it is as before.
                    self.assertFalse(browser.js("return document.documentElement.classList.contains('paper')"))
                name = f"{os.path.basename(page)[:-5]}-{'dark' if dark else 'light'}.pdf"
                with open(os.path.join(OUTPUT, name), "wb") as file:
                    file.write(pdf)
                self.assertLessEqual(pages_of(pdf), 6, name)
                self.assertGreaterEqual(pages_of(pdf), 2, name)
                self.assertGreaterEqual(len(re.findall(rb"/Subtype\s*/Image", pdf)), 4, name)

    def test_paper_can_be_looked_at(self):
        for page in (self.job, self.scenario):
            with Browser(width=716) as browser:
                browser.open("file://" + page)
                browser.js("open(document.querySelector('section.scenario'))")
                browser.frame()
                browser.js("paintForPaper(true)")
                browser.cdp("Emulation.setEmulatedMedia", media="print")
                browser.screenshot(os.path.join(OUTPUT, os.path.basename(page)[:-5] + "-paper.png"), whole=True)
                self.assertTrue(browser.js(
                    "return [...document.querySelectorAll('article.shown .chart canvas')].every("
                    "one => one.offsetWidth > 600)"))

    def test_names_of_any_origin_are_text(self):
        snapshot, page = (os.path.join(OUTPUT, "hostile" + end) for end in (".pickle", ".html"))
        hostile_snapshot(snapshot)
        run_ohm("report", snapshot, "-o", page)
        with Browser() as browser:
            browser.open("file://" + page + "#hostile/recorded")
            browser.frame()
            texts = []
            for i in range(len(NAMES) + 1):
                browser.js(
                    "const view = document.querySelector('article.shown').view;"
                    "const chart = [...charts].find(one => one.canvas.closest('article.shown .blocks'));"
                    "view.pinned = {kind: 'block', device: chart.device, index: arguments[0]}; view.look(arguments[0] + 2)", i)
                browser.frame()
                texts.append(browser.js("return document.querySelector('article.shown .pinned').textContent"))
            for by in ("stack", "module", "line"):
                browser.js(
                    "const box = document.querySelector('article.shown .icicle select'); box.value = arguments[0];"
                    "box.dispatchEvent(new Event('change'))", by)
                browser.frame()
                self.assertGreater(browser.js(
                    "return document.querySelectorAll('article.shown .icicle-rows [role=treeitem]').length"), 3, by)
            self.assertEqual([], browser.log())
            self.assertEqual([], browser.requests())
            self.assertEqual(0, browser.js("return document.querySelectorAll('img, section b > b, noscript i').length"))
            self.assertNotIn("\u202e", browser.js("return document.body.textContent"))
            self.assertLessEqual(browser.js("return document.documentElement.scrollWidth"), 1280)
        for name, text in zip(NAMES, texts):
            self.assertIn(name.replace("\u202e", "\\u202E").replace("\x1b", "\\x1B"), text)

    def test_the_report_of_the_catalogue_is_small_and_draws_what_is_looked_at(self):
        page = os.path.join(OUTPUT, "catalogue.html")
        data = os.path.join(OUTPUT, "catalogue.json")
        scenarios = sorted(os.path.relpath(path, SOURCE) for path in glob.glob(os.path.join(SOURCE, "scenarios/*.lua")))
        run_ohm("run", *scenarios, "--history", "--report", "html=" + page, "--report", "json=" + data, "-q")
        self.assertLess(os.path.getsize(page), 6_400_000)
        with open(data, encoding="utf-8") as file:
            results = json.load(file)["scenarios"]
        shown = list(data_of(page))
        self.assertEqual([[v["name"] for v in one["variants"]] for one in results],
                         [[v["name"] for v in one["variants"]] for one in shown])
        for result, one in zip(results, shown):
            for variant, drawn in zip(result["variants"], one["variants"]):
                self.assertEqual(variant["history"]["events"], drawn["history"]["events"])
        with Browser() as browser:
            browser.open("file://" + page)
            browser.frame()
            nodes, articles = browser.js(
                "return [document.getElementsByTagName('*').length, document.querySelectorAll('article.variant').length]")
            print(f"{os.path.getsize(page):,} bytes, {nodes:,} nodes")
            self.assertLess(nodes, 20_000)
            self.assertLess(articles, 6)
            browser.open("file://" + page + "#" + results[-1]["name"] + "/" + results[-1]["variants"][1]["name"])
            browser.frame()
            self.assertEqual(results[-1]["variants"][1]["name"], browser.js(
                "return document.querySelector('section.scenario:last-of-type article.shown').dataset.name"))
            self.assertEqual([], browser.log())


if __name__ == "__main__":
    main()
