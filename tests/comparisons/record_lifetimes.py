#!/usr/bin/env python3
"""Runs the Python side of tests/golden/lua/lifetimes.txt and writes what is alive when.

With --check: changes nothing, and fails when CPython disagrees with the file.
"""
import pathlib
import re
import sys
import types

GOLDEN = pathlib.Path(__file__).parent.parent / "golden" / "lua" / "lifetimes.txt"


class Recorder:
    """A class of tensors that know when they die."""

    def __init__(self):
        self.lines = []
        self.live = set()
        recorder = self

        class T:
            count = 0

            def __init__(self):
                T.count += 1
                self.number = T.count
                recorder.live.add(self.number)
                recorder.lines.append(" ".join(map(str, sorted(recorder.live))))

            def __del__(self):
                recorder.live.discard(self.number)

            def relu(self):
                return T()

            def relu_(self):
                return self

            def add_(self, other):
                return self

            def size(self, dim):
                return 128

            def binary(self, other=None):
                return T()

            __add__ = __radd__ = __sub__ = __mul__ = __truediv__ = __neg__ = binary

        self.tensor = T


class Module:
    """Called as PyTorch's: a frame with the arguments around the one of forward."""

    def __init__(self, forward=None, **fields):
        if forward:
            self.forward = types.MethodType(forward, self)
        for name, value in fields.items():
            setattr(self, name, value)

    def __call__(self, *args):
        return self.forward(*args)


class Sequential(Module):
    def __init__(self, *modules):
        self.modules = modules

    def forward(self, input):
        for module in self.modules:
            input = module(input)
        return input


def fail():
    raise RuntimeError("as asked for")


def lines_of(python):
    recorder = Recorder()

    class ReLU(Module):
        def forward(self, input):
            return recorder.tensor()

    body = "\n".join("  " + line for line in python.splitlines())
    names = {
        "T": recorder.tensor,
        "relu": lambda x: recorder.tensor(),
        "fail": fail,
        "Module": Module,
        "ReLU": ReLU,
        "Sequential": Sequential,
    }
    exec("def case():\n" + body + "\n", names)
    names["case"]()
    return recorder.lines


def main():
    text = GOLDEN.read_text()
    head, *cases = re.split(r"^(?=== )", text, flags=re.M)
    result = head
    for case in cases:
        python = re.search(r"^-- python\n(.*?)^-- live\n", case, re.M | re.S).group(1)
        front = case[: case.index("-- live\n")]
        result += front + "-- live\n" + "\n".join(lines_of(python)) + "\n\n"
    result = result.rstrip("\n") + "\n"
    if "--check" in sys.argv[1:]:
        sys.exit(0 if result == text else "lifetimes.txt is not what this CPython says")
    GOLDEN.write_text(result)


if __name__ == "__main__":
    main()
