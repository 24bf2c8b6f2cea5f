"""What tests ask for. Imported in every session of pytest, so it imports nothing."""
from __future__ import annotations

LIMITS_MARK = "gpu_memory"
MARKS = frozenset((LIMITS_MARK, "oom_at", "oom_sweep"))
FIXTURES = frozenset(("gpu_memory", "fail_allocation"))

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def asks_for_more(item: Any) -> bool:
    """Whether a mark or an option asks for more than figures."""
    options = item.config.option
    return options.ohm_sweep or options.ohm_oom_at is not None or _is_marked(item)


def is_to_be_measured(item: Any) -> bool:
    return (not FIXTURES.isdisjoint(getattr(item, "fixturenames", ()))) or asks_for_more(item)


def _is_marked(item: Any) -> bool:
    """As item.iter_markers() tells it, for a thousand tests."""
    for mark in item.own_markers:
        if mark.name in MARKS:
            return True
    parent = item.parent
    if parent is None:
        return False
    # Many tests share a module or a class.
    known = getattr(parent, "_ohm_is_marked", None)
    if known is None:
        known = parent._ohm_is_marked = _is_marked(parent)
    return known
