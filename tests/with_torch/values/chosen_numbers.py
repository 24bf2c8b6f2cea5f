"""Numbers that a branch on an unknown value chooses: what is printed of them, and what they decide."""
import logging
import math
import time
from collections import Counter

import numpy
import torch

from cases import case


def losses(device, count=4):
    model = torch.nn.Linear(64, 128).to(device)
    return (model(torch.randn(8, 64).to(device)).pow(2).mean() for _ in range(count))


# ---- only printed ----


@case
def best_loss_that_is_printed(device):
    best, best_step, started = float("inf"), 0, time.time()
    for step, loss in enumerate(losses(device)):
        value = loss.item()
        if step > 0 and value < best:
            best = value
            best_step = step
            print(f"better after {time.time() - started:.0f} s")
    logging.info("best %.3f at %d", best, best_step)


class Best:
    value = None

    def update(self, value, step):
        if self.value is None or value < self.value:
            self.value = value
            self.step = step


@case
def best_of_a_class_that_is_printed(device):
    best = Best()
    for step, loss in enumerate(losses(device)):
        best.update(loss.item(), step)
    print(best.value, best.step)


@case
def counts_that_are_printed(device):
    classes = ("cat", "dog", "bird", "fish")
    right = {name: 0 for name in classes}
    nans, total = 0, 0.0
    for loss in losses(device):
        value = loss.item()
        if math.isnan(value):
            nans += 1
        elif value < 100:
            total += value
    predicted = (torch.randn(8, 16).to(device) @ torch.randn(16, 4).to(device)).argmax(1).cpu()
    for label, guess in zip(torch.randint(0, 4, (8,)), predicted):
        if label == guess:
            right[classes[label]] += 1
    for name, count in right.items():
        print(f"{name}: {count / 8:.2f}", nans, total)


class Average:
    def __init__(self):
        self.sum = self.count = 0

    def __call__(self, value):
        self.sum += value
        self.count += 1
        return self.sum / self.count


class Meter:
    def update(self, value):
        self.value = value

    def __str__(self):
        return "{value:.2f}".format(**self.__dict__)


@case
def averages_that_are_logged(device):
    average, meter = Average(), Meter()
    for loss in losses(device):
        meter.update(loss.detach())
        logging.getLogger("train").warning("%s %.2f %.2f", meter, loss.detach(), average(loss.item()))


# ---- what decides ----


@case
def step_that_was_best(device):
    best, best_step = float("inf"), 1
    for step, loss in enumerate(losses(device)):
        value = loss.item()  # shape
        if value < best:
            best = value
            best_step = step + 2
    return torch.zeros(best_step, 8, device=device).dim()


@case
def output_that_was_best(device):
    best, kept = float("inf"), None
    for loss in losses(device):
        value = loss.item()  # branch
        if value < best:
            best = value
            kept = loss
    return kept.dim()


@case
def patience_that_ends(device):
    best, bad, stop = 0.0, 0, False
    for loss in losses(device):
        value = loss.item()  # branch
        if value < best:
            best = value
            bad = 0
        else:
            bad += 1
        if bad > 1:
            stop = True
        if stop:
            break


@case
def time_of_the_first(device):
    when = None
    for step, loss in enumerate(losses(device)):
        if loss.item() < 1:  # branch
            when = step
    if when is not None:
        torch.zeros(8, device=device)


@case
def rows_that_are_dropped(device):
    scores = torch.randn(8, 16).to(device) @ torch.randn(16, 1).to(device)
    kept = [True] * 8
    for row in range(8):
        if scores[row].item() < 0:  # shape
            kept[row] = False
    return torch.zeros(8, 4, device=device)[torch.tensor(kept)].dim()


@case
def keys_that_are_counted(device):
    scores = torch.randn(8, 16).to(device) @ torch.randn(16, 1).to(device)
    counts = Counter()
    for row in range(8):
        if scores[row].item() < 0:  # shape
            counts[row] += 1
    return torch.zeros(len(counts), 4, device=device).dim()


class Threshold:
    def __call__(self, value):
        return value < 1


@case
def threshold_that_is_called(device):
    threshold = Threshold()
    for loss in losses(device):
        if threshold(loss.item()):  # branch
            torch.zeros(8, device=device)


@case
def tensor_that_is_replaced(device):
    """Looking at a function's variables keeps none of them."""
    model, best = torch.nn.Linear(64, 4096, device=device), 0.0
    for _ in range(3):
        made = model(torch.ones(256, 64, device=device)).sigmoid()
        share = {"all": made.mean().item()}
        if share["all"] > best:
            best = share["all"]
            print(best)
        del made
        torch.zeros(1024, 4096, device=device)


