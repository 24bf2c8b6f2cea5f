"""Functions that compute with numbers and text on the host: metrics that are printed, and results that decide."""
import collections
import contextlib
import io
import logging
import math
import random

import numpy
import torch

from cases import case

END = 3
WORDS = [f"w{number}" for number in range(8)]


def drawn(device, rows=4, length=6):
    return (torch.randn(rows, length, 16).to(device) @ torch.randn(16, 8).to(device)).argmax(-1)


def loss_of(device):
    return torch.nn.Linear(8, 1).to(device)(torch.randn(64, 8).to(device)).square().mean()


def cut(numbers):
    """Up to the first end."""
    return numbers[:numbers.index(END)] if END in numbers else numbers


def distance(first, second):
    row = list(range(len(second) + 1))
    for i, one in enumerate(first, 1):
        before, row[0] = row[0], i
        for j, other in enumerate(second, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (one != other))
    return row[-1]


def overlap(reference, found, longest=4):
    same, total = [0] * longest, [0] * longest
    for length in range(1, longest + 1):
        expected = collections.Counter(zip(*[reference[start:] for start in range(length)]))
        given = collections.Counter(zip(*[found[start:] for start in range(length)]))
        same[length - 1] += sum((expected & given).values())
        total[length - 1] += max(1, len(found) - length + 1)
    if min(same) == 0:
        return 0.0
    return math.exp(sum(math.log(hits / count) for hits, count in zip(same, total)) / longest)


def score_of(run):
    return run["loss"]


# ---- only printed ----


@case
def distances_that_are_printed(device):
    references = [[1, 2, 4, 5, END]] * 4
    found = [cut(row) for row in drawn(device).tolist()]
    errors = [distance(reference, row) for reference, row in zip(references, found)]
    print(f"error rate {sum(errors) / sum(map(len, references)):.3f}", errors)


@case
def overlap_that_is_printed(device):
    found = [cut(row) for row in drawn(device).tolist()]
    print(numpy.mean([overlap([1, 2, 4, 5], row) for row in found]))


@case
def text_that_is_cut_to_print_it(device):
    for row in drawn(device).tolist():
        text = " ".join(WORDS[number] for number in row)
        print(text.split("w3")[0] if "w3" in text else text + " ...")


@case
def log_that_is_captured_and_printed(device):
    log = io.StringIO()
    with contextlib.redirect_stdout(log):
        print(f"loss {loss_of(device).item():.4f}")
    print(log.getvalue())


# ---- that decides ----


@case
def tokens_up_to_the_first_end(device):
    kept = cut(drawn(device)[0].tolist())  # shape
    return torch.zeros(len(kept) + 1, 8, device=device).dim()


@case
def distance_that_stops(device):
    steps = 0
    for _ in range(4):
        row = drawn(device)[0].tolist()  # branch
        if distance([1, 2, 4], row) > 5:
            break
        torch.zeros(64, device=device)
        steps += 1
    return steps >= 0


@case
def longest_row(device):
    row = max(drawn(device).tolist(), key=lambda row: len(cut(row)))  # shape
    return torch.zeros(row[0] + 1, 8, device=device).dim()


@case
def best_run(device):
    runs = [{"width": width, "loss": loss_of(device).item()} for width in (8, 64, 512)]  # shape
    return torch.zeros(max(runs, key=score_of)["width"], 8, device=device).dim()


@case
def set_of_rounded_losses(device):
    class Rounded:
        def __init__(self, loss):
            self.loss = loss

        def __hash__(self):
            return int(self.loss * 1000)  # shape

        def __eq__(self, other):
            return isinstance(other, Rounded)

    different = {Rounded(loss_of(device).item()) for _ in range(4)}
    return torch.zeros(len(different), 8, device=device).dim()


@case
def printed_number_that_is_read_again(device):
    log = io.StringIO()
    with contextlib.redirect_stdout(log):
        print(loss_of(device).item())  # shape
    return torch.zeros(8 if float(log.getvalue()) > 0.5 else 4, device=device).dim()


@case
def logged_number_that_is_read_again(device):
    log, logger = io.StringIO(), logging.getLogger("ohm.read_again")
    logger.addHandler(logging.StreamHandler(log))
    logger.warning("loss %.4f", loss_of(device).item())  # shape
    return torch.zeros(8 if float(log.getvalue().split()[1]) > 0.5 else 4, device=device).dim()


@case
def first_words_that_are_read_again(device):
    text = " ".join(WORDS[number] for number in drawn(device)[0].tolist())  # shape
    kept = text.split("w3")[0].split()
    return torch.zeros(len(kept) + 1, 8, device=device).dim()


