"""Values that go through a program's own classes and functions before they decide."""
import functools
import typing
from dataclasses import dataclass, field
from enum import Enum

import numpy
import torch

from cases import case


def score(device):
    return torch.randn(16).to(device) @ torch.randn(16, 4).to(device)


def rows(count, device):
    return torch.zeros(int(count) + 1, 8, device=device).dim()


@dataclass
class Sample:
    size: int
    label: str


class Mode(Enum):
    EASY = "easy"
    HARD = "hard"


class Chosen:
    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count


class Detections:
    def __init__(self):
        self.boxes = []

    def update(self, boxes):
        for box in boxes:
            if not self.boxes or numpy.abs(box).sum() > 2:
                self.boxes.append(box)


class Stored:
    def load(self, values):
        self.held = values

    def __getitem__(self, index):
        return self.held[index]

    @property
    def selected(self):
        return self.picked

    @selected.setter
    def selected(self, values):
        self.picked = [index for index, value in enumerate(values) if value > 0]


@case
def label_of_a_dataclass(device):
    samples = [Sample(8, "good" if score(device).mean().item() > 0 else "bad") for _ in range(4)]  # shape
    return rows(sum(1 for sample in samples if sample.label == "good"), device)


@case
def label_by_keyword(device):
    made = [dict(label="good" if score(device).mean().item() > 0 else "bad") for _ in range(4)]  # shape
    return rows(len([one for one in made if one["label"] == "good"]), device)


@case
def mode_of_text(device):
    mode = Mode("hard" if score(device).mean().item() > 0 else "easy")  # branch
    if mode is Mode.HARD:
        torch.zeros(8, device=device)


@case
def device_by_score(device):
    place = device if score(device).mean().item() > 0 else "cpu"  # branch
    return torch.zeros(8).to(place).dim()


@case
def part_of_a_function(device):
    def make(kind, count):
        return torch.zeros(count * (100 if kind == "wide" else 1), device=device)

    return functools.partial(make, "wide" if score(device).mean().item() > 0 else "thin")(2).dim()  # shape


@case
def stop_by_a_callback(device):
    class Patience:
        def __init__(self):
            self.best, self.bad = float("inf"), 0

        def see(self, value):
            if value < self.best:  # branch
                self.best = value
                self.bad = 0
            else:
                self.bad += 1

        def is_over(self):
            return self.bad > 1

    def train(on_loss, should_stop):
        for _ in range(4):
            on_loss(score(device).square().mean().item())
            if should_stop():
                break

    patience = Patience()
    train(patience.see, patience.is_over)


@case
def length_of_an_object(device):
    chosen = Chosen((score(device) > 0).sum().item())  # value
    return rows(len(chosen), device)


@case
def boxes_of_a_tracker(device):
    detections = Detections()
    detections.update(score(device).reshape(4, 1).cpu().numpy())  # branch
    return rows(len(detections.boxes), device)


@case
def item_of_an_object(device):
    stored = Stored()
    stored.load(score(device).cpu().numpy())  # value
    return rows(sum(1 for index in range(4) if stored[index] > 0), device)


@case
def property_that_is_set(device):
    stored = Stored()
    stored.selected = score(device).cpu().numpy()  # shape
    return rows(len(stored.selected), device)


@case
def spread_arguments(device):
    def build(name, count):
        return torch.zeros(count + 1, device=device)

    job = ("wide", score(device).argmax().item())  # shape
    return build(*job).dim()


@case
def spread_keywords(device):
    def build(kind, count):
        return torch.zeros(count * (100 if kind == "wide" else 1), device=device)

    options = {"kind": "wide" if score(device).mean().item() > 0 else "thin", "count": 2}  # branch
    return build(**options).dim()


@case
def product_with_a_chosen_matrix(device):
    matrices = [torch.randn(4, width).to(device) for width in (2, 40)]
    return (torch.randn(8, 4).to(device) @ matrices[score(device)[:2].argmax().item()]).dim()  # shape


