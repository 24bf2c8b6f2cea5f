"""What variables hold in a job that grows: looked at after some of its steps, and when more memory of the
GPU is taken, since the variables of a function are gone when it has returned."""
import atexit
import ctypes
import sys
import time

from ohm_process import is_power_of_two
from ohm_program_frames import program_frames_of

FIRST_STEP = 4  # optimizers have made their state by then
GROWN = 1.1  # times what was allocated at the look before
MOST_SECONDS = 0.5  # a look that takes longer is the last one,
MOST_SECONDS_IN_ALL = 2.0  # and so is the one with which they have taken so long


class GrowthLooks:
    """Of a process; holders: what looks (Holders). A step is counted where an optimizer's ends."""

    def __init__(self, torch, holders):
        self.torch, self.holders = torch, holders
        self.steps = self.allocated = 0
        self.seconds = 0.0
        self.is_slow = False
        self.in_step = None  # the last look behind a step
        self.in_growth = None  # of those at growth, the one where growing containers held most
        self.call = None

    def after_step(self):
        self.steps += 1
        if self.steps < FIRST_STEP or not is_power_of_two(self.steps) or self.is_slow:
            return
        device = fullest_device(self.torch)
        allocated = self.torch.cuda.memory_allocated(device)
        if self.steps == FIRST_STEP:
            self.allocated = allocated
        elif allocated >= GROWN * self.allocated:
            self.allocated = allocated
            self.in_step = {**self._look(device), "step_calls": self.steps}

    def follow_growth(self, look):
        """look(): when more memory is taken (allocator_shim/interpose/device_growth.h), between two
        instructions of the main thread. On a real GPU nobody tells."""
        follow = getattr(ctypes.CDLL(None), "ohm_follow_growth", None)
        if follow is None:
            return

        def call(_):
            look()
            return 0

        self.call = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(call)
        follow(ctypes.pythonapi.Py_AddPendingCall, self.call)
        atexit.register(follow, None, None)

    def after_growth(self):
        if self.is_slow:
            return
        held = self._look(fullest_device(self.torch))
        if self.in_growth is None or held["growing_bytes"] >= self.in_growth["growing_bytes"]:
            self.in_growth = held

    def _look(self, device):
        began = time.thread_time()
        frames = program_frames_of(self.holders.files, sys._getframe())
        held = self.holders.look(device, frames)
        seconds = time.thread_time() - began
        self.seconds += seconds
        self.is_slow = seconds > MOST_SECONDS or self.seconds > MOST_SECONDS_IN_ALL
        return held

    def shown(self, at_end):
        """(moment, what was held), where that says more than the look at the end does, which it is otherwise."""
        if self.in_step is not None and self.in_step["bytes"] > at_end["bytes"]:
            return "step", self.in_step
        if self.in_growth is not None and self.in_growth["growing_bytes"] > at_end["growing_bytes"]:
            return "growth", self.in_growth
        return "end", at_end


def fullest_device(torch):
    return max(range(torch.cuda.device_count()), key=torch.cuda.memory_allocated, default=0)
