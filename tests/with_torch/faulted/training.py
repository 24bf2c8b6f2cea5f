"""A training loop with checkpoints, by the way that the command line names: how it treats an error of
the GPU is right, or has a bug that `ohm sweep --faults device` finds."""
import os
import subprocess
import sys
import time

import torch

STEPS = 4
CHECKPOINT = "checkpoint.pt"
WAY = sys.argv[1]


def build():
    torch.manual_seed(0)
    model = torch.nn.Linear(8, 8)
    state = {"step": 0}
    if os.path.exists(CHECKPOINT) and WAY != "starts_anew":
        state = torch.load(CHECKPOINT)
        model.load_state_dict(state["model"])
        print(f"resumed at step {state['step']}")
    return model.to("cuda"), state["step"]


def save(step, weights):
    torch.save({"step": step, "model": weights}, CHECKPOINT + ".part")
    os.replace(CHECKPOINT + ".part", CHECKPOINT)


def on_host(model):
    return {name: value.cpu() for name, value in model.state_dict().items()}


def step_of(model, optimizer, step):
    batch = torch.full((4, 8), float(step + 1)).to("cuda")
    optimizer.zero_grad()
    model(batch).square().mean().backward()
    optimizer.step()
    torch.cuda.synchronize()


def handle(error, model, optimizer, step, kept):
    """True: the loop goes on."""
    if WAY == "logs_only":
        print(f"warning: step {step} failed: {error}", file=sys.stderr)
        return True
    if WAY == "passes":
        return True
    if WAY == "retries_sticky":
        for _ in range(3):
            try:
                step_of(model, optimizer, step)
                return True
            except RuntimeError:
                time.sleep(0.01)
    if WAY == "saves_failed_step":
        save(step + 1, kept)
    if WAY == "breaks_checkpoint":
        with open(CHECKPOINT, "wb") as file:
            file.write(b"failed")
    if WAY == "hides_error":
        print(f"step {error.step} failed")
    if WAY == "exits_zero":
        print(f"error: {error}", file=sys.stderr)
        sys.exit(0)
    if WAY == "waits_for_gpu":
        while True:
            try:
                torch.cuda.synchronize()
                return True
            except RuntimeError:
                time.sleep(0.05)
    if WAY == "raises_its_own":
        raise SystemExit(f"error: step {step} failed: {error}")
    if WAY == "saves_last_good":
        save(step, kept)
    raise error


def train():
    model, first = build()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    kept = on_host(model)
    for step in range(first, STEPS):
        try:
            step_of(model, optimizer, step)
            kept = on_host(model)
        except RuntimeError as error:
            if WAY == "retries_memory" and isinstance(error, torch.OutOfMemoryError):
                torch.cuda.empty_cache()
                step_of(model, optimizer, step)
                kept = on_host(model)
            elif not handle(error, model, optimizer, step, kept):
                raise
        if WAY not in ("passes", "starts_anew"):
            print(f"step {step} done")
        if WAY != "starts_anew":
            save(step + 1, kept)
    if WAY == "counts_its_steps":
        print(f"{STEPS - first} steps in this run")
    print("finished")


def supervise():
    """Each attempt has a process of its own."""
    for _ in range(3):
        if subprocess.run([sys.executable, __file__, "resumes"]).returncode == 0:
            return
    sys.exit("the worker failed three times")


supervise() if WAY == "supervised" else train()
