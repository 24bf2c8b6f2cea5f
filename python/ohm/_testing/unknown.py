"""Values that no kernel has computed: what a test did that depends on them (docs/values.md)."""
from __future__ import annotations

import sys
from typing import Any, Dict, List

from ohm._testing.history import relative

MOST_LINES = 3
REMEDY = "--ohm-values cpu computes them; --ohm-allow-unknown-values judges the figures all the same"


class UnknownValues:
    """Of one test after the other."""

    def __init__(self, are_allowed: bool):
        self._are_allowed = are_allowed
        self._first = 0  # reads that were noted before the test
        self._of_children: List[Dict[str, Any]] = []

    def begin(self) -> None:
        self._of_children = []
        values = _values()
        self._first = values.reads_noted() if values is not None else 0

    def add(self, rows: List[Dict[str, Any]]) -> None:
        """What a process of the test has noted."""
        self._of_children += rows

    def are_refused(self) -> bool:
        return bool(self.lines()) and not self._are_allowed

    def lines(self) -> List[str]:
        """As ohm exec prints them."""
        rows = [*self._own(), *self._of_children]
        return [f"{row['kind']} at {relative(row['file'])}:{row['line']}" for row in rows]

    def text(self) -> List[str]:
        lines = self.lines()
        if not lines:
            return []
        shown = [f"  {line} depends on values that were not computed" for line in lines[:MOST_LINES]]
        more = [f"  and {len(lines) - MOST_LINES} more"] if len(lines) > MOST_LINES else []
        return [*shown, *more, f"  {REMEDY}"]

    def _own(self) -> List[Dict[str, Any]]:
        values = _values()
        if values is None or values.reads_noted() == self._first:
            return []
        return [row for row in values.unknown_reads() if row["order"] > self._first]


def _values() -> Any:
    """What follows values on a virtual GPU, once the program imports PyTorch."""
    return sys.modules.get("ohm_values")
