"""Loops that end, and sizes that grow, when numbers of a model say so: through statistics, context managers and iter()."""
import collections
import contextlib
import statistics

import torch

from cases import case

WORDS = ["<end>", "a", "dog", "runs"]


def loss_of(device):
    return torch.nn.Linear(8, 1).to(device)(torch.randn(64, 8).to(device)).square().mean()


@case
def batch_that_grows_when_losses_are_alike(device):
    class Sizer:
        """Doubles a batch when the last losses are alike."""

        def __init__(self, start=32, window=3):
            self.size = start
            self.losses = collections.deque(maxlen=window)

        def update(self, loss):
            self.losses.append(loss)
            if len(self.losses) < self.losses.maxlen:
                return
            if statistics.pstdev(self.losses) < 0.15 * statistics.fmean(self.losses):  # branch
                self.size *= 2
                self.losses.clear()

    sizer = Sizer()
    for _ in range(6):
        torch.zeros(sizer.size, 64, device=device)
        sizer.update(loss_of(device).item())


@case
def mean_of_a_generator(device):
    losses = [loss_of(device).item() for _ in range(4)]  # branch
    if statistics.mean(loss for loss in losses) > 0.2:
        torch.zeros(64, device=device)


class Reached(Exception):
    """The loss is low enough."""


@case
def training_that_a_context_manager_ends(device):
    @contextlib.contextmanager
    def until_reached(goal):
        def check(loss):
            if float(loss) <= goal:  # branch
                raise Reached

        try:
            yield check
        except Reached:
            print("reached")

    with until_reached(0.5) as check:
        for _ in range(4):
            torch.zeros(64, device=device)
            check(loss_of(device))


class Until:
    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        return kind is Reached


@case
def training_that_an_object_ends(device):
    with Until():
        for _ in range(4):
            if loss_of(device).item() < 0.5:  # branch
                raise Reached
            torch.zeros(64, device=device)


@case
def words_up_to_the_end(device):
    history = [torch.ones(1, dtype=torch.long, device=device)]
    model = torch.nn.Sequential(torch.nn.Embedding(4, 16), torch.nn.Linear(16, 4)).to(device)

    def next_word():
        token = model(history[-1]).argmax(-1)
        history.append(token)
        return WORDS[token.item()] if len(history) < 8 else "<end>"  # branch

    print(" ".join(iter(next_word, "<end>")))
    return torch.cat(history).dim()


@case
def iterator_of_the_program(device):
    class UntilLow:
        def __init__(self):
            self.lately = 1.0

        def __iter__(self):
            return self

        def __next__(self):
            if self.lately < 0.5:  # branch
                raise StopIteration
            return torch.zeros(64, device=device)

    rounds = UntilLow()
    for place, _ in enumerate(rounds):
        rounds.lately = loss_of(device).item()
        if place > 4:
            break
