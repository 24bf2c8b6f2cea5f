"""Three steps with each optimizer of torch.optim, plain, foreach and fused. A step that runs out of
memory is tried again, once, with new gradients.

    ohm sweep --points all -- python optimizers.py [ROW]

ROW is one of them ("AdamW foreach"); all of them without it. What runs in a step stands in a file
that has the row's name, so that the points of a sweep tell which row they are of.
"""
import inspect
import sys

import torch

STEP = compile("optimizer.step(closure)", "ROW", "exec")


def rows():
    for name, kind in sorted(vars(torch.optim).items()):
        is_optimizer = inspect.isclass(kind) and issubclass(kind, torch.optim.Optimizer)
        if not is_optimizer or kind is torch.optim.Optimizer or name == "SparseAdam":
            continue  # SparseAdam's gradients have as many rows as their values say
        options = inspect.signature(kind).parameters
        yield f"{name} plain", kind, {"foreach": False} if "foreach" in options else {}
        if "foreach" in options:
            yield f"{name} foreach", kind, {"foreach": True}
        # Of PyTorch 2.6's Adagrad the CPU alone has one.
        if "fused" in options and not (name == "Adagrad" and torch.__version__ < "2.7"):
            yield f"{name} fused", kind, {"fused": True}


def train(row, kind, options):
    weights = [torch.nn.Parameter(torch.empty(16, 16, device="cuda")) for _ in range(2)]
    if "momentum" in inspect.signature(kind).parameters:
        options = {**options, "momentum": 0.9}
    optimizer = kind(weights, **options)

    def closure():
        with torch.enable_grad():
            optimizer.zero_grad()
            loss = (weights[0].sum() + weights[1].sum()).square()
            loss.backward()
            return loss

    def step():
        if kind is not torch.optim.LBFGS:
            closure()
        with_closure = closure if kind is torch.optim.LBFGS else None
        exec(STEP.replace(co_filename=row), {"optimizer": optimizer, "closure": with_closure})

    has_failed = False
    for _ in range(3):
        try:
            step()
        except torch.OutOfMemoryError:
            has_failed = True
            optimizer.zero_grad()
            step()
    if has_failed:
        sys.exit()  # the rows that follow do as ever


asked = " ".join(sys.argv[1:])
for row in rows():
    if asked in ("", row[0]):
        train(*row)