class Bank:
    """Has methods that are named like those of lists and tensors."""

    def __init__(self, device):
        self.device = device

    def index(self, value):
        return torch.zeros(512, 512, device=self.device) + value

    def item(self):
        return torch.zeros(512, 512, device=self.device)


@case
def own_method_named_index(device):
    bank, banked = Bank(device), None
    for _ in range(3):
        value = torch.nn.Linear(8, 4).to(device)(torch.randn(2, 8).to(device)).max().item()  # branch
        if value > 100:
            banked = bank.index(value)
    return banked is None


@case
def own_method_named_item(device):
    bank, banked = Bank(device), 0
    for _ in range(3):
        value = torch.nn.Linear(8, 4).to(device)(torch.randn(2, 8).to(device)).max().item()  # branch
        if value > 100:
            banked = bank.item()
    print(banked)


class StopMixin:
    def should_stop(self):
        return self.has_converged


class Rounds:
    def see(self, is_low):
        self.has_converged = is_low


class MixedRounds(StopMixin, Rounds):
    pass


@case
def attribute_of_two_bases(device):
    rounds = MixedRounds()
    for _ in range(3):
        rounds.see(bool(score(device).mean() < 100))  # branch
        if rounds.should_stop():
            break


Settings = typing.TypeVar("Settings")


class GenericRounds(typing.Generic[Settings]):
    is_at_end = False

    def may_go_on(self):
        if self.is_at_end:
            return False
        return True


class RoundsOfDicts(GenericRounds[dict]):
    def end(self, is_low):
        self.is_at_end = is_low


@case
def attribute_of_a_generic_base(device):
    rounds = RoundsOfDicts()
    for _ in range(3):
        rounds.end(bool(score(device).mean() < 100))  # branch
        if not rounds.may_go_on():
            break


class CountingHalf:
    def note_rows(self, number):
        self.counted_rows = number


class UsingHalf:
    def use(self, device):
        return torch.zeros(self.counted_rows + 1, 8, device=device).dim()


@case
def class_that_type_makes(device):
    whole = type("Whole", (CountingHalf, UsingHalf), {})()
    whole.note_rows(int((score(device).mean(0) > 0).sum()))  # shape
    return whole.use(device)


class Watch:
    def watch(self, device):
        self.seen_at_last = score(device).mean().item()
        return f"{self.seen_at_last:.3f}"


class Count:
    def __init__(self):
        self.seen_at_last = 2

    def make(self, device):
        return torch.zeros(self.seen_at_last, 8, device=device).dim()


@case
def attributes_of_two_classes(device):
    Watch().watch(device)
    return Count().make(device)


@case
def state_that_an_object_loads(device):
    class Stopper:
        def load_state_dict(self, state):
            self.lowest_so_far = state["lowest"]

        def is_low(self):
            return self.lowest_so_far < 100

    stopper = Stopper()
    stopper.load_state_dict({"lowest": float(score(device).mean().cpu().numpy())})  # branch
    if stopper.is_low():
        torch.zeros(8, device=device)


@dataclass
class Outcome:
    steps: int
    has_stopped: bool = field(default=False)


@case
def field_with_a_default(device):
    outcome = Outcome(1, has_stopped=bool(score(device).mean() < 100))  # branch
    if outcome.has_stopped:
        torch.zeros(8, device=device)


class Inner:
    def resize(self, number):
        self.width_of_inner = number


class Outer:
    def __init__(self, inner):
        self.inner = inner

    def __getattr__(self, name):
        return getattr(self.__dict__["inner"], name)

    def make(self, device):
        return torch.zeros(self.width_of_inner + 1, 8, device=device).dim()


@case
def attribute_that_is_delegated(device):
    inner = Inner()
    outer = Outer(inner)
    inner.resize(int((score(device).mean(0) > 0).sum()))  # shape
    return outer.make(device)
