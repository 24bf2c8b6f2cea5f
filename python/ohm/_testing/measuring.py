"""The hooks that measure each test and judge it."""
from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import textwrap
from typing import Any, Dict, Generator, List, Optional

import pytest

from ohm._bytes import human_bytes
from ohm._testing import baseline, limits, table, virtual_gpu
from ohm._testing.children import Children
from ohm._testing.faults import Requests
from ohm._testing.fixtures import holders_of, live_allocations
from ohm._testing.history import Explained, History, explain, holders
from ohm._testing.marks import LIMITS_MARK, is_to_be_measured
from ohm._testing.meter import Figures, Meter
from ohm._testing.running import OwnRun, Running, error_of
from ohm._testing.unknown import UnknownValues

TITLE = "GPU memory"


class Measuring:
    """Of one process that runs tests. `is_for_all`: also tests that ask for nothing are measured."""

    def __init__(self, config: Any, is_for_all: bool, known: Optional[baseline.Baseline]):
        self.config = config
        self.is_for_all = is_for_all
        self.baseline = known
        self.meter = Meter()
        self.requests = Requests()
        self.history = History(lambda: _snapshot_folder(config))
        self.children = Children()
        self.unknown = UnknownValues(config.option.ohm_allow_unknown_values)
        self.running: Optional[Running] = None
        self.own_run: Optional[OwnRun] = None  # of one fault of a sweep (own_runs.py)
        self._left_by: Dict[Any, Dict[int, int]] = {}  # of fixtures of a wider scope

    def is_measured(self, item: Any) -> bool:
        return self.is_for_all or is_to_be_measured(item)

    # ---- the phases of a test ----

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item: Any) -> Generator[None, Any, Any]:
        self.running = None
        if not self.is_measured(item):
            return (yield)
        self.running = Running(item, self.requests, self.own_run)
        _forget_last_error()
        table.remove_properties(item)
        self.children.begin()
        self.unknown.begin()
        self.meter.begin()
        if virtual_gpu.is_here() or item.get_closest_marker(LIMITS_MARK):
            self.history.begin()
        return (yield)

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_call(self, item: Any) -> Generator[None, Any, Any]:
        running = self.running
        if running is None:
            return (yield)
        error: Optional[BaseException] = None
        try:
            with running.failing_allocations():
                try:
                    result = yield
                    error = error_of(item)
                except BaseException as raised:
                    error = raised
                    raise
                finally:
                    running.end_copy(error)
        finally:
            figures = self._measure(running)
            if error is not None:
                self._explain_failure(running, figures, error)
        if error is None:
            self._judge_call(running, figures)
        return result

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item: Any) -> Generator[None, Any, Any]:
        running = self.running
        if running is None:
            return (yield)
        result = yield
        figures = running.figures
        if self.meter.current_bytes() > 0:
            _let_go(item)
        left = self.meter.left_bytes()
        if figures is not None and (figures.uses_gpu() or left):
            figures.leaked_bytes = left
            table.set_property(item, "leaked_bytes", left)
            self._judge_leak(running, left)
        self.history.end()
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: Any, call: Any) -> Generator[None, Any, Any]:
        report = yield
        running = self.running
        if running is not None and report.failed and running.explanation:
            report.sections.append((TITLE, running.explanation))
            running.explanation = ""
        return report

    # Note [The figure of one test], meter.py.
    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any, request: Any) -> Generator[None, Any, Any]:
        if self.running is None or fixturedef.scope == "function":
            return (yield)
        left: Dict[int, int] = {}
        with self.meter.leaving_out(left):
            result = yield
        self._left_by[fixturedef] = left
        return result

    def pytest_fixture_post_finalizer(self, fixturedef: Any) -> None:
        left = self._left_by.pop(fixturedef, None)
        if left:
            self.meter.forget(left)

    def pytest_sessionfinish(self) -> None:
        self.children.end()

    # ---- figures ----

    def _measure(self, running: Running) -> Figures:
        figures = self.meter.figures()
        for child in self.children.new():
            for device in child.get("devices", []):
                if device["peak_allocated_bytes"] > figures.peak_allocated_bytes:
                    figures.peak_allocated_bytes = device["peak_allocated_bytes"]
                    figures.snapshot = child["snapshot"]
                figures.peak_reserved_bytes = max(figures.peak_reserved_bytes,
                                                  device["peak_reserved_bytes"])
                figures.oom_errors += device.get("num_ooms", 0)
            self.unknown.add(child.get("unknown_values", []))
        running.figures = figures
        if figures.uses_gpu():
            for name in ("peak_allocated_bytes", "peak_reserved_bytes", "before_bytes"):
                table.set_property(running.item, name, getattr(figures, name))
            lines = self.unknown.lines()
            if lines:
                table.set_property(running.item, "unknown_values", "; ".join(lines))
        return figures

    # ---- verdicts ----

    def _judge_call(self, running: Running, figures: Figures) -> None:
        __tracebackhide__ = True
        bad = running.unmet()
        if bad:
            pytest.fail(bad, pytrace=False)
        if running.asks_for_nothing and self.baseline is None:
            return
        wanted = running.limits
        explained = None
        if wanted.growth_per_step is not None and figures.uses_gpu():
            explained = self._explained(running, True)
        lines = (limits.broken(wanted, "peak", figures.peak_allocated_bytes)
                 + limits.broken(wanted, "reserved", figures.peak_reserved_bytes))
        if wanted.growth_per_step is not None:
            lines += _growth_lines(wanted, explained)
        lines += self._increases(running, ("peak_allocated_bytes", "peak_reserved_bytes"))
        unknown = self._refused(running, wanted != limits.Limits())
        if not lines and not unknown:
            return
        if explained is None:
            explained = self._explained(running)
        text = self._text(lines or ["the figures of this test cannot be judged"], figures, explained)
        pytest.fail(text, pytrace=False)

    def _judge_leak(self, running: Running, left: int) -> None:
        __tracebackhide__ = True
        lines = limits.broken(running.limits, "leak", left)
        lines += self._increases(running, ("leaked_bytes",))
        if lines and running.figures is not None:
            explained = self._explained(running)
            if explained is not None:
                explained.at_end = holders(holders_of(live_allocations(self.history.snapshot())))
            text = self._text(lines, running.figures, explained, is_at_end=True)
            pytest.fail(text, pytrace=False)

    def _increases(self, running: Running, names: "tuple[str, ...]") -> List[str]:
        if self.baseline is None or not self.config.option.ohm_fail_on_increase:
            return []
        figures = table.properties_of(running.item)
        return self.baseline.increases(running.item.nodeid, figures, names)

    def _refused(self, running: Running, has_limits: bool) -> bool:
        """The figures rest on values that nobody computed, and something is to be judged by them."""
        has_baseline = (self.baseline is not None and self.config.option.ohm_fail_on_increase
                        and running.item.nodeid in self.baseline.rows)
        return (has_limits or has_baseline) and self.unknown.are_refused()

    # ---- what is said ----

    def _explain_failure(self, running: Running, figures: Figures, error: BaseException) -> None:
        """Kept for the report of a test that fails by itself."""
        lines: List[str] = []
        if figures.oom_errors and _is_out_of_memory(error):
            lines = ["the test ran out of memory"]
        elif not self.unknown.lines():
            return
        explained = self._explained(running) if lines else None
        running.explanation = self._text(lines, figures, explained)

    def _explained(self, running: Running, asks_for_growth: bool = False) -> Optional[Explained]:
        figures = running.figures
        path = self.history.write(running.item.nodeid, figures.snapshot if figures else "")
        return explain(path, asks_for_growth) if path else None

    def _text(self, lines: List[str], figures: Figures, explained: Optional[Explained],
              is_at_end: bool = False) -> str:
        gpu = os.environ.get(virtual_gpu.GPU_VARIABLE)
        rows = [f"{line}" for line in lines]
        rows.append(f"  peak {human_bytes(figures.peak_allocated_bytes)} allocated, "
                    f"{human_bytes(figures.peak_reserved_bytes)} reserved"
                    + (f", on {gpu}" if gpu else "")
                    + (f"; {human_bytes(figures.before_bytes)} alive before the test, not counted"
                       if figures.before_bytes else ""))
        rows += self.unknown.text()
        if explained is not None:
            rows += _explained_rows(explained, figures, is_at_end)
        return "\n".join(rows)


