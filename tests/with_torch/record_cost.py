#!/usr/bin/env python3
"""What recording costs a loop of small ops, whose steps are all the host's work: the median processor
time of a step, without and with it in turns, in one process.

    ohm exec --gpu l4-24g --no-record -- python tests/with_torch/record_cost.py [--rounds N]

Beside each way of ohm record stands PyTorch's own recording with the same settings. Steps are timed
when the history would be full, as it is in most steps of a long job, and alike steps are left out; --check N
runs N steps in place of filling it.
"""
import argparse
import os
import pathlib
import statistics
import sys
import tempfile
import time

import torch
from torch import nn
from torch.optim.optimizer import _global_optimizer_post_hooks

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "harness/record"))
from ohm_job_recorder import JobRecorder, Steps  # noqa: E402
from ohm_protocol import (  # noqa: E402
    RECORD_ALL_STEPS_VARIABLE, RECORD_MODULES_VARIABLE, RECORD_NO_STACKS_VARIABLE)

DEFAULT_EVENTS = 200_000
TIMED_STEPS = 40


class Loop:
    def __init__(self):
        kinds = (lambda: nn.Linear(64, 64), lambda: nn.LayerNorm(64), nn.GELU)
        self.model = nn.Sequential(*[kind() for _ in range(8) for kind in kinds]).cuda()
        self.optimizer = torch.optim.AdamW(self.model.parameters())

    def step(self):
        batch = torch.randn(32, 64, device="cuda")
        self.optimizer.zero_grad()
        loss = self.model(batch).square().mean()
        loss.backward()
        self.optimizer.step()

    def seconds(self):
        start = time.process_time()
        self.step()
        return time.process_time() - start


class Without:
    def begin(self):
        pass

    def end(self):
        pass


class Recorded:
    """As ohm record does it, but for writing."""

    def __init__(self, most_events=DEFAULT_EVENTS, variables=(RECORD_ALL_STEPS_VARIABLE,), stops=False):
        self.most_events = most_events
        self.variables = variables
        self.stops = stops
        self.folder = tempfile.TemporaryDirectory()

    def begin(self):
        os.environ.update({name: "1" for name in self.variables})
        self.recorder = JobRecorder(os.path.join(self.folder.name, "memory.pickle"))
        self.recorder.process = os.getpid()
        self.recorder.torch = torch
        self.recorder.record_memory_history = torch.cuda.memory._record_memory_history
        self.recorder.most_events = self.most_events
        self.recorder.steps = Steps(self.most_events)
        self.recorder._record()
        for name in self.variables:
            del os.environ[name]
        if self.stops:
            self.end()

    def end(self):
        self.recorder.stop_following()
        _global_optimizer_post_hooks.clear()
        torch.cuda.memory._record_memory_history(None)
        if self.recorder.problems:
            sys.exit(self.recorder.problems[0])


class PyTorchs:
    def __init__(self, context, most_events=DEFAULT_EVENTS):
        self.context = context
        self.most_events = most_events

    def begin(self):
        torch.cuda.memory._record_memory_history("all", context=self.context, stacks="python",
                                                 max_entries=self.most_events)

    def end(self):
        torch.cuda.memory._record_memory_history(None)


WAYS = {
    "without": Without(),
    "PyTorch, no stacks": PyTorchs(None),
    "ohm record --all-steps --stacks none": Recorded(
        variables=[RECORD_ALL_STEPS_VARIABLE, RECORD_NO_STACKS_VARIABLE]),
    "PyTorch, stacks": PyTorchs("alloc"),
    "ohm record": Recorded(variables=[]),
    "ohm record --modules": Recorded(variables=[RECORD_MODULES_VARIABLE]),
    "ohm record --all-steps": Recorded(),
    "ohm record --all-steps --modules": Recorded(variables=[RECORD_ALL_STEPS_VARIABLE, RECORD_MODULES_VARIABLE]),
    "PyTorch, stacks, 20,000 events": PyTorchs("alloc", 20_000),
    "ohm record --all-steps --max-entries 20000": Recorded(20_000),
    "behind ohm record --steps N": Recorded(stops=True),
}


def events_of_a_step(loop):
    torch.cuda.memory._record_memory_history("all", context=None)
    loop.step()
    events = len(torch.cuda.memory._snapshot()["device_traces"][0])
    torch.cuda.memory._record_memory_history(None)
    return events


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--check", type=int, help="steps in place of those that fill a history")
    arguments = parser.parse_args()
    loop = Loop()
    for _ in range(20):
        loop.step()
    events = events_of_a_step(loop)
    medians = {name: [] for name in WAYS}
    for number in range(arguments.rounds):
        # There and back: what comes behind another way finds the host's memory as that left it.
        for name in list(WAYS)[:: -1 if number % 2 else 1]:
            way = WAYS[name]
            way.begin()
            filling = getattr(way, "most_events", 0) // events + 5
            for _ in range(arguments.check or filling):
                loop.step()
            medians[name].append(statistics.median(loop.seconds() for _ in range(TIMED_STEPS)))
            way.end()
    print(f"PyTorch {torch.__version__}, {events} events a step, {arguments.rounds} rounds")
    for name in WAYS:
        median = statistics.median(medians[name]) * 1e6
        ratio = statistics.median(a / b for a, b in zip(medians[name], medians["without"]))
        print(f"{name:44} {median:8.1f} us {100 * (ratio - 1):+6.1f} %")


if __name__ == "__main__":
    main()