@case
def rows_that_are_joined(device):
    rows = []
    for row in drawn(device).tolist():  # shape
        rows.append(cut(row))
    return torch.zeros(len(sum(rows, [])) + 1, 8, device=device).dim()


@case
def columns_of_rows(device):
    rows = [cut(row) for row in drawn(device).tolist()]  # shape
    return torch.zeros(len(list(zip(*rows))) + 1, 8, device=device).dim()


@case
def padded_to_the_longest_row(device):
    rows = [cut(row) for row in drawn(device).tolist()]  # shape
    longest = max(len(row) for row in rows)
    padded = [row + [0] * (longest - len(row)) for row in rows]
    return torch.tensor(padded, device=device).dim()


@case
def threshold_that_is_printed(device):
    scores = torch.nn.Linear(8, 2).to(device)(torch.randn(64, 8).to(device)).softmax(1)[:, 1].detach().cpu().numpy()
    labels = (numpy.arange(64) % 2).astype(int)
    best_cut, best_share = 0, 0
    for cut in numpy.linspace(0, 1, 11):
        guesses = (scores > cut).astype(int)
        right = int((guesses & labels).sum())
        share = 2 * right / max(guesses.sum() + labels.sum(), 1)
        if share > best_share:
            best_cut, best_share = cut, share
    print(f"threshold {best_cut:.2f}: {best_share:.3f}")


@case
def rates_that_are_counted(device):
    class Metric:
        def __init__(self):
            self.guessed, self.labelled = [], []

        def add_batch(self, guesses, labels):
            self.guessed += guesses.tolist()
            self.labelled += labels.tolist()

        def compute(self):
            right = sum(1 for one, other in zip(self.guessed, self.labelled) if one == 1 and other == 1)
            positive = sum(1 for one in self.guessed if one == 1)
            share = right / positive if positive else 0.0
            self.guessed, self.labelled = [], []
            return {"share": share}

    metric, best = Metric(), 0
    for _ in range(2):
        guesses = torch.nn.Linear(8, 4).to(device)(torch.randn(16, 8).to(device)).argmax(1)
        metric.add_batch(guesses, torch.arange(16) % 4)
        result = metric.compute()
        if result["share"] >= best:
            best = result["share"]
            print("best so far:", result)


@case
def threshold_that_decides(device):
    logits = torch.nn.Linear(8, 2).to(device)(torch.randn(64, 8).to(device))
    scores = logits.softmax(1)[:, 1].detach().cpu().numpy()  # branch
    chosen_cut, best_count = 0, 0
    for cut in numpy.linspace(0, 1, 11):
        count = int((scores > cut).sum())
        if count > best_count:
            chosen_cut, best_count = cut, count
    if chosen_cut > 0.3:
        torch.zeros(64, device=device)


def calibration_of(confidences, guesses, labels):
    edges, error = numpy.linspace(0, 1, 5), 0.0
    for low, high in zip(edges[:-1], edges[1:]):
        within = (confidences > low) & (confidences <= high)
        if within.sum() > 0:
            error += abs((guesses[within] == labels[within]).mean() - confidences[within].mean()) * within.mean()
    return error


@case
def calibration_that_is_printed(device):
    confidences, guesses, labels = [], [], []
    for _ in range(3):
        best, place = torch.nn.Linear(8, 4).to(device)(torch.randn(16, 8).to(device)).softmax(1).max(1)
        confidences.append(best.detach().cpu().numpy())
        guesses.append(place.cpu().numpy())
        labels.append(numpy.arange(16) % 4)
    all_confidences = numpy.concatenate(confidences)
    error = calibration_of(all_confidences, numpy.concatenate(guesses), numpy.concatenate(labels))
    print(f"calibration error: {error:.3f}")


@case
def rewards_of_chosen_arms(device):
    means, rewards = [0.1, 0.2, 0.3, 0.4], []
    for _ in range(3):
        scores = torch.nn.Linear(8, 4).to(device)(torch.randn(1, 8).to(device))
        arm = int(scores.argmax())
        rewards.append(random.gauss(means[arm], 1))
    print(f"mean reward: {sum(rewards) / len(rewards):.3f}")


def sorted_out(records):
    kept = [one for one in records if one["loss"] > 0.2]
    return {"kept": kept, "total": len(records)}


@case
def list_in_a_result(device):
    records = [{"loss": loss_of(device).item()} for _ in range(4)]  # shape
    result = sorted_out(records)
    print(result["total"])
    return torch.zeros(len(result["kept"]) + 1, 8, device=device).dim()
