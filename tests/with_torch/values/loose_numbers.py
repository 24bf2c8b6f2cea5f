"""Numbers that go where the source does not tell, and through functions in C, before they decide."""
import datetime
import decimal
import fractions
import math
import struct
import tempfile

import numpy
import torch

from cases import case


def loss_of(device):
    return (torch.randn(8).to(device) @ torch.randn(8, 4).to(device)).square().mean()


@case
def average_of_meters(device):
    class Meter:
        def __init__(self):
            self.total, self.count = 0.0, 0

        def update(self, value):
            self.total += float(value)  # branch
            self.count += 1

        @property
        def average(self):
            return self.total / self.count

    class Meters:
        def __init__(self):
            self.meters = {}

        def update(self, **values):
            for name, value in values.items():
                self.meters.setdefault(name, Meter()).update(value)

        def __getattr__(self, name):
            return self.__dict__["meters"][name]

    meters = Meters()
    meters.update(loss=loss_of(device).item())
    if meters.loss.average > 0.01:
        torch.zeros(8, device=device)


@case
def mean_of_a_history(device):
    history = {}

    def note(**values):
        for name, value in values.items():
            history.setdefault(name, []).append(value)

    note(loss=loss_of(device).item())
    if numpy.mean(history["loss"]) > 0.01:  # branch
        torch.zeros(8, device=device)


@case
def mean_that_is_printed(device):
    history = []
    for _ in range(3):
        history.append(loss_of(device).item())
    print(f"{numpy.mean(history):.3f} {float(history[0]):.3f} {math.exp(history[1]):.3f}")


@case
def order_of_losses(device):
    batches = [torch.randn(size, 8) for size in (4, 40, 400)]
    losses = [loss_of(device).item() for _ in batches]  # shape
    order = numpy.argsort(losses)
    return torch.cat([batches[index] for index in order[:2]]).to(device).dim()


@case
def function_of_a_registry(device):
    functions = {"perplexity": lambda loss: math.exp(loss)}
    found = {name: function(loss_of(device).item()) for name, function in functions.items()}
    if found["perplexity"] > 5:  # branch
        torch.zeros(8, device=device)


@case
def close_to_a_target(device):
    rules = [lambda loss, **_: math.isclose(loss, 0, abs_tol=1e-6)]  # value
    logs = {"loss": loss_of(device).item(), "step": 1}
    if any(rule(**logs) for rule in rules):
        torch.zeros(8, device=device)


@case
def levels_of_a_count(device):
    count = (torch.randn(8).to(device) @ torch.randn(8, 64).to(device) > 0).sum().item()  # branch
    return [torch.zeros(8, device=device) for _ in range(int(math.log(count + 1)))]


@case
def bytes_of_numbers(device):
    packed = struct.pack("f", loss_of(device).item())  # value
    if struct.unpack("f", packed)[0] > 0.01:
        torch.zeros(8, device=device)


@case
def length_of_a_range(device):
    class Schedule:
        def __call__(self, end):
            return torch.arange(0.0, end + 1, 0.1, device=device)  # shape

    return Schedule()(loss_of(device).item()).dim()


@case
def lengths_of_sequences(device):
    lengths = (torch.randn(6, 8).to(device) @ torch.randn(8, 12).to(device)).argmax(1).cpu() + 1
    rows = torch.randn(6, 12, 8).to(device)
    packed = torch.nn.utils.rnn.pack_padded_sequence(rows, lengths, True, enforce_sorted=False)  # shape
    return packed.data.dim()


@case
def places_of_a_split(device):
    place = (torch.randn(20, 8).to(device) @ torch.randn(8).to(device) > 0).sum().cpu().reshape(1)
    first, _ = torch.tensor_split(torch.randn(20, 8).to(device), place)  # shape
    return first.clone().dim()


@case
def loss_in_a_checkpoint(device):
    with tempfile.TemporaryFile() as file:
        torch.save({"epoch": 3, "loss": loss_of(device).item()}, file)
        file.seek(0)
        return torch.load(file)["epoch"]


@case
def product_of_sparse_matrices(device):
    places = torch.randint(0, 50, (2, 200))
    matrix = torch.sparse_coo_tensor(places, torch.ones(200), (50, 50)).to(device).coalesce()
    product = torch.sparse.mm(matrix, matrix)  # value
    return product.coalesce()._nnz()


@case
def decimal_of_a_loss(device):
    value = decimal.Decimal(loss_of(device).item())  # branch
    if value > 1:
        torch.zeros(8, device=device)


@case
def fraction_of_a_loss(device):
    value = fractions.Fraction(loss_of(device).item())  # shape
    return torch.zeros(value.limit_denominator(16).denominator, device=device).dim()


@case
def duration_of_a_loss(device):
    duration = datetime.timedelta(seconds=loss_of(device).item())  # shape
    return torch.zeros(duration.seconds + 1, device=device).dim()


@case
def bucket_of_a_loss(device):
    return torch.zeros(hash(loss_of(device).item()) % 7 + 1, device=device).dim()  # shape
