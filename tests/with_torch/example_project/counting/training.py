"""The training loop, and what is measured."""
import itertools

import torch
from torch.nn import functional as F

from counting.data import PADDING


def masked_loss(logits, targets):
    """The mean over targets that are no padding."""
    mask = targets != PADDING
    return F.cross_entropy(logits[mask], targets[mask])


def train(model, loader, steps, device, dtype=torch.float32):
    """The loss of each step."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    scaler = torch.amp.GradScaler(device, enabled=dtype == torch.float16)
    losses = []
    for batch in itertools.islice(itertools.cycle(loader), steps):
        batch = batch.to(device)
        optimizer.zero_grad()
        with torch.autocast(device, dtype=dtype, enabled=dtype != torch.float32):
            loss = masked_loss(model(batch[:, :-1]), batch[:, 1:])
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.item())
    return losses


@torch.no_grad()
def top_k_accuracy(model, loader, k, device):
    hits = total = 0
    for batch in loader:
        batch = batch.to(device)
        targets = batch[:, 1:]
        best = model(batch[:, :-1]).topk(k, dim=-1).indices
        is_hit = (best == targets.unsqueeze(-1)).any(dim=-1)
        mask = targets != PADDING
        hits += is_hit[mask].sum().item()
        total += mask.sum().item()
    return hits / total


def save_checkpoint(path, model):
    torch.save(model.state_dict(), path)


def load_checkpoint(path, model, device):
    model.load_state_dict(torch.load(path, map_location=device))
