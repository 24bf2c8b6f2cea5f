#!/usr/bin/env python3
"""Lists PyTorch's public names by version, and writes docs/surface.md: how many of them the runtime has.

    tests/comparisons/public_names.py --build build/release --python VENV/bin/python

A version's list is tests/golden/pytorch/names/VERSION.txt; one is written for each Python that is
named, of its PyTorch. The document is made from all lists and the runtime's own names by a test,
which holds it true where there is no PyTorch.
"""
import argparse
import os
import pathlib
import subprocess
import textwrap

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden" / "pytorch" / "names"

# Runs in the Python with PyTorch.
PROBE = r"""
import importlib, types, torch

NAMESPACES = ("torch", "torch.Tensor", "torch.amp", "torch.autograd", "torch.autograd.graph", "torch.cuda",
              "torch.cuda.amp", "torch.cuda.memory", "torch.distributed",
              "torch.nn", "torch.nn.attention", "torch.nn.functional", "torch.nn.init", "torch.nn.parallel",
              "torch.nn.utils", "torch.optim", "torch.optim.lr_scheduler", "torch.utils.checkpoint",
              "torch.utils.data")

def names_of(namespace):
    if namespace == "torch.Tensor":
        return [name for name in dir(torch.Tensor) if not name.startswith("_")]
    module = importlib.import_module(namespace)
    listed = getattr(module, "__all__", None)
    if listed is not None and namespace != "torch.nn":
        names = [name for name in listed if hasattr(module, name)]
    else:
        names = [name for name in dir(module) if is_own(getattr(module, name))]
    if namespace == "torch":
        names += [name for name in dir(torch) if isinstance(getattr(torch, name), torch.dtype)]
    return [name for name in names if not name.startswith("_")]

def is_own(value):
    return not isinstance(value, types.ModuleType) and str(getattr(value, "__module__", "")).startswith("torch")

print(torch.__version__.split("+")[0])
for namespace in NAMESPACES:
    print("==", namespace)
    print(*sorted(set(names_of(namespace))))
"""


def record(build, python):
    command = [str(build / "harness" / "ohm"), "exec", "--no-record", "--gpu", "golden-sm80", "--",
               python, "-W", "ignore", "-c", PROBE]
    version, *lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    text = [f"# Public names of PyTorch {version}, written by tests/comparisons/public_names.py."]
    for line in lines:
        text += ["", line] if line.startswith("==") else textwrap.wrap(line, 100, break_long_words=False)
    GOLDEN.mkdir(parents=True, exist_ok=True)
    (GOLDEN / f"{version}.txt").write_text("\n".join(text) + "\n")
    print(f"{version}: {sum(len(line.split()) for line in lines if not line.startswith('=='))} names")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True, type=pathlib.Path, help="folder of a build of ohm")
    parser.add_argument("--python", action="append", default=[], help="a Python with PyTorch")
    arguments = parser.parse_args()
    for python in arguments.python:
        record(arguments.build, python)
    test = arguments.build / "tests" / "harness" / "lua_tests"
    subprocess.run([str(test), "--gtest_filter=Surface.*"], check=True,
                   env={**os.environ, "OHM_APPROVE": "1"})


if __name__ == "__main__":
    main()
