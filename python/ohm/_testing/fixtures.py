"""What the fixture gpu_memory gives."""
from __future__ import annotations

import dataclasses
from typing import Any, Dict, List

from ohm._bytes import human_bytes
from ohm._testing.history import OWN_FOLDER, relative
from ohm._testing.virtual_gpu import initialized_torch


@dataclasses.dataclass(frozen=True)
class LiveAllocation:
    """Memory that the test has allocated and that is alive."""

    bytes: int
    file: str  # of the innermost line that is of no library; empty: not known
    line: int
    category: str  # parameter, gradient, optimizer_state, activation, input, workspace; empty: not known

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.file else "no line"
        return f"{human_bytes(self.bytes)} {self.category} {place}".replace("  ", " ")


class GpuMemory:
    """Of the running test, until now, in bytes. Memory that was alive before it counts for none but
    `before`. On a machine without CUDA, and before the test uses it, all figures are 0."""

    def __init__(self, measuring: Any, item: Any):
        self._measuring = measuring
        self._item = item

    @property
    def peak(self) -> int:
        """The most allocated."""
        return int(self._measuring.meter.figures().peak_allocated_bytes)

    @property
    def reserved(self) -> int:
        """The most reserved: allocated, and cached by PyTorch."""
        return int(self._measuring.meter.figures().peak_reserved_bytes)

    @property
    def current(self) -> int:
        """Allocated now; less than 0 where memory from before the test was freed."""
        return int(self._measuring.meter.current_bytes())

    @property
    def before(self) -> int:
        """Allocated when the test began."""
        return int(self._measuring.meter.figures().before_bytes)

    def snapshot(self) -> Dict[str, Any]:
        """As torch.cuda.memory._snapshot() gives it, with the events of this test alone. Empty before
        CUDA is used."""
        if initialized_torch() is None:
            return {}
        return dict(self._measuring.history.snapshot())

    def live_allocations(self) -> List[LiveAllocation]:
        """What this test has allocated and what is alive, largest first."""
        return live_allocations(self.snapshot())


def live_allocations(snapshot: Dict[str, Any]) -> List[LiveAllocation]:
    """Of the events in it."""
    allocated = {(device, event["addr"]) for device, trace in enumerate(snapshot.get("device_traces", []))
                 for event in trace if event["action"] == "alloc"}
    rows = []
    for segment in snapshot.get("segments", []):
        for block in segment["blocks"]:
            key = (segment.get("device", 0), block["address"])
            if block["state"] == "active_allocated" and key in allocated:
                rows.append(_row(block))
    return sorted(rows, key=lambda row: (-row.bytes, row.file, row.line))


def holders_of(rows: List[LiveAllocation]) -> List[Dict[str, Any]]:
    """By line, as reports of the command have them, largest first."""
    lines: Dict[Any, Dict[str, Any]] = {}
    for row in rows:
        holder = lines.setdefault((row.file, row.line, row.category), {
            "bytes": 0, "count": 0, "file": row.file, "line": row.line, "category": row.category})
        holder["bytes"] += row.bytes
        holder["count"] += 1
    return sorted(lines.values(), key=lambda row: (-row["bytes"], row["file"], row["line"]))


def _row(block: Dict[str, Any]) -> LiveAllocation:
    frames = [frame for frame in block.get("frames", []) if is_of_program(frame["filename"])]
    file, line = (relative(frames[0]["filename"]), frames[0]["line"]) if frames else ("", 0)
    return LiveAllocation(block["size"], file, line, block.get("category", ""))


def is_of_program(path: str) -> bool:
    """Not of an installed package, of Python's own, or of what was never in a file."""
    return not ("/site-packages/" in path or "/dist-packages/" in path or path.startswith("<")
                or "/lib/python3." in path or path.startswith(OWN_FOLDER))
