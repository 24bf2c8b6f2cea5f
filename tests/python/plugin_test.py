#!/usr/bin/env python3
"""The pytest plugin with a stock wheel of PyTorch: limits, figures, baselines, values.

    plugin_test.py PRELOAD [unittest's arguments]
"""
import json
import os
import signal
import subprocess
import sys
import unittest

from sessions import GPU, Folder

PRELOAD = sys.argv.pop(1)

FIGURES = '''
import subprocess, sys, unittest
import pytest, torch

MiB = 1 << 20

def allocate(size):
    return torch.zeros(size, dtype=torch.uint8, device="cuda")

@pytest.fixture(scope="module")
def shared():
    extra = allocate(64 * MiB)
    yield allocate(32 * MiB)

@pytest.fixture
def own():
    return allocate(4 * MiB)

def test_nothing(): pass

def test_first(): allocate(2 * MiB)

@pytest.mark.parametrize("count", [1, 3])
def test_each(count, own): allocate(count * MiB)

class TestClass:
    def test_method(self, shared): allocate(5 * MiB)

class TestOfUnittest(unittest.TestCase):
    def setUp(self): self.kept = allocate(6 * MiB)
    def test_case(self): allocate(1 * MiB)

def test_shared(shared): allocate(7 * MiB)

kept = []

def test_keeps(): kept.append(allocate(8 * MiB))

def test_after_it(): allocate(9 * MiB)

def test_resets():
    allocate(10 * MiB)
    torch.cuda.reset_peak_memory_stats()
    allocate(1 * MiB)

def test_subprocess():
    program = "import torch; torch.zeros(12 << 20, dtype=torch.uint8, device='cuda')"
    subprocess.run([sys.executable, "-c", program], check=True)
'''

MiB = 1 << 20
PEAKS = {"test_first": (2 * MiB, 0), "test_each[1]": (5 * MiB, 0), "test_each[3]": (7 * MiB, 0),
         "test_method": (5 * MiB, 0), "test_case": (7 * MiB, 0), "test_shared": (7 * MiB, 0),
         "test_keeps": (8 * MiB, 8 * MiB), "test_after_it": (9 * MiB, 0),
         "test_resets": (10 * MiB, 0), "test_subprocess": (12 * MiB, 0)}


class Figures(unittest.TestCase):
    maxDiff = None

    def test_are_of_one_test_alone(self):
        folder = Folder(test_it=FIGURES)
        self.assertEqual(PEAKS, folder.run(*GPU).figures())
        with self.subTest("in another order, and few"):
            some = ("test_it.py::test_shared", "test_it.py::test_after_it",
                    "test_it.py::TestClass::test_method")
            figures = folder.run(*GPU, *some).figures()
            self.assertEqual({name: PEAKS[name] for name in figures}, figures)
            self.assertEqual(3, len(figures))

    def test_are_the_same_in_workers_of_xdist(self):
        session = Folder(test_it=FIGURES).run(*GPU, "-n", "2")
        self.assertEqual(0, session.status, session.output)
        self.assertEqual(PEAKS, session.figures())
        self.assertIn("GPU memory of 10 tests on l4-24g", session.output)

    def test_on_a_real_gpu_come_from_the_same_counters(self):
        session = Folder(test_it=FIGURES).run("--ohm-peaks", "-1", preload=PRELOAD)
        here = {name: row for name, row in PEAKS.items() if name != "test_subprocess"}
        self.assertEqual(here, session.figures())

    def test_of_a_rerun_are_those_of_its_last_run(self):
        session = Folder(test_it='''
import torch
runs = []
def test_it():
    runs.append(1)
    torch.zeros((1 if len(runs) == 2 else 4) << 20, dtype=torch.uint8, device="cuda")
    assert len(runs) == 2
''').run(*GPU, "--reruns", "1")
        self.assertEqual({"test_it": (MiB, 0)}, session.figures(), session.output)

    def test_cost_nothing_where_nobody_asks(self):
        session = Folder(test_it=FIGURES).run(preload=PRELOAD)
        self.assertEqual(({}, 0), (session.figures(), session.status))
        self.assertNotIn("GPU memory", session.output)


