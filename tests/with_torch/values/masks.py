"""Rows that masks of labels and of padding select."""
import torch
import torch.nn.functional as F

from cases import case


def labels_of(rows, length, share=0.3):
    tokens = torch.randint(0, 1000, (rows, length))
    return torch.where(torch.rand(rows, length) < share, tokens, -100)


@case
def masked_language_model(device, decide):
    labels = decide(labels_of(32, 64))
    hidden = torch.randn(32, 64, 256).to(device).requires_grad_()
    head = torch.nn.Linear(256, 4000).to(device)
    chosen = labels != -100
    rows = hidden[chosen]
    F.cross_entropy(head(rows), labels[chosen].to(device)).backward()
    return tuple(rows.shape), int(chosen.sum())


@case
def mask_of_not_contiguous_bools(device, decide):
    labels = decide(labels_of(64, 32))
    hidden = torch.randn(32, 64, 512).to(device)
    chosen = hidden[(labels != -100).t()]
    return tuple(chosen.shape), tuple(hidden[::2][(labels != -100).t()[::2]].shape)


@case
def mask_of_every_second_column(device, decide):
    ids = decide(torch.randint(0, 5, (64, 128)))
    hidden = torch.randn(64, 64, 256).to(device)
    return tuple(hidden[(ids > 2)[:, 1::2]].shape)


@case
def masked_select_of_int8(device, decide):
    flags = decide(torch.randint(0, 2, (4096,), dtype=torch.int8))
    kept = flags.bool()
    table = torch.randn(4096, 128).to(device)
    return kept.sum(), tuple(torch.masked_select(flags, kept).shape), tuple(table[kept].shape)


@case
def mask_of_half_numbers(device, decide):
    scores = decide(torch.rand(2048).half())
    table = torch.randn(2048, 256).to(device)
    return tuple(table[scores > 0.25].shape), tuple(table[scores.ge(0.75) | (scores < 0.1)].shape)


@case
def where_of_one_argument(device, decide):
    scores = decide(torch.randint(0, 100, (64, 64)))
    rows, columns = torch.where(scores > 50)
    table = torch.randn(64, 1024).to(device)
    return tuple(table[rows].shape), columns.max(), rows.min()


@case
def nonzero_as_tuple_of_expanded(device, decide):
    row = decide((torch.arange(128) % 3 == 0).long())
    places = row.expand(64, 128).nonzero(as_tuple=True)
    table = torch.randn(64, 128, 64).to(device)
    return len(places[0]), tuple(table[places].shape)


@case
def boolean_assignment(device, decide):
    ids = decide(torch.randint(0, 50, (64, 64)))
    ids[ids < 10] = 0
    ids[:, 0] = 1
    table = torch.randn(64, 64, 256).to(device)
    return ids.sum(), tuple(table[ids != 0].shape)


@case
def masked_scatter_and_masked_fill(device, decide):
    ids = decide(torch.randint(0, 50, (32, 64)))
    mask = ids % 7 == 0
    ids = ids.masked_scatter(mask, torch.full_like(ids, -1)).masked_fill_(ids == 49, -1)
    table = torch.randn(32, 64, 256).to(device)
    return ids.min(), (ids == -1).sum(), tuple(table[ids == -1].shape)


@case
def train_mask_of_a_graph(device, decide):
    train = torch.zeros(5000, dtype=torch.bool)
    train[torch.randperm(5000)[:1400]] = True
    train = decide(train)
    features = torch.randn(5000, 128).to(device)
    hidden = torch.nn.Linear(128, 512).to(device)(features)
    return tuple(hidden[train].shape), int(train.sum()), tuple(hidden[~train].shape)


@case(decisions=32 << 10)
def edges_without_loops(device, decide):
    edges = decide(torch.randint(0, 300, (2, 4000)))
    keep = edges[0] != edges[1]
    edges = edges[:, keep]
    degree = torch.bincount(edges[0], minlength=300)
    messages = torch.randn(300, 256).to(device)[edges[0]]
    return tuple(messages.shape), degree.max(), (degree == 0).sum()


@case
def if_any_label_is_left(device, decide):
    labels = decide(labels_of(16, 64, 0.01))
    hidden = torch.randn(16, 64, 256).to(device)
    found = []
    for row in range(16):
        mask = labels[row] != -100
        if mask.sum() > 0:
            found.append(hidden[row][mask].repeat(1, 8))
    return len(found), sum(len(f) for f in found)


@case
def empty_selection(device, decide):
    ids = decide(torch.zeros(128, dtype=torch.long))
    table = torch.randn(128, 64).to(device)
    chosen = table[ids > 0]
    if not (ids > 0).any():
        chosen = table.repeat(4, 1)
    return tuple(chosen.shape), ids[ids > 0].numel(), ids[:0].sum()


@case
def in_place_logic(device, decide):
    mask = decide(torch.rand(4096) < 0.5)
    other = decide(torch.rand(4096) < 0.5)
    mask &= other
    mask |= torch.zeros_like(mask)
    torch.logical_not(mask, out=other)
    table = torch.randn(4096, 128).to(device)
    return tuple(table[mask].shape), tuple(table[other].shape)


@case
def mask_of_random_numbers_of_the_gpu(device):
    table = torch.zeros(4096, 64, device=device)
    mask = torch.rand(4096, device=device) < 0.5
    return tuple(table[mask].shape)[1:]  # shape


@case
def mask_of_scores_of_a_model(device):
    scores = torch.nn.Linear(64, 1).to(device)(torch.randn(4096, 64).to(device))
    indices = torch.nonzero(scores.squeeze(1) > 0)  # shape
    return len(indices)


@case(decisions=1 << 20)
def hops_of_a_graph(device, decide):
    edges = decide(torch.randint(0, 300, (2, 900)))
    reached = torch.zeros(300, dtype=torch.bool, device=edges.device)
    reached[0] = True
    frontier, hops = reached.clone(), 0
    while frontier.any() and hops < 10:
        following = torch.zeros_like(reached)
        following[edges[1][frontier[edges[0]]]] = True
        frontier = following & ~reached
        reached |= frontier
        hops += 1
    keep = torch.isin(edges[0], reached.nonzero()) & reached[edges[1]]
    features = torch.randn(300, 128).to(device)[reached.to(device)]
    return hops, int(reached.sum()), tuple(edges[:, keep].shape), tuple(features.shape)
