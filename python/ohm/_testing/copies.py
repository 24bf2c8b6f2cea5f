"""A sweep of one test: each of its allocations failed, in a copy of the process that goes on from
there to the end of the test.

A copy runs while this process waits for it, and never returns to pytest: it ends when the test's
call does, before fixtures are torn down. Where no copy can be made, because other threads or
processes are running, the allocation is left to a run of the test of its own.
"""
from __future__ import annotations

import dataclasses
import json
import os
import signal
import sys
import tempfile
import threading
import time
from typing import Any, Dict, List, Optional, Set

from ohm._bytes import human_bytes
from ohm._testing import virtual_gpu
from ohm._testing.history import OWN_FOLDER, relative

GOOD = ("clean_error", "recovered")
SECONDS_OF_A_COPY = 60.0
# Plugins with such threads: xdist's execnet, and the server that counts reruns.
_WAITING_PLUGINS = ("execnet", "pytest_rerunfailures")
_WAIT_ALL = 0x40000000  # __WALL: a copy that ends sends no SIGCHLD


@dataclasses.dataclass
class Outcome:
    """How the test went on after one allocation had failed."""

    request: int  # from 1
    bytes: int
    place: str  # FILE:LINE of the program
    verdict: str = "crash"
    error: str = ""

    def line(self) -> str:
        text = f"{self.verdict:<12} allocation {self.request}: {human_bytes(self.bytes)}, {self.place}"
        return text + (f"\n                 {self.error}" if self.error else "")


