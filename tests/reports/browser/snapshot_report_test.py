"""Pages of memory snapshots, with what they show of pitfalls, and heat maps of sweeps.

Usage: snapshot_report_test.py OHM SOURCE_DIR OUTPUT_DIR. Screenshots stay in OUTPUT_DIR.
"""

import json
import os
import unittest

from support import OUTPUT, SOURCE, column, human, main, peak_of, run_ohm, written
from webdriver import Browser

LEAK = """
local nn = ohm.nn
local function train(device, keep)
  local net = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 8)):to(device)
  local kept, x, loss = {}, nil, nil
  for _ = 1, 12 do
    x = ohm.ones(128, 64, {device = device})
    loss = net(x):mean()
    if keep then kept[#kept + 1] = loss end
    ohm.step()
  end
end
return ohm.scenario {
  name = "leak", summary = "s", gpu = {profile = "tiny-64m"},
  limits = {"growth_bytes_per_step == 0"},
  problems = {kept = function(d) train(d, true) end},
  controls = {dropped = function(d) train(d, false) end},
}
"""


def sweep_of(file):
    """The result of a sweep of that file with two bad verdicts."""
    point = {"level": "request", "device": "cuda:0", "category": "activation", "stack": [],
             "passes": 12, "unhandled": 12, "file": file}
    failed = {"form": "transient", "what": "x", "call": 1, "op": "addmm", "file": file, "line": 8,
              "bytes": 512, "rerun": "ohm run"}
    return {"schema": "ohm.sweep/1", "exit_reason": "failed", "points": "all", "form": "transient",
            "level": "request", "host": False, "depth": 1, "scenarios": [{
                "name": "leak", "file": file, "error": None, "variants": [{
                    "name": "dropped", "role": "mitigation", "line": 18, "error": None,
                    "values": False, "calls": 24, "faults": 24, "benign": 0, "handled": 0,
                    "waived": 0, "verdicts": {"clean_error": 20, "leak": 3, "hang": 1},
                    "points": [dict(point, point="ohm:00000001", op="addmm", line=8, faults=12),
                               dict(point, point="ohm:00000002", op="relu", line=8, faults=12)],
                    "failed": [dict(failed, plan=f"ohm:00000001@{i}", verdict="leak")
                               for i in (1, 2, 3)] +
                              [dict(failed, plan="ohm:00000002@5", verdict="hang")]}]}]}


class SnapshotReportTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.script = written("leak.lua", LEAK)
        snapshot = os.path.join(OUTPUT, "leak.pickle")
        run_ohm("run", cls.script, "--size-only", "--case", "kept", "--snapshot", snapshot, "-q")
        cls.pages = {}
        for name, file in (("leak", snapshot), ("finetune", os.path.join(
                SOURCE, "tests/golden/snapshots/finetune.pickle"))):
            page, data = (os.path.join(OUTPUT, name + end) for end in (".html", ".json"))
            run_ohm("report", file, "-o", page, "-o", data)
            with open(data, encoding="utf-8") as text:
                cls.pages[name] = page, json.load(text)["scenarios"][0]["variants"][0]
        cls.browser = Browser()
        cls.browser.__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.browser.__exit__()

    def tearDown(self):
        self.assertEqual([], [entry["message"] for entry in self.browser.log()])
        self.assertEqual([], self.browser.requests())

    def open(self, name):
        self.browser.open("about:blank")
        self.browser.open("file://" + self.pages[name][0])
        self.browser.js("open(document.querySelector('section.scenario'))")
        self.browser.frame()

    def test_a_page_names_what_the_snapshot_shows(self):
        self.open("leak")
        variant = self.pages["leak"][1]
        shown = self.browser.js(
            "return [...document.querySelectorAll('.finding[data-pitfall]')].map(one => [one.dataset.pitfall,"
            "[...one.querySelectorAll('tr[data-bytes]')].map(row => +row.dataset.bytes)])")
        expected = [[one["pitfall"], [line["bytes"] for line in one["evidence"]]]
                    for one in variant["findings"]]
        self.assertIn("growth per step", [one[0] for one in expected])
        self.assertEqual(expected, shown)

    def test_the_page_of_a_recorded_job_says_what_its_json_says(self):
        self.open("finetune")
        variant = self.pages["finetune"][1]
        self.assertEqual(human(peak_of(variant)), self.browser.js(
            "return document.querySelector('[data-peak]').textContent.trim()"))
        holders = [holder["bytes"] for holder in variant["devices"][0]["peak"]["holders"]]
        self.assertEqual(holders, self.browser.js(
            "return [...document.querySelectorAll('table.holders tr[data-bytes]')]"
            ".map(row => +row.dataset.bytes)"))
        self.assertEqual(sum(holders), peak_of(variant))
        self.assertEqual(max(column(variant["history"]["devices"][0]["allocated_high"])),
                         peak_of(variant))
        for dark in (False, True):
            with Browser(dark=dark) as browser:
                browser.open("file://" + self.pages["finetune"][0] + "#finetune/recorded")
                for part in ("section.scenario", "article.shown .lanes", "article.shown .blocks"):
                    name = f"finetune-{'dark' if dark else 'light'}-{part.split('.')[-1]}.png"
                    browser.screenshot(os.path.join(OUTPUT, name), part)

    def test_a_heat_map_has_the_numbers_of_the_sweep(self):
        result = os.path.join(OUTPUT, "run.json")
        run_ohm("run", self.script, "--history", "--report", "json=" + result, "-q")
        sweep = written("sweep.json", json.dumps(sweep_of(self.script)))
        page = os.path.join(OUTPUT, "sweep.html")
        run_ohm("report", result, "--sweep", sweep, "-o", page)
        self.browser.open("file://" + page)
        shown = self.browser.js(
            "const table = document.querySelector('table.heat[data-variant=dropped]');"
            "return [[...table.querySelectorAll('th.cell')].map(cell => cell.textContent.trim()),"
            "...[...table.querySelectorAll('tbody tr')].map(row => [row.dataset.point,"
            "...[...row.querySelectorAll('td.cell')].map(cell => +(cell.dataset.count || 0))])]")
        self.assertEqual([["good", "leak", "hang"], ["ohm:00000001", 9, 3, 0],
                          ["ohm:00000002", 11, 0, 1]], shown)
        for dark in (False, True):
            with Browser(dark=dark) as browser:
                browser.open("file://" + page)
                browser.screenshot(
                    os.path.join(OUTPUT, f"heat-{'dark' if dark else 'light'}.png"), "table.heat")

    def test_the_page_of_a_real_sweep_counts_every_failure(self):
        page, data = (os.path.join(OUTPUT, "real" + end) for end in (".html", ".json"))
        run_ohm("sweep", self.script, "--role", "control", "--points", "unique",
                "--report", "json=" + data, "--report", "html=" + page)
        with open(data, encoding="utf-8") as file:
            variant = json.load(file)["scenarios"][0]["variants"][0]
        self.assertGreater(variant["faults"], 0)
        self.browser.open("file://" + page)
        shown = self.browser.js(
            "return Object.fromEntries([...document.querySelectorAll('table.heat tbody tr')].map("
            "row => [row.dataset.point, [...row.querySelectorAll('td.cell')].reduce("
            "(sum, cell) => sum + +(cell.dataset.count || 0), 0)]))")
        self.assertEqual({point["point"]: point["faults"] for point in variant["points"]
                          if point["faults"]}, shown)


if __name__ == "__main__":
    main()