LIMITS = '''
import pytest, torch
def allocate(mib): return torch.zeros(mib << 20, dtype=torch.uint8, device="cuda")
kept = []

@pytest.mark.gpu_memory(peak="2 MiB", reserved="20 MiB", leak=0)
def test_within(): allocate(2)

@pytest.mark.gpu_memory(peak="2 MiB")
class TestClass:
    def test_over(self):
        first = allocate(1)
        second = allocate(2)
    @pytest.mark.gpu_memory(peak="4 MiB")
    def test_own_limit(self): allocate(3)

@pytest.mark.gpu_memory(leak=0)
def test_leak(): kept.append(allocate(1))

@pytest.mark.gpu_memory(leak=0)
def test_cycle_is_no_leak():
    cycle = [allocate(1)]
    cycle.append(cycle)

@pytest.mark.gpu_memory(growth_per_step=0)
def test_grows():
    model = torch.nn.Linear(64, 64).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for _ in range(8):
        losses.append(model(torch.ones(8, 64, device="cuda")).sum())
        losses[-1].backward()
        optimizer.step()

@pytest.mark.gpu_memory(growth_per_step=0)
def test_has_no_steps(): allocate(1)

@pytest.mark.xfail
@pytest.mark.gpu_memory(peak=1)
def test_expected(): allocate(1)

def test_runs_out():
    held = allocate(1)
    allocate(1 << 20)

@pytest.mark.gpu_memory(peek=1)
def test_unknown_limit(): pass

@pytest.mark.gpu_memory(peak="2 GB")
def test_unknown_size(): pass

def test_fixture(gpu_memory, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    held = allocate(3)
    allocate(4)
    assert (gpu_memory.current, gpu_memory.peak) == (3 << 20, 7 << 20)
    assert [(row.bytes, row.file) for row in gpu_memory.live_allocations()] == [(3 << 20, "test_it.py")]
    assert gpu_memory.snapshot()["device_traces"][0]
'''


