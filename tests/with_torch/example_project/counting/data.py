"""Sequences that count up by one, modulo the size of the vocabulary, padded to one length."""
import torch
from torch.utils.data import DataLoader, Dataset

VOCABULARY = 16
PADDING = VOCABULARY
LONGEST = 24


class CountingSequences(Dataset):
    def __init__(self, count, seed=0):
        generator = torch.Generator().manual_seed(seed)
        self.starts = torch.randint(VOCABULARY, (count,), generator=generator).tolist()
        self.lengths = torch.randint(8, LONGEST + 1, (count,), generator=generator).tolist()

    def __len__(self):
        return len(self.starts)

    def __getitem__(self, index):
        start, length = self.starts[index], self.lengths[index]
        return torch.arange(start, start + length) % VOCABULARY


def pad(sequences):
    """Tokens of [batch, LONGEST + 1], so that inputs and targets are LONGEST long."""
    batch = torch.full((len(sequences), LONGEST + 1), PADDING)
    for row, sequence in zip(batch, sequences):
        row[:len(sequence)] = sequence
    return batch


def make_loader(count=256, batch_size=32, seed=0):
    return DataLoader(CountingSequences(count, seed), batch_size=batch_size, collate_fn=pad)
