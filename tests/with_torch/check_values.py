#!/usr/bin/env python3
"""Holds programs whose sizes and branches depend on values to what the host computes.

    check_values.py OHM [CASES...]

To be started as tests/with_torch/run does. The cases of values/ (values/cases.py) run in one process with
--values known, where each is right or reported, and in one with --values cpu, where each is right; both
have the same peaks.
"""
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def run_cases(ohm, mode, peaks, names):
    words = [ohm, "exec", "--gpu", "l4-24g", "--no-record", "--values", mode, "--", "python",
             os.path.join(HERE, "values", "cases.py"), mode, peaks, *names]
    environment = {**os.environ, "LD_PRELOAD": ""}
    return subprocess.run(words, env=environment, stdin=subprocess.DEVNULL).returncode


def main():
    ohm, *names = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        peaks = os.path.join(folder, "peaks.json")
        failed = [mode for mode in ("known", "cpu") if run_cases(ohm, mode, peaks, names) != 0]
    if failed:
        sys.exit(f"failed: --values {' and '.join(failed)}")


if __name__ == "__main__":
    main()
