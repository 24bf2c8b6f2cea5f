"""PyTorch's memory history of one test."""
from __future__ import annotations

import os
import re
import sys
import time
from typing import Any, Callable, Dict, List, Optional

from ohm._testing import STARTED_IN, virtual_gpu
from ohm._testing.virtual_gpu import initialized_torch

# Events of one test that are kept.
MOST_EVENTS = 200_000
OWN_FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
# Files of tests are kept for the command to run next.
_NOT_IN_NAMES = r"[^A-Za-z0-9_.=-]+"


class History:
    """Of this process: begun again with each test. The history that ohm exec or the program itself
    records is left alone, and cut."""

    def __init__(self, find_folder: Callable[[], str]):
        self._find_folder = find_folder  # made when the first file is written
        self._folder = ""
        self._start_us = 0
        self._recorder: Any = None
        self._is_recording = False
        self._is_wanted = False
        self._waits = False  # for CUDA
        self._hooks: List[Any] = []

    def begin(self) -> None:
        """At once, or as soon as the program initializes CUDA."""
        self._start_us = time.time_ns() // 1000
        self._is_wanted = True
        torch = initialized_torch()
        if torch is not None:
            self._start(torch)
        elif not self._waits:
            self._waits = True
            self._wait()

    def end(self) -> None:
        self._is_wanted = False
        torch = initialized_torch()
        if self._is_recording and torch is not None:
            torch.cuda.memory._record_memory_history(None)
        self._is_recording = False

    def _wait(self) -> None:
        def wait_for_cuda(torch: Any) -> None:
            torch.cuda._lazy_call(lambda: self._start(torch))

        imports: Any = virtual_gpu.record_module("ohm_imports")
        if imports is not None:
            imports.when_imported("torch", wait_for_cuda)
        elif "torch" in sys.modules:
            wait_for_cuda(sys.modules["torch"])

    def _start(self, torch: Any) -> None:
        if not self._is_wanted:
            return
        if not self._is_foreign(torch):
            torch.cuda.memory._record_memory_history(None)  # drops what is recorded
            torch.cuda.memory._record_memory_history("all", stacks="python",
                                                     max_entries=MOST_EVENTS)
            self._is_recording = True
        self._follow_optimizers(torch)

    def write(self, name: str, written: str = "") -> Optional[str]:
        """The file of the test's snapshot; None where there is nothing to write. `written`: that of a
        process that the test has started, instead."""
        if initialized_torch() is None and not written:
            return None
        import pickle

        self._folder = self._folder or self._find_folder()
        path = os.path.join(self._folder, file_name(name))
        try:
            os.makedirs(self._folder, exist_ok=True)
            if written:
                import shutil

                shutil.copyfile(written, path + ".part")
            else:
                with open(path + ".part", "wb") as file:
                    pickle.dump(self.snapshot(), file, protocol=4)
            os.replace(path + ".part", path)
        except OSError:
            return None
        return relative(path)

    def _is_foreign(self, torch: Any) -> bool:
        """Someone else records: ohm exec, ohm record, or the program."""
        if self._is_recording:
            return False
        if os.environ.get(virtual_gpu.RECORD_VARIABLE) or os.environ.get("OHM_RECORD_FILE"):
            return "ohm_recorder" in sys.modules
        enabled = getattr(torch._C, "_cuda_isHistoryEnabled", None)
        return bool(enabled and enabled())

    def snapshot(self) -> Any:
        """Of the test until now, with the categories of blocks where the recorder of ohm exec can be
        had."""
        torch = initialized_torch()
        recorder = self._marking_recorder(torch)
        snapshot = recorder.snapshot() if recorder else torch.cuda.memory._snapshot()
        self._cut(snapshot)
        _leave_out_pytest(snapshot)
        return snapshot

    def _marking_recorder(self, torch: Any) -> Any:
        if self._recorder is None:
            module = virtual_gpu.record_module("ohm_process")
            if module is not None:
                self._recorder = module.ProcessRecorder()
                self._recorder.torch = torch
                self._recorder.most_events = MOST_EVENTS
        return self._recorder

    def _follow_optimizers(self, torch: Any) -> None:
        """Blocks of gradients and optimizer state are known when an optimizer steps."""
        recorder = self._marking_recorder(torch)
        if recorder is None or self._hooks:
            return
        from torch.optim import optimizer  # type: ignore[import-not-found, unused-ignore]

        def note(stepping: Any, *_: Any) -> None:
            recorder.note_addresses(stepping)

        self._hooks = [optimizer.register_optimizer_step_pre_hook(note),
                       optimizer.register_optimizer_step_post_hook(note)]

    def _cut(self, snapshot: Dict[str, Any]) -> None:
        """Events of earlier tests."""
        for trace in snapshot.get("device_traces", []):
            first = next((i for i, event in enumerate(trace)
                          if event.get("time_us", self._start_us) >= self._start_us), len(trace))
            del trace[:first]


def _leave_out_pytest(snapshot: Dict[str, Any]) -> None:
    """What it does around a test is the same for all stacks. The outermost frame stays: it tells
    Python's threads from those of autograd."""
    blocks = [block for segment in snapshot.get("segments", []) for block in segment["blocks"]]
    events = [event for trace in snapshot.get("device_traces", []) for event in trace]
    for row in (*blocks, *events):
        frames = row.get("frames") or []
        of_pytest = next((i for i, frame in enumerate(frames) if "/_pytest/" in frame["filename"]), None)
        if of_pytest is not None:
            del frames[of_pytest:-1]


def file_name(test: str) -> str:
    """tests/test_a.py::test_b[2 GiB] -> test_a.py-test_b-2-GiB.pickle"""
    words = re.sub(_NOT_IN_NAMES, "-", test.rpartition("/")[2]).strip("-")
    return f"{words[:120]}.pickle"


def relative(path: str) -> str:
    """To the folder that pytest was started in, where it is below."""
    below = os.path.relpath(path, STARTED_IN) if path else ".."
    return path if below.startswith("..") else below