class Sweep:
    """A decider of requests (faults.py) for the call of one test."""

    def __init__(self, points: str, most: int, seconds: float = SECONDS_OF_A_COPY):
        self.points = points
        self.most = most
        self.seconds = seconds
        self.requests = 0
        self.not_tried = 0  # beyond the most
        self.outcomes: List[Outcome] = []
        self.uncopied: List[Outcome] = []
        self.copy_of: Optional[Outcome] = None  # this process is a copy
        self._report = -1  # where a copy writes how it ended
        self._seen: Set[str] = set()
        self._processes: Any = virtual_gpu.record_module("ohm_process_copy")
        self._errors: Any = virtual_gpu.record_module("ohm_outcome")
        self._places: Any = None
        self._loud_threads: Set[str] = set()  # that have not come to wait

    def __call__(self, size: int) -> bool:
        self.requests += 1
        if self.copy_of is not None:
            return False
        outcome = self._point(size)
        if outcome is None:
            return False
        if not self._can_be_copied():
            self.uncopied.append(outcome)
            return False
        return self._is_failed_here(outcome)

    def bad(self) -> List[Outcome]:
        return [outcome for outcome in self.outcomes if outcome.verdict not in GOOD]

    def end_copy(self, error: Optional[BaseException]) -> None:
        """In a copy: writes how the test's call ended, and ends."""
        if self.copy_of is None:
            return
        try:
            self.judge(self.copy_of, error)
            os.write(self._report, json.dumps(dataclasses.asdict(self.copy_of)).encode())
        finally:
            os._exit(0)

    def judge(self, outcome: Outcome, error: Optional[BaseException]) -> None:
        import _pytest.outcomes

        if error is None or isinstance(error, _pytest.outcomes.Skipped):
            outcome.verdict = "recovered"
            return
        torch, places = sys.modules["torch"], self._known_places()
        is_of_memory = self._errors.is_of_memory(error, places, torch)
        outcome.verdict = "clean_error" if is_of_memory else "wrong_error"
        if outcome.verdict == "wrong_error":
            row = self._errors.described(error, places, torch)
            first = row["message"].strip().partition("\n")[0]
            outcome.error = f"{row['type']}: {first}, {relative(row['file'])}:{row['line']}"

    def _known_places(self) -> Any:
        if self._places is None:
            module: Any = virtual_gpu.record_module("ohm_sweep_places")
            self._places = module.Places(sys.modules["torch"])
        return self._places

    def _point(self, size: int) -> Optional[Outcome]:
        """None: this request is not to fail."""
        places = self._known_places()
        row = places.rows[places.index(_program_frame())]
        if self.points == "unique" and row["hash"] in self._seen:
            return None
        self._seen.add(row["hash"])
        if len(self.outcomes) + len(self.uncopied) >= self.most:
            self.not_tried += 1
            return None
        place = f"{relative(row['file'])}:{row['line']}" if row["file"] else "no line"
        return Outcome(self.requests, size, place)

    # ---- copies ----

    def _can_be_copied(self) -> bool:
        """All other threads wait for what does not concern a copy, and there is no other process."""
        deadline = time.monotonic() + 1
        while loud := self._loud_now():
            if time.monotonic() > deadline or loud <= self._loud_threads:
                self._loud_threads |= loud
                return False
            time.sleep(0.001)
        with open(f"/proc/self/task/{os.getpid()}/children") as file:
            return not file.read().split()

    def _loud_now(self) -> Set[str]:
        others = {thread for thread in os.listdir("/proc/self/task")
                  if not self._processes.is_quiet(thread)}
        waiting = {thread for thread in others if _is_asleep(thread)}
        are_of_pytest = len(others) == len(waiting) <= _waiting_for_pytest()
        return set() if are_of_pytest else others

    def _is_failed_here(self, outcome: Outcome) -> bool:
        """True in the copy."""
        sys.stdout.flush()
        sys.stderr.flush()
        report, path = tempfile.mkstemp(prefix="ohm-sweep-")
        os.unlink(path)
        parent = os.getpid()
        pid = self._processes.bare_fork()
        if pid == 0:
            self._become_copy(outcome, report, parent)
            return True
        if pid < 0:
            self.uncopied.append(outcome)
        else:
            self._finish(outcome, report, pid)
        os.close(report)
        return False

    def _become_copy(self, outcome: Outcome, report: int, parent: int) -> None:
        self._processes.end_with(parent)
        self.copy_of, self._report = outcome, report
        silence = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silence, 1)
        os.dup2(silence, 2)
        self._processes.open_files_again()

    def _finish(self, outcome: Outcome, report: int, pid: int) -> None:
        """Waits for the copy; what it has not written, it has not lived to write."""
        deadline = time.monotonic() + self.seconds
        overdue = False
        while True:
            ended, status = os.waitpid(pid, _WAIT_ALL | (0 if overdue else os.WNOHANG))
            if ended:
                break
            if time.monotonic() > deadline:
                overdue = True
                os.kill(pid, signal.SIGKILL)
            time.sleep(0.0005)
        content = os.pread(report, 1 << 16, 0)
        if content:
            outcome = Outcome(**json.loads(content))
        elif overdue:
            outcome.verdict, outcome.error = "hang", f"no end after {self.seconds:g} s"
        else:
            outcome.error = _how_it_ended(status)
        self.outcomes.append(outcome)

    def summary(self) -> str:
        counts: Dict[str, int] = {}
        for outcome in self.outcomes:
            counts[outcome.verdict] = counts.get(outcome.verdict, 0) + 1
        text = " · ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items()))
        more = f", {self.not_tried} not tried (max={self.most})" if self.not_tried else ""
        return f"{len(self.outcomes)} of {self.requests} allocations failed: {text}{more}"


def _program_frame() -> Any:
    """The innermost one that is not of this package."""
    frame: Any = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(OWN_FOLDER):
        frame = frame.f_back
    return frame


def _waiting_for_pytest() -> int:
    """How many threads of plugins wait for messages: they hold nothing that a copy needs, as a copy
    sends and receives none. Python knows no system's number of those that execnet starts."""
    main = threading.get_ident()
    count = 0
    for thread, innermost in sys._current_frames().items():
        frame: Any = innermost
        while frame is not None and not any(name in frame.f_code.co_filename
                                            for name in _WAITING_PLUGINS):
            frame = frame.f_back
        count += frame is not None and thread != main
    return count


def _is_asleep(thread: str) -> bool:
    try:
        with open(f"/proc/self/task/{thread}/stat") as file:
            return file.read().rpartition(") ")[2].startswith("S")
    except OSError:
        return True  # it has ended


def _how_it_ended(status: int) -> str:
    if os.WIFSIGNALED(status):
        try:
            return f"ended by {signal.Signals(os.WTERMSIG(status)).name}"
        except ValueError:
            return f"ended by signal {os.WTERMSIG(status)}"
    return f"the process ended with {os.WEXITSTATUS(status)} within the test"
