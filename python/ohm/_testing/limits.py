"""Limits of @pytest.mark.gpu_memory: what they say, and which of them a test breaks."""
from __future__ import annotations

import dataclasses
from typing import Any, List, Optional

import pytest

from ohm._bytes import human_bytes, parse_bytes
from ohm._testing.marks import LIMITS_MARK

SAID = {"peak": "peak allocated", "reserved": "peak reserved",
        "growth_per_step": "growth per step", "leak": "memory left after the test"}


@dataclasses.dataclass(frozen=True)
class Limits:
    """Bytes; None: not limited."""

    peak: Optional[int] = None
    reserved: Optional[int] = None
    growth_per_step: Optional[int] = None
    leak: Optional[int] = None


def limits_of(item: Any) -> Limits:
    """Of the marks of a test, its class and its module: the closest one decides each limit.

    Raises pytest.UsageError for arguments that are none.
    """
    found: "dict[str, int]" = {}
    for mark in item.iter_markers(LIMITS_MARK):
        if mark.args:
            raise pytest.UsageError(f"{item.nodeid}: {LIMITS_MARK} takes named limits, as in peak=\"2 GiB\"")
        for name, size in mark.kwargs.items():
            if name not in SAID:
                raise pytest.UsageError(
                    f"{item.nodeid}: {LIMITS_MARK} has no limit {name!r}; there are {', '.join(SAID)}")
            try:
                found.setdefault(name, parse_bytes(size))
            except ValueError as error:
                raise pytest.UsageError(f"{item.nodeid}: {LIMITS_MARK}({name}=...): {error}") from None
    return Limits(**found)


def broken(limits: Limits, name: str, measured: int) -> List[str]:
    """A line, where this limit is broken."""
    limit = getattr(limits, name)
    if limit is None or measured <= limit:
        return []
    return [f"{SAID[name]} is {human_bytes(measured)}, {human_bytes(measured - limit)} over its "
            f"limit of {human_bytes(limit)}"]


def whole_number(item: Any, mark: Any, name: str, value: Any, least: int = 1) -> int:
    if type(value) is not int or value < least:
        raise pytest.UsageError(
            f"{item.nodeid}: {mark.name}: {name} is a whole number from {least}, not {value!r}")
    return value
