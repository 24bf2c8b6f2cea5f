"""Stacks of requests for a part of the steps, where those of all would cost too much of a job's
time.

What has no stack for that reason is given one when the history is written: that of a step which
made as many requests and gave them back in the same order, each size of which always stands for one
size. A step without such a twin has none.
"""
import collections
import math
import sys
import time

SHARE = 0.01  # of the time of a job, that taking stacks may cost: keeping them costs more than that
FIRST_STEPS = 8  # of which all have stacks: what lasts is made in them
STEPS_BETWEEN_LOOKS = 16
TWINS_KEPT = 64  # for a step that has not ended


class StackBudget:
    """Told of each step's end, it chooses whether the next one has stacks. `set_stacks(bool)` turns
    them on and off; they are on at first."""

    def __init__(self, torch, set_stacks, most_steps):
        self.torch = torch
        self.set_stacks = set_stacks
        self.steps = 0
        self.every = 1  # a step of so many has stacks
        self.has_stacks = True
        self.ends = collections.deque(maxlen=most_steps)  # (microseconds, the step had stacks)
        self.last_look = None  # (nanoseconds, requests)

    def on_step(self):
        now = time.time_ns()
        self.steps += 1
        self.ends.append((now // 1000, self.has_stacks))
        if self.steps % STEPS_BETWEEN_LOOKS == FIRST_STEPS:
            self._look(now)
        wants_stacks = self.steps < FIRST_STEPS or self.steps % self.every == 0
        if wants_stacks != self.has_stacks:
            self.has_stacks = wants_stacks
            self.set_stacks(wants_stacks)

    def _look(self, now):
        requests = requests_so_far(self.torch)
        if self.last_look is not None:
            then, before = self.last_look
            cost = (requests - before) * seconds_of_a_stack(self.torch)
            self.every = max(1, math.ceil(cost / SHARE / max(1e-9, (now - then) / 1e9)))
        self.last_look = (time.time_ns(), requests)


def requests_so_far(torch):
    """Of all devices."""
    requests = 0
    for device in range(torch.cuda.device_count()):
        requests += torch._C._cuda_memoryStats(device)["allocation"]["all"]["allocated"]
    return requests


def seconds_of_a_stack(torch):
    """Of taking one and dropping it, here and now."""
    times = 20
    gather = torch._C._profiler.gather_traceback
    begin = time.perf_counter()
    for _ in range(times):
        gather(True, False, False)
    return (time.perf_counter() - begin) / times


def own_frames():
    """The stack of this thread without this folder's part, as snapshots have them."""
    frames, frame = [], sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if not code.co_filename.startswith(_FOLDER):
            frames.append({"name": code.co_name, "filename": code.co_filename,
                           "line": frame.f_lineno})
        frame = frame.f_back
    return frames


_FOLDER = __file__[: -len("ohm_stack_budget.py")]


# ---- stacks of twins ----------------------------------------------------------------------------


def fill_stacks(snapshot, ends):
    """`ends` of steps, as StackBudget has them."""
    for device, trace in enumerate(snapshot["device_traces"]):
        fill_trace(trace, ends)
        fill_blocks(snapshot["segments"], device, trace)


def fill_trace(trace, ends):
    twins = {}  # shape -> the last step with stacks that had it
    latest = collections.deque(maxlen=TWINS_KEPT)
    place = 0
    for end, had_stacks in ends:
        begin = place
        while place < len(trace) and trace[place]["time_us"] <= end:
            place += 1
        requests = requests_of(trace[begin:place])
        shape = shape_of(requests)
        if had_stacks:
            twins[shape] = requests
            latest.append((shape, requests))
        else:
            take_stacks(requests, twins.get(shape))
    # The one that has not ended is the beginning of a twin.
    requests = requests_of(trace[place:])
    shape = shape_of(requests)
    begun = (twin for known, twin in reversed(latest) if known[: len(shape)] == shape)
    take_stacks(requests, next(begun, None))


def requests_of(entries):
    actions = ("alloc", "free_requested", "free_completed")
    return [entry for entry in entries if entry["action"] in actions]


def shape_of(entries):
    """Which request each return is of, in the order of both."""
    shape, known = [], {}
    for number, entry in enumerate(entries):
        if entry["action"] == "alloc":
            known[entry["addr"]] = number
            shape.append(-1)
        else:
            shape.append((known.get(entry["addr"], -1), entry["action"]))
    return tuple(shape)


def take_stacks(entries, twin):
    if twin is None:
        return
    sizes = {}
    if any(sizes.setdefault(its["size"], own["size"]) != own["size"]
           for its, own in zip(twin, entries)):
        return
    for its, own in zip(twin, entries):
        if own["action"] == "alloc" and not own.get("frames"):
            own["frames"] = its.get("frames", [])


def fill_blocks(segments, device, trace):
    """What is alive, by the last request that was given its address."""
    last = {entry["addr"]: entry for entry in trace if entry["action"] == "alloc"}
    for segment in segments:
        for block in segment["blocks"] if segment["device"] == device else ():
            if block["state"].startswith("active") and not block.get("frames"):
                frames = last.get(block.get("address"), {}).get("frames")
                if frames:
                    block["frames"] = frames


def fill_errors(snapshot, stacks):
    """Requests that failed, by the stacks of the last of them, the oldest first."""
    failed = [entry for trace in snapshot["device_traces"] for entry in trace
              if entry["action"] == "oom"]
    failed.sort(key=lambda entry: entry["time_us"])
    for entry, frames in zip(reversed(failed), reversed(stacks)):
        if not entry.get("frames"):
            entry["frames"] = frames
