#!/usr/bin/env python3
"""Records what PyTorch's optimizers do: tests/golden/optimizers/trajectories.json.

Run it with a PyTorch for the CPU from 2.9 on. Each case names an optimizer with its
options as a script gives them, two parameters, the gradients of some steps and the parameters after
each of them. Clipping is recorded the same way: gradients before and after, and their norm.
"""
import json
import math
import pathlib
import zlib

import torch

OUT = pathlib.Path(__file__).resolve().parent.parent / "golden" / "optimizers" / "trajectories.json"
STEPS = 8

CASES = {
    "SGD": [{}, {"momentum": 0.9}, {"momentum": 0.9, "dampening": 0.5, "weight_decay": 0.1},
            {"momentum": 0.9, "nesterov": True, "weight_decay": 0.1}, {"maximize": True},
            {"maximize": True, "weight_decay": 0.1, "momentum": 0.5}],
    "Adam": [{}, {"weight_decay": 0.1}, {"amsgrad": True}, {"maximize": True, "weight_decay": 0.1},
             {"betas": [0.5, 0.75], "eps": 1e-3}],
    "AdamW": [{}, {"weight_decay": 0.1, "amsgrad": True}, {"maximize": True},
              {"betas": [0.5, 0.75], "eps": 1e-3}],
    "Adamax": [{}, {"weight_decay": 0.1}, {"maximize": True}, {"betas": [0.5, 0.75], "eps": 1e-3}],
    "NAdam": [{}, {"weight_decay": 0.1}, {"momentum_decay": 0.1},
              {"betas": [0.5, 0.75], "eps": 1e-3}],
    "RAdam": [{}, {"weight_decay": 0.1}, {"betas": [0.5, 0.75], "eps": 1e-3}],
    "Adagrad": [{}, {"weight_decay": 0.1, "lr_decay": 0.1},
                {"initial_accumulator_value": 0.5, "maximize": True}, {"eps": 0.1}],
    "Adadelta": [{}, {"weight_decay": 0.1, "rho": 0.5}, {"maximize": True}, {"eps": 0.1}],
    "RMSprop": [{}, {"momentum": 0.9}, {"centered": True, "weight_decay": 0.1},
                {"momentum": 0.9, "centered": True, "maximize": True},
                {"alpha": 0.5, "eps": 1e-3}],
    "ASGD": [{}, {"weight_decay": 0.1, "lambd": 0.1}, {"t0": 2.0, "alpha": 0.5}, {"maximize": True}],
    "Adafactor": [{}, {"weight_decay": 0.1, "beta2_decay": -0.5}, {"d": 1.5, "maximize": True}],
    "Rprop": [{}, {"etas": [0.25, 1.5], "step_sizes": [0.005, 0.1]}, {"maximize": True}],
}


def values(tensor):
    return [float(f"{v:.9g}") for v in tensor.detach().double().flatten().tolist()]


def record(name, options):
    torch.manual_seed(zlib.crc32(f"{name} {options}".encode()))
    parameters = [torch.randn(size).requires_grad_() for size in (3, 2)]
    case = {"optimizer": name, "options": options, "parameters": [values(p) for p in parameters],
            "gradients": [], "after": []}
    # Older versions' NAdam is right in this form alone, and RAdam, which forgets eps there, is not.
    arguments = {"lr": 0.1, "foreach": name not in ("RAdam", "Adafactor"), **options}
    optimizer = getattr(torch.optim, name)(parameters, **arguments)
    for _ in range(STEPS):
        for parameter in parameters:
            parameter.grad = torch.randn(parameter.shape)
        case["gradients"].append([values(p.grad) for p in parameters])
        optimizer.step()
        case["after"].append([values(p) for p in parameters])
    return case


def record_clip(name, options):
    torch.manual_seed(zlib.crc32(f"{name} {options}".encode()))
    parameters = [torch.randn(3).requires_grad_() for _ in range(3)]
    for parameter in parameters[:2]:
        parameter.grad = torch.randn(3)
    case = {"op": name, "options": options, "gradients": [values(p.grad) for p in parameters[:2]]}
    norm = getattr(torch.nn.utils, name)(parameters, **options)
    case["norm"] = None if norm is None else float(norm)
    case["after"] = [values(p.grad) for p in parameters[:2]]
    return case


CLIPS = [("clip_grad_norm_", {"max_norm": 0.5}), ("clip_grad_norm_", {"max_norm": 100.0}),
         ("clip_grad_norm_", {"max_norm": 0.5, "norm_type": 1.0}),
         ("clip_grad_norm_", {"max_norm": 0.5, "norm_type": math.inf}),
         ("clip_grad_value_", {"clip_value": 0.3})]


def encoded(case):
    return json.dumps({**case, "options": {name: str(value) if value == math.inf else value
                                           for name, value in case["options"].items()}})


def main():
    cases = [json.dumps(record(name, options)) for name in CASES for options in CASES[name]]
    clips = [encoded(record_clip(name, options)) for name, options in CLIPS]
    OUT.write_text('{"torch": "%s",\n"cases": [\n%s\n],\n"clips": [\n%s\n]}\n' %
                   (torch.__version__, ",\n".join(cases), ",\n".join(clips)))


if __name__ == "__main__":
    main()
