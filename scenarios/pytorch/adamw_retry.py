"""A training loop that survives running out of memory: it lets the gradients go and tries the step
again, once. Nothing in it is wrong at first sight.

    ohm sweep -- python scenarios/pytorch/adamw_retry.py

fails its allocations one at a time, and finds those after which AdamW's state is incomplete: the
step that is tried again dies with KeyError: 'exp_avg'.
"""
import torch

model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8)).cuda()
optimizer = torch.optim.AdamW(model.parameters())


def train_step(batch):
    model(batch).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()


for _ in range(3):
    batch = torch.ones(16, 64, device="cuda")
    try:
        train_step(batch)
    except torch.OutOfMemoryError:
        optimizer.zero_grad()
        train_step(batch)
