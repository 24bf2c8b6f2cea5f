"""The largest value of a parameter that fits."""
from __future__ import annotations

import dataclasses
import shlex
from typing import Any, Dict, List, Optional, Sequence, Union

from ohm import _html
from ohm._bytes import human_bytes
from ohm._command import run_json


@dataclasses.dataclass(frozen=True)
class FitRow:
    """On one GPU."""

    gpu: str
    value: Optional[int]  # the largest that fits (for capacity: bytes); None: none does
    peak_allocated_bytes: Optional[int]  # of the run with that value
    next_value: Optional[int]  # the one that does not fit; None: none was found
    why_not: str  # the reason, in one line


@dataclasses.dataclass(frozen=True)
class Fit:
    """`report` is the command's JSON (schema ohm.fit/1)."""

    varied: str
    rows: List[FitRow]
    report: Dict[str, Any] = dataclasses.field(repr=False)

    @property
    def value(self) -> Optional[int]:
        """Of the first GPU."""
        return self.rows[0].value if self.rows else None

    def _repr_html_(self) -> str:
        return _html.table(("GPU", f"largest {self.varied}", "peak", "what does not fit"), (
            (row.gpu, "none" if row.value is None else row.value,
             "" if row.peak_allocated_bytes is None else human_bytes(row.peak_allocated_bytes),
             row.why_not) for row in self.rows))


def fit(command: Union[str, Sequence[str]], *, vary: str,
        gpu: Union[str, Sequence[str]] = "a100-80g", values: Optional[str] = None,
        timeout: Optional[float] = None) -> Fit:
    """Finds the largest value of a number in a command that fits on a GPU.

    `command` runs on virtual GPUs: words, or one line as a shell reads it. `vary` names the number
    and its range, as in "batch=1..512" for `python train.py --batch 64`; "capacity" looks for the
    smallest GPU instead. `gpu` is a name, several, or "all". `values` is "none", "known" or "cpu".
    `timeout` is in seconds, of each run.

    Raises OhmError where the command fails for another reason than memory, or cannot be varied.
    """
    words = shlex.split(command) if isinstance(command, str) else [str(word) for word in command]
    options = ["--vary", vary]
    if vary.partition("=")[0] != "capacity":
        for name in [gpu] if isinstance(gpu, str) else gpu:
            options += ["--gpu", name]
    if values is not None:
        options += ["--values", values]
    if timeout is not None:
        options += ["--timeout", f"{timeout:g}"]
    report = run_json(["fit", *options, "--json", "--", *words])
    return Fit(report["varied"], [_row(row) for row in report["rows"]], report)


def _row(row: Dict[str, Any]) -> FitRow:
    best, after = row["best"] or {}, row["next"] or {}
    return FitRow(row["gpu"], best.get("value"), best.get("peak_allocated_bytes"), after.get("value"),
                  after.get("reason", ""))
