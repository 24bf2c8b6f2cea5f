#!/usr/bin/env python3
"""Times the start of PyTorch and a training step of GPT-2 small (8 sequences of 1,024 tokens) on
whatever GPU there is: under ohm exec a virtual one, where PyTorch's own work on the host is timed.

    ohm exec -- python tests/comparisons/torch_step_time.py
    ohm exec --no-record -- python tests/comparisons/torch_step_time.py
"""
import pathlib
import resource
import statistics
import sys
import time

started = time.perf_counter()
import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scenarios/pytorch"))
from train_gpt2 import GPT2, train

torch.empty(1, device="cuda")
start_up = time.perf_counter() - started
model = GPT2().cuda()
train(model, batch=8, context=1024, steps=2)  # optimizer state, the cache
times = []
for _ in range(9):
    before = time.perf_counter()
    train(model, batch=8, context=1024, steps=1)
    times.append(time.perf_counter() - before)
host = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
print(f"start {start_up:.2f} s, step {statistics.median(times) * 1000:.1f} ms, "
      f"host {host:.2f} GiB, GPU {torch.cuda.max_memory_reserved() / 2**30:.2f} GiB")
