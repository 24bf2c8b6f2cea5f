#!/usr/bin/env python3
"""Runs random programs in PyTorch and in the runtime, and compares what both allocated.

    tests/differential/compare.py --build build/release --python VENV/bin/python --python OTHER/bin/python

Each program runs in every version of PyTorch, on both recorded architectures or on the GPUs that are
asked for. The lines of both sides are compared: every block, segment and address in its order, and
dtype, shape and strides of results. What differs is shrunk, and the smallest program of each sort
is printed with both sides; a table says how many programs of each kind differ. Exits with 1 where
any does.
"""
import argparse
import re
import sys

from programs import KINDS, generate
from sides import (ARCHITECTURES, Sides, Unknown, first_difference, frees_in_any_order, twin,
                   with_sorted_frees)

BATCH = 500


def error_of(lines):
    return next((line for line in lines if line.startswith("error: ")), None)


def without_idle_strides(line):
    """The line of a layout without the strides that say nothing: those of dimensions of size 1."""
    if not line.startswith(": "):
        return line
    dtype, sizes, strides = re.fullmatch(r": (\w+) \[(.*)\] \[(.*)\]", line).groups()
    pairs = list(zip(sizes.split(", "), strides.split(", ")))
    is_empty = any(size == "0" for size, _ in pairs)
    return f": {dtype} {[(size, '' if is_empty or size == '1' else stride) for size, stride in pairs]}"


def difference(source, theirs, ours):
    """What is not the same; None also where both sides refuse the program."""
    if error_of(theirs) and error_of(ours):
        return None
    theirs, ours = ([without_idle_strides(line) for line in side] for side in (theirs, ours))
    if frees_in_any_order(source):
        theirs, ours = with_sorted_frees(theirs), with_sorted_frees(ours)
    return first_difference(theirs, ours)


def has_twin(statements):
    """Whether it is a program still, after a statement was left out."""
    try:
        twin("it", "\n".join(statements) + "\n")
    except (Unknown, SyntaxError, KeyError, ValueError):
        return False
    return True


class Comparison:
    def __init__(self, sides):
        self.sides = sides

    def differing(self, programs, gpu, may_end_in_errors=True):
        """{name: (line, theirs, ours)} of {name: statements}."""
        sources = {name: "\n".join(statements) + "\n" for name, statements in programs.items()}
        theirs = self.sides.pytorch(sources, gpu)
        ours = self.sides.runtime(sources, gpu)
        found = {name: difference(sources[name], theirs[name], ours[name]) for name in sources}
        return {name: what for name, what in found.items()
                if what and (may_end_in_errors or not error_of(theirs[name]) and not error_of(ours[name]))}

    def shrink(self, statements, gpu):
        """Leaves out one statement after the other as long as both sides still differ."""
        while True:
            shorter = {str(i): statements[:i] + statements[i + 1:] for i in range(len(statements))}
            shorter = {name: shorter[name] for name in shorter if has_twin(shorter[name])}
            still = self.differing(shorter, gpu, may_end_in_errors=False)
            if not still:
                return statements
            statements = shorter[next(iter(still))]


def count_differing(comparison, kind, gpu, shown, arguments):
    count, end = 0, arguments.first + arguments.count
    for first in range(arguments.first, end, BATCH):
        programs = {str(seed): generate(kind, seed) for seed in range(first, min(first + BATCH, end))}
        differing = comparison.differing(programs, gpu)
        count += len(differing)
        for name in differing:
            show(comparison, kind, programs[name], gpu, differing[name], shown, arguments)
    return count


def call_in(statements):
    """The statement that a program is about: its first module, or what makes y. All of it where
    there is none."""
    wanted = [line for line in statements if line.startswith(("layer =", "y =", "m =", "with "))]
    return wanted[0] if wanted else "\n".join(statements)


def title(gpu):
    return f"sm{gpu}" if gpu in ARCHITECTURES else gpu


def show(comparison, kind, statements, gpu, what, shown, arguments):
    if call_in(statements) in shown or len(shown) >= arguments.show:
        return
    shown.add(call_in(statements))
    smallest = comparison.shrink(statements, gpu)
    what = comparison.differing({"it": smallest}, gpu).get("it", what)
    print(f"== {kind}, {comparison.sides.version} {title(gpu)}: line {what[0]}: PyTorch {what[1]!r}, here {what[2]!r}")
    print("\n".join(smallest), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True, help="folder of a build of ohm")
    parser.add_argument("--python", required=True, action="append", help="a Python with PyTorch")
    parser.add_argument("--kind", action="append", choices=list(KINDS), help="all where none is given")
    parser.add_argument("--gpu", action="append", metavar="PROFILE",
                        help="80 and 90, the two that were recorded, where none is given")
    parser.add_argument("--count", type=int, default=1000, help="programs of each kind")
    parser.add_argument("--first", type=int, default=0, help="seed of the first one")
    parser.add_argument("--show", type=int, default=20, help="differences of each kind to shrink")
    arguments = parser.parse_args()
    comparisons = [Comparison(Sides(arguments.build, python)) for python in arguments.python]
    columns = [(comparison, gpu) for comparison in comparisons
               for gpu in arguments.gpu or ARCHITECTURES]
    rows = {}
    for kind in arguments.kind or KINDS:
        shown = set()
        rows[kind] = [count_differing(comparison, kind, gpu, shown, arguments)
                      for comparison, gpu in columns]
    titles = [f"{comparison.sides.version} {title(gpu)}" for comparison, gpu in columns]
    print("| kind | programs | " + " | ".join(titles) + " |\n|---|---:|" + "---:|" * len(titles))
    for kind, counts in rows.items():
        print(f"| {kind} | {arguments.count} | " + " | ".join(map(str, counts)) + " |")
    sys.exit(1 if any(map(any, rows.values())) else 0)


if __name__ == "__main__":
    main()