@case
def losses_that_are_asked_whether_they_are_finite(device):
    """They are, by assumption."""
    skipped = 0
    for loss in losses(device):
        value = loss.item()
        if not math.isfinite(value) or numpy.isnan(loss.item()):
            skipped += 1
            torch.zeros(64, device=device)
            continue
        if math.isinf(value):
            break
        torch.zeros(512, device=device)
    print(skipped)


@case
def low_losses_that_are_none(device):
    low = [value if value < 1 else math.nan for value in (loss.item() for loss in losses(device))]  # branch
    kept = [value for value in low if not math.isnan(value)]
    return torch.zeros(len(kept) + 1, 4, device=device).dim()


@case
def last_low_loss_that_is_none(device):
    last = math.nan
    for loss in losses(device):
        value = loss.item()  # branch
        if value < 1:
            last = value
    if math.isnan(last):
        torch.zeros(64, device=device)


@case
def counts_that_are_made_after_the_read(device):
    guesses = torch.nn.Linear(8, 4).to(device)(torch.randn(32, 8).to(device)).argmax(1).tolist()
    right = Counter()
    wrong = [0] * 4
    rows = {label: 0 for label in range(4)}
    for guess, label in zip(guesses, torch.randint(0, 4, (32,)).tolist()):
        if guess == label:
            right[label] += 1
        else:
            wrong[label] += 1
            rows[label] += 1
    print(right, wrong, rows, [right[label] / 8 for label in range(4)])


@case
def rows_of_counts_that_are_made_after_the_read(device):
    guesses = torch.nn.Linear(8, 4).to(device)(torch.randn(32, 8).to(device)).argmax(1).tolist()  # shape
    hits = [0] * 4
    for guess, label in zip(guesses, torch.randint(0, 4, (32,)).tolist()):
        if guess == label:
            hits[label] += 1
    return torch.zeros(hits[0] + 1, 4, device=device).dim()


@case
def ranks_of_documents_that_are_printed(device):
    queries, documents = torch.randn(6, 8).to(device), torch.randn(32, 8).to(device)
    found, ranks = torch.nn.Linear(8, 8).to(device)(queries) @ documents.T, 0.0
    for listed, wanted in zip(found.topk(5).indices.tolist(), range(6)):
        if wanted in listed:
            ranks += 1 / (listed.index(wanted) + 1)
    print("mean reciprocal rank", ranks / 6)


@case
def mistakes_that_are_printed(device):
    shares, guesses = torch.nn.Linear(8, 4).to(device)(torch.randn(32, 8).to(device)).softmax(1).max(1)
    sure, guessed, labels = shares.tolist(), guesses.tolist(), torch.randint(0, 4, (32,)).tolist()
    wrong = [(share, row, guess) for row, (share, guess, label) in enumerate(zip(sure, guessed, labels))
             if guess != label]
    wrong.sort(reverse=True)
    for share, row, guess in wrong[:3]:
        print(f"row {row}: {guess} ({share:.2f})")


@case
def shares_that_may_be_zero(device):
    right = wrong = 0
    for _ in range(3):
        guess = torch.nn.Linear(8, 4).to(device)(torch.randn(16, 8).to(device)).argmax(1)
        right += (guess == 0).sum().item()
        wrong += (guess == 1).sum().item()
    precision = right / (right + wrong or 1)
    recall = right / max(right, 1)
    mean = 2 * precision * recall / ((precision + recall) or 1e-9)
    print(f"{precision:.3f} {recall:.3f} {mean:.3f}")


@case
def rows_or_one(device):
    guess = torch.nn.Linear(8, 4).to(device)(torch.randn(16, 8).to(device)).argmax(1)
    found_rows = (guess == 3).sum().item()  # shape
    return torch.zeros(found_rows or 1, 8, device=device).dim()


@case
def scores_that_are_no_nan(device):
    outputs = torch.nn.Linear(8, 4).to(device)(torch.randn(16, 8).to(device)).detach().cpu().numpy()
    assert not numpy.isnan(outputs).any()
    mean = torch.nn.Linear(8, 1).to(device)(torch.randn(8).to(device)).item()
    if mean != mean:
        raise ValueError("not a number")
    return torch.zeros(8, device=device).dim()


@case
def shares_that_are_no_nan(device):
    scores = torch.nn.Linear(8, 4).to(device)(torch.randn(16, 8).to(device)).relu().detach().cpu().numpy()  # branch
    with numpy.errstate(all="ignore"):
        shares = scores / scores.sum(1, keepdims=True)
    if numpy.isnan(shares).any():
        torch.zeros(8, device=device)


@case
def scores_of_two_calls(device):
    class Scores:
        def take(self):
            return vars(self)["taken_scores"].pop()

    scores = Scores()
    vars(scores)["taken_scores"] = []
    for _ in range(2):
        score = torch.nn.Linear(8, 1).to(device)(torch.randn(8).to(device)).item()
        vars(scores)["taken_scores"].append(score)
    if scores.take() != scores.take():  # branch
        torch.zeros(8, device=device)
