"""What variables hold in a job that grows: looked at after some of its steps, since the variables of a
function are gone when it has returned."""
import sys
import time

from ohm_holders import program_frames_of
from ohm_process import is_power_of_two

FIRST_STEP = 4  # optimizers have made their state by then
GROWN = 1.1  # times what was allocated at the look before
MOST_SECONDS = 0.5  # a look that takes longer is the last one


class GrowthLooks:
    """Of a process; holders: what looks (Holders). A step is counted where an optimizer's ends."""

    def __init__(self, torch, holders):
        self.torch, self.holders = torch, holders
        self.steps = self.allocated = 0
        self.is_slow = False
        self.held = None  # of the last look

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
            self._look(device)

    def _look(self, device):
        began = time.monotonic()
        frames = program_frames_of(self.holders.files, sys._getframe())
        self.held = {**self.holders.look(device, frames), "step_calls": self.steps}
        self.is_slow = time.monotonic() - began > MOST_SECONDS


def fullest_device(torch):
    return max(range(torch.cuda.device_count()), key=torch.cuda.memory_allocated, default=0)