def _explained_rows(explained: Explained, figures: Figures, is_at_end: bool) -> List[str]:
    rows: List[str] = []
    if is_at_end and explained.at_end:
        rows += ["  alive after the test:", *(f"    {line}" for line in explained.at_end)]
    elif explained.at_oom and figures.oom_errors:
        rows += ["  alive when memory ran out:", *(f"    {line}" for line in explained.at_oom)]
    elif explained.at_peak:
        rows += ["  alive at the peak:", *(f"    {line}" for line in explained.at_peak)]
    for finding in explained.findings:
        finding = finding.replace(os.getcwd() + os.sep, "")
        rows += textwrap.wrap(finding, 98, initial_indent="  ", subsequent_indent="    ")
    return [*rows, f"  next: {explained.command}"]


def _growth_lines(wanted: limits.Limits, explained: Optional[Explained]) -> List[str]:
    if explained is None:
        return []  # no GPU was used
    if explained.growth_bytes is None:
        return [f"growth per step cannot be measured: {explained.growth_error}"]
    return limits.broken(wanted, "growth_per_step", explained.growth_bytes)


def _is_out_of_memory(error: BaseException) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(error, torch.cuda.OutOfMemoryError)


def _let_go(item: Any) -> None:
    """Of what pytest itself keeps of a test that is over: values of fixtures, and its error."""
    funcargs = getattr(item, "funcargs", None)
    if isinstance(funcargs, dict):
        funcargs.clear()
    _forget_last_error()


def _forget_last_error() -> None:
    """Of the test before: its frames keep tensors alive. Pytest does so only when the next call
    begins."""
    for name in ("last_exc", "last_type", "last_value", "last_traceback"):
        vars(sys).pop(name, None)


def _snapshot_folder(config: Any) -> str:
    """Snapshots of failed tests are kept in pytest's cache."""
    cache = getattr(config, "cache", None)
    if cache is not None:
        with contextlib.suppress(OSError):
            return str(cache.mkdir("ohm"))
    return tempfile.mkdtemp(prefix="ohm-snapshots-")
