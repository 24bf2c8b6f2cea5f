"""The state of the running test."""
from __future__ import annotations

import contextlib
from typing import Any, Optional

_NO_FAULTS = contextlib.nullcontext()


class Plain:
    """A test that asks for nothing but its figures; Running (running.py) is one that asks for more."""

    asks_for_nothing = True
    error = ""
    needs_gpu = False
    limits: Any = None
    sweep: Any = None

    def __init__(self, item: Any):
        self.item = item
        self.is_called = False
        self.figures: Any = None  # meter.Figures; None: it has not used a GPU
        self.explanation = ""

    def failing_allocations(self) -> Any:
        """The context of its call."""
        return _NO_FAULTS

    def end_copy(self, error: Optional[BaseException]) -> None:
        """Where this process is a copy for a sweep, it ends here."""

    def unmet(self) -> str:
        """What the test has to fail of, after its call passed; empty: nothing."""
        return ""
