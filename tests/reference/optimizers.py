#!/usr/bin/env python3
"""Records what PyTorch's optimizers do: tests/golden/optimizers/trajectories.json.

Run it with any PyTorch for the CPU (Debian: python3-torch). Each case names an optimizer with its
options as a script gives them, two parameters, the gradients of some steps and the parameters after
each of them.
"""
import json
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
    "AdamW": [{}, {"weight_decay": 0.1, "amsgrad": True}, {"maximize": True}],
    "Adamax": [{}, {"weight_decay": 0.1}, {"maximize": True}],
    "NAdam": [{}, {"weight_decay": 0.1}, {"momentum_decay": 0.1}],
    "RAdam": [{}, {"weight_decay": 0.1}, {"betas": [0.5, 0.75]}],
    "Adagrad": [{}, {"weight_decay": 0.1, "lr_decay": 0.1},
                {"initial_accumulator_value": 0.5, "maximize": True}],
    "Adadelta": [{}, {"weight_decay": 0.1, "rho": 0.5}, {"maximize": True}],
    "RMSprop": [{}, {"momentum": 0.9}, {"centered": True, "weight_decay": 0.1},
                {"momentum": 0.9, "centered": True, "maximize": True}],
    "ASGD": [{}, {"weight_decay": 0.1, "lambd": 0.1}, {"t0": 2.0, "alpha": 0.5}, {"maximize": True}],
    "Rprop": [{}, {"etas": [0.25, 1.5], "step_sizes": [0.005, 0.1]}, {"maximize": True}],
}


def values(tensor):
    return [float(f"{v:.9g}") for v in tensor.detach().double().tolist()]


def record(name, options):
    torch.manual_seed(zlib.crc32(f"{name} {options}".encode()))
    parameters = [torch.randn(3).requires_grad_(), torch.randn(2).requires_grad_()]
    case = {"optimizer": name, "options": options, "parameters": [values(p) for p in parameters],
            "gradients": [], "after": []}
    # Older versions' NAdam is right in this form alone.
    arguments = {"lr": 0.1, "foreach": True, **options}
    optimizer = getattr(torch.optim, name)(parameters, **arguments)
    for _ in range(STEPS):
        for parameter in parameters:
            parameter.grad = torch.randn(parameter.shape)
        case["gradients"].append([values(p.grad) for p in parameters])
        optimizer.step()
        case["after"].append([values(p) for p in parameters])
    return case


def main():
    cases = [json.dumps(record(name, options)) for name in CASES for options in CASES[name]]
    OUT.write_text('{"torch": "%s",\n"cases": [\n%s\n]}\n' % (torch.__version__, ",\n".join(cases)))


if __name__ == "__main__":
    main()
