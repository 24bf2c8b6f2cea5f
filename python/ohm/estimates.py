"""What a function needs of a GPU."""
from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
import tempfile
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence

from ohm import _html, _functions
from ohm._bytes import human_bytes, parse_bytes
from ohm._command import OhmError, completed
from ohm.replays import Size


@dataclasses.dataclass(frozen=True)
class LiveMemory:
    """Memory that one line of the program has allocated."""

    bytes: int
    count: int  # of allocations
    category: str  # parameter, gradient, optimizer_state, activation, input, workspace or other
    op: str
    file: str
    line: int

    def __str__(self) -> str:
        return f"{human_bytes(self.bytes)} {self.category} {self.count} × {self.op} {self.file}:{self.line}"


@dataclasses.dataclass(frozen=True)
class Estimate:
    """Exact counters of PyTorch's allocator, on the GPU where they are largest."""

    gpu: str
    fits: bool
    peak_allocated_bytes: int  # until the end, or until memory ran out
    peak_reserved_bytes: int
    allocated_at_end_bytes: int
    live: List[LiveMemory]  # at the peak, or when memory ran out; largest first
    error: str  # PyTorch's message where it does not fit
    unknown_values: List[str]  # what the figures depend on that was not computed (docs/values.md)
    report: Dict[str, Any] = dataclasses.field(repr=False)  # the command's JSON (schema ohm.result/1)

    def __str__(self) -> str:
        verdict = "fits" if self.fits else "does not fit"
        return (f"{verdict} on {self.gpu}: peak {human_bytes(self.peak_allocated_bytes)} allocated, "
                f"{human_bytes(self.peak_reserved_bytes)} reserved")

    def _repr_html_(self) -> str:
        return _html.table(("bytes", "category", "count", "op", "line"), (
            (human_bytes(row.bytes), row.category, row.count, row.op, f"{row.file}:{row.line}")
            for row in self.live), caption=str(self))


def estimate(function: Callable[..., Any], *, args: Sequence[Any] = (),
             kwargs: Optional[Mapping[str, Any]] = None, gpu: str = "a100-80g",
             capacity: Optional[Size] = None, values: Optional[str] = None) -> Estimate:
    """Runs `function(*args, **kwargs)` on a virtual GPU, in a process of its own.

    `function` is one of a module that can be imported, or of the script that is running (which is
    then imported as by multiprocessing: keep what it does under `if __name__ == "__main__"`). With
    the package cloudpickle it may be any function, also of a notebook. Its result is dropped.
    `gpu` is the name of a virtual GPU, `capacity` its memory in bytes or as "8 GiB", and `values`
    "none", "known" or "cpu".

    A function that runs out of memory does not fit; one that raises another error raises OhmError
    here, with the type, the message and the line. Raises TypeError for a function or arguments that
    cannot be sent, and OhmError for an unknown GPU.
    """
    with tempfile.TemporaryDirectory(prefix="ohm-estimate-") as folder:
        _functions.write(os.path.join(folder, "call"), function, args, kwargs or {})
        options = ["--gpu", gpu]
        if capacity is not None:
            options += ["--limit", str(parse_bytes(capacity))]
        if values is not None:
            options += ["--values", values]
        ended = _run(folder, options)
        error = _read(os.path.join(folder, "error.json"))
        report = _read(os.path.join(folder, "report.json"))
        is_done = os.path.exists(os.path.join(folder, "done"))
    if error is not None and not error["out_of_memory"]:
        raise OhmError(f"{error['type']}: {error['message']} ({error['file']}:{error['line']})", 1)
    if not is_done and ended.returncode < 0:
        raise OhmError(f"the process was ended by signal {-ended.returncode}; host memory may have run "
                       "out", 128 - ended.returncode)
    if error is None and not is_done:
        said = ended.stderr.strip().replace("ohm: ", "", 1)
        raise OhmError(said or f"the process ended with {ended.returncode}", ended.returncode)
    return _estimate(gpu, report or {}, error)


def _run(folder: str, options: List[str]) -> "subprocess.CompletedProcess[str]":
    report = f"json={os.path.join(folder, 'report.json')}"
    return completed(["exec", "--quiet", *options, "--report", report, "--", sys.executable,
                      _functions.__file__, folder],
                     without=("OHM_GPU", "OHM_RECORD", "OHM_VALUES", "OHM_FAULT"))


def _read(path: str) -> Any:
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as file:
        content = file.read()
    return json.loads(content) if content else None


def _estimate(gpu: str, report: Dict[str, Any], error: Optional[Dict[str, Any]]) -> Estimate:
    variants = [variant for scenario in report.get("scenarios", []) for variant in scenario["variants"]]
    rows = [(device, variant) for variant in variants for device in variant.get("devices", [])]
    none: "tuple[Dict[str, Any], Dict[str, Any]]" = ({}, {})
    device, variant = max(rows, key=lambda row: row[0]["peak_allocated_bytes"], default=none)
    oom = variant.get("oom") if error is not None else None
    holders = (oom or device.get("peak") or {}).get("holders", [])
    unknown = [f"{row['kind']} at {row['file']}:{row['line']}"
               for each in variants for row in each.get("unknown_values", [])]
    return Estimate(
        gpu=gpu, fits=error is None,
        peak_allocated_bytes=device.get("peak_allocated_bytes", 0),
        peak_reserved_bytes=device.get("peak_reserved_bytes", 0),
        allocated_at_end_bytes=device.get("allocated_at_end_bytes", 0),
        live=[LiveMemory(row["bytes"], row["count"], row.get("category", ""), row.get("op", ""),
                         row.get("file", ""), row.get("line", 0)) for row in holders],
        error=error["message"] if error is not None else "", unknown_values=unknown, report=report)
