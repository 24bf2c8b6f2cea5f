#!/usr/bin/env python3
"""Records PyTorch's learning rate schedulers: tests/golden/optimizers/lr_scheduler*.json.

Run it with any PyTorch for the CPU (Debian: python3-torch). Each case names schedulers with their
options as a script gives them, and the learning rate (and SGD's momentum) before each of the epochs;
those of states, what a new scheduler does that has loaded the state of one after some epochs.
"""
import json
import pathlib
import warnings

import torch
from torch.optim import lr_scheduler, swa_utils

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden" / "optimizers"
EPOCHS = 40

CASES = [
    [("StepLR", {"step_size": 5})],
    [("StepLR", {"step_size": 7, "gamma": 0.5})],
    [("MultiStepLR", {"milestones": [4, 9, 9, 20], "gamma": 0.3})],
    [("ConstantLR", {})],
    [("ConstantLR", {"factor": 0.25, "total_iters": 7})],
    [("LinearLR", {})],
    [("LinearLR", {"start_factor": 0.001, "end_factor": 0.5, "total_iters": 12})],
    [("ExponentialLR", {"gamma": 0.93})],
    [("CosineAnnealingLR", {"T_max": 10})],
    [("CosineAnnealingLR", {"T_max": 13, "eta_min": 0.004})],
    [("CosineAnnealingWarmRestarts", {"T_0": 5})],
    [("CosineAnnealingWarmRestarts", {"T_0": 3, "T_mult": 2, "eta_min": 0.001})],
    [("OneCycleLR", {"max_lr": 0.4, "total_steps": 41})],
    [("OneCycleLR", {"max_lr": 0.4, "epochs": 7, "steps_per_epoch": 6, "three_phase": True,
                     "anneal_strategy": "linear", "div_factor": 10.0})],
    [("OneCycleLR", {"max_lr": 0.2, "total_steps": 50, "pct_start": 0.1, "cycle_momentum": False})],
    [("CyclicLR", {"base_lr": 0.02, "max_lr": 0.2, "step_size_up": 4})],
    [("CyclicLR", {"base_lr": 0.02, "max_lr": 0.2, "step_size_up": 3, "step_size_down": 5,
                   "mode": "triangular2", "base_momentum": 0.7, "max_momentum": 0.95})],
    [("CyclicLR", {"base_lr": 0.02, "max_lr": 0.2, "step_size_up": 6, "mode": "exp_range",
                   "gamma": 0.95, "cycle_momentum": False})],
    [("SWALR", {"swa_lr": 0.02})],
    [("SWALR", {"swa_lr": 0.5, "anneal_epochs": 4, "anneal_strategy": "linear"})],
    [("SWALR", {"swa_lr": 0.03, "anneal_epochs": 0})],
    # Two that act on one optimizer.
    [("LinearLR", {"total_iters": 4}), ("ExponentialLR", {"gamma": 0.9})],
]
# Warm-up, then something else: schedulers and milestones.
SEQUENCES = [
    ([("LinearLR", {"start_factor": 0.1, "total_iters": 5}), ("CosineAnnealingLR", {"T_max": 30})],
     [5]),
    ([("ConstantLR", {"factor": 0.1, "total_iters": 3}), ("ExponentialLR", {"gamma": 0.9}),
      ("StepLR", {"step_size": 4})], [3, 17]),
    ([("LinearLR", {"start_factor": 0.5, "total_iters": 6}),
      ("CosineAnnealingWarmRestarts", {"T_0": 4, "T_mult": 2})], [6]),
]
# A measured value for each epoch.
METRICS = [1.0, 0.9, 0.9, 0.89995, 0.91, 0.92, 0.93, 0.8, 0.8, 0.8, 0.81, 0.82, 0.79, 0.79, 0.79, 0.79,
           0.79, 0.79, 0.79, 0.79]
PLATEAUS = [{"patience": 2}, {"mode": "max", "factor": 0.5, "patience": 1, "cooldown": 2},
            {"threshold_mode": "abs", "threshold": 0.05, "patience": 1, "min_lr": 0.02},
            {"patience": 0, "eps": 0.05}]


