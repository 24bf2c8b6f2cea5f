"""How many elements unknown values choose: what is printed of it, and what it decides."""
import collections
import enum
import json
import logging
import operator
import sqlite3

import numpy
import torch

from cases import case


def predicted(device, rows=64, classes=4):
    return (torch.randn(rows, 32).to(device) @ torch.randn(32, classes).to(device)).argmax(1)


def scores(device, rows=8):
    model = torch.nn.Linear(64, 128).to(device)
    return [model(torch.randn(4, 64).to(device)).mean().item() for _ in range(rows)]


def losses(device, count=4):
    model = torch.nn.Linear(64, 128).to(device)
    return (model(torch.randn(8, 64).to(device)).pow(2).mean() for _ in range(count))


# ---- only printed ----


@case
def classes_that_are_printed(device):
    found = predicted(device).cpu().numpy()
    print("classes", numpy.unique(found), len(numpy.unique(found)), numpy.unique(found).size)
    print(numpy.unique(found, return_counts=True))
    kinds, counts = numpy.unique(found, return_counts=True)
    print(f"{kinds.tolist()}: {counts.tolist()}, {counts.max() / counts.sum():.2f}")
    print(dict(zip(*numpy.unique(found, return_counts=True))))


@case
def counted_classes(device):
    counts = torch.bincount(predicted(device), minlength=4)
    share = counts.float() / counts.sum()
    print("classes", share.tolist(), counts.cpu().numpy())
    return len(counts)


@case
def classes_counted_on_the_host(device):
    found = []
    for _ in range(3):
        found += predicted(device).tolist()
    counts = torch.bincount(torch.tensor(found), minlength=4)
    print("classes", counts.tolist())
    return len(counts)


@case
def confusion_of_classes(device):
    targets = torch.randint(0, 4, (64,)).to(device)
    matrix = torch.bincount(targets * 4 + predicted(device), minlength=16).reshape(4, 4)
    recall = matrix.diag().float() / matrix.sum(1).clamp(min=1)
    print("recall", recall.mean().item())
    return tuple(matrix.shape)


@case
def high_losses_that_are_printed(device):
    losses = scores(device)
    high = [step for step, loss in enumerate(losses) if loss > 0.1]
    named = {f"step {step}": loss for step, loss in enumerate(losses) if loss > 0.1}
    print(f"{len(high)} high losses, the first at {high[:3]}", named, sorted(named.values()))


@case
def variables_of_one_name(device):
    history = [(loss, step) for step, loss in enumerate(scores(device))]
    for loss, step in sorted(history)[:3]:
        print(step, loss)
    high = [step for loss, step in history if loss > 0.1]
    print("high losses", high, len(high))


@case
def classes_that_are_looped_over_to_print(device):
    found = predicted(device).cpu().numpy()
    for kind in numpy.unique(found):
        print(kind, (found == kind).mean())


@case
def grades_that_are_printed(device):
    grades = [grade(score) for score in scores(device)]
    logging.getLogger("train").log(level(scores(device)[0]), "graded %s", ", ".join(grades))


def grade(score):
    if score > 0.5:
        return "good"
    elif score > 0:
        return "fair"
    return "bad"


def level(loss):
    return logging.WARNING if loss > 1 else logging.INFO


class Health(enum.Enum):
    GOOD = "good"
    BAD = "bad"

    @classmethod
    def of(cls, loss):
        if loss > 1:
            return cls.BAD
        return cls.GOOD


@case
def health_that_is_printed(device):
    for loss in losses(device):
        print(Health.of(loss.item()).value)


@case
def bins_that_are_printed(device):
    confidence = (torch.randn(64, 32).to(device) @ torch.randn(32, 4).to(device)).softmax(1).amax(1).cpu().numpy()
    which = numpy.clip(numpy.digitize(confidence, numpy.linspace(0, 1, 11)) - 1, 0, 9)
    counts = numpy.bincount(which, minlength=10)
    print(counts, numpy.bincount(which, weights=confidence, minlength=10) / numpy.maximum(counts, 1))


@case
def stars_that_are_printed(device):
    best = None
    for loss in scores(device):
        is_better = best is None or loss < best
        if is_better:
            best = loss
        print(f"{loss:.3f}" + ("*" if is_better else ""))


class Run:
    def __init__(self, width, loss):
        self.width, self.loss = width, loss


@case
def ranked_runs_that_are_printed(device):
    runs = [Run(8 * index, loss) for index, loss in enumerate(scores(device))]
    runs.sort(key=operator.attrgetter("loss"))
    for rank, run in enumerate(runs, 1):
        print(rank, run.width, f"{run.loss:.3f}")


