"""Padded, unpadded and packed sequences."""
import torch
import torch.nn.functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

from cases import case


def padded(rows, most, least=10):
    ids = torch.randint(1, 1000, (rows, most))
    lengths = torch.randint(least, most, (rows,))
    ids[torch.arange(most)[None] >= lengths[:, None]] = 0
    return ids


@case(decisions=1 << 20)
def trimmed_padding(device, decide):
    ids = decide(padded(16, 256))
    longest = int((ids != 0).sum(1).max())
    ids = ids[:, :longest]
    embedded = torch.nn.Embedding(1000, 128).to(device)(ids.to(device))
    logits = torch.nn.Linear(128, 1000).to(device)(embedded)
    F.cross_entropy(logits.flatten(0, 1), ids.flatten().to(device), ignore_index=0).backward()
    return longest, tuple(logits.shape)


@case
def unpadding_with_cumulative_lengths(device, decide):
    mask = decide((padded(16, 128) != 0).long())
    lengths = mask.sum(-1, dtype=torch.int32)
    places = mask.flatten().nonzero().flatten()
    starts = F.pad(lengths.cumsum(0, dtype=torch.int32), (1, 0))
    longest = lengths.max().item()
    rows = torch.randn(16, 128, 512).to(device).flatten(0, 1)[places]
    back = torch.zeros(16 * 128, 512, device=device)
    back[places] = rows
    return tuple(rows.shape), starts, longest


@case
def packed_by_counted_lengths(device, decide):
    ids = decide(padded(32, 60))
    lengths = (ids != 0).sum(1).cpu()
    embedded = torch.nn.Embedding(1000, 64).to(device)(ids.to(device))
    packed = pack_padded_sequence(embedded, lengths, batch_first=True, enforce_sorted=False)
    output, _ = torch.nn.LSTM(64, 128, batch_first=True).to(device)(packed)
    output, _ = pad_packed_sequence(output, batch_first=True)
    output.sum().backward()
    return tuple(output.shape), lengths


@case
def lengths_of_a_loader(device, decide):
    rows = [(torch.randint(1, 100, (n,)), n) for n in torch.randint(5, 80, (64,)).tolist()]

    def collate(batch):
        return pad_sequence([ids for ids, _ in batch], True), torch.tensor([n for _, n in batch])

    shapes = []
    for ids, lengths in torch.utils.data.DataLoader(rows, 16, collate_fn=collate):
        lengths = decide(lengths)
        hidden = torch.randn(*ids.shape, 64).to(device)
        mask = torch.arange(ids.shape[1], device=lengths.device)[None] < lengths[:, None]
        shapes.append(tuple(hidden[mask].shape))
        shapes.append(tuple(hidden[:, :int(lengths.min())].contiguous().shape))
    return shapes


@case
def last_token_of_each(device, decide):
    ids = decide(padded(16, 64))
    last = (ids != 0).sum(1) - 1
    hidden = torch.randn(16, 64, 256).to(device)
    taken = hidden[torch.arange(16, device=last.device), last]
    return tuple(taken.shape), last, ids.gather(1, last[:, None])


@case
def documents_at_separators(device, decide):
    ids = torch.randint(1, 100, (4096,))
    ids[torch.randperm(4096)[:20]] = 0
    ids = decide(ids)
    ends = (ids == 0).nonzero().flatten()
    parts = torch.tensor_split(torch.randn(4096, 64).to(device), ends.cpu())
    return [tuple((part * 2).shape) for part in parts], len(ends)


@case
def nested_by_lengths(device, decide):
    lengths = decide(torch.randint(1, 50, (8,)))
    rows = [torch.randn(n, 64).to(device) for n in lengths.tolist()]
    joined = torch.cat(rows)
    again = pad_sequence(rows, batch_first=True)
    return tuple(joined.shape), tuple(again.shape)


@case(decisions=40 << 10)
def packed_positions(device, decide):
    documents = decide(torch.randint(0, 12, (2048,)).sort().values)
    change = torch.ones_like(documents, dtype=torch.bool)
    change[1:] = documents[1:] != documents[:-1]
    starts = change.nonzero().squeeze(-1)
    index = torch.arange(2048, device=documents.device)
    positions = index - starts[change.cumsum(0) - 1]
    table = torch.randn(int(positions.max()) + 1, 256).to(device)
    return tuple(table.shape), len(starts)


@case
def left_padding_that_argmax_finds(device, decide):
    mask = decide((padded(8, 64) != 0).flip(1).int())
    first = mask.argmax(1)
    least = int(first.min())
    hidden = torch.randn(8, 64, 512).to(device)[:, least:].clone()
    return tuple(hidden.shape), first


@case
def end_of_drawn_tokens(device):
    logits = torch.nn.Linear(16, 50).to(device)(torch.randn(4, 16).to(device))
    done = torch.zeros(4, dtype=torch.bool, device=device)
    cache = []
    for _ in range(6):
        token = logits.argmax(-1)
        cache.append(torch.zeros(4, 1024, device=device))
        done |= token == 3
        if done.all():  # branch
            break
    return len(cache) > 0


@case(decisions=1 << 18)
def batches_by_tokens(device, decide):
    lengths = decide(torch.randint(5, 100, (64,)))
    order = lengths.argsort()
    sums = lengths[order].cumsum(0)
    count = -(-int(sums[-1]) // 512)
    ends = torch.searchsorted(sums, torch.arange(1, count, device=sums.device) * 512)
    shapes = []
    for batch in order.tensor_split(ends.cpu()):
        if batch.numel():
            longest = lengths[batch].max()
            shapes.append(tuple(torch.zeros(batch.numel(), longest, 8, device=device).shape))
    return shapes


@case(result=False)
def lengths_drawn_after_dropout_of_recurrent_layers(device):
    layers = torch.nn.LSTM(8, 8, num_layers=2, dropout=0.5, batch_first=True).to(device)
    rows = []
    for _ in range(3):
        rows.append(torch.randn(4, int(torch.randint(5, 500, ())), 8).to(device))
        layers(rows[-1])[0].sum().backward()
