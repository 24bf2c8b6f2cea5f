"""Failing the requests that a test makes to PyTorch's caching allocator, on a virtual GPU."""
from __future__ import annotations

import contextlib
from typing import Any, Callable, Iterator, List, Optional

import pytest

from ohm._bytes import human_bytes, parse_bytes
from ohm._testing import virtual_gpu

NEEDS_VIRTUAL_GPU = "allocations can only be failed on a virtual GPU: add --ohm-gpu PROFILE"

# Tells whether the request for so many bytes is to fail.
Decider = Callable[[int], bool]


class Requests:
    """Of this process. Followed from the first time on that someone asks."""

    def __init__(self) -> None:
        self._decider: Optional[Decider] = None
        self._follower: Any = None
        self.problem = ""  # an error of ours: none may leave the allocator

    @contextlib.contextmanager
    def deciding(self, decider: Decider) -> Iterator[None]:
        """Deciders nest; the innermost one decides."""
        self.follow()
        before, self._decider = self._decider, decider
        try:
            yield
        finally:
            self._decider = before
        if self.problem:
            problem, self.problem = self.problem, ""
            raise RuntimeError(problem)

    def follow(self) -> None:
        """As soon as the program initializes CUDA."""
        if self._follower is not None:
            return
        module = virtual_gpu.record_module("ohm_requests")
        imports = virtual_gpu.record_module("ohm_imports")
        if module is None or imports is None:
            return
        import ctypes

        self._follower = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_size_t)(self._on_request)

        def prepare(torch: Any) -> None:
            if torch.version.cuda is not None:
                torch.cuda._lazy_call(
                    lambda: module.follow_requests(torch, "request", self._follower))

        imports.when_imported("torch", prepare)

    def _on_request(self, size: int) -> int:
        if self._decider is None:
            return 0
        try:
            return int(self._decider(size))
        except Exception:
            import traceback

            self.problem = traceback.format_exc()
            return 0


class Fault:
    """Fails requests from the `nth` on: `times` of them, or all where it is None."""

    def __init__(self, nth: int = 1, times: Optional[int] = 1, min_bytes: int = 0):
        self.nth = nth
        self.times = times
        self.min_bytes = min_bytes
        self.requests = 0  # of min_bytes and more, until now
        self.failed: List[int] = []  # bytes of each request that has failed

    def __call__(self, size: int) -> bool:
        if size < self.min_bytes:
            return False
        self.requests += 1
        fails = self.requests >= self.nth and (self.times is None or len(self.failed) < self.times)
        if fails:
            self.failed.append(size)
        return fails

    def why_unused(self) -> str:
        """Empty where a request has failed."""
        if self.failed:
            return ""
        most = f" of at least {human_bytes(self.min_bytes)}" if self.min_bytes else ""
        return f"no allocation has failed: there were {self.requests}{most}, not {self.nth}"


class FailAllocation:
    """The fixture `fail_allocation`: `with fail_allocation(nth=3) as fault: ...`."""

    def __init__(self, requests: Requests):
        self._requests = requests

    @contextlib.contextmanager
    def __call__(self, nth: int = 1, times: Optional[int] = 1,
                 min_size: "int | str" = 0) -> Iterator[Fault]:
        """Fails the `nth` allocation of the block, and with `times` more of those that follow it (None:
        all). `min_size` ("1 MiB") counts only allocations as large. A failed allocation raises
        torch.OutOfMemoryError, after PyTorch has freed its cache and tried again.

        Fails the test where the block makes fewer allocations.
        """
        if type(nth) is not int or nth < 1:
            raise ValueError(f"nth is a whole number from 1, not {nth!r}")
        if times is not None and (type(times) is not int or times < 1):
            raise ValueError(f"times is a whole number from 1, or None, not {times!r}")
        fault = Fault(nth, times, parse_bytes(min_size))
        with self._requests.deciding(fault):
            yield fault
        if fault.why_unused():
            pytest.fail(f"fail_allocation: {fault.why_unused()}")
