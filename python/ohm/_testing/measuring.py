"""The hooks that measure each test.

A test that neither uses the GPU nor asks for anything costs some look-ups: what judges others is
imported when the first of them comes.
"""
from __future__ import annotations

import contextlib
import sys
from typing import Any, Dict, Generator, Optional

import pytest

from ohm._testing import table, virtual_gpu
from ohm._testing.children import Children
from ohm._testing.history import History
from ohm._testing.marks import LIMITS_MARK, asks_for_more, is_to_be_measured
from ohm._testing.plain import Plain
from ohm._testing.unknown import UnknownValues

TITLE = "GPU memory"


class Measuring:
    """Of one process that runs tests. `is_for_all`: also tests that ask for nothing are measured.
    `known`: the baseline."""

    def __init__(self, config: Any, is_for_all: bool, known: Any):
        self.config = config
        self.is_for_all = is_for_all
        self.baseline = known
        self.history = History(lambda: _snapshot_folder(config))
        self.children = Children()
        self.unknown = UnknownValues(config.option.ohm_allow_unknown_values)
        self.running: Any = None
        self.own_run: Any = None  # of one fault of a sweep (own_runs.py)
        self._meter: Any = None
        self._requests: Any = None
        self._verdicts: Any = None
        self._left_by: Dict[Any, Dict[int, int]] = {}  # of fixtures of a wider scope

    # ---- parts that are imported when they are needed ----

    @property
    def meter(self) -> Any:
        if self._meter is None:
            from ohm._testing.meter import Meter

            self._meter = Meter()
        return self._meter

    @property
    def requests(self) -> Any:
        if self._requests is None:
            from ohm._testing.faults import Requests

            self._requests = Requests()
        return self._requests

    @property
    def verdicts(self) -> Any:
        if self._verdicts is None:
            from ohm._testing.verdicts import Verdicts

            self._verdicts = Verdicts(self)
        return self._verdicts

    # ---- the phases of a test ----

    def pytest_collection_finish(self, session: Any) -> None:
        if any(asks_for_more(item) for item in session.items):
            from ohm._testing.own_runs import OwnRuns

            self.config.pluginmanager.register(OwnRuns(self), "ohm-own-runs")

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item: Any) -> Generator[None, Any, Any]:
        self.running = None
        if self.is_for_all or is_to_be_measured(item):
            self._begin(item)
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
            running.is_called = True
            self._measure(running)
            if error is not None:
                self._explain_failure(running, error)
        if error is None and self._is_to_be_judged(running):
            self.verdicts.judge_call(running, _figures_of(running))
        return result

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item: Any) -> Generator[None, Any, Any]:
        running = self.running
        if running is None:
            return (yield)
        result = yield
        is_in_use = running.is_called and virtual_gpu.initialized_torch() is not None
        if running.figures is not None or is_in_use:
            self._measure_what_is_left(running)
        self.history.end()
        return result

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

    def _begin(self, item: Any) -> None:
        if self.own_run is None and not asks_for_more(item):
            self.running = Plain(item)
        else:
            from ohm._testing.running import Running

            self.running = Running(item, self.requests, self.own_run)
        if item.user_properties:
            table.remove_properties(item)
        self.children.begin()
        self.unknown.begin()
        if self._meter is not None or virtual_gpu.initialized_torch() is not None:
            _forget_last_error()
            self.meter.begin()
        if virtual_gpu.is_here() or item.get_closest_marker(LIMITS_MARK):
            self.history.begin()

    def _measure(self, running: Any) -> None:
        children = self.children.new()
        if not children and virtual_gpu.initialized_torch() is None:
            return
        figures = running.figures = self.meter.figures()
        for child in children:
            figures.add_child(child)
            self.unknown.add(child.get("unknown_values", []))
        if figures.uses_gpu():
            self._tell(running)

    def _tell(self, running: Any) -> None:
        """The summary, and JUnit."""
        for name in ("peak_allocated_bytes", "peak_reserved_bytes", "before_bytes"):
            table.set_property(running.item, name, getattr(running.figures, name))
        lines = self.unknown.lines()
        if lines:
            table.set_property(running.item, "unknown_values", "; ".join(lines))

    def _measure_what_is_left(self, running: Any) -> None:
        __tracebackhide__ = True
        if self.meter.current_bytes() > 0:
            _let_go(running.item)
        left = self.meter.left_bytes()
        figures = _figures_of(running)
        if left and not figures.uses_gpu():  # the teardown is the first to use it
            self._tell(running)
        if figures.uses_gpu() or left:
            figures.leaked_bytes = left
            table.set_property(running.item, "leaked_bytes", left)
            self.verdicts.judge_leak(running, left)

    def _is_to_be_judged(self, running: Any) -> bool:
        if running.asks_for_nothing and self.baseline is None:
            return False
        return not running.asks_for_nothing or running.figures is not None

    def _explain_failure(self, running: Any, error: BaseException) -> None:
        """In the report of a test that fails by itself, if the GPU has to do with it."""
        if running.figures is None:
            return
        self.verdicts.explain_failure(running, running.figures, error)
        if running.explanation and not self.config.pluginmanager.hasplugin("ohm-explaining"):
            self.config.pluginmanager.register(_Explaining(self), "ohm-explaining")


class _Explaining:
    """Adds explanations to reports, from the first one on."""

    def __init__(self, measuring: Measuring):
        self.measuring = measuring

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: Any, call: Any) -> Generator[None, Any, Any]:
        report = yield
        running = self.measuring.running
        if running is not None and report.failed and running.explanation:
            report.sections.append((TITLE, running.explanation))
            running.explanation = ""
        return report


def error_of(item: Any) -> Optional[BaseException]:
    """That unittest has kept to itself."""
    kept = getattr(item, "_excinfo", None)
    return kept[-1].value if kept else None


def _figures_of(running: Any) -> Any:
    """All of them 0 where it has not used a GPU."""
    if running.figures is None:
        from ohm._testing.meter import Figures

        running.figures = Figures()
    return running.figures


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
    import tempfile

    return tempfile.mkdtemp(prefix="ohm-snapshots-")
