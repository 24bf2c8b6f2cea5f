"""The test that is running: what its marks and the options ask for."""
from __future__ import annotations

import contextlib
import shlex
import sys
from typing import Any, Iterator, Optional

import pytest

from ohm._testing import limits, virtual_gpu
from ohm._testing.copies import SECONDS_OF_A_COPY, Outcome, Sweep
from ohm._testing.faults import Fault, Requests
from ohm._testing.plain import Plain

POINTS = ("unique", "all")
MOST_POINTS = 200


class OwnRun:
    """A run of a test for one fault of its sweep, where no copy could be made."""

    def __init__(self, sweep: Sweep, outcome: Outcome):
        self.sweep = sweep
        self.outcome = outcome
        self.fault = Fault(outcome.request)

    def judge(self, error: Optional[BaseException]) -> None:
        if self.fault.failed:
            self.sweep.judge(self.outcome, error)
        else:
            self.outcome.verdict, self.outcome.error = "not_reached", self.fault.why_unused()


class Running(Plain):
    """Marks that cannot be read are an `error`; `needs_gpu`: it is to be skipped."""

    asks_for_nothing = False

    def __init__(self, item: Any, requests: Requests, own_run: Optional[OwnRun] = None):
        super().__init__(item)
        self.limits = limits.Limits()
        self.fault: Optional[Fault] = None
        self.sweep: Optional[Sweep] = None
        self.own_run = own_run
        self._requests = requests
        try:
            self._read_marks()
        except pytest.UsageError as error:
            self.error = str(error)

    def _read_marks(self) -> None:
        self.limits = limits.limits_of(self.item)
        if self.own_run is not None:
            self.fault = self.own_run.fault
            return
        self.fault = _fault_of(self.item)
        asks = None if self.fault is not None else sweep_of(self.item)
        self.needs_gpu = (self.fault or asks) is not None and not virtual_gpu.is_here()
        if asks is not None and not self.needs_gpu:
            self.sweep = Sweep(*asks)

    @contextlib.contextmanager
    def failing_allocations(self) -> Iterator[None]:
        decider = self.fault or self.sweep
        if decider is None:
            yield
            return
        with contextlib.ExitStack() as stack:
            stack.enter_context(_one_thread())
            stack.enter_context(self._requests.deciding(decider))
            yield

    def end_copy(self, error: Optional[BaseException]) -> None:
        if self.sweep is not None:
            self.sweep.end_copy(error)
        elif self.own_run is not None:
            self.own_run.judge(error)

    def unmet(self) -> str:
        if self.fault is not None:
            return self.fault.why_unused()
        return "" if self.sweep is None else sweep_text(self.item, self.sweep)


def sweep_text(item: Any, sweep: Sweep) -> str:
    """What is wrong with it; empty: nothing."""
    bad = sweep.bad()
    if not bad:
        return ""
    return "\n".join([sweep.summary(), *(f"  {outcome.line()}" for outcome in bad),
                      f"  next: pytest {shlex.quote(item.nodeid)} --ohm-oom-at {bad[0].request}"])


def _fault_of(item: Any) -> Optional[Fault]:
    """Of the option, or of the mark oom_at."""
    if item.config.option.ohm_oom_at is not None:
        return Fault(item.config.option.ohm_oom_at)
    mark = item.get_closest_marker("oom_at")
    if mark is None:
        return None
    if len(mark.args) != 1 or mark.kwargs:
        raise pytest.UsageError(f"{item.nodeid}: oom_at takes the number of an allocation")
    return Fault(limits.whole_number(item, mark, "the number of an allocation", mark.args[0]))


def sweep_of(item: Any) -> "Optional[tuple[str, int, float]]":
    mark = item.get_closest_marker("oom_sweep")
    if mark is None:
        return ("unique", MOST_POINTS, SECONDS_OF_A_COPY) if item.config.option.ohm_sweep else None
    wanted = {"points": "unique", "max": MOST_POINTS, "timeout": SECONDS_OF_A_COPY, **mark.kwargs}
    if mark.args or len(wanted) != 3:
        raise pytest.UsageError(f"{item.nodeid}: oom_sweep takes points=, max= and timeout=")
    if wanted["points"] not in POINTS:
        raise pytest.UsageError(f"{item.nodeid}: oom_sweep: points is one of {', '.join(POINTS)}, "
                                f"not {wanted['points']!r}")
    most = limits.whole_number(item, mark, "max", wanted["max"])
    seconds = wanted["timeout"]
    if type(seconds) not in (int, float) or not seconds > 0:
        raise pytest.UsageError(
            f"{item.nodeid}: oom_sweep: timeout is a positive number of seconds, not {seconds!r}")
    return str(wanted["points"]), most, float(seconds)


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """Backward runs in the thread that calls it, so that the process can be copied, and requests have
    the same numbers. Nothing on a real GPU."""
    requests: Any = virtual_gpu.record_module("ohm_requests")
    imports: Any = virtual_gpu.record_module("ohm_imports")
    imports.when_imported("torch", requests.keep_to_one_thread)
    try:
        yield
    finally:
        if "torch" in sys.modules:
            sys.modules["torch"]._C._set_multithreading_enabled(True)
