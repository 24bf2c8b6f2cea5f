"""Numbers read from a model that control a program through handled errors, coroutines, text and random draws."""
import asyncio
import contextlib
import random

import numpy
import torch

from cases import case


def number_of(device):
    return torch.nn.Linear(8, 1).to(device)(torch.randn(64, 8).to(device)).detach().square().mean()


def grow(device):
    torch.zeros(8, device=device)


@case
def range_of_a_tensor(device):
    for _ in range((number_of(device) * 8).long()):  # branch
        grow(device)


@case
def length_of_text(device):
    text = str(int(number_of(device).item() * 1000))  # shape
    return torch.zeros(len(text), 8, device=device).dim()


@case
def text_in_columns(device):
    text = f"{number_of(device).item():.3f}"
    print("loss" + " " * (12 - len(text)) + text)


@case
def handled_assertion(device):
    try:
        assert number_of(device).item() < -1  # branch
    except AssertionError:
        grow(device)


@case
def error_that_skips_a_batch(device):
    for _ in range(3):
        try:
            if number_of(device).item() > 0.1:  # branch
                raise ValueError("the loss is too high")
            grow(device)
        except ValueError:
            continue


@case
def error_that_nothing_handles(device):
    try:
        if number_of(device).item() < -1:
            raise ValueError("the loss is negative")
    except torch.OutOfMemoryError:
        grow(device)


@case
def key_that_is_missing(device):
    buffers = {0: torch.zeros(8, device=device)}
    try:
        buffers[int(number_of(device) * 1000)].zero_()  # branch
    except KeyError:
        grow(device)


@case
def name_that_is_printed(device):
    names = ["low", "high"]
    try:
        print(names[int(number_of(device) > 0)])
    except Exception as error:
        print(error)


@case(result=False)
def weights_of_draws(device):
    weights = [number_of(device).item() + 1e-3 for _ in range(3)]
    rows = random.choices([1, 2, 3], weights=weights)[0]  # value
    torch.zeros(rows, 8, device=device)


@case
def coroutine(device):
    async def count():
        return int(number_of(device) * 1000)  # shape

    return torch.zeros(asyncio.run(count()) % 7 + 1, 8, device=device).dim()


@case
def awaited(device):
    async def count():
        return int(number_of(device) * 1000)  # shape

    async def train():
        rows = await count()
        grow(device)
        return torch.zeros(rows % 7 + 1, 8, device=device).dim()

    return asyncio.run(train())


@case
def places_that_numpy_finds(device):
    scores = torch.nn.Linear(8, 1).to(device)(torch.randn(64, 8).to(device)).detach().flatten()
    places = numpy.flatnonzero(scores.cpu() > 0)  # shape
    return torch.zeros(64, 8, device=device)[torch.from_numpy(places)].dim()


@case
def shares_of_classes(device):
    kinds = torch.nn.Linear(8, 4).to(device)(torch.randn(64, 8).to(device)).argmax(1)
    names = numpy.array(["a", "b", "c", "d"])[kinds.cpu()]
    print({name: int((names == name).sum()) for name in "abcd"})


@case
def generator_of_arrays(device):
    def arrays():
        for _ in range(4):
            yield (torch.randn(8, 16).to(device) @ torch.randn(16, 1).to(device)).mean().cpu().numpy()  # shape

    chosen = [array for array in arrays() if array > 0]
    return torch.zeros(len(chosen) + 1, device=device).dim()


@case
def array_of_a_context(device):
    @contextlib.contextmanager
    def predictions():
        yield (torch.randn(8, 16).to(device) @ torch.randn(16, 1).to(device)).cpu().numpy()  # shape

    with predictions() as found:
        count = (found > 0).sum()
    return torch.zeros(int(count) + 1, device=device).dim()


@case
def set_that_becomes_a_tensor(device):
    kinds = (torch.randn(32, 16).to(device) @ torch.randn(16, 4).to(device)).argmax(1).tolist()  # shape
    return torch.tensor(sorted(set(kinds)), device=device).dim()


@case
def places_that_choose_names(device):
    names = ["cat", "dog", "bird", "fish"]
    confusion = torch.zeros(4, 4)
    guesses = (torch.randn(8, 16).to(device) @ torch.randn(16, 4).to(device)).argmax(1)
    lines = []
    for label, guess in zip(torch.randint(0, 4, (8,)).to(device), guesses):
        print(names[guess], end=" ")
        confusion[label.long(), guess.long()] += 1
        lines.append(f"{names[guess.item()]}\n")
    print("".join(lines), confusion.diag() / confusion.sum(1), sum(1 for guess in guesses.tolist() if guess == 1))
