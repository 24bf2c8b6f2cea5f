#!/usr/bin/env python3
"""Runs programs of ranks in PyTorch and in the runtime, and compares what rank 0 of two allocated.

    tests/differential/sharded.py --build build/release --python VENV/bin/python --python OTHER/bin/python

The programs are in tests/differential/sharded, each with its twin in Lua beside it. A table says for
each program, version and architecture whether every event is the same, and else which line differs
first. Names after the options choose among the programs. With --keep the recordings are written, which the recordings' test compares: each is a program of the family "sharded". Exits with 1
where any differs.
"""
import argparse
import os
import sys

from sides import ARCHITECTURES, HERE, Sides
from keep import with_program
from models import verdict
from pack_recordings import HEAD, merged, store

# The other rank does not exist: it is taken to hold what this one holds.
PYTHON = """\
import builtins
import torch.distributed as dist
model = opt = None
dist.init_process_group("nccl", store=dist.HashStore(), rank=0, world_size=2)
{program}dist.destroy_process_group()
builtins.kept = model, opt
"""

LUA = """\
-- One rank is recorded: the other one does the same on its own GPU, and marks nothing. Models and
-- optimizers stay until the program is over.
kept = {{}}
ohm.distributed.spawn(2, function(rank)
  local mark = rank == 0 and mark or function() end
  local model, opt, x, y, out, loss
{program}  kept[rank + 1] = {{model, opt}}
  mark("end of program (globals alive)")
  x = nil; sweep()
  y = nil; sweep()
  out = nil; sweep()
  loss = nil; sweep()
  mark("globals deleted")
end)
"""


def read_programs(names):
    programs = {path.stem: path.read_text() for path in sorted((HERE / "sharded").glob("*.py"))}
    unknown = [name for name in names if name not in programs]
    if unknown:
        raise SystemExit(f"no program is called {unknown[0]}: there are {', '.join(programs)}")
    return {f"sharded_{name}": text for name, text in programs.items() if name in names or not names}


def twin(name):
    program = (HERE / "sharded" / f"{name.removeprefix('sharded_')}.lua").read_text()
    indented = "".join(f"  {line}\n" if line else "\n" for line in program.splitlines())
    return f"--== {name} gpus=2\n{LUA.format(program=indented)}"


def twins(programs):
    return [with_program(twin(name), source) for name, source in programs.items()]


def recorded(sides, programs, architecture):
    lines = sides.pytorch({name: PYTHON.format(program=text) for name, text in programs.items()},
                          architecture)
    for name in programs:
        errors = [line for line in lines[name] if line.startswith("error: ")]
        if errors:
            raise SystemExit(f"{name} ends early in PyTorch {sides.version}: {errors[0]}")
    return lines


def of_first_gpu(lines):
    """Behind the last mark what is kept goes, and then comes the other GPU."""
    last = next((i for i, line in enumerate(lines) if line.endswith(" globals deleted")), len(lines))
    return lines[:last + 1]


def compared(sides, programs):
    theirs = [recorded(sides, programs, architecture) for architecture in ARCHITECTURES]
    text = "\n".join(twin(name) for name in programs)
    ours = [sides.run_twins(text, architecture) for architecture in ARCHITECTURES]
    verdicts = {name: [verdict(source, one[name], of_first_gpu(other[name]))
                       for one, other in zip(theirs, ours)]
                for name, source in programs.items()}
    return theirs, verdicts


def keep(sides, programs, recordings):
    first, second = recordings
    texts = ["\n".join([f"== {name}", *merged(first[name], second[name])]) for name in programs]
    store(sides.version,
          {"sharded": HEAD.format(torch=sides.version) + "\n" + "\n\n".join(texts) + "\n"})


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--build", required=True, help="folder of a build of ohm")
    parser.add_argument("--python", required=True, action="append", help="a Python with PyTorch")
    parser.add_argument("--keep", action="store_true", help="write the recordings of all")
    parser.add_argument("programs", nargs="*")
    arguments = parser.parse_args()
    if arguments.keep and arguments.programs:
        raise SystemExit("--keep writes all programs: leave out their names")
    os.environ["OHM_ABSENT_RANKS"] = "1"
    programs = read_programs(arguments.programs)
    columns, rows = [], {name: [] for name in programs}
    for python in arguments.python:
        sides = Sides(arguments.build, python)
        recordings, verdicts = compared(sides, programs)
        columns += [f"{sides.version} sm{architecture}" for architecture in ARCHITECTURES]
        for name, values in verdicts.items():
            rows[name] += values
        if arguments.keep:
            keep(sides, programs, recordings)
    print("| program | " + " | ".join(columns) + " |\n|---|" + "---|" * len(columns))
    for name, values in rows.items():
        print(f"| {name.removeprefix('sharded_')} | " + " | ".join(values) + " |")
    sys.exit(1 if any(value != "equal" for values in rows.values() for value in values) else 0)


if __name__ == "__main__":
    main()
