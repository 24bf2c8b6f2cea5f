"""Sizes that are counted: classes, repetitions, groups, ranges."""
import contextlib

import torch
import torch.nn.functional as F

from cases import case


@case
def one_hot_of_labels(device, decide):
    labels = decide(torch.randint(0, 500, (1024,)))
    labels[0] = 777
    encoded = F.one_hot(labels).to(device)
    logits = torch.randn(1024, encoded.shape[1]).to(device)
    return tuple(encoded.shape), tuple(logits.shape)


@case(decisions=80 << 10)
def unique_with_counts(device, decide):
    ids = decide(torch.randint(0, 300, (4096,)))
    values, inverse, counts = torch.unique(ids, return_inverse=True, return_counts=True)
    table = torch.randn(4096, 64).to(device)
    sums = torch.zeros(len(values), 64, device=device).index_add_(0, inverse.to(device), table)
    return tuple(sums.shape), counts.max(), values[-1]


@case(decisions=24 << 10)
def unique_rows_and_runs(device, decide):
    pairs = decide(torch.randint(0, 6, (1000, 2)))
    runs, counts = torch.unique_consecutive(pairs[:, 0], return_counts=True)
    rows = torch.unique(pairs, dim=0)
    table = torch.randn(len(runs), 512).to(device)
    return tuple(rows.shape), len(runs), counts.max(), tuple(table.shape)


@case
def repeats_of_graphs(device, decide):
    nodes = decide(torch.randint(5, 40, (64,)))
    batch = torch.repeat_interleave(torch.arange(64, device=nodes.device), nodes)
    features = torch.randn(int(nodes.sum()), 128).to(device)
    pooled = torch.zeros(int(batch.max()) + 1, 128, device=device)
    pooled.index_add_(0, batch.to(device), features)
    return tuple(batch.shape), tuple(features.shape), tuple(pooled.shape)


@case
def bins_of_classes(device, decide):
    labels = decide(torch.randint(0, 90, (2048,)))
    counts = torch.bincount(labels)
    weights = torch.randn(len(counts), 1024).to(device)
    return counts, tuple(weights.shape)


@case(decisions=40 << 10)
def largest_index_plus_one(device, decide):
    index = decide(torch.randint(0, 700, (4096,)))
    size = int(index.max()) + 1
    out = torch.zeros(size, 256, device=device)
    out.scatter_add_(0, index.to(device)[:, None].expand(-1, 256), torch.randn(4096, 256).to(device))
    return tuple(out.shape)


@case
def range_of_a_value(device, decide):
    steps = decide(torch.tensor([3, 5, 4]))
    kept = []
    for step in range(int(steps[1])):
        kept.append(torch.zeros(1000 * (step + 1), device=device))
    return sum(t.numel() for t in kept), len(range(steps.max()))


@case
def splits_by_sizes(device, decide):
    sizes = decide(torch.tensor([100, 250, 50, 600]))
    parts = torch.randn(1000, 128).to(device).split(sizes.tolist())
    grown = [part.repeat(2, 1) for part in parts]
    return [tuple(part.shape) for part in grown], [n * 2 for n in sizes.tolist()]


@case
def while_something_is_left(device, decide):
    queue = decide(torch.tensor([7, 3, 9, 1, 0, 4]))
    kept = []
    while queue[0] != 0:
        kept.append(torch.zeros(int(queue[0]), 4096, device=device))
        queue = queue.roll(-1)
    return len(kept), queue


@case
def curriculum_by_length(device, decide):
    lengths = decide(torch.randint(1, 500, (256,)))
    tokens = torch.randn(256, 128).to(device)
    chosen = []
    for limit in (50, 200, 400):
        keep = (lengths <= limit).nonzero().squeeze(1)
        chosen.append(tokens[keep].repeat(1, 4))
    return [tuple(c.shape) for c in chosen]


@case
def quantile_filter(device, decide):
    scores = decide(torch.rand(1000))
    order = torch.argsort(scores, descending=True)
    limit = scores[order[99]]
    table = torch.randn(1000, 512).to(device)
    return tuple(table[scores >= limit].shape), float(limit)


@case
def topk_of_known_scores(device, decide):
    scores = decide(torch.rand(16, 200))
    values, places = scores.topk(10, dim=1)
    table = torch.randn(200, 512).to(device)
    kept = table[places.flatten().unique()]
    return tuple(kept.shape), values.min()


@case
def sort_and_group(device, decide):
    keys = decide(torch.randint(0, 10, (500,)))
    ordered, places = torch.sort(keys, stable=True)
    starts = torch.searchsorted(ordered, torch.arange(11, device=keys.device))
    table = torch.randn(500, 256).to(device)
    groups = [table[places[a:b]] for a, b in zip(starts[:-1].tolist(), starts[1:].tolist())]
    return [tuple(g.shape) for g in groups], starts


@case(decisions=32 << 10)
def histogram_of_numbers(device, decide):
    numbers = decide(torch.rand(3000))
    counts = torch.histc(numbers, bins=20, min=0, max=1)
    edges = torch.bucketize(numbers, torch.linspace(0, 1, 5, device=numbers.device))
    table = torch.randn(int(counts.max()), 1024).to(device)
    return counts, edges.max(), tuple(table.shape)


@case
def arange_and_numbers_of_the_host(device, decide):
    steps = decide(torch.arange(100))
    odd = steps[steps % 2 == 1] * 3 + 1
    kept = torch.zeros(int(odd[-1]), 512, device=device)
    return odd.sum(), tuple(kept.shape), (odd.float().mean() / 2).item()