class Limits(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.session = Folder(test_it=LIMITS).run(*GPU)

    def assert_said(self, *texts):
        for text in texts:
            self.assertIn(text, self.session.output)

    def test_decide(self):
        self.assertEqual(1, self.session.status)
        self.assertEqual({
            "test_within": "PASSED", "test_over": "FAILED", "test_own_limit": "PASSED",
            "test_leak": "PASSED", "test_cycle_is_no_leak": "PASSED", "test_grows": "FAILED",
            "test_has_no_steps": "FAILED", "test_expected": "XFAIL", "test_runs_out": "FAILED",
            "test_unknown_limit": "ERROR", "test_unknown_size": "ERROR", "test_fixture": "PASSED",
        }, self.session.outcomes, self.session.output)
        self.assertRegex(self.session.output, r"ERROR test_it.py::test_leak - ")

    def test_name_the_lines_and_the_next_command(self):
        self.assert_said("peak allocated is 3.00 MiB, 1.00 MiB over its limit of 2.00 MiB",
                         "3.00 MiB  input               2 × allocate       test_it.py:3",
                         "next: ohm report .pytest_cache/d/ohm/test_it.py-TestClass-test_over.pickle")

    def test_tell_what_is_left(self):
        self.assert_said("memory left after the test is 1.00 MiB", "alive after the test:")

    def test_tell_growth_or_why_there_is_none(self):
        self.assert_said("growth per step is 512 B, 512 B over its limit of 0 B",
                         'record_function("train_step") around each step')

    def test_explain_an_error_of_the_test_itself(self):
        self.assert_said("the test ran out of memory", "alive when memory ran out:")

    def test_reject_what_is_none(self):
        self.assert_said("gpu_memory has no limit 'peek'; there are peak, reserved, growth_per_step, leak",
                         "not '2 GB'")


BASELINE = '''
import torch
def test_a(): torch.zeros(%d << 20, dtype=torch.uint8, device="cuda")
def test_b(): torch.zeros(2 << 20, dtype=torch.uint8, device="cuda")
'''
FILE = ("--ohm-baseline", "memory.json")


class Baselines(unittest.TestCase):
    def test_fail_what_increases_until_they_are_updated(self):
        folder = Folder(test_it=BASELINE % 1)
        first = folder.run(*GPU, *FILE, "--ohm-update-baseline")
        self.assertEqual(0, first.status, first.output)
        written = folder.read("memory.json")
        self.assertEqual({"test_it.py::test_a", "test_it.py::test_b"}, set(json.loads(written)["tests"]))
        self.assertEqual(0, folder.run(*GPU, *FILE, "--ohm-fail-on-increase").status)

        folder.write("test_it.py", BASELINE % 3)
        shown = folder.run(*GPU, *FILE)
        self.assertEqual(0, shown.status)
        self.assertIn("test_a: peak allocated was 1.00 MiB, is 3.00 MiB", shown.output)
        failed = folder.run(*GPU, *FILE, "--ohm-fail-on-increase", "-n", "2")
        self.assertEqual({"test_a": "FAILED", "test_b": "PASSED"}, failed.outcomes, failed.output)
        self.assertIn("test_it.py:3", failed.output)
        self.assertEqual(written, folder.read("memory.json"))

        # Workers write the same file, and a part of the tests keeps the others.
        folder.write("test_it.py", BASELINE % 1)
        folder.run(*GPU, *FILE, "--ohm-update-baseline", "-k", "test_a", "-n", "2")
        self.assertEqual(written, folder.read("memory.json"))
        folder.write("test_it.py", (BASELINE % 1).replace("test_b", "test_c"))
        folder.run(*GPU, *FILE, "--ohm-update-baseline")
        self.assertEqual(["test_it.py::test_a", "test_it.py::test_c"],
                         list(json.loads(folder.read("memory.json"))["tests"]))
        other = folder.run("--ohm-gpu", "t4-16g", *FILE)
        self.assertEqual(4, other.status)
        self.assertIn("its figures are of", other.output)

    def test_of_two_sessions_at_once_are_both_kept(self):
        folder = Folder(test_a=BASELINE % 1, test_b=BASELINE % 2)
        both = [subprocess.Popen(
            [sys.executable, "-c", "import sys; from sessions import *; import sessions\n"
             "folder = Folder.__new__(Folder); folder.path = sys.argv[1]\n"
             "sys.exit(folder.run(*GPU, *sys.argv[2:]).status)", folder.path, *FILE,
             "--ohm-update-baseline", name], cwd=os.path.dirname(os.path.abspath(__file__)))
            for name in ("test_a.py", "test_b.py")]
        self.assertEqual([0, 0], [process.wait() for process in both])
        self.assertEqual(4, len(json.loads(folder.read("memory.json"))["tests"]))


VALUES = '''
import pytest, torch
@pytest.mark.gpu_memory(peak="1 GiB")
def test_selected():
    x = torch.randn(1000, device="cuda")
    torch.zeros(int((x @ x).item()), device="cuda")
'''


class Values(unittest.TestCase):
    def test_that_are_unknown_leave_a_limit_unjudged(self):
        folder = Folder(test_it=VALUES)
        refused = folder.run(*GPU)
        self.assertEqual({"test_selected": "FAILED"}, refused.outcomes, refused.output)
        self.assertIn("the figures of this test cannot be judged", refused.output)
        self.assertIn("at test_it.py:6 depends on values that were not computed", refused.output)
        self.assertIn("(depends on unknown values)", refused.output)
        self.assertEqual(0, folder.run(*GPU, "--ohm-allow-unknown-values").status)
        computed = folder.run(*GPU, "--ohm-values", "cpu")
        self.assertEqual(0, computed.status, computed.output)


class Sessions(unittest.TestCase):
    def test_end_as_those_of_pytest(self):
        folder = Folder(test_it="def test_a(): pass\ndef test_b(): assert 0\ndef test_c(): assert 0\n")
        self.assertEqual(1, folder.run(*GPU).status)
        self.assertIn("1 failed, 1 passed", folder.run(*GPU, "-x").output)
        self.assertIn(" 2 failed in ", folder.run(*GPU, "--lf").output)
        self.assertEqual(5, folder.run(*GPU, "-k", "nothing").status)
        folder.write("test_it.py", "def test_a(): raise KeyboardInterrupt\n")
        self.assertEqual(2, folder.run(*GPU).status)
        folder.write("test_it.py", "import os\ndef test_a(): os.kill(os.getpid(), 11)\n")
        self.assertEqual(-signal.SIGSEGV, folder.run(*GPU, "-p", "no:faulthandler").status)
        crashed = folder.run(*GPU, "-n", "1")
        self.assertEqual({"test_a": "FAILED"}, crashed.outcomes, crashed.output)

    def test_reject_wrong_options_before_anything_runs(self):
        folder = Folder(test_it="def test_a(): print('it ran')\n")
        for options, said in (
                (("--ohm-gpu", "no-such"), 'unknown profile "no-such"'),
                (("--ohm-values", "cpu"), "there is no virtual GPU"),
                ((*GPU, "--ohm-values", "some"), "invalid choice"),
                ((*GPU, "--ohm-peaks", "x"), "must be a whole number from -1"),
                ((*GPU, "--ohm-oom-at", "0"), "must be a whole number from 1"),
                ((*GPU, "--ohm-baseline", "none.json"), "--ohm-update-baseline writes it"),
                ((*GPU, "--ohm-baseline", "test_it.py"), "not JSON"),
                ((*GPU, "--ohm-baseline", "no/x.json", "--ohm-update-baseline"), "there is no folder")):
            with self.subTest(options=options):
                session = folder.run(*options)
                self.assertEqual(4, session.status, session.output)
                self.assertIn(said, session.output)
                self.assertNotIn("it ran", session.output)

    def test_fail_where_the_baseline_cannot_be_written(self):
        folder = Folder(test_it="import os\ndef test_a(): os.rmdir('figures')\n")
        os.mkdir(os.path.join(folder.path, "figures"))
        session = folder.run("--ohm-baseline", "figures/memory.json", "--ohm-update-baseline")
        self.assertEqual({"test_a": "PASSED"}, session.outcomes, session.output)
        self.assertEqual(1, session.status)
        self.assertIn("ohm: the baseline is not written: ", session.output)

    def test_started_by_a_program_say_how_to_start_it(self):
        folder = Folder(test_it="def test_a(): pass\n", program=(
            "import sys, pytest\n"
            "sys.exit(pytest.main(['-p', 'ohm.pytest_plugin', '--ohm-gpu', 'l4-24g']))\n"))
        session = folder.run(command=("program.py",))
        self.assertEqual(4, session.status)
        self.assertIn("ohm exec --gpu PROFILE -- python PROGRAM", session.output)

    def test_need_no_pytorch(self):
        folder = Folder(test_it="def test_a(gpu_memory): assert gpu_memory.peak == 0\n",
                        torch="raise ImportError('there is none')\n")
        self.assertEqual(0, folder.run(*GPU).status)
        self.assertEqual(0, folder.run().status)


if __name__ == "__main__":
    unittest.main()
