#!/usr/bin/env python3
"""Runs a program on two GPUs under ohm exec, and compares its reads of unknown values with LINE.

    check_ranks.py OHM [--values MODE] [--unknown LINE]... -- COMMAND...

To be started as tests/with_torch/run does. The program asserts what its ranks receive. LINE is a line of
its source that depends on values which were not computed; there is no other.
"""
import argparse
import linecache
import os
import re
import subprocess
import sys


def run(arguments):
    words = [arguments.ohm, "exec", "--gpu", "a100-80g,count=2", "--values", arguments.values, "--",
             *arguments.command]
    return subprocess.run(words, env={**os.environ, "LD_PRELOAD": ""}, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def reads_in(output):
    """Source lines, as `ohm exec` lists them at its end."""
    found = re.findall(r"^  \w+ at (.+):(\d+) depends on values that were not computed", output,
                       re.MULTILINE)
    return {linecache.getline(file, int(line)).strip() for file, line in found}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ohm")
    parser.add_argument("--values", default="known", metavar="MODE")
    parser.add_argument("--unknown", action="append", default=[], metavar="LINE")
    parser.add_argument("command", nargs="+")
    arguments = parser.parse_args()
    ended = run(arguments)
    if ended.returncode != 0:
        sys.exit(f"{ended.stdout}\nfailed: exit status {ended.returncode}")
    if reads_in(ended.stdout) != set(arguments.unknown):
        sys.exit(f"{ended.stdout}\nfailed: reads {reads_in(ended.stdout)} of unknown values")
    print(f"{' '.join(arguments.command)}: as expected")


if __name__ == "__main__":
    main()
