"""Both sides of a comparison: what PyTorch allocates for a program, and what the runtime does."""
import itertools
import json
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "comparisons"))

from lua_names import Unknown  # noqa: E402,F401
from translate_programs import Translator, fix_no_grad_call  # noqa: E402

ARCHITECTURES = ("80", "90")


def profile_of(gpu):
    """`gpu`: one of the architectures, or a profile of ohm's."""
    return f"golden-sm{gpu}" if gpu in ARCHITECTURES else gpu


class Sides:
    """`build`: the folder of a build of ohm; `python`: one with PyTorch."""

    def __init__(self, build, python):
        self.build = pathlib.Path(build)
        self.python = python
        # Of the installed package: on a machine without CUDA, importing it may need `ohm exec`.
        version = run([python, "-c", "from importlib.metadata import version; print(version('torch'))"],
                      "")
        self.version = version.strip().split("+")[0]
        self.rules = "pytorch-" + ".".join(self.version.split(".")[:2])

    def pytorch(self, programs, gpu):
        """{name: lines} of {name: source}."""
        text = "".join(json.dumps({"program": name, "source": source}) + "\n"
                       for name, source in programs.items())
        ohm = str(self.build / "harness" / "ohm")
        command = [ohm, "exec", "--no-record", "--gpu", profile_of(gpu), "--",
                   self.python, "-W", "ignore", str(HERE / "record.py")]
        return parse(run(command, text))

    def runtime(self, programs, gpu):
        return self.run_twins(twins(programs), gpu)

    def run_twins(self, text, gpu):
        command = [str(self.build / "tests" / "differential" / "run_twins"), self.rules,
                   profile_of(gpu)]
        return parse(run(command, text))


def run(command, text):
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]} ended with {done.returncode}: {done.stderr[-2000:]}")
    return done.stdout


def parse(text):
    recordings, lines = {}, None
    for line in text.splitlines():
        if line.startswith("== "):
            lines = recordings.setdefault(line[3:], [])
        elif lines is not None:
            lines.append(line)
    return recordings


CHOOSES_BY_VALUE = re.compile(r"nonzero|argwhere|bincount|one_hot\(\w+\)|masked_select|masked_scatter|unique|index_put_?\(\(keep|\bequal\(|allclose|\[[^\]]*\b(keep\w*|rows)\b|where\((\w+)\)\[")


def head(name, source):
    """Of a twin; how many elements a mask chooses is known where values are."""
    return f"--== {name}" + (" values=true" if CHOOSES_BY_VALUE.search(source) else "")


def twin(name, source):
    return f"{head(name, source)}\n{Translator().program(fix_no_grad_call(source))}"


def twins(programs):
    return "\n".join(twin(name, source) for name, source in programs.items())


def frees_in_any_order(source):
    """At its end autocast lets go its casts in the order of their addresses in a hash table."""
    return "autocast" in source or "torch.func" in source


def with_sorted_frees(lines):
    """Frees that follow one another, by where they were."""
    result = []
    for is_free, run in itertools.groupby(lines, lambda line: line.startswith("- ")):
        result += sorted(run) if is_free else run
    return result


def first_difference(theirs, ours):
    """The number of the first line that is not the same, and both; None where all are."""
    for number in range(max(len(theirs), len(ours))):
        pair = [side[number] if number < len(side) else "nothing" for side in (theirs, ours)]
        if pair[0] != pair[1]:
            return number + 1, *pair
    return None
