"""Tensors that are not plain memory, and modes of PyTorch."""
import torch
import torch.nn.functional as F
from torch.utils import checkpoint

from cases import case


@case
def inference_mode(device, decide):
    with torch.inference_mode():
        ids = decide(torch.randint(0, 9, (512,)))
        mask = ids > 4
        mask[:3] = True
        buffer = torch.empty(512, dtype=torch.long, device=ids.device)
        buffer[:100].copy_(torch.arange(100))
        buffer[100:] = 7
        chosen = torch.randn(512, 256).to(device)[mask]
    return tuple(chosen.shape), buffer.sum()


@case
def batch_that_is_filled_in_rows(device, decide):
    rows = [torch.randint(1, 9, (n,)) for n in (5, 9, 3)]
    batch = decide(torch.zeros(3, 9, dtype=torch.long))
    for index, row in enumerate(rows):
        batch[index, :len(row)] = row.to(batch.device)
    lengths = (batch != 0).sum(1)
    return lengths, tuple(torch.randn(3, 9, 512).to(device)[batch != 0].shape)


@case
def padding_of_an_encoder(device, decide):
    ids = decide(torch.randint(1, 9, (8, 16)).masked_fill(torch.arange(16) > 11, 0))
    padding = ids == 0
    layer = torch.nn.TransformerEncoderLayer(32, 4, 64, batch_first=True, dropout=0.0).to(device)
    hidden = torch.nn.Embedding(9, 32).to(device)(ids.to(device))
    made = layer(hidden, src_key_padding_mask=padding.to(device))
    kept = made[~padding]
    kept.sum().backward()
    return tuple(kept.shape)


@case
def numbers_beside_tensors(device, decide):
    places = decide(torch.arange(8))
    powers = 2 ** places
    limit = powers.float().quantile(0.5)
    chosen = torch.where(powers > limit, 1, 0).bool()
    again = places.new_tensor([1, 2]) + places.new_zeros(2)
    found = torch.isin(places, again) | torch.isin(4, places)
    rows = torch.searchsorted(places, 3) + torch.bucketize(2.5, places)
    return powers, float(limit), found, rows, again, tuple(torch.randn(8, 512).to(device)[chosen].shape)


@case
def numbers_beside_unknown_tensors(device):
    scores = torch.randn(8).to(device)
    made = [2 ** scores, torch.searchsorted(scores, 3), torch.isin(2, scores), scores.quantile(0.5)]
    return [tuple(m.shape) for m in made]


@case
def nested_tensors(device):
    rows = [torch.arange(n).to(device) for n in (3, 5)]
    nested = torch.nested.nested_tensor(rows)
    padded = nested.to_padded_tensor(0)
    return tuple(padded.shape)


@case
def sparse_tensors(device):
    places = torch.tensor([[0, 1, 1], [2, 0, 2]]).to(device)
    matrix = torch.sparse_coo_tensor(places, torch.ones(3, device=device), (2, 3),
                                     is_coalesced=True, check_invariants=False)
    made = torch.sparse.mm(matrix, torch.randn(3, 64).to(device))
    return tuple(made.shape), matrix._nnz()


@case
def recomputed_selection(device, decide):
    labels = decide(torch.randint(0, 4, (256,)))
    layer = torch.nn.Linear(64, 256).to(device)

    def selected(hidden):
        return layer(hidden)[labels > 1].relu()

    hidden = torch.randn(256, 64).to(device).requires_grad_()
    made = checkpoint.checkpoint(selected, hidden, use_reentrant=False)
    made.sum().backward()
    return tuple(made.shape), tuple(hidden.grad.shape)


@case
def autocast_keeps_indices(device, decide):
    labels = decide(torch.randint(0, 4, (256,)))
    weights = (labels != 0).float()
    with torch.autocast("cuda", dtype=torch.bfloat16):
        logits = torch.nn.Linear(64, 4).to(device)(torch.randn(256, 64).to(device))
        loss = (F.cross_entropy(logits.float(), labels.to(device), reduction="none") * weights.to(device))
        kept = loss[labels != 0]
    return weights.sum(), tuple(kept.shape)


