#!/usr/bin/env python3
"""Records the programs of found.txt as a family of recorded programs.

    tests/differential/keep.py --build build/release --python VENV/bin/python

Each program of found.txt, the smallest of its kind on which PyTorch and the runtime once differed,
is recorded on both architectures; the family is then a test like those of the other recordings. Run
it with each of the two versions: each has recordings of its own, and one twin serves both (write_twins.py).
"""
import argparse
import pathlib

from sides import ARCHITECTURES, HERE, Sides, frees_in_any_order, twin
from pack_recordings import HEAD, merged, store

GOLDEN = HERE.parent / "golden" / "pytorch"
LAYOUT = "#   : dtype shape strides            of a tensor, where the program asks for it\n"


def read_programs(path):
    """{name: source} of a text: "== name", then Python."""
    programs, name = {}, None
    for line in pathlib.Path(path).read_text().splitlines():
        if line.startswith("== "):
            name = line[3:]
            assert name not in programs, f"{name} twice"
            programs[name] = ""
        elif name and line:
            programs[name] += line + "\n"
    return programs


def commented(source):
    return "".join(f"-- {line}\n" for line in source.splitlines())


def with_program(twin, source):
    """A twin with its program in a comment under its first line."""
    head, code = twin.split("\n", 1)
    return f"{head}\n{commented(source)}{code}"


def twins(programs):
    return [with_program(twin(name, source), source) for name, source in programs.items()]


def title(name, source):
    return f"== {name}" + (" frees in any order" if frees_in_any_order(source) else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True)
    parser.add_argument("--python", required=True)
    sides = Sides(**vars(parser.parse_args()))
    programs = read_programs(HERE / "found.txt")
    first, second = (sides.pytorch(programs, architecture) for architecture in ARCHITECTURES)
    for name, lines in first.items():
        errors = [line for line in lines if line.startswith("error: ")]
        if errors:
            raise SystemExit(f"{name}: {errors[0]}")
    recordings = ["\n".join([title(name, source), *merged(first[name], second[name])])
                  for name, source in programs.items()]
    head = HEAD.format(torch=sides.version) + LAYOUT
    store(sides.version, {"found": head + "\n" + "\n\n".join(recordings) + "\n"})
    print(f"{len(programs)} programs")


if __name__ == "__main__":
    main()
