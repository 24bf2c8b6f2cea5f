"""Objects that keep the best score, alerts and records of a training, which only print and save them, and two by which
something is decided."""
import dataclasses
import math
import os
import pickle
import statistics
import tempfile

import numpy
import torch

from cases import case

CLASSES = ["background", "person", "sky", "sign"]


class Record:
    def __init__(self):
        self.recorded = []

    @property
    def spread(self):
        return statistics.pstdev(self.recorded)


def loss_of(device):
    return torch.nn.Linear(8, 1).to(device)(torch.randn(64, 8).to(device)).square().mean()


def scores_of(device):
    return torch.nn.Linear(8, 4).to(device)(torch.randn(64, 8).to(device)).mean(0).detach()


@case
def best_that_an_object_keeps(device):
    class Keeper:
        def __init__(self, mode):
            self.mode, self.lowest = mode, None

        def beats(self, value):
            if self.lowest is None:
                return True
            return value < self.lowest if self.mode == "min" else value > self.lowest

        def __call__(self, value, path):
            if self.beats(value):
                self.lowest = value
                torch.save({"value": value}, path)
                print(f"a new best: {value:.5f}")

    keep = Keeper("min")
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(3):
            keep(loss_of(device).item(), os.path.join(folder, "best.pt"))


@case
def alerts_that_are_printed(device):
    class Watch:
        def __init__(self, factor=2.0):
            self.factor, self.last_losses, self.warned_at = factor, [], []

        def __call__(self, step, loss):
            value = float(loss.detach())
            if len(self.last_losses) >= 3 and value > self.factor * statistics.median(self.last_losses):
                self.warned_at.append(step)
                print(f"step {step}: {value:.3f}")
            elif value < 0.5 * min(self.last_losses, default=value):
                print(f"step {step}: the loss has halved")
            self.last_losses.append(value)

    watch = Watch()
    for step in range(6):
        watch(step, loss_of(device))
    if watch.warned_at:
        print(len(watch.warned_at), "alerts, the first at step", watch.warned_at[0])


@case
def best_of_a_callback(device):
    class Best:
        def __init__(self, key):
            self.key, self.smallest, self.smallest_at = key, math.inf, None

        def on_end_of(self, epoch, logs):
            if logs[self.key] < self.smallest:
                self.smallest, self.smallest_at = logs[self.key], epoch
                print(f"{self.key} improved to {self.smallest:.4f}")

        def on_end(self):
            print(f"the best {self.key} in epoch {self.smallest_at}")

    callbacks = [Best("loss")]
    for epoch in range(3):
        for callback in callbacks:
            getattr(callback, "on_end_of")(epoch, {"loss": loss_of(device).item()})
    callbacks[0].on_end()


@case
def words_about_an_interval(device):
    values = [loss_of(device).item() for _ in range(4)]
    low, high = min(values), max(values)
    text = f"between {low:.3f} and {high:.3f}"
    if low > 0.5:
        text += ", all of them high"
    elif high < 0.5:
        text += ", all of them low"
    print(text)


@case
def characters_that_are_chosen(device):
    text = "it was "
    for _ in range(5):
        text += "abcd"[scores_of(device).argmax().item()]
    words = [word for word in text.split() if word in ("a", "dad")]
    print(text, len(words), "words")


@case
def image_with_a_header(device):
    pixels = (scores_of(device).cpu().numpy().reshape(2, 2) * 255).astype(numpy.uint8)
    height, width = pixels.shape
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "image.pgm"), "wb") as file:
            file.write(b"P5" + f"\n{width} {height}\n255\n".encode() + pixels.tobytes())


@case
def names_of_poor_classes(device):
    class Shares:
        def __init__(self, count):
            self.sums = numpy.zeros(count)

        def take_in(self, scores):
            for place in range(len(self.sums)):
                self.sums[place] += scores[place]

    shares = Shares(4)
    shares.take_in(scores_of(device).cpu().numpy())
    names = [name for name, share in zip(CLASSES, shares.sums) if not share > 0.3]
    print("poor:", ", ".join(names) or "-")


@case
def errors_in_units(device):
    class Scale:
        mean, width = 3.0, 2.0

        def inverse(self, values):
            return values * self.width + self.mean

    parts = [Scale().inverse(scores_of(device).cpu().numpy()) for _ in range(3)]
    large = numpy.flatnonzero(numpy.abs(numpy.concatenate(parts)) > 3)
    print(f"{len(large)} large errors")


@case
def places_of_each_row(device):
    order = numpy.argsort(-torch.nn.Linear(8, 6).to(device)(torch.randn(6, 8).to(device)).detach().cpu().numpy(), axis=1)
    places = numpy.where(order == numpy.arange(6)[:, None])[1]
    print("mean rank", places.mean() + 1, "best", int(numpy.where(order[0] == 0)[0][0]))


@case
def best_figures_of_an_epoch(device):
    figures = {"epoch": -1, "error": math.inf}
    history_of_errors = {"error": []}
    for epoch in range(3):
        current = {"error": loss_of(device).item()}
        if current["error"] < figures["error"]:
            figures.update(current, epoch=epoch)
        if history_of_errors["error"]:
            print("before", history_of_errors["error"][-1])
        history_of_errors["error"].append(current["error"])
    print({name: round(figure, 3) for name, figure in figures.items()})


@case
def records_in_a_pickle(device):
    records = [Record() for _ in range(4)]
    for _ in range(3):
        for record, score in zip(records, scores_of(device).tolist()):
            record.recorded.append(score)
    with tempfile.NamedTemporaryFile(suffix=".pickle") as file:
        pickle.dump(records, file)  # value
        file.flush()
        with open(file.name, "rb") as source:
            read = pickle.load(source)
    uncertain = [place for place, record in enumerate(read) if record.spread > 0]
    return torch.zeros(len(uncertain) + 1, 8, device=device).dim()


@case
def truth_of_an_object(device):
    class Unfinished:
        def __init__(self):
            self.values = []

        def take_loss(self, loss):
            self.values.append(float(loss))  # shape

        def __bool__(self):
            return len(self.values) < 2 or len(self.values) < 9 and abs(self.values[-1] - self.values[-2]) > 0.01

    unfinished = Unfinished()
    while unfinished:
        unfinished.take_loss(loss_of(device))


@case
def list_of_many_places(device):
    low_places = list(range(1200))
    for place in range(2):
        if loss_of(device).item() < 0.5:
            low_places.append(place)
    print(len(low_places), "losses are low")
    return torch.zeros(8, device=device).dim()


@dataclasses.dataclass
class Progress:
    lowest_seen: float = math.inf
    epoch_of_best: int = -1


@case
def progress_that_is_saved(device):
    progress, folder = Progress(), tempfile.mkdtemp()
    for epoch in range(3):
        score = loss_of(device).item()
        if score < progress.lowest_seen:
            progress.lowest_seen, progress.epoch_of_best = score, epoch
            torch.save({"progress": dataclasses.asdict(progress)}, os.path.join(folder, "best.pt"))
    print(f"best: {progress.lowest_seen:.3f} at {progress.epoch_of_best}")
