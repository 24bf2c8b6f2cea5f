"""Numbers that one function stores in another form and another function reads again."""
import array
import cmath
import csv
import ctypes
import io
import json
import math
import string

import torch

from cases import case


def loss_of(device):
    return torch.nn.Linear(8, 1).to(device)(torch.randn(64, 8).to(device)).square().mean()


@case
def field_of_a_structure(device):
    class Record(ctypes.Structure):
        _fields_ = [("loss", ctypes.c_double)]

    def store(loss):
        record.loss = loss

    def check():
        if record.loss > 0.5:
            torch.zeros(64, device=device)

    record = Record()
    store(loss_of(device).item())  # branch
    check()


@case
def array_of_numbers(device):
    def store(loss):
        stored_losses.append(loss)

    def check():
        if stored_losses[-1] > 0.5:
            torch.zeros(64, device=device)

    stored_losses = array.array("d")
    store(loss_of(device).item())  # branch
    check()


@case
def text_of_a_number(device):
    def store(loss):
        texts.append(json.dumps({"loss": loss}))

    def check():
        if json.loads(texts[0])["loss"] > 0.5:
            torch.zeros(64, device=device)

    texts = []
    store(loss_of(device).item())  # branch
    check()


@case
def digits_of_a_number(device):
    def store(loss):
        digits.append(loss.hex())

    def check():
        if float.fromhex(digits[0]) > 0.5:
            torch.zeros(64, device=device)

    digits = []
    store(loss_of(device).item())  # branch
    check()


@case
def parts_of_a_number(device):
    def store(loss):
        parts.append(math.modf(loss))

    def check():
        if parts[0][0] > 0.5:
            torch.zeros(64, device=device)

    parts = []
    store(loss_of(device).item())  # branch
    check()


@case
def complex_number(device):
    def store(loss):
        numbers.append(cmath.exp(loss))

    def check():
        if numbers[0].real > 0.5:
            torch.zeros(64, device=device)

    numbers = []
    store(loss_of(device).item())  # branch
    check()


@case
def template_with_a_number(device):
    def store(loss):
        filled.append(string.Template("$loss").substitute(loss=loss))

    def check():
        if float(filled[0]) > 0.5:
            torch.zeros(64, device=device)

    filled = []
    store(loss_of(device).item())  # branch
    check()


@case
def row_in_a_buffer(device):
    def store(loss):
        csv.writer(table).writerow([loss])

    def check():
        if float(table.getvalue()) > 0.5:
            torch.zeros(64, device=device)

    table = io.StringIO()
    store(loss_of(device).item())  # branch
    check()