@case
def class_weights_by_frequency(device, decide):
    labels = decide(torch.randint(0, 6, (1000,)))
    counts = torch.bincount(labels, minlength=6).float()
    weights = counts.sum() / (6 * counts.clamp(min=1))
    return (weights * 100).round().long(), int(weights.argmax())


@case
def graph_attention_by_degree(device, decide):
    edges = decide(torch.randint(0, 50, (2, 600)))
    order = edges[1].argsort(stable=True)
    degree = torch.zeros(50, dtype=torch.long, device=edges.device)
    degree.scatter_add_(0, edges[1], torch.ones_like(edges[1]))
    largest = int(degree.max())
    place = torch.arange(600, device=edges.device) - (degree.cumsum(0) - degree)[edges[1][order]]
    dense = torch.zeros(50, largest, 64, device=device)
    dense[edges[1][order], place] = torch.randn(50, 64).to(device)[edges[0][order]]
    return tuple(dense.shape), degree


@case
def relabelled_subgraph(device, decide):
    edges = decide(torch.randint(0, 100, (2, 500)))
    nodes = decide(torch.randperm(100)[:40])
    mask = torch.zeros(100, dtype=torch.bool, device=nodes.device)
    mask[nodes] = True
    kept = mask[edges[0]] & mask[edges[1]]
    new = torch.full((100,), -1, dtype=torch.long, device=nodes.device)
    new[nodes] = torch.arange(len(nodes), device=nodes.device)
    small = new[edges[:, kept]]
    return tuple(small.shape), small.min() >= 0, tuple(torch.randn(small.shape[1], 512).to(device).shape)


@case
def windows_that_are_merged(device, decide):
    windows = decide(torch.randint(0, 3, (64, 8)))
    empty = (windows == 0).all(dim=1)
    kept = windows[~empty]
    keys = (kept * (3 ** torch.arange(8, device=kept.device))).sum(1)
    unique, inverse = keys.unique(return_inverse=True)
    table = torch.randn(len(kept), 512).to(device)
    return len(unique), inverse.max() + 1 == len(unique), tuple(table.shape)


@case
def made_on_the_default_device(device):
    torch.set_default_device(device)
    try:
        layer = torch.nn.Linear(64, 64)
        places = torch.arange(100)
        made = [torch.empty(3), torch.eye(3), torch.tensor([1]), torch.as_tensor([1]), torch.scalar_tensor(1),
                torch.linspace(0, 1, 3), torch.logspace(0, 1, 3), torch.tril_indices(2, 2), places]
        chosen = torch.ones(100, 512)[places % 3 == 0]
    finally:
        torch.set_default_device(None)
    with torch.device(device):
        made += [layer.weight, chosen, torch.arange(4)]
    assert {tensor.device.type for tensor in made} == {torch.device(device).type}
    return tuple(chosen.shape)


@case
def read_with_a_default_device(device):
    torch.set_default_device(device)
    try:
        scores = torch.nn.Linear(8, 1)(torch.randn(64, 8)).flatten()
        kept = scores[scores > 0]  # shape
        if kept.sum() > 4:  # branch
            kept = kept * 2
        print(scores.mean().item(), scores.tolist()[:2])
    finally:
        torch.set_default_device(None)
    return kept.dim()


@case(since=(2, 9))
def gradient_through_a_sparse_product(device):
    """The transposed matrix is merged once more."""
    places = torch.randint(0, 200, (2, 9000))
    matrix = torch.sparse_coo_tensor(places, torch.ones(9000), (200, 200)).coalesce().to(device)
    weights = torch.ones(300, 16, device=device, requires_grad=True)
    hidden = (torch.sparse.mm(matrix, torch.ones(200, 300, device=device) @ weights)).relu()
    torch.nn.functional.nll_loss(hidden.log_softmax(1), torch.randint(0, 16, (200,)).to(device)).backward()
    return tuple(weights.grad.shape)


@case(since=(2, 9))
def gradient_through_an_operator(device):
    matrix = torch.eye(64).to_sparse().to(device)
    weights = torch.ones(64, 16, device=device, requires_grad=True)
    (matrix @ weights).sum().backward()
    return tuple(weights.grad.shape)
