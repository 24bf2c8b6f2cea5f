"""A small elastic job, by the way that the command line names: two ranks train together, and go on from
a checkpoint when torchrun starts them again. `ohm sweep --faults rank` finds which ways have a bug."""
import os
import sys

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

STEPS = 6
CHECKPOINT = "checkpoint.pt"
WAY = sys.argv[1]


def save(step, model, optimizer):
    if dist.get_rank() != 0:
        return
    saved = {"step": step, "model": model.module.state_dict()}
    if WAY != "forgets_optimizer":
        saved["optimizer"] = optimizer.state_dict()
    torch.save(saved, CHECKPOINT + ".part")
    os.replace(CHECKPOINT + ".part", CHECKPOINT)


def load(model, optimizer):
    if not os.path.exists(CHECKPOINT) or WAY == "starts_anew":
        return 0
    saved = torch.load(CHECKPOINT, map_location="cuda")
    model.module.load_state_dict(saved["model"])
    if "optimizer" in saved:
        optimizer.load_state_dict(saved["optimizer"])
    if dist.get_rank() == 0:
        print(f"resumed at step {saved['step']}")
    return saved["step"] + (1 if WAY == "skips_a_step" else 0)


def train():
    dist.init_process_group("nccl")
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    torch.manual_seed(0)
    model = DistributedDataParallel(torch.nn.Linear(4, 4).cuda())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    first = load(model, optimizer)
    for step in range(first, STEPS):
        if WAY == "saves_before_the_step":
            save(step + 1, model, optimizer)
        generator = torch.Generator().manual_seed(step)
        batch = torch.randn(4, 4, generator=generator).cuda()
        loss = model(batch).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        saves = (step + 1) % 3 == 0 if WAY == "saves_some_steps" else True
        if saves and WAY not in ("starts_anew", "saves_before_the_step"):
            save(step + 1, model, optimizer)
    value = model(torch.ones(1, 4, device="cuda")).sum().item()
    if dist.get_rank() == 0:
        print(f"final loss {value:.6f}")
        if WAY == "counts_its_steps":
            print(f"{STEPS - first} steps in this run")
    dist.destroy_process_group()


train()
