"""Decides whether a test runs, and runs it again for each fault of its sweep that no copy of the
process could bear."""
from __future__ import annotations

from typing import Any, List, Optional

import pytest
from _pytest.runner import runtestprotocol

from ohm._testing.faults import NEEDS_VIRTUAL_GPU
from ohm._testing.marks import asks_for_more
from ohm._testing.running import OwnRun, sweep_of, sweep_text


class OwnRuns:
    """Of the tests that `measuring` (measuring.py) measures."""

    def __init__(self, measuring: Any):
        self.measuring = measuring

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: Any) -> None:
        __tracebackhide__ = True
        running = self.measuring.running
        if running is None:
            return
        if running.error:
            pytest.fail(running.error, pytrace=False)
        if running.needs_gpu:
            pytest.skip(NEEDS_VIRTUAL_GPU)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: Any, nextitem: Any) -> Optional[bool]:
        if not _is_swept(item):
            return None
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
        self._run_for_faults(item, nextitem, reports)
        for report in reports:
            item.ihook.pytest_runtest_logreport(report=report)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True

    def _run_for_faults(self, item: Any, nextitem: Any, reports: List[Any]) -> None:
        running = self.measuring.running
        sweep = running.sweep if running is not None else None
        called = next((report for report in reports if report.when == "call"), None)
        if sweep is None or called is None or not called.passed or not sweep.uncopied:
            return
        figures = list(item.user_properties)
        for outcome in sweep.uncopied:
            self.measuring.own_run = OwnRun(sweep, outcome)
            item._initrequest()
            again = runtestprotocol(item, nextitem=nextitem, log=False)
            if again[0].failed:
                outcome.error = "the setup of the test failed"
            sweep.outcomes.append(outcome)
        self.measuring.own_run = None
        item.user_properties[:] = figures
        text = sweep_text(item, sweep)
        if text:
            called.outcome, called.longrepr = "failed", text


def _is_swept(item: Any) -> bool:
    if not asks_for_more(item):
        return False
    try:
        return sweep_of(item) is not None and hasattr(item, "_initrequest")
    except pytest.UsageError:
        return False  # the setup says so
