"""Per-test figures in a file beside the tests: one line for each test, sorted, so that it is the
same on every machine and merges like source code."""
from __future__ import annotations

import contextlib
import fcntl
import importlib.metadata
import json
import os
from typing import Any, Collection, Dict, Iterator, List

import pytest

from ohm._bytes import human_bytes

SCHEMA = "ohm.pytest-baseline/1"
FIGURES = ("peak_allocated_bytes", "peak_reserved_bytes", "leaked_bytes")
NAMES = {"peak_allocated_bytes": "peak allocated", "peak_reserved_bytes": "peak reserved",
         "leaked_bytes": "left after the test"}

Rows = Dict[str, Dict[str, int]]


class Baseline:
    """The file as it is. Raises pytest.UsageError where it is there and is none, or is one of
    another GPU or PyTorch: such figures cannot be compared."""

    def __init__(self, path: str, gpu: str, is_needed: bool):
        self.path = path
        self.gpu = gpu
        self.rows: Rows = {}
        self._is_other = ""  # what it was made on, where that is something else
        if os.path.exists(path) or is_needed:
            self.rows = self._read()

    def check_is_of_this_gpu(self) -> None:
        if self._is_other:
            raise pytest.UsageError(
                f"--ohm-baseline {self.path}: its figures are of {self._is_other}, this run is on "
                f"{self._machine()}; --ohm-update-baseline replaces them")

    def check_can_be_written(self) -> None:
        folder = os.path.dirname(self.path) or "."
        if not os.path.isdir(folder):
            raise pytest.UsageError(f"--ohm-baseline {self.path}: there is no folder {folder}")
        if not os.access(folder, os.W_OK):
            raise pytest.UsageError(f"--ohm-baseline {self.path}: {folder} is not writable")

    def increases(self, test: str, figures: Dict[str, int], names: Collection[str]) -> List[str]:
        """A line for each of these figures that is larger than before."""
        known = self.rows.get(test, {})
        return [f"{NAMES[name]} was {human_bytes(known[name])}, is {human_bytes(figures[name])} "
                f"({figures[name] - known[name]:+,} bytes)"
                for name in names if name in known and figures.get(name, 0) > known[name]]

    def write(self, measured: Rows, is_gone: Any) -> "tuple[int, int]":
        """Replaces rows by those measured and drops those of which is_gone(test). Returns how many
        were written and dropped. Runs that write at the same time do so one after the other."""
        with _locked(os.path.dirname(self.path) or "."):
            rows = self._read() if os.path.exists(self.path) else {}
            rows = {} if self._is_other else rows
            gone = [test for test in rows if test not in measured and is_gone(test)]
            changed = sum(rows.get(test) != row for test, row in measured.items())
            for test in gone:
                del rows[test]
            rows.update(measured)
            part = f"{self.path}.{os.getpid()}.part"
            try:
                with open(part, "w", encoding="utf-8") as file:
                    file.write(self._text(rows))
                os.replace(part, self.path)
            except OSError:
                with contextlib.suppress(OSError):
                    os.remove(part)
                raise
        return changed, len(gone)

    def _machine(self) -> Dict[str, str]:
        return {"gpu": self.gpu, "torch": torch_version()}

    def _text(self, rows: Rows) -> str:
        head = [f'"schema": {json.dumps(SCHEMA)}',
                *(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in self._machine().items())]
        lines = ",\n".join(f"    {json.dumps(test)}: {json.dumps(rows[test], sort_keys=True)}"
                           for test in sorted(rows))
        return "{\n" + "".join(f"  {line},\n" for line in head) + '  "tests": {\n' + lines + "\n  }\n}\n"

    def _read(self) -> Rows:
        try:
            with open(self.path, encoding="utf-8") as file:
                content = json.load(file)
        except OSError as error:
            raise pytest.UsageError(f"--ohm-baseline {self.path}: {error.strerror}; "
                                    "--ohm-update-baseline writes it") from None
        except ValueError as error:
            raise pytest.UsageError(f"--ohm-baseline {self.path}: not JSON ({error})") from None
        if not isinstance(content, dict) or content.get("schema") != SCHEMA:
            raise pytest.UsageError(f"--ohm-baseline {self.path}: not written by "
                                    f"--ohm-update-baseline (its schema is not {SCHEMA})")
        made_on = {key: content.get(key, "") for key in self._machine()}
        self._is_other = "" if made_on == self._machine() else str(made_on)
        return _checked_rows(self.path, content.get("tests"))


def _checked_rows(path: str, rows: Any) -> Rows:
    well = isinstance(rows, dict) and all(
        isinstance(row, dict) and all(type(value) is int for value in row.values())
        for row in rows.values())
    if not well:
        raise pytest.UsageError(f"--ohm-baseline {path}: its tests are not rows of whole numbers")
    return rows  # type: ignore[no-any-return]


@contextlib.contextmanager
def _locked(folder: str) -> Iterator[None]:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def torch_version() -> str:
    """Without importing it; empty where there is none."""
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        return importlib.metadata.version("torch")
    return ""


def named_by(option: str, folder: str) -> str:
    """The file, as every worker finds it."""
    return os.path.join(folder, os.path.expanduser(option))
