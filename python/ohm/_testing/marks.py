"""What tests ask for. Imported in every session of pytest, so it imports nothing."""
from __future__ import annotations

LIMITS_MARK = "gpu_memory"
MARKS = frozenset((LIMITS_MARK, "oom_at", "oom_sweep"))
FIXTURES = frozenset(("gpu_memory", "fail_allocation"))

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def has_wishes(item: Any) -> bool:
    """Whether a mark or an option asks for more than figures."""
    options = item.config.option
    return (options.ohm_sweep or options.ohm_oom_at is not None
            or any(mark.name in MARKS for mark in item.iter_markers()))


def is_to_be_measured(item: Any) -> bool:
    return (not FIXTURES.isdisjoint(getattr(item, "fixturenames", ()))) or has_wishes(item)
