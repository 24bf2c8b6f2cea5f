"""DataLoaders: workers that stay, pinned memory, a collate function, started by fork and spawn."""
import torch
from torch.utils.data import DataLoader, IterableDataset, TensorDataset


class Stream(IterableDataset):
    def __iter__(self):
        info = torch.utils.data.get_worker_info()
        for index in range(info.id, 20, info.num_workers):
            yield {"tokens": torch.arange(index + 1), "label": index}


def pad(rows):
    tokens = [row["tokens"] for row in rows]
    return {"tokens": torch.nn.utils.rnn.pad_sequence(tokens, batch_first=True),
            "labels": torch.tensor([row["label"] for row in rows])}


def main():
    torch.zeros(1, device="cuda")  # CUDA is in use before workers are forked
    table = TensorDataset(torch.arange(64.0).repeat(256, 64, 1), torch.arange(256))
    loader = DataLoader(table, batch_size=32, num_workers=2, pin_memory=True,
                        persistent_workers=True, prefetch_factor=2)
    for epoch in range(2):
        seen = []
        for x, labels in loader:
            assert x.is_pinned() and labels.is_pinned()
            on_card = x.to("cuda", non_blocking=True)
            torch.cuda.synchronize()
            # A copy there and back keeps values.
            assert torch.equal(on_card.cpu(), x)
            seen += labels.tolist()
        assert seen == list(range(256))

    spawned = DataLoader(Stream(), batch_size=5, num_workers=2, pin_memory=True, collate_fn=pad,
                         multiprocessing_context="spawn")
    labels = [label for batch in spawned for label in batch["labels"].cuda().tolist()]
    assert sorted(labels) == list(range(20))
    weights = [torch.zeros(64 << 20, device="cuda") for _ in range(2)]
    assert torch.cuda.memory_allocated() >= sum(w.nbytes for w in weights)
    print("peak", torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())


if __name__ == "__main__":
    main()
