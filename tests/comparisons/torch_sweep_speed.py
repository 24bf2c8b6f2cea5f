#!/usr/bin/env python3
"""Faults a second of `ohm sweep -- python PROGRAM`, in copies of the program and in runs of it.

    torch_sweep_speed.py OHM PYTHON

with a Python that has PyTorch. The program is a training step: 116 requests with PyTorch 2.6. What a sweep
costs before its first fault (the runs without faults, the one that is copied) is left out: a sweep
with few faults is subtracted from one with more.
"""
import json
import os
import subprocess
import sys
import tempfile
import time

PROGRAM = """
import torch
layers = [torch.nn.Linear(64, 64) for _ in range(12)]
model = torch.nn.Sequential(*layers).cuda()
optimizer = torch.optim.SGD(model.parameters(), momentum=0.9)
model(torch.ones(16, 64, device="cuda")).square().mean().backward()
optimizer.step()
"""


def swept(ohm, python, options):
    """Seconds, faults, calls, verdicts."""
    start = time.monotonic()
    ended = subprocess.run([ohm, "sweep", "--json", "--form", "transient", *options, "--", python,
                            "step.py"], capture_output=True, text=True)
    seconds = time.monotonic() - start
    variant = json.loads(ended.stdout)["scenarios"][0]["variants"][0]
    assert variant["error"] is None, variant["error"]
    return seconds, variant["faults"], variant["calls"], variant["verdicts"]


def rate(ohm, python, few, many):
    """Faults a second between the two."""
    least_seconds, least, calls, _ = swept(ohm, python, few)
    seconds, faults, _, _ = swept(ohm, python, many)
    return (faults - least) / (seconds - least_seconds), calls


def main():
    ohm, python = (os.path.abspath(path) for path in sys.argv[1:3])
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with open("step.py", "w") as file:
            file.write(PROGRAM)
        copies, calls = rate(ohm, python, ["--points", "sample=1"], ["--points", "all"])
        runs, _ = rate(ohm, python, ["--engine", "exec", "--points", "sample=1"],
                       ["--engine", "exec", "--points", "sample=5"])
    print(f"{calls} requests: {copies:.1f} faults/s in copies, {runs:.2f} in runs, "
          f"{copies / runs:.0f} times")


main()
