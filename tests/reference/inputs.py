"""What the arguments of cases are made of."""
import math

import torch


class Const:
    def __init__(self, tensor):
        self.tensor = tensor


const = Const


def randn(*shape, dtype=torch.float32):
    return torch.randn(shape, dtype=torch.float64).to(dtype)


def positive(*shape, dtype=torch.float32):
    return (torch.rand(shape, dtype=torch.float64) + 0.1).to(dtype)


def integers(high, *shape):
    return torch.randint(0, high, shape)


HALVES = [torch.float64, torch.float32, torch.bfloat16]
SPECIAL = [0.0, -0.0, math.inf, -math.inf, math.nan, 1.5, -2.5]
