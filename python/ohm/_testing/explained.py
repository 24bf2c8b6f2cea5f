"""What the ohm command finds in the snapshot of a test."""
from __future__ import annotations

import dataclasses
import json
import shlex
from typing import Any, Dict, List, Optional

from ohm._bytes import human_bytes
from ohm._command import OhmError, run_json
from ohm._testing.history import relative

MOST_LINES = 6
NO_STEPS = ('no steps were found; put torch.profiler.record_function("train_step") around each step, of '
            "which three are needed")


@dataclasses.dataclass
class Explained:
    """Of a snapshot file: rows of text, and the command that shows more."""

    at_peak: List[str]
    at_oom: List[str]
    findings: List[str]
    command: str
    at_end: List[str] = dataclasses.field(default_factory=list)  # of what the test has allocated
    growth_bytes: Optional[int] = None  # of each step; None: no steps, or not asked for
    growth_error: str = ""


def explain(path: str, asks_for_growth: bool = False) -> Optional[Explained]:
    """None where the file cannot be read."""
    growth, why_none = _growth(path) if asks_for_growth else (None, "")
    try:
        result = run_json(["report", path, "--report", "json=-"])
        variant = result["scenarios"][0]["variants"][0]
    except (OhmError, json.JSONDecodeError, LookupError):
        return None
    devices = variant.get("devices", [])
    none: Dict[str, Any] = {}
    device = max(devices, key=lambda row: row["peak_allocated_bytes"], default=none)
    oom = variant.get("oom") or {}
    return Explained(
        at_peak=holders((device.get("peak") or {}).get("holders", [])),
        at_oom=holders(oom.get("holders", [])),
        findings=[row["what"] for row in variant.get("findings", [])],
        command=f"ohm report {shlex.quote(path)}",
        growth_bytes=growth, growth_error=why_none)


def _growth(path: str) -> "tuple[Optional[int], str]":
    """Of each step, as ohm replay measures it."""
    try:
        result = run_json(["replay", path, "--limit", "growth_bytes_per_step == 0",
                           "--report", "json=-"], accepted=(0, 1, 3))
        limit = result["scenarios"][0]["variants"][0]["limits"][0]
    except (OhmError, json.JSONDecodeError, LookupError) as error:
        return None, str(error)
    measured = limit.get("measured")
    return (None, NO_STEPS) if measured is None else (int(measured), "")


def holders(rows: List[Dict[str, Any]]) -> List[str]:
    """The lines of the user's code that hold most, largest first."""
    lines = []
    for row in rows[:MOST_LINES]:
        place = f"{relative(row.get('file', ''))}:{row.get('line', 0)}" if row.get("file") else "no line"
        lines.append(f"{human_bytes(row['bytes']):>12}  {row.get('category', ''):<15} "
                     f"{row['count']:>5} × {row.get('op', ''):<14} {place}".rstrip())
    if len(rows) > MOST_LINES:
        rest = sum(row["bytes"] for row in rows[MOST_LINES:])
        lines.append(f"{human_bytes(rest):>12}  in {len(rows) - MOST_LINES} more")
    return lines
