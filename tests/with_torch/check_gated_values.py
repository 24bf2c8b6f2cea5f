#!/usr/bin/env python3
"""A gate of ohm exec judges figures that rest on computed values alone, and on nothing that is modelled
where that is refused. A value that stops the program is named.

    check_gated_values.py OHM
"""
import os
import re
import subprocess
import sys

PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs")
GATE = ["--gate", "peak_reserved_bytes < 1 GiB"]
GPUS = ("t4-16g", "l4-24g", "a100-80g", "h100-80g")
NOT_COMPUTED = "depends on values that were not computed"


def run(ohm, options, program, arguments=(), gpu="t4-16g"):
    return subprocess.run([ohm, "exec", "--gpu", gpu, *GATE, *options, "--",
                           "python", os.path.join(PROGRAMS, program), *arguments],
                          env={**os.environ, "LD_PRELOAD": ""}, text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def check(ohm, options, arguments, is_computed):
    ended = run(ohm, options, "known_values.py", arguments)
    reaches_end = re.search(r"^peak \d", ended.stdout, re.MULTILINE) is not None
    found = (ended.returncode == 0, reaches_end, NOT_COMPUTED not in ended.stdout)
    if found != (is_computed,) * 3:
        print(ended.stdout)
        sys.exit(f"failed: {options} {arguments} ends with {ended.returncode}")


def check_modelled(ohm, options, status, text):
    ended = run(ohm, options, "recurrent.py")
    if ended.returncode != status or text not in ended.stdout:
        print(ended.stdout)
        sys.exit(f"failed: {options} ends with {ended.returncode}, wanted {status} and {text!r}")


def check_reserve(ohm):
    """Recurrent layers keep the same on every card: what was measured on one."""
    peaks = {gpu: run(ohm, [], "recurrent.py", gpu=gpu).stdout for gpu in GPUS}
    peaks = {gpu: re.search(r"recorded +([\d.]+ \w+)", text)[1] for gpu, text in peaks.items()}
    if len(set(peaks.values())) != 1:
        sys.exit(f"failed: the peaks of a recurrent network differ: {peaks}")


def check_stopped(ohm, program, kind, line):
    ended = run(ohm, [], program)
    text = re.search(rf"the last value read before the error was not computed: {kind} at (.*)", ended.stdout)
    if ended.returncode != 1 or not text or not text[1].endswith(f"{program}:{line}"):
        print(ended.stdout)
        sys.exit(f"failed: a program that stops for an unknown value ends with {ended.returncode}")


def check_that_nothing_is_kept(ohm):
    ended = run(ohm, ["--allow-unknown-values"], "branching.py")
    if "\n0 bytes are alive" not in "\n" + ended.stdout or NOT_COMPUTED not in ended.stdout:
        print(ended.stdout)
        sys.exit("failed: a read of an unknown value keeps the variables of its function")


def main():
    ohm = sys.argv[1]
    check(ohm, [], [], True)
    check(ohm, ["--values", "cpu"], ["--computed"], True)
    check(ohm, [], ["--computed"], False)
    check_modelled(ohm, [], 0, "modelled, not exact: cudnn_rnn_reserve")
    check_modelled(ohm, ["--refuse-modelled"], 3, "rest on what is modelled")
    check_reserve(ohm)
    check_stopped(ohm, "stopped.py", "branch", 5)
    check_stopped(ohm, "divided.py", "value", 4)
    check_that_nothing_is_kept(ohm)
    print("values are known, computed, and reported where they are not")


if __name__ == "__main__":
    main()
