"""Tells when a job's steps have become alike, so that recording more of them would show nothing new:
by the allocator's counters, which are looked at now and then."""
import collections
import time

STEPS_BETWEEN_LOOKS = 8
FEWEST_STEPS = 64
FEWEST_ALIKE_LOOKS = 4
# A request and its end, with a stack: measured, about a microsecond.
SECONDS_OF_A_REQUEST = 1e-6
# Of a step's time: what costs less is not worth leaving anything out.
SHARE_THAT_MATTERS = 0.02

# held: of each GPU, what does not change where steps are alike; peaks: the most allocated on each.
Look = collections.namedtuple("Look", "held peaks requests seconds step")


class AlikeSteps:
    """Where little memory is left steps are not alike: the next one may be the one that fails."""

    def __init__(self, torch, most_held_share=0.5):
        self.torch = torch
        self.most_held_share = most_held_share
        self.last = None  # look
        self.alike_looks = 0
        self.capacities = [torch.cuda.get_device_properties(device).total_memory
                           for device in range(torch.cuda.device_count())]

    def is_due(self, steps):
        """When so many have ended."""
        last = self.last.step if self.last else 0
        return steps >= last + STEPS_BETWEEN_LOOKS

    def still_are(self, steps):
        """Since the last look: the same is held, and never more."""
        before, self.last = self.last, self._look(steps)
        if before is None or self.last.held != before.held or not self._has_room():
            return False
        return all(now <= most for now, most in zip(self.last.peaks, before.peaks))

    def have_become(self, steps):
        """In the looks until now, where recording them takes time that matters."""
        before = self.last
        self.alike_looks = self.alike_looks + 1 if self.still_are(steps) else 0
        return (steps >= FEWEST_STEPS and self.alike_looks >= FEWEST_ALIKE_LOOKS
                and self._share_of_recording(before) >= SHARE_THAT_MATTERS)

    def begin_again(self):
        self.alike_looks = 0

    def largest_peak(self):
        return max((*self.last.peaks, 0)) if self.last else 0

    def _look(self, steps):
        held, peaks, requests = [], [], 0
        for device in range(len(self.capacities)):
            stats = self.torch.cuda.memory_stats_as_nested_dict(device)
            if not stats:
                continue
            allocated, reserved = stats["allocated_bytes"]["all"], stats["reserved_bytes"]["all"]
            held.append((device, allocated["current"], reserved["current"],
                         stats["num_alloc_retries"], stats["num_ooms"]))
            peaks.append(allocated["peak"])
            requests += stats["allocation"]["all"]["allocated"]
        return Look(tuple(held), tuple(peaks), requests, time.monotonic(), steps)

    def _has_room(self):
        return all(reserved <= self.most_held_share * self.capacities[device]
                   for device, _, reserved, *_ in self.last.held)

    def _share_of_recording(self, before):
        seconds = max(self.last.seconds - before.seconds, 1e-9)
        return (self.last.requests - before.requests) * SECONDS_OF_A_REQUEST / seconds
