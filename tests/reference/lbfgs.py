#!/usr/bin/env python3
"""Records what PyTorch's LBFGS does: tests/golden/optimizers/lbfgs.json.

Run it with PyTorch 2.15 for the CPU. Each case names the options as a script gives them, two
parameters p with a target c each, and what is there after some steps on the loss

    sum((p[0]² − c[0])²) + sum((p[1]² − c[1])²) + sum(p[0]) · sum(p[1]) / 10

which is −1 times that where it is maximized: the first loss of each step, how often it was
evaluated so far, and the parameters.
"""
import json
import pathlib
import zlib

import torch

OUT = pathlib.Path(__file__).resolve().parent.parent / "golden" / "optimizers" / "lbfgs.json"
STEPS = 4

CASES = [
    {}, {"max_iter": 3}, {"max_iter": 6, "history_size": 2}, {"max_iter": 1, "lr": 0.05},
    {"max_iter": 10, "max_eval": 4}, {"tolerance_grad": 0.5}, {"tolerance_change": 0.05},
    {"maximize": True, "max_iter": 3},
    {"line_search_fn": "strong_wolfe"}, {"line_search_fn": "strong_wolfe", "max_iter": 3},
    {"line_search_fn": "strong_wolfe", "max_iter": 3, "lr": 1.0},
    {"line_search_fn": "strong_wolfe", "max_iter": 2, "lr": 20.0},
    {"line_search_fn": "strong_wolfe", "max_iter": 5, "max_eval": 6, "lr": 0.001},
    {"line_search_fn": "strong_wolfe", "maximize": True, "max_iter": 3},
]


def values(tensor):
    return [float(f"{v:.12g}") for v in tensor.detach().tolist()]


def record(options):
    torch.manual_seed(zlib.crc32(str(options).encode()))
    parameters = [torch.randn(n, dtype=torch.float64).requires_grad_() for n in (3, 2)]
    targets = [torch.rand(n, dtype=torch.float64) + 0.5 for n in (3, 2)]
    case = {"options": options, "parameters": [values(p) for p in parameters],
            "targets": [values(c) for c in targets], "losses": [], "evaluations": [], "after": []}
    optimizer = torch.optim.LBFGS(parameters, **{"lr": 0.1, **options})
    sign = -1.0 if options.get("maximize") else 1.0

    def closure():
        optimizer.zero_grad()
        parts = [((p.pow(2) - c).pow(2)).sum() for p, c in zip(parameters, targets)]
        loss = (parts[0] + parts[1] + parameters[0].sum() * parameters[1].sum() * 0.1) * sign
        loss.backward()
        return loss

    for _ in range(STEPS):
        case["losses"].append(float(f"{optimizer.step(closure).item():.12g}"))
        case["evaluations"].append(optimizer.state[parameters[0]]["func_evals"])
        case["after"].append([values(p) for p in parameters])
    return case


def main():
    cases = ",\n".join(json.dumps(record(options)) for options in CASES)
    OUT.write_text('{"torch": "%s",\n"cases": [\n%s\n]}\n' % (torch.__version__, cases))


if __name__ == "__main__":
    main()
