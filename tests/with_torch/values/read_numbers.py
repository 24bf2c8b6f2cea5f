"""Numbers that a program reads of a model, on ways that lead through other objects than tensors."""
import contextlib
import ctypes
import heapq
import math
import queue
import threading

import numpy
import torch

from cases import case

history = []
lowest = 1e9


def scores_of(device, count=64):
    return torch.nn.Linear(8, 1).to(device)(torch.randn(count, 8).to(device)).flatten().detach()


# ---- into tensors ----


@case
def limit_of_known_numbers(device):
    known = torch.rand(100).to(device)
    limit = scores_of(device).mean().item()
    low = known.clamp(max=limit) < known
    return torch.zeros(100, 8, device=device)[low].dim()  # shape


@case
def filled_with_a_number(device):
    line = torch.full((100,), scores_of(device).mean().item(), device=device)  # shape
    keep = torch.zeros(100, device=device) < line
    return torch.zeros(100, 8, device=device)[keep].dim()


@case
def put_into_a_tensor_of_the_host(device):
    table = torch.zeros(8)
    for place in range(8):
        table[place] = scores_of(device).mean().item()  # shape
    return torch.zeros(8, 8)[table > 0].dim()


@case
def list_of_bools(device):
    scores = scores_of(device).tolist()  # shape
    keep = [score > 0 for score in scores]
    return torch.zeros(64, 8, device=device)[torch.tensor(keep, device=device)].dim()


# ---- through text, functions of numbers, bytes ----


@case
def read_again_from_text(device):
    text = f"loss={scores_of(device).mean().item():.4f}"  # shape
    print(text)
    return torch.zeros(8 if float(text.split("=")[1]) > 0 else 4, device=device).dim()


@case
def text_that_is_only_printed(device):
    mean = scores_of(device).mean().item()
    name = "high" if mean > 0 else "low"
    lines = [f"{mean:.3f} {name}", "%.2f" % mean, "#" * int(20 * abs(mean))]
    print("\n".join(lines), ", ".join(map(str, [mean])).upper())


@case
def functions_of_numbers(device):
    losses = []
    for _ in range(3):
        losses.append(scores_of(device).square().mean().item())  # shape
    rows = int(numpy.clip(math.hypot(losses[0], numpy.std(losses)), 1, 9))
    return torch.zeros(rows, 8, device=device).dim()


@case
def bytes_of_a_storage(device):
    scores = scores_of(device).cpu()
    return len(scores.untyped_storage().tolist()) + len(scores.storage().tolist())  # value


@case
def read_at_an_address(device):
    scores = scores_of(device).cpu()
    return len((ctypes.c_float * 64).from_address(scores.data_ptr()))  # value


# ---- through containers, functions and objects ----


@case
def appended_to_a_list_of_the_file(device):
    history.clear()

    def train():
        history.append(float(scores_of(device).mean()))  # branch

    def goes_on():
        return len(history) < 3 or history[-1] < history[-2]

    while goes_on() and len(history) < 5:
        train()


@case
def appended_to_a_list_of_the_caller(device):
    def record(losses, device):
        losses.append(float(scores_of(device).mean()))  # branch

    curve = []
    for _ in range(4):
        record(curve, device)
    if curve[-1] > curve[0]:
        torch.zeros(8, device=device)


@case
def assigned_to_a_global(device):
    global lowest
    lowest = float(scores_of(device).mean())  # branch
    grow(device)


def grow(device):
    if lowest < 0:
        torch.zeros(8, device=device)


@case
def rows_of_each_expert(device):
    rows = [[] for _ in range(4)]
    kinds = (torch.randn(64, 8).to(device) @ torch.randn(8, 4).to(device)).argmax(1)
    for place, kind in enumerate(kinds.tolist()):  # shape
        rows[kind].append(place)
    for some in rows:
        torch.zeros(64, 8, device=device)[some]


@case
def chosen_module(device):
    layers = [torch.nn.Linear(8, 8 * (i + 1)).to(device) for i in range(4)]
    layer = layers[(torch.randn(8).to(device) @ torch.randn(8, 4).to(device)).argmax().item()]  # branch
    layer(torch.randn(4, 8).to(device)).sum().backward()


@case
def chosen_name(device):
    names = ["a", "b", "c", "d"]
    kind = int((torch.randn(8).to(device) @ torch.randn(8, 4).to(device)).argmax())
    print(names[kind], names[kind].upper())


@case
def yielded_counts(device):
    def counts_of(device):
        for _ in range(3):
            yield int((scores_of(device) > 0).sum())  # shape

    for count in counts_of(device):
        torch.zeros(count + 1, device=device)


@case
def padding_of_a_list(device):
    ids = [1, 2] + [0] * int((scores_of(device) > 0).sum())  # shape
    return torch.tensor(ids).to(device).dim()


@case
def updated_keeper(device):
    class Keeper:
        """Its update() decides."""

        def __init__(self):
            self.least = float("inf")
            self.is_better = False

        def track(self, loss):
            self.is_better = loss < self.least
            self.least = min(self.least, loss)

    keeper = Keeper()
    for _ in range(3):
        keeper.track(float(scores_of(device).mean()))  # branch
        if keeper.is_better:
            torch.zeros(8, device=device)


@case
def updated_priorities(device):
    class Priorities:
        def __init__(self, count):
            self.errors = numpy.ones(count, dtype=numpy.float32)

        def update(self, places, errors):
            self.errors[places] = numpy.abs(errors)

        @property
        def large(self):
            return numpy.flatnonzero(self.errors > 1)

    replay = Priorities(64)
    replay.update(numpy.arange(64), scores_of(device).cpu().numpy())  # shape
    return torch.zeros(len(replay.large), 8, device=device).dim()


@case
def read_property(device):
    class Gate:
        def count(self, device):
            self._active = int((scores_of(device) > 0).sum())  # shape

        @property
        def active(self):
            return self._active

    gate = Gate()
    gate.count(device)
    return torch.zeros(gate.active + 1, device=device).dim()


@case
def queue_of_a_thread(device):
    done = queue.Queue()

    def work():
        done.put(int((scores_of(device) > 0).sum()))  # shape

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    return torch.zeros(done.get() + 1, device=device).dim()


# ---- what is known ----


@case
def known_numbers_in_tensors_and_text(device, decide):
    lengths = decide(torch.randint(3, 40, (12,)))
    mean = lengths.float().mean().item()
    sizes = [int(text) for text in ",".join(map(str, lengths.tolist())).split(",")]
    limit = torch.full((12,), mean)
    heap = list(sizes)
    heapq.heapify(heap)
    with contextlib.suppress(IndexError):
        sizes[lengths.max().item()] = 0
    return sizes, heap[0], int((lengths.cpu() > limit).sum()), tuple(torch.zeros(
        int(mean), 1024, device=device).shape)


class Mask(torch.Tensor):
    pass


@case
def mask_of_a_subclass(device, decide):
    mask = decide((torch.rand(300) < 0.4).as_subclass(Mask))
    return tuple(torch.randn(300, 64).to(device)[mask].shape), int(mask.sum())


@case(since=(2, 15))
def rows_of_compressed_sparse(device, decide):
    dense = decide(torch.randn(40, 40) * (torch.rand(40, 40) > 0.8))
    matrix = dense.to_sparse_csr()
    count = int(matrix.crow_indices()[-1])
    return count, tuple(torch.zeros(count, 256, device=device).shape)
