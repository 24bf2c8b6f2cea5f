"""Two ranks that wait for each other by files, and a launcher of their own: it watches them, or has the
bug that the way names. `ohm sweep --faults rank` finds that a lost rank is waited for."""
import os
import subprocess
import sys
import time

import torch

STEPS = 4
WAY = sys.argv[1]


def train(rank):
    weights = torch.nn.Parameter(torch.ones(4, device="cuda"))
    optimizer = torch.optim.SGD([weights], lr=0.1)
    for step in range(STEPS):
        weights.square().sum().backward()
        optimizer.step()
        optimizer.zero_grad()
        open(f"rank{rank}.step{step}", "w").close()
        while not os.path.exists(f"rank{1 - rank}.step{step}"):
            time.sleep(0.02)
    print(f"rank {rank} made {STEPS} steps")


def launch():
    ranks = [subprocess.Popen([sys.executable, __file__, WAY], env={**os.environ, "RANK": str(rank)})
             for rank in range(2)]
    while any(rank.poll() is None for rank in ranks):
        if WAY == "watches" and any(rank.poll() for rank in ranks):
            for rank in ranks:
                rank.kill()
        time.sleep(0.05)
    if any(rank.returncode for rank in ranks):
        sys.exit("a rank was lost")


train(int(os.environ["RANK"])) if "RANK" in os.environ else launch()
