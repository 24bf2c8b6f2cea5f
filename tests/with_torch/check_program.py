#!/usr/bin/env python3
"""Runs a program that knows nothing of virtual GPUs, and holds it to what it would do on a card.

    check_program.py [--gpu PROFILE] [--gpus N] [--oom-at LINE]... [--reserves-vary] -- COMMAND...
    check_program.py --exits STATUS [--says TEXT] -- COMMAND...

To be started with libohm_preload.so preloaded (tests/with_torch/run does). A program asserts what
is true of it by itself, and prints `peak ALLOCATED RESERVED` in bytes. It has to end as well, with
the same peaks, on a card that has just what it reserved; with three quarters of that it runs out of
memory in LINE of its own source (or another one that is given), with PyTorch's message.

What it reserves may depend on the moment its threads get to it, or on what was compiled before
(--reserves-vary): then only what it allocates is compared, on a larger card, and too little is
three quarters of that. A program that lacks something prints `skipped: REASON` and ends with 77.
"""
import argparse
import ctypes
import os
import re
import subprocess
import sys

MESSAGE = "CUDA out of memory. Tried to allocate"
SKIPPED = 77


def context_bytes(profile):
    """What a process takes of a card before it allocates anything."""
    os.environ["OHM_GPU"] = profile
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    cuda = ctypes.CDLL("libcudart.so.12")
    assert cuda.cudaMemGetInfo(ctypes.byref(free), ctypes.byref(total)) == 0
    return total.value - free.value


def run(arguments, capacity=None):
    """Exit status (as the shell has it), and output with errors."""
    gpu = f"{arguments.gpu},count={arguments.gpus}" + (f",capacity={capacity}" if capacity else "")
    ended = subprocess.run(arguments.command, env={**os.environ, "OHM_GPU": gpu}, text=True,
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT)
    status = ended.returncode if ended.returncode >= 0 else 128 - ended.returncode
    return status, ended.stdout


def peaks_of(output):
    """(allocated, reserved) of each line that tells them."""
    return [(int(a), int(r)) for a, r in re.findall(r"peak (\d+) (\d+)", output)]


def lines_that_failed(output):
    """Source lines in tracebacks, as Python, pytest and IPython write them."""
    plain = re.sub(r"\x1b\[[\d;]*m", "", output)
    return re.findall(r'^.*File ".*", line \d+.*\n(.*)|^> +(.*)|^-+> \d+ (.*)', plain, re.MULTILINE)


def fail(what, output):
    print(output)
    sys.exit(f"failed: {what}")


def check_memory(arguments, first):
    peaks = peaks_of(first)
    if not peaks:
        fail("it tells no peak", first)
    reserved = max(r for _, r in peaks)
    too_little = max(a for a, _ in peaks) if arguments.reserves_vary else reserved
    context = context_bytes(arguments.gpu)
    enough = context + reserved * (2 if arguments.reserves_vary else 1)
    status, output = run(arguments, enough)
    if status != 0:
        fail(f"exit status {status} on a card that has what it reserved", output)
    compared = slice(1 if arguments.reserves_vary else 2)
    if [peak[compared] for peak in peaks_of(output)] != [peak[compared] for peak in peaks]:
        fail(f"peaks {peaks_of(output)} after {peaks}", output)
    if not arguments.oom_at:
        return
    status, output = run(arguments, context + too_little * 3 // 4)
    if status == 0 or MESSAGE not in output:
        fail(f"exit status {status}, and not out of memory, with three quarters", output)
    failed = ["".join(line) for line in lines_that_failed(output)]
    if not any(text in line for text in arguments.oom_at for line in failed):
        fail(f"out of memory in another line than {' or '.join(arguments.oom_at)}", output)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gpu", metavar="PROFILE", default="a100-80g")
    parser.add_argument("--gpus", type=int, default=1)
    parser.add_argument("--oom-at", metavar="LINE", action="append", default=[])
    parser.add_argument("--reserves-vary", action="store_true")
    parser.add_argument("--says", metavar="TEXT")
    parser.add_argument("--exits", type=int, default=0, metavar="STATUS")
    parser.add_argument("command", nargs="+")
    arguments = parser.parse_args()
    status, output = run(arguments)
    if status == SKIPPED and "skipped:" in output:
        print(output[output.index("skipped:"):])
        sys.exit(SKIPPED)
    if status != arguments.exits:
        fail(f"exit status {status} instead of {arguments.exits}", output)
    if arguments.says is not None and arguments.says not in output:
        fail(f"it does not say {arguments.says!r}", output)
    if status == 0:
        check_memory(arguments, output)
    print(f"{' '.join(arguments.command)}: as expected, {peaks_of(output) or status}")


if __name__ == "__main__":
    main()
