"""Boxes: targets, overlaps, assignment, suppression."""
import torch

from cases import case


def boxes_of(count):
    corners = torch.rand(count, 2) * 80
    return torch.cat([corners, corners + 5 + torch.rand(count, 2) * 30], 1)


def overlaps(first, second):
    area = (first[:, 2:] - first[:, :2]).prod(1)[:, None] + (second[:, 2:] - second[:, :2]).prod(1)[None]
    corners = torch.max(first[:, None, :2], second[None, :, :2])
    sides = (torch.min(first[:, None, 2:], second[None, :, 2:]) - corners).clamp(min=0)
    shared = sides.prod(2)
    return shared / (area - shared)


@case(decisions=40 << 10)
def assignment_of_anchors(device, decide):
    anchors = decide(boxes_of(500))
    targets = decide(boxes_of(12))
    quality = overlaps(anchors, targets)
    best, match = quality.max(1)
    match[best < 0.3] = -1
    positive = torch.where(match >= 0)[0]
    features = torch.randn(500, 512).to(device)
    return tuple(features[positive].shape), (match == -1).sum(), match.max()


@case
def balanced_sampling(device, decide):
    labels = decide(torch.randint(-1, 2, (2000,)))
    positive = torch.where(labels == 1)[0]
    negative = torch.where(labels == 0)[0]
    wanted = min(positive.numel(), 128)
    rest = min(negative.numel(), 512 - wanted)
    chosen = torch.cat([positive[:wanted], negative[:rest]])
    features = torch.randn(2000, 256).to(device)
    return tuple(features[chosen].shape), int((labels == 1).sum())


@case
def suppression_of_known_boxes(device, decide):
    boxes = decide(boxes_of(100))
    scores = decide(torch.rand(100))
    order = scores.argsort(descending=True)
    kept = []
    while order.numel() > 0:
        kept.append(int(order[0]))
        if order.numel() == 1:
            break
        order = order[1:][overlaps(boxes[order[:1]], boxes[order[1:]])[0] <= 0.4]
    features = torch.randn(100, 2048).to(device)[kept]
    return kept, tuple(features.shape)


@case
def small_boxes_are_left_out(device, decide):
    boxes = decide(boxes_of(300))
    sides = boxes[:, 2:] - boxes[:, :2]
    keep = ((sides[:, 0] >= 12) & (sides[:, 1] >= 12)).nonzero()[:, 0]
    features = torch.randn(300, 1024).to(device)
    return tuple(features[keep].shape), keep[:3]


@case
def levels_of_boxes(device, decide):
    boxes = decide(boxes_of(300))
    size = (boxes[:, 2:] - boxes[:, :2]).prod(1).sqrt()
    levels = torch.floor(2 + torch.log2(size / 14 + 1e-6)).clamp(min=1, max=4).long()
    pooled = torch.zeros(300, 256, device=device)
    found = []
    for level in range(1, 5):
        inside = torch.where(levels == level)[0]
        if inside.numel() == 0:
            continue
        pooled[inside] = torch.randn(inside.numel(), 256).to(device)
        found.append(inside.numel())
    return found


@case
def classes_in_each_image(device, decide):
    labels = [decide(torch.randint(0, 20, (n,))) for n in (7, 0, 12)]
    made = []
    for row in labels:
        for name in row.unique():
            made.append(torch.zeros(int((row == name).sum()), 1024, device=device))
    return [tuple(m.shape) for m in made]


@case
def suppression_of_scores_of_a_model(device):
    scores = torch.nn.Linear(16, 1).to(device)(torch.randn(200, 16).to(device)).sigmoid()[:, 0]
    keep = scores > 0.5
    kept = scores[keep]  # shape
    return kept.dim()


@case
def hard_examples(device):
    loss = torch.nn.Linear(16, 1).to(device)(torch.randn(256, 16).to(device)).square()[:, 0]
    hard = loss > loss.mean()
    if hard.sum() < 8:  # branch
        loss = loss.topk(8).values
    else:
        loss = loss[hard]  # shape
    return loss.dim()


@case
def share_of_hard_examples(device, decide):
    table = torch.randn(256, 16).to(device)
    labels = decide(torch.randint(0, 3, (256,)))
    loss = table.square().sum(1)
    count = max(1, int((labels > 0).sum()) * 3 // 4)
    hard = loss.topk(count).indices
    return tuple(table[hard].repeat(1, 64).shape)


@case(decisions=1 << 18)
def greedy_suppression(device, decide):
    corners = torch.rand(60, 2) * 50
    boxes = decide(torch.cat([corners, corners + 10], 1))
    scores = decide(torch.rand(60))
    order, kept = scores.argsort(descending=True), []
    while order.numel():
        first = order[0]
        kept.append(first.item())
        rest = boxes[order[1:]]
        low = torch.maximum(boxes[first, :2], rest[:, :2])
        high = torch.minimum(boxes[first, 2:], rest[:, 2:])
        common = (high - low).clamp(min=0).prod(1)
        order = order[1:][common / (200 - common) < 0.3]
    return kept, tuple(torch.randn(60, 256).to(device)[kept].shape)
