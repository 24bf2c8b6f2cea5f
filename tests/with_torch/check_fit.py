#!/usr/bin/env python3
"""Asks ohm fit for the largest batch of a program, and runs the program with it and with the next one.

    check_fit.py OHM
"""
import json
import os
import subprocess
import sys

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs", "fitted.py")
GPU = "l4-24g,capacity=1GiB"


def run(*words):
    environment = {**os.environ, "LD_PRELOAD": ""}
    return subprocess.run(words, env=environment, text=True, stdin=subprocess.DEVNULL,
                          capture_output=True)


def check(holds, what, ended):
    if not holds:
        print(ended.stdout, ended.stderr)
        sys.exit(f"failed: {what}")


def main():
    ohm = sys.argv[1]
    fit = run(ohm, "fit", "--gpu", GPU, "--vary", "batch=1..65536", "--json", "--",
              "python", PROGRAM, "--batch", "64")
    check(fit.returncode == 0, "a batch fits", fit)
    largest = json.loads(fit.stdout)["rows"][0]["best"]["value"]
    for batch, status in (largest, 0), (largest + 1, 1):
        ended = run(ohm, "exec", "--gpu", GPU, "--", "python", PROGRAM, "--batch", str(batch))
        check(ended.returncode == status, f"batch {batch} ends with {ended.returncode}", ended)
        check(("OutOfMemoryError" in ended.stderr) == bool(status), f"memory of {batch}", ended)
    print(f"batch {largest} fits, {largest + 1} does not")


if __name__ == "__main__":
    main()