# A state has the options of the scheduler that it is from: others than those of the one that loads it.
CHANGED = [
    ("StepLR", {"step_size": 4, "gamma": 0.5}, {"step_size": 3}),
    ("MultiStepLR", {"milestones": [4, 12, 15]}, {"milestones": [1], "gamma": 0.9}),
    ("LinearLR", {"total_iters": 15}, {"start_factor": 1.0, "total_iters": 3}),
    ("CosineAnnealingLR", {"T_max": 12, "eta_min": 0.01}, {"T_max": 5}),
    ("CosineAnnealingWarmRestarts", {"T_0": 3, "T_mult": 2}, {"T_0": 7}),
    ("ExponentialLR", {"gamma": 0.9}, {"gamma": 0.1}),
    ("ConstantLR", {"factor": 0.5, "total_iters": 14}, {"factor": 0.1}),
]


def optimizer():
    return torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.1, momentum=0.9)


def state(opt):
    return [opt.param_groups[0]["lr"], opt.param_groups[0]["momentum"]]


def run(opt, step, epochs=EPOCHS):
    states = [state(opt)]
    for epoch in range(epochs):
        opt.step()
        step(epoch)
        states.append(state(opt))
    return states


def made(opt, rows):
    return [getattr(lr_scheduler, name, swa_utils.SWALR)(opt, **options) for name, options in rows]


def record_case(rows):
    opt = optimizer()
    schedulers = made(opt, rows)
    return {"schedulers": rows, "after": run(opt, lambda _: [s.step() for s in schedulers])}


def record_sequence(rows, milestones):
    opt = optimizer()
    schedulers = made(opt, rows)
    sequence = lr_scheduler.SequentialLR(opt, schedulers, milestones)
    return {"schedulers": rows, "milestones": milestones,
            "after": run(opt, lambda _: sequence.step())}


def in_sequence(opt, rows, milestones):
    return [lr_scheduler.SequentialLR(opt, made(opt, rows), milestones)]


def record_resumed(make, make_other):
    """What a new optimizer does with the states of one that made some steps."""
    opt, fresh = optimizer(), optimizer()
    schedulers, loaded = make(opt), make_other(fresh)
    run(opt, lambda _: [s.step() for s in schedulers], EPOCHS // 4)
    for old, new in zip(schedulers, loaded):
        new.load_state_dict(old.state_dict())
    fresh.load_state_dict(opt.state_dict())
    return run(fresh, lambda _: [s.step() for s in loaded], EPOCHS // 2)


def record_resumed_case(rows, others):
    after = record_resumed(lambda opt: made(opt, rows), lambda opt: made(opt, others))
    return {"schedulers": rows, "others": others, "after": after}


def record_resumed_sequence(rows, milestones):
    make = lambda opt: in_sequence(opt, rows, milestones)
    return {"schedulers": rows, "milestones": milestones, "after": record_resumed(make, make)}


def record_resumed_plateau(options, others):
    opt, fresh = optimizer(), optimizer()
    plateau = lr_scheduler.ReduceLROnPlateau(opt, **options)
    for metric in METRICS[:8]:
        plateau.step(metric)
    resumed = lr_scheduler.ReduceLROnPlateau(fresh, **others)
    resumed.load_state_dict(plateau.state_dict())
    fresh.load_state_dict(opt.state_dict())
    rates = []
    for metric in METRICS[8:]:
        resumed.step(metric)
        rates.append(fresh.param_groups[0]["lr"])
    return {"options": options, "others": others, "after": rates}


def record_plateau(options):
    opt = optimizer()
    plateau = lr_scheduler.ReduceLROnPlateau(opt, **options)
    rates = []
    for metric in METRICS:
        opt.step()
        plateau.step(metric)
        rates.append(opt.param_groups[0]["lr"])
    return {"options": options, "after": rates}


def write(name, parts):
    lines = ['"torch": "%s"' % torch.__version__, '"metrics": %s' % json.dumps(METRICS)]
    for part, rows in parts.items():
        lines.append('"%s": [\n%s\n]' % (part, ",\n".join(json.dumps(row) for row in rows)))
    (GOLDEN / name).write_text("{%s}\n" % ",\n".join(lines))


def main():
    warnings.simplefilter("ignore")
    write("lr_schedulers.json", {"cases": [record_case(rows) for rows in CASES],
                                 "sequences": [record_sequence(*each) for each in SEQUENCES],
                                 "plateaus": [record_plateau(options) for options in PLATEAUS]})
    changed = [([(name, options)], [(name, others)]) for name, options, others in CHANGED]
    same = [(rows, rows) for rows in CASES]
    write("lr_scheduler_states.json",
          {"cases": [record_resumed_case(*each) for each in changed + same],
           "sequences": [record_resumed_sequence(*each) for each in SEQUENCES],
           "plateaus": [record_resumed_plateau(options, PLATEAUS[0]) for options in PLATEAUS]})


main()
