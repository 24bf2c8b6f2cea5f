"""Judges the figures of a test by its limits and its baseline, and says what holds the memory.

Imported once there is something to judge.
"""
from __future__ import annotations

import os
import sys
import textwrap
from typing import Any, List, Optional

import pytest

import ohm._testing as testing
from ohm._bytes import human_bytes
from ohm._testing import limits, table
from ohm._testing.explained import Explained, explain, holders
from ohm._testing.fixtures import holders_of, live_allocations
from ohm._testing.meter import Figures


class Verdicts:
    """Of the tests that `measuring` (measuring.py) measures."""

    def __init__(self, measuring: Any):
        self.config = measuring.config
        self.baseline = measuring.baseline
        self.history = measuring.history
        self.unknown = measuring.unknown

    def judge_call(self, running: Any, figures: Figures) -> None:
        __tracebackhide__ = True
        bad = running.unmet()
        if bad:
            pytest.fail(bad, pytrace=False)
        wanted = running.limits or limits.Limits()
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

    def judge_leak(self, running: Any, left: int) -> None:
        __tracebackhide__ = True
        lines = limits.broken(running.limits or limits.Limits(), "leak", left)
        lines += self._increases(running, ("leaked_bytes",))
        if lines and running.figures is not None:
            explained = self._explained(running)
            if explained is not None:
                explained.at_end = holders(holders_of(live_allocations(self.history.snapshot())))
            text = self._text(lines, running.figures, explained, is_at_end=True)
            pytest.fail(text, pytrace=False)

    def _increases(self, running: Any, names: "tuple[str, ...]") -> List[str]:
        if self.baseline is None or not self.config.option.ohm_fail_on_increase:
            return []
        figures = table.properties_of(running.item)
        return self.baseline.increases(running.item.nodeid, figures, names)

    def _refused(self, running: Any, has_limits: bool) -> bool:
        """The figures rest on values that nobody computed, and something is to be judged by them."""
        has_baseline = (self.baseline is not None and self.config.option.ohm_fail_on_increase
                        and running.item.nodeid in self.baseline.rows)
        return (has_limits or has_baseline) and self.unknown.are_refused()

    # ---- what is said ----

    def explain_failure(self, running: Any, figures: Figures, error: BaseException) -> None:
        """Kept for the report of a test that fails by itself."""
        lines: List[str] = []
        if figures.oom_errors and _is_out_of_memory(error):
            lines = ["the test ran out of memory"]
        elif not self.unknown.lines():
            return
        explained = self._explained(running) if lines else None
        running.explanation = self._text(lines, figures, explained)

    def _explained(self, running: Any, asks_for_growth: bool = False) -> Optional[Explained]:
        figures = running.figures
        path = self.history.write(running.item.nodeid, figures.snapshot if figures else "")
        return explain(path, asks_for_growth) if path else None

    def _text(self, lines: List[str], figures: Figures, explained: Optional[Explained],
              is_at_end: bool = False) -> str:
        gpu = os.environ.get(testing.GPU_VARIABLE)
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
