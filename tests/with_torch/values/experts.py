"""Mixtures of experts: who gets which tokens."""
import torch

from cases import case


@case
def tokens_of_known_experts(device, decide):
    expert = decide(torch.randint(0, 8, (512,)))
    tokens = torch.randn(512, 128).to(device)
    layers = [torch.nn.Linear(128, 512).to(device) for _ in range(8)]
    made = []
    for index, layer in enumerate(layers):
        chosen = torch.where(expert == index)[0]
        if chosen.numel() == 0:
            continue
        made.append(layer(tokens[chosen]))
    return [tuple(m.shape) for m in made]


@case
def sorted_tokens_of_known_experts(device, decide):
    expert = decide(torch.randint(0, 4, (256, 2)))
    counts = torch.bincount(expert.flatten(), minlength=4)
    order = expert.flatten().argsort(stable=True)
    tokens = torch.randn(256, 128).to(device)[order // 2]
    parts = tokens.split(counts.cpu().tolist())
    return [tuple((part @ part.t()).shape) for part in parts]


@case
def tokens_within_a_capacity(device, decide):
    expert = decide(torch.randint(0, 4, (256,)))
    taken = torch.nn.functional.one_hot(expert, 4)
    place = (taken.cumsum(0) * taken).sum(1) - 1
    kept = place < 48
    slots = torch.zeros(4, 48, 256, device=device)
    slots[expert[kept], place[kept]] = torch.randn(256, 256).to(device)[kept]
    return int(kept.sum()), tuple(slots.shape)


@case
def routing_loop(device):
    tokens = torch.randn(256, 64).to(device)
    gate = torch.nn.Linear(64, 4).to(device)
    weights, places = gate(tokens).softmax(-1).topk(2)
    made = torch.zeros_like(tokens)
    for index in range(4):
        rows, slots = torch.where(places == index)  # shape
        if rows.numel() == 0:
            continue
        made.index_add_(0, rows, tokens[rows] * weights[rows, slots, None])
    return tuple(made.shape)


@case
def routing_by_counts(device):
    tokens = torch.randn(256, 64).to(device)
    places = (tokens @ torch.randn(64, 4).to(device)).argmax(1)
    counts = torch.bincount(places, minlength=4)
    ordered, start, parts = tokens[places.argsort()], 0, []
    for count in counts.tolist():  # shape
        parts.append(ordered[start:start + count])
        start += count
    return len(parts)
