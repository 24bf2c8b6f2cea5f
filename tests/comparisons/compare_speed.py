#!/usr/bin/env python3
"""Times ohm and PyTorch on the same work, in one run, and prints the figures of docs/performance.md.

    /usr/bin/python3 tests/comparisons/compare_speed.py [build/release]

Needs the benchmarks of a Release build, and any PyTorch for the CPU (Debian: python3-torch) for the
ratios. One thread each. The two take turns, so that both see the machine as it is; each figure is
the median of the rounds, in processor time: others may have the machine at the same time.
"""
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import time

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

try:
    import torch
    from torch import nn
    import torch.nn.functional as F
except ImportError:
    torch = None

ROUNDS = 9
BUILD = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build/release")

# What the README calls it: the benchmark binary and its benchmark, calls in one round of PyTorch's.
ROWS = [
    ("an eager op: add of 4 elements, from C++", "runtime_bench", "add_of_four_elements", "add", 20000),
    ("the same from Lua, a + b", "lua_bench", "add_by_operator", "add", 20000),
    ("training step, Linear(8,8)-ReLU-Linear(8,8), batch 4, from C++", "runtime_bench",
     "small_training_step", "small", 300),
    ("the same from Lua", "lua_bench", "training_step", "small", 300),
    ("training step, Linear(1000,2000)-ReLU-Linear(2000,10), batch 32", "runtime_bench",
     "two_layer_training_step", "two_layer", 10),
    ("matmul, 512×512 by 512×512", "runtime_bench", "matmul", "matmul", 10),
]
# One call of these does many: their turns.
TURNS = {"add_by_operator": 1000, "training_step": 1000}
NANOSECONDS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}


def training_step(net, x, y):
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)

    def step():
        optimizer.zero_grad(set_to_none=True)
        F.cross_entropy(net(x), y).backward()
        optimizer.step()
    return step


def pytorch_work():
    torch.set_num_threads(1)
    a, b, m = torch.randn(4), torch.randn(4), torch.randn(512, 512)
    return {
        "add": lambda: a + b,
        "small": training_step(nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8)),
                               torch.randn(4, 8), torch.randint(8, (4,))),
        "two_layer": training_step(
            nn.Sequential(nn.Linear(1000, 2000), nn.ReLU(), nn.Linear(2000, 10)),
            torch.randn(32, 1000), torch.randint(10, (32,))),
        "matmul": lambda: m @ m,
    }


def time_call(call, times):
    call()
    start = time.process_time()
    for _ in range(times):
        call()
    return (time.process_time() - start) * 1e9 / times


def time_ohm(binary, name):
    command = [BUILD / "tests" / "bench" / binary, f"--benchmark_filter=^{name}$",
               "--benchmark_min_time=0.05", "--benchmark_format=json"]
    output = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    run = json.loads(output)["benchmarks"][0]
    return run["cpu_time"] * NANOSECONDS[run["time_unit"]] / TURNS.get(name, 1)


def text(nanoseconds):
    for unit, scale in (("ms", 1e6), ("µs", 1e3)):
        if nanoseconds >= scale:
            return f"{nanoseconds / scale:.3g} {unit}"
    return f"{nanoseconds:.0f} ns"


def main():
    work = pytorch_work() if torch else {}
    print(f"{platform.processor() or platform.machine()}, medians of {ROUNDS} rounds, one thread; "
          f"PyTorch {torch.__version__ if torch else 'is not installed'}\n")
    print("| | ohm | PyTorch | ratio |\n|---|---:|---:|---:|")
    for label, binary, name, key, times in ROWS:
        ours, theirs = [], []
        for _ in range(ROUNDS):
            ours.append(time_ohm(binary, name))
            if work:
                theirs.append(time_call(work[key], times))
        own = statistics.median(ours)
        if theirs:
            other = statistics.median(theirs)
            print(f"| {label} | {text(own)} | {text(other)} | {own / other:.2f} |")
        else:
            print(f"| {label} | {text(own)} | | |")


if __name__ == "__main__":
    main()