class Encoder(json.JSONEncoder):
    def default(self, value):
        return value.tolist() if isinstance(value, torch.Tensor) else super().default(value)


@case
def encoded_as_json(device):
    print(json.dumps({"scores": torch.randn(8, 16).to(device) @ torch.randn(16, 4).to(device)}, cls=Encoder))


@case
def words_of_classes(device):
    counts = numpy.zeros(4, dtype=int)
    numpy.add.at(counts, predicted(device).cpu().numpy(), 1)
    words = [("a", "b", "c", "d")[kind] for kind in predicted(device).tolist()]
    print(" ".join(words), ("a", "b", "c", "d")[predicted(device)[0].item()], counts)


# ---- decide ----


@case
def clusters_of_classes(device):
    found = predicted(device).cpu().numpy()  # shape
    count = len(numpy.unique(found))
    return torch.zeros(count, 16, device=device).sum()


@case
def sizes_of_classes(device):
    found = predicted(device).cpu().numpy()  # shape
    return torch.zeros(numpy.unique(found).size, 16, device=device).sum()


@case
def shapes_of_classes(device):
    kinds, counts = numpy.unique(predicted(device).cpu().numpy(), return_counts=True)  # shape
    return torch.zeros(kinds.shape[0], 16, device=device).sum()


@case
def classes_as_a_tensor(device):
    kinds = numpy.sort(numpy.unique(predicted(device).cpu().numpy()))  # shape
    return torch.as_tensor(kinds.tolist(), device=device).sum()


@case
def missing_classes(device):
    kinds = numpy.unique(predicted(device, rows=3).cpu().numpy())  # shape
    return torch.from_numpy(numpy.setdiff1d(numpy.arange(4), kinds)).to(device)


@case
def classes_that_are_looped_over(device):
    found = predicted(device).cpu().numpy()  # branch
    return sum(torch.full((8,), float(kind), device=device) for kind in numpy.unique(found))


@case
def counts_by_index(device):
    found = numpy.unique(predicted(device).cpu().numpy(), return_counts=True)  # shape
    return torch.from_numpy(found[1]).to(device)


@case
def high_losses_that_are_repeated(device):
    inputs, losses = torch.randn(8, 16).to(device), scores(device)
    high = [step for step, loss in enumerate(losses) if loss > 0]  # shape
    return inputs[high].sum()


@case
def high_losses_that_are_counted(device):
    high = [loss for loss in scores(device) if loss > 0]  # shape
    return torch.zeros(len(high), device=device)


@case
def high_losses_that_stop(device):
    losses = scores(device)
    high = {step: loss for step, loss in enumerate(losses) if loss > 0}  # branch
    if len(high) > 4:
        return torch.zeros(4, device=device)
    return torch.ones(8, device=device)


@case
def tensors_that_are_kept(device):
    hidden = [torch.randn(16).to(device) for _ in range(8)]
    kept = [one for one, score in zip(hidden, scores(device)) if score > 0]  # branch
    hidden.clear()
    print(len(kept))


@case
def steps_that_are_run_again(device):
    ranked = collections.deque(step for step, loss in enumerate(scores(device)) if loss > 0)  # value
    made = []
    while ranked:
        made.append(torch.full((4,), float(ranked.popleft()), device=device))
    return len(made)


@case
def loops_that_compute(device):
    found = predicted(device).cpu().numpy()  # branch
    for kind in numpy.unique(found):
        print(torch.full((64,), float(kind), device=device).sum())


def width_for(loss):
    if loss > 0.5:
        return 8
    return 16


@case
def width_by_loss(device):
    loss = next(losses(device)).item()  # shape
    return torch.zeros(width_for(loss), device=device)


@case
def step_if_better(device):
    best, made = None, []
    for tensor in losses(device):
        loss = tensor.item()  # branch
        is_better = best is None or loss < best
        if is_better:
            best = loss
            made.append(torch.zeros(8, device=device))
    return len(made)


@case
def first_of_ranked_runs(device):
    runs = [Run(8 * index, loss) for index, loss in enumerate(scores(device), 1)]
    runs.sort(key=operator.attrgetter("loss"))  # shape
    return torch.zeros(runs[0].width, device=device)


@case
def losses_in_a_database(device):
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE runs (width INT, loss REAL)")
    for index in range(4):
        loss = next(losses(device)).item()  # shape
        database.execute("INSERT INTO runs VALUES (?, ?)", (8 * index, loss))
    width = database.execute("SELECT width FROM runs ORDER BY loss").fetchone()[0]
    return torch.zeros(width, device=device)
