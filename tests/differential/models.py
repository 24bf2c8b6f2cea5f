#!/usr/bin/env python3
"""Runs whole models in PyTorch and in the runtime, and compares what both allocated.

    tests/differential/models.py --build build/release --python VENV/bin/python --python OTHER/bin/python

The models are the programs in tests/differential/models: each a small version of a known
architecture, with its training loop. A table says for each model, version and architecture whether
every event is the same, and else which line differs first. Names after the options choose among the
models. With --keep the recordings are written, which the recordings' test compares: each model is a
program of the family "model". Exits with 1 where any differs.
"""
import argparse
import sys

from sides import ARCHITECTURES, HERE, Sides, first_difference, frees_in_any_order, with_sorted_frees
from keep import title
from pack_recordings import HEAD, merged, store
from translate_models import ModelTranslator


def read_models(names):
    models = {path.stem: path.read_text() for path in sorted((HERE / "models").glob("*.py"))}
    unknown = [name for name in names if name not in models]
    if unknown:
        raise SystemExit(f"no model is called {unknown[0]}: there are {', '.join(models)}")
    return {f"model_{name}": source for name, source in models.items() if name in names or not names}


def twin(name, source):
    """One that is not translated is written by hand, beside the program; its first line says whether
    it needs values."""
    by_hand = HERE / "models" / f"{name.removeprefix('model_')}.lua"
    program = by_hand.read_text() if by_hand.exists() else ModelTranslator().program(source)
    return f"--== {name}{' values=true' if program.startswith('-- with values') else ''}\n{program}"


def twins(models):
    return [twin(name, source) for name, source in models.items()]


def pytorch_side(sides, models, architecture):
    """Those that record backward passes run in processes of their own: PyTorch numbers such nodes by
    the thread that makes them, and their order depends on how many the process has made before; so it
    does with private pools."""
    alone = {name for name, source in models.items()
             if any(word in source
                    for word in ("create_graph", "CUDAGraph", "MemPool", "torch._nested", "torch.func"))}
    lines = sides.pytorch({n: s for n, s in models.items() if n not in alone}, architecture)
    for name in alone:
        lines.update(sides.pytorch({name: models[name]}, architecture))
    return lines


def runtime_side(sides, models, architecture):
    return sides.run_twins("\n".join(twins(models)), architecture)


def verdict(source, theirs, ours):
    if frees_in_any_order(source):
        theirs, ours = with_sorted_frees(theirs), with_sorted_frees(ours)
    difference = first_difference(theirs, ours)
    return "equal" if difference is None else f"line {difference[0]} of {len(theirs)}"


def compared(sides, models):
    """The recordings of both architectures, and {name: [verdict of each]}."""
    recorded = [pytorch_side(sides, models, architecture) for architecture in ARCHITECTURES]
    for recordings in recorded:
        for name, lines in recordings.items():
            errors = [line for line in lines if line.startswith("error: ")]
            if errors:
                raise SystemExit(f"{name} ends early in PyTorch {sides.version}: {errors[0]}")
    ours = [runtime_side(sides, models, architecture) for architecture in ARCHITECTURES]
    verdicts = {name: [verdict(source, theirs[name], own[name]) for theirs, own in zip(recorded, ours)]
                for name, source in models.items()}
    return recorded, verdicts


def keep(sides, models, recorded):
    first, second = recorded
    texts = ["\n".join([title(name, source), *merged(first[name], second[name])])
             for name, source in models.items()]
    head = HEAD.format(torch=sides.version)
    store(sides.version, {"model": head + "\n" + "\n\n".join(texts) + "\n"})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True, help="folder of a build of ohm")
    parser.add_argument("--python", required=True, action="append", help="a Python with PyTorch")
    parser.add_argument("--keep", action="store_true", help="write the recordings of all models")
    parser.add_argument("models", nargs="*")
    arguments = parser.parse_args()
    if arguments.keep and arguments.models:
        raise SystemExit("--keep writes all models: leave out their names")
    models = read_models(arguments.models)
    columns, rows = [], {name: [] for name in models}
    for python in arguments.python:
        sides = Sides(arguments.build, python)
        recorded, verdicts = compared(sides, models)
        columns += [f"{sides.version} sm{architecture}" for architecture in ARCHITECTURES]
        for name, values in verdicts.items():
            rows[name] += values
        if arguments.keep:
            keep(sides, models, recorded)
    print("| model | " + " | ".join(columns) + " |\n|---|" + "---|" * len(columns))
    for name, values in rows.items():
        print(f"| {name.removeprefix('model_')} | " + " | ".join(values) + " |")
    sys.exit(1 if any(value != "equal" for values in rows.values() for value in values) else 0)


if __name__ == "__main__":
    main()
