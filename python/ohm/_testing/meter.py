"""PyTorch's counters, of one test at a time.

Note [The figure of one test]
A test's figures count from what was alive before it: its peak is the most allocated beyond that.
Counters run from the setup of its own fixtures to the end of its call. What fixtures of a wider
scope allocate is alive before the test, whichever test happens to ask for them first, so that a
figure is the same alone, in any order, and in any worker.
"""
from __future__ import annotations

import contextlib
import dataclasses
import gc
from typing import Any, Dict, Iterator, Optional

from ohm._testing.virtual_gpu import initialized_torch


@dataclasses.dataclass
class Figures:
    """Bytes of one test, on the GPU where each is largest."""

    peak_allocated_bytes: int = 0
    peak_reserved_bytes: int = 0
    before_bytes: int = 0  # alive before the test; in no other figure
    leaked_bytes: Optional[int] = None  # alive after the teardown; None: it is not over
    oom_errors: int = 0
    snapshot: str = ""  # the file of the process that has the peak, where the test has started it

    def uses_gpu(self) -> bool:
        return bool(self.peak_allocated_bytes or self.peak_reserved_bytes or self.oom_errors)

    def add_child(self, summary: Dict[str, Any]) -> None:
        """A process that the test has started (children.py), which has GPUs of its own."""
        for device in summary.get("devices", []):
            if device["peak_allocated_bytes"] > self.peak_allocated_bytes:
                self.peak_allocated_bytes = device["peak_allocated_bytes"]
                self.snapshot = summary["snapshot"]
            self.peak_reserved_bytes = max(self.peak_reserved_bytes, device["peak_reserved_bytes"])
            self.oom_errors += device.get("num_ooms", 0)


@dataclasses.dataclass
class _Device:
    allocated_before: int = 0
    reserved_before: int = 0
    ooms_before: int = 0
    peak_allocated: int = 0
    peak_reserved: int = 0


@dataclasses.dataclass(frozen=True)
class _Counters:
    allocated: int
    reserved: int
    allocated_peak: int
    reserved_peak: int
    ooms: int