@case(decisions=192 << 10)
def triangle_of_a_window(device, decide):
    rows = decide(torch.arange(128))
    window = (rows[:, None] >= rows[None]) & (rows[:, None] - rows[None] < 16)
    places = window.nonzero()
    scores = torch.randn(len(places), 128).to(device)
    return tuple(scores.shape), window.sum(1).max()


@case
def out_arguments(device, decide):
    ids = decide(torch.randint(0, 9, (512,)))
    counts = torch.zeros(9, dtype=torch.long, device=ids.device)
    torch.sum(ids[:, None] == torch.arange(9, device=ids.device), 0, out=counts)
    limit = torch.empty((), dtype=torch.long, device=ids.device)
    torch.amax(counts, 0, out=limit)
    return counts, tuple(torch.zeros(int(limit), 2048, device=device).shape)


@case
def list_of_numbers_of_a_tensor(device, decide):
    starts = decide(torch.tensor([0, 10, 40, 100]))
    table = torch.randn(100, 512).to(device)
    parts = [table[a:b].clone() for a, b in zip(starts.tolist(), starts.tolist()[1:])]
    return [tuple(p.shape) for p in parts], [int(t) for t in starts]


@case
def size_of_a_model_output(device):
    scores = torch.randn(256, 16).to(device) @ torch.randn(16, 1).to(device)
    count = int(scores.abs().sum())  # shape
    return torch.zeros(count % 7 + 1, device=device).shape[0] > 0


@case
def repeats_of_a_model_output(device):
    lengths = torch.nn.Linear(8, 1).to(device)(torch.randn(16, 8).to(device)).exp().round().long()
    with contextlib.suppress(RuntimeError):  # of 2.6: lengths that were not computed fail its check
        torch.repeat_interleave(torch.arange(16, device=device), lengths[:, 0])  # shape


@case
def places_of_a_sparse_sum(device):
    places = torch.randint(0, 40, (2, 3000)).to(device)
    numbers = torch.randn(3000, 8).to(device)
    merged = torch.sparse_coo_tensor(places, numbers, (40, 40, 8)).coalesce()
    table = torch.zeros(merged._nnz(), 256, device=device)
    return tuple(table.shape), merged.indices()[:, -1]


@case
def rows_of_a_sparse_gradient(device):
    table = torch.nn.Embedding(500, 64, sparse=True).to(device)
    words = torch.randint(0, 500, (2000,)).to(device)
    table(words).pow(2).sum().backward()
    rows = table.weight.grad.coalesce().indices()[0]
    return len(rows), rows[:5]


@case
def places_that_a_model_chose(device):
    places = (torch.randn(2, 300).to(device) @ torch.randn(300, 100).to(device)).long() % 10
    merged = torch.sparse_coo_tensor(places, torch.ones(100, device=device), (10, 10)).coalesce()  # shape
    return merged._nnz() > 0


@case(decisions=24 << 10)
def inverted_permutation(device, decide):
    order = decide(torch.randperm(700))
    back, again = torch.empty_like(order), torch.empty_like(order)
    back[order] = torch.arange(700, device=order.device)
    again.scatter_(0, order, torch.arange(700, device=order.device))
    rows = torch.randn(int(back[3]) + 1, 64).to(device)
    return tuple(rows.shape), bool((back == again).all()), back[order][5]


@case
def half_of_a_permutation(device):
    order = torch.randperm(700).to(device)
    back = torch.empty_like(order)
    back[order[:350]] = torch.arange(350, device=device)
    return bool(back[order[0]] == 0)  # branch


@case
def slice_at_an_unknown_place(device):
    scores = torch.nn.Linear(8, 10).to(device)(torch.randn(1, 8).to(device))
    place = scores.argmax()
    rows = torch.randn(10, 4).to(device)
    return rows[: place + 1].shape[1]  # shape


@case
def places_written_to_an_argument(device, decide):
    labels = decide(torch.randint(0, 4, (256,)))
    places = torch.empty(0, dtype=torch.long, device=labels.device)
    torch.nonzero(labels == 1, out=places)
    return places[-1], tuple(torch.randn(256, 512).to(device)[places.to(device)[:, 0]].shape)


@case
def places_of_an_output_written_to_an_argument(device):
    scores = torch.nn.Linear(8, 1).to(device)(torch.randn(64, 8).to(device)).flatten()
    places = torch.empty(0, dtype=torch.long, device=device)
    torch.nonzero(scores > 0, out=places)  # shape
    return places.dim()


@case
def integer_of_an_element(device):
    places = torch.nn.Linear(8, 50).to(device)(torch.randn(361, 8).to(device))
    for count in (1, 3, 100, 361, 722, 5000):
        torch.full((count,), 1.0, device=device)  # bytes that are left in memory that is used again
    place = int(places.argmax(1)[3])  # shape
    return torch.zeros(place + 1, 8, device=device).dim()


@case
def place_of_an_element(device):
    rows = torch.randn(361, 8).to(device)
    scores = torch.nn.Linear(8, 1).to(device)(rows).flatten()
    for count in (1, 3, 100, 361, 722, 5000):
        torch.full((count,), 1.0, device=device)  # bytes that are left in memory that is used again
    order = scores.argsort(descending=True)
    pair = torch.stack([rows[order[0]], rows[-order[1] - 1]])
    return pair.dim()


@case
def flag_of_an_element(device):
    flags = torch.nn.Linear(8, 1).to(device)(torch.randn(361, 8).to(device)).flatten() > 9
    return torch.zeros(1 << 20, device=device)[flags[0]].numel()  # shape
