#!/usr/bin/env python3
"""The pytest plugin with a stock wheel of PyTorch: allocations that fail.

    faults_test.py PRELOAD [unittest's arguments]
"""
import re
import sys
import unittest

from sessions import GPU, Folder

PRELOAD = sys.argv.pop(1)

# AdamW's state is incomplete after an allocation in its first step has failed.
SWEPT = '''
import threading
import pytest, torch

def steps(handles):
    model = torch.nn.Linear(64, 64).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(2):
        model(torch.ones(8, 64, device="cuda")).sum().backward()
        try:
            optimizer.step()
        except torch.OutOfMemoryError:
            if not handles: raise
            optimizer.step()

@pytest.mark.oom_sweep
def test_retries(): steps(handles=True)

@pytest.mark.oom_sweep(points="all", max=5)
def test_raises(): steps(handles=False)

@pytest.mark.oom_sweep
def test_crashes():
    import os
    try:
        torch.ones(4, device="cuda")
    except torch.OutOfMemoryError:
        os.abort()

@pytest.mark.oom_sweep
def test_asserts():
    try:
        x = torch.ones(4, device="cuda")
    except torch.OutOfMemoryError:
        x = None
    assert x is not None

@pytest.mark.oom_sweep(points="some")
def test_wrong_points(): pass

@pytest.mark.oom_sweep(timeout="long")
def test_wrong_timeout(): pass
'''

# With another thread the process cannot be copied. It waits: a busy one would slow down the test.
BESIDE_A_THREAD = '''
import threading, pytest
@pytest.fixture(autouse=True)
def thread():
    end = threading.Event()
    def work():
        while not end.wait(0.001): pass
    worker = threading.Thread(target=work)
    worker.start()
    yield
    end.set()
    worker.join()
'''

COUNTS = r"(?m)^(\d+) of (\d+) allocations failed: ([^\n]*)"


class Sweeps(unittest.TestCase):
    def test_find_what_a_failed_allocation_breaks(self):
        folder = Folder(test_it=SWEPT)
        session = folder.run(*GPU)
        self.assertEqual({"test_retries": "FAILED", "test_raises": "PASSED", "test_crashes": "FAILED",
                          "test_asserts": "FAILED", "test_wrong_points": "ERROR",
                          "test_wrong_timeout": "ERROR"}, session.outcomes, session.output)
        self.assertRegex(session.output, r"wrong_error +allocation \d+: 16\.00 KiB, test_it\.py:11\n"
                                         r" +KeyError: 'exp_avg', test_it\.py:14")
        self.assertIn("ended by SIGABRT", session.output)
        self.assertIn("AssertionError", session.output)
        self.assertIn("points is one of unique, all, not 'some'", session.output)
        self.assertIn("timeout is a positive number of seconds, not 'long'", session.output)
        again = re.search(r"next: pytest test_it.py::test_retries (--ohm-oom-at \d+)", session.output)
        repeated = folder.run(*GPU, "test_it.py::test_retries", *again[1].split())
        self.assertIn("KeyError: 'exp_avg'", repeated.output)

    def test_come_to_the_same_without_copies_and_in_workers(self):
        counts = re.findall(COUNTS, Folder(test_it=SWEPT).run(*GPU, "-k", "retries").output)
        self.assertEqual(1, len(set(counts)), counts)
        for options, files in ((("-n", "1"), {}), ((), {"conftest": BESIDE_A_THREAD})):
            with self.subTest(options=options):
                session = Folder(test_it=SWEPT, **files).run(*GPU, "-k", "retries", *options)
                self.assertEqual(counts, re.findall(COUNTS, session.output), session.output)

    def test_of_all_tests_are_an_option(self):
        session = Folder(test_it=SWEPT.replace("@pytest.mark.oom_sweep\n", "")).run(
            *GPU, "--ohm-sweep", "-k", "retries or crashes")
        self.assertEqual({"test_retries": "FAILED", "test_crashes": "FAILED"}, session.outcomes)


FAULTS = '''
import pytest, torch

@pytest.mark.oom_at(2)
def test_second():
    first = torch.ones(4, device="cuda")
    with pytest.raises(torch.OutOfMemoryError):
        torch.ones(4, device="cuda")
    torch.ones(4, device="cuda")

@pytest.mark.oom_at(9)
def test_never_made(): torch.ones(4, device="cuda")

def test_block(fail_allocation):
    torch.ones(4, device="cuda")
    with fail_allocation(nth=2, times=None, min_size="1 MiB") as fault:
        torch.ones(4, device="cuda")
        torch.ones(1 << 18, device="cuda")
        for _ in range(2):
            with pytest.raises(torch.OutOfMemoryError):
                torch.ones(1 << 19, device="cuda")
    assert fault.failed == [2 << 20] * 2
    torch.ones(1 << 19, device="cuda")

def test_block_without(fail_allocation):
    with fail_allocation(): pass

@pytest.mark.oom_at("x")
def test_wrong_number(): pass
'''


class Faults(unittest.TestCase):
    def test_hit_the_allocation_that_is_named(self):
        session = Folder(test_it=FAULTS).run(*GPU)
        self.assertEqual({"test_second": "PASSED", "test_never_made": "FAILED", "test_block": "PASSED",
                          "test_block_without": "FAILED", "test_wrong_number": "ERROR"},
                         session.outcomes, session.output)
        self.assertIn("no allocation has failed: there were 1, not 9", session.output)

    def test_need_a_virtual_gpu(self):
        session = Folder(test_it=FAULTS).run("-k", "second or test_block", preload=PRELOAD)
        self.assertEqual(0, session.status, session.output)
        self.assertIn("3 skipped", session.output)
        self.assertIn("add --ohm-gpu PROFILE", session.output)


if __name__ == "__main__":
    unittest.main()
