#!/usr/bin/env python3
"""Runs known_values.py with ohm exec: a gate judges figures that rest on computed values alone.

    check_gated_values.py OHM
"""
import os
import re
import subprocess
import sys

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs", "known_values.py")
GATE = ["--gate", "peak_reserved_bytes < 1 GiB"]
NOT_COMPUTED = "depends on values that were not computed"


def check(ohm, options, arguments, is_computed):
    environment = {**os.environ, "LD_PRELOAD": ""}
    ended = subprocess.run([ohm, "exec", "--gpu", "t4-16g", *GATE, *options, "--",
                            "python", PROGRAM, *arguments], env=environment, text=True,
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT)
    reaches_end = re.search(r"^peak \d", ended.stdout, re.MULTILINE) is not None
    found = (ended.returncode == 0, reaches_end, NOT_COMPUTED not in ended.stdout)
    if found != (is_computed,) * 3:
        print(ended.stdout)
        sys.exit(f"failed: {options} {arguments} ends with {ended.returncode}")


def main():
    ohm = sys.argv[1]
    check(ohm, [], [], True)
    check(ohm, ["--values", "cpu"], ["--computed"], True)
    check(ohm, [], ["--computed"], False)
    print("values are known, computed, and reported where they are not")


if __name__ == "__main__":
    main()