class Meter:
    """Of this process. Costs nothing until the program has initialized CUDA."""

    def __init__(self) -> None:
        self._devices: Dict[int, _Device] = {}
        self._left_bytes = 0  # allocated when the last test was over
        self._is_resetting = False
        self._followed: Any = None  # our function in place of PyTorch's

    # ---- one test ----

    def begin(self) -> None:
        self._devices = {}
        torch = self.follow_resets()
        if torch is None:
            return
        now = self._read(torch)
        if sum(device.allocated for device in now.values()) != self._left_bytes:
            gc.collect()
        self._give_back_cache(torch, now)
        for index, counters in self._read(torch).items():
            self._devices[index] = _Device(counters.allocated, counters.reserved, counters.ooms)
        self._reset(torch)

    def figures(self) -> Figures:
        """Until now."""
        torch = initialized_torch()
        if torch is None:
            return Figures()
        self._note(torch)
        now = self._read(torch)
        rows = [(self._device(index), counters) for index, counters in now.items()]
        return Figures(
            peak_allocated_bytes=max((row.peak_allocated for row, _ in rows), default=0),
            peak_reserved_bytes=max((row.peak_reserved for row, _ in rows), default=0),
            before_bytes=max((row.allocated_before for row, _ in rows), default=0),
            oom_errors=sum(counters.ooms - row.ooms_before for row, counters in rows))

    def left_bytes(self) -> int:
        """Allocated now beyond what was alive before the test; a collection finds what is garbage."""
        torch = initialized_torch()
        if torch is None:
            return 0
        left = self._left(torch)
        if left > 0:
            _let_workspaces_go(torch)
            gc.collect()
            left = self._left(torch)
        self._left_bytes = sum(row.allocated for row in self._read(torch).values())
        return max(0, left)

    def current_bytes(self) -> int:
        """Allocated now beyond what was alive before the test."""
        torch = initialized_torch()
        return 0 if torch is None else self._left(torch)

    @contextlib.contextmanager
    def leaving_out(self, left: Dict[int, int]) -> Iterator[None]:
        """What happens here is none of the test's. `left`: bytes that stay, of each device."""
        torch = initialized_torch()
        before: Dict[int, _Counters] = {}
        if torch is not None:
            self._note(torch)
            before = self._read(torch)
        try:
            yield
        finally:
            torch = self.follow_resets()
            if torch is not None:
                self._leave_out(torch, before, left)

    def forget(self, left: Dict[int, int]) -> None:
        """Memory that was left out is freed."""
        for index, count in left.items():
            self._device(index).allocated_before -= count

    # ---- counters ----

    def follow_resets(self) -> Any:
        """PyTorch, once the program has initialized CUDA. Peaks outlive the program's resetting
        them."""
        torch = initialized_torch()
        if torch is None:
            return None
        reset = torch._C._cuda_resetPeakMemoryStats
        if self._followed is None:
            def after_noting(device: Any) -> Any:
                if not self._is_resetting:
                    self._note(torch)
                return reset(device)

            self._followed = torch._C._cuda_resetPeakMemoryStats = after_noting
        return torch

    def _leave_out(self, torch: Any, before: Dict[int, _Counters], left: Dict[int, int]) -> None:
        self._give_back_cache(torch, self._read(torch))
        for index, now in self._read(torch).items():
            earlier = before.get(index)
            device = self._device(index)
            left[index] = now.allocated - (earlier.allocated if earlier else 0)
            device.allocated_before += left[index]
            device.reserved_before += now.reserved - (earlier.reserved if earlier else 0)
        self._reset(torch)

    def _note(self, torch: Any) -> None:
        """Keeps the peaks since the last reset."""
        for index, counters in self._read(torch).items():
            device = self._device(index)
            allocated = counters.allocated_peak - device.allocated_before
            reserved = counters.reserved_peak - device.reserved_before
            device.peak_allocated = max(device.peak_allocated, allocated)
            device.peak_reserved = max(device.peak_reserved, reserved)

    def _left(self, torch: Any) -> int:
        return sum(counters.allocated - self._device(index).allocated_before
                   for index, counters in self._read(torch).items())

    def _device(self, index: int) -> _Device:
        return self._devices.setdefault(index, _Device())

    def _reset(self, torch: Any) -> None:
        self._is_resetting = True
        try:
            for index in range(torch.cuda.device_count()):
                torch.cuda.reset_peak_memory_stats(index)
        finally:
            self._is_resetting = False

    @staticmethod
    def _give_back_cache(torch: Any, now: Dict[int, _Counters]) -> None:
        """What earlier tests left in the cache would decide what this one reserves."""
        if any(row.reserved > row.allocated for row in now.values()):
            _let_workspaces_go(torch)
            torch.cuda.empty_cache()

    @staticmethod
    def _read(torch: Any) -> Dict[int, _Counters]:
        return {index: counters for index in range(torch.cuda.device_count())
                for counters in [_counters(torch, index)] if counters is not None}


def _let_workspaces_go(torch: Any) -> None:
    """Those of cuBLAS, which belong to no test: PyTorch keeps them from their first use on."""
    let_go = getattr(torch._C, "_cuda_clearCublasWorkspaces", None)
    if let_go is not None:
        let_go()


def _counters(torch: Any, index: int) -> Optional[_Counters]:
    """None: the device has not been used, or its allocator counts nothing."""
    stats = torch.cuda.memory_stats_as_nested_dict(index)
    if "allocated_bytes" not in stats:
        return None
    allocated, reserved = stats["allocated_bytes"]["all"], stats["reserved_bytes"]["all"]
    return _Counters(allocated["current"], reserved["current"], allocated["peak"],
                     reserved["peak"], stats["num_ooms"])
