"""Processes on one card.

    shared_card.py greedy NAME OTHER   takes GiB by GiB until there is no more, and stays until the
                                       OTHER has, too
    shared_card.py survivor            takes 9 GiB beside a process that has 9 GiB, which it kills then
    shared_card.py holder              is that process
"""
import os
import signal
import subprocess
import sys
import time

import torch


def take(gibibytes):
    return torch.empty(gibibytes << 30, dtype=torch.uint8, device="cuda")


def wait_for(path):
    for _ in range(30000):
        if os.path.exists(path):
            return
        time.sleep(0.01)
    sys.exit(f"there is no {path}")


def greedy(name, other):
    kept = [take(1)]
    open(name + ".begun", "w").close()
    wait_for(other + ".begun")
    try:
        while True:
            kept.append(take(1))
    except torch.OutOfMemoryError as error:
        message = str(error)
    open(name + ".full", "w").close()
    wait_for(other + ".full")
    free, total = torch.cuda.mem_get_info()
    line = (f"{name} process {os.getpid()} reserved {torch.cuda.memory_reserved()} free {free} "
            f"total {total}: {message}\n")
    os.write(1, line.encode())  # at once: the other one prints, too
    open(name + ".told", "w").close()
    wait_for(other + ".told")


def holder():
    kept = take(9)
    print(kept.numel(), flush=True)
    signal.pause()


def survivor():
    other = subprocess.Popen([sys.executable, __file__, "holder"], stdout=subprocess.PIPE)
    other.stdout.readline()
    try:
        take(9)
        print("it fits", flush=True)
    except torch.OutOfMemoryError as error:
        print(f"beside {other.pid}: {error}", flush=True)
    other.kill()
    other.wait()
    print("alone:", take(9).numel(), flush=True)


{"greedy": greedy, "holder": holder, "survivor": survivor}[sys.argv[1]](*sys.argv[2:])
