#!/usr/bin/env python3
"""Runs computed_losses.py with --values cpu: the losses are the CPU's; without, they are not.

    check_computed.py OHM
"""
import os
import subprocess
import sys

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs", "computed_losses.py")


def ends_with_0(ohm, values):
    words = [ohm, "exec", "--gpu", "t4-16g", "--values", values, "--", "python", PROGRAM]
    environment = {**os.environ, "LD_PRELOAD": ""}
    return subprocess.run(words, env=environment, stdin=subprocess.DEVNULL).returncode == 0


def main():
    ohm = sys.argv[1]
    if not ends_with_0(ohm, "cpu"):
        sys.exit("failed: losses with --values cpu")
    if ends_with_0(ohm, "none"):
        sys.exit("failed: losses are the CPU's with --values none, too: the program compares nothing")


if __name__ == "__main__":
    main()
