"""Python processes that a test starts on a virtual GPU, each of which has GPUs of its own: the
recorder of ohm exec tells their figures."""
from __future__ import annotations

import json
import os
import shutil
import tempfile
from typing import Any, Dict, List, Optional, Set

from ohm._testing import virtual_gpu


class Children:
    """Of the tests of this process. In a session that ohm exec records they are its own."""

    def __init__(self) -> None:
        self._folder: Optional[str] = None
        self._is_ours = False
        self._seen: Set[str] = set()
        self._changed_ns = 0  # the folder, as of the files that were seen

    def begin(self) -> None:
        if not virtual_gpu.is_here():
            return
        if self._folder is None:
            self._folder = os.environ.get(virtual_gpu.RECORD_VARIABLE)
            if self._folder is None:
                self._folder = tempfile.mkdtemp(prefix="ohm-children-")
                self._is_ours = True
                os.environ[virtual_gpu.RECORD_VARIABLE] = self._folder
        if self._has_changed():
            self._changed_ns = _changed_ns(self._folder or "")
            self._seen.update(self._files())

    def new(self) -> List[Dict[str, Any]]:
        """The summaries (harness/record/ohm_recorder.py) of processes since the test has begun."""
        if not self._has_changed():
            return []
        own = f"{os.getpid()}."
        rows = []
        for name in sorted(set(self._files()) - self._seen):
            if name.startswith(own):
                continue
            try:
                path = os.path.join(self._folder or "", name)
                with open(path, encoding="utf-8") as file:
                    rows.append({**json.load(file), "snapshot": path[:-len("json")] + "pickle"})
            except (OSError, ValueError):
                continue  # being written, by a process that outlives the test
        return rows

    def end(self) -> None:
        if self._is_ours and self._folder:
            os.environ.pop(virtual_gpu.RECORD_VARIABLE, None)
            shutil.rmtree(self._folder, ignore_errors=True)

    def _has_changed(self) -> bool:
        return self._folder is not None and _changed_ns(self._folder) != self._changed_ns

    def _files(self) -> List[str]:
        if self._folder is None:
            return []
        try:
            return [name for name in os.listdir(self._folder) if name.endswith(".json")]
        except OSError:
            return []


def _changed_ns(folder: str) -> int:
    try:
        return os.stat(folder).st_mtime_ns
    except OSError:
        return 0
