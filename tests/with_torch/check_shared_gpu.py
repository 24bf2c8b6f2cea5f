#!/usr/bin/env python3
"""Processes that compete for one card (ohm exec --shared-gpu) run out of memory together, with
PyTorch's message, which lists them; and what one of them had is free once it is killed.

    check_shared_gpu.py OHM
"""
import os
import re
import subprocess
import sys
import tempfile

PROGRAM = os.path.abspath("programs/shared_card.py")
GIB = 1 << 30


def fail(what, output):
    print(output)
    sys.exit(f"failed: {what}")


def run(ohm, options, command):
    with tempfile.TemporaryDirectory() as folder:
        ran = subprocess.run([ohm, "exec", "--gpu", "t4-16g", *options, "--", *command], cwd=folder,
                             stdin=subprocess.DEVNULL, text=True, capture_output=True)
    output = ran.stdout + ran.stderr
    if ran.returncode != 0:
        fail(f"exit status {ran.returncode}", output)
    return ran.stdout


def greedy(ohm, options):
    python = f"python {PROGRAM} greedy"
    output = run(ohm, options, ["sh", "-c", f"{python} a b & {python} b a & wait"])
    pattern = r"^[ab] process (\d+) reserved (\d+) free (\d+) total (\d+): (.*)"
    found = re.findall(pattern, output, re.MULTILINE)
    if len(found) != 2:
        fail("two processes were to tell what they have", output)
    return output, found


def check_greedy(ohm):
    output, found = greedy(ohm, ["--shared-gpu"])
    reserved = sum(int(row[1]) for row in found)
    free, total = int(found[0][2]), int(found[0][3])
    if found[0][2:4] != found[1][2:4]:
        fail("both were to see the same card", output)
    contexts = total - free - reserved
    print(f"two processes: {reserved} bytes of {total} reserved, {free} free, {contexts} in contexts")
    if not 0 <= free < GIB or contexts <= 0:
        fail("the card was to be full", output)
    for row, other in zip(found, reversed(found)):
        for text in (f"Process {other[0]} has ", "this process has ", "Tried to allocate 1024.00 MiB"):
            if text not in row[4]:
                fail(f'the message was to say "{text}"', output)
    output, found = greedy(ohm, [])
    alone = sum(int(row[1]) for row in found)
    print(f"each with its own card: {alone} bytes")
    if alone < 2 * (reserved - GIB):
        fail("without --shared-gpu each was to have its own card", output)


def check_survivor(ohm):
    command = ["python", PROGRAM, "survivor"]
    output = run(ohm, ["--shared-gpu"], command)
    print(output)
    pattern = (r"^beside (\d+): CUDA out of memory\. Tried to allocate 9\.00 GiB\. GPU 0 has a total "
               r"capacity of 14\.\d+ GiB of which \d\.\d+ GiB is free\. (.*)")
    found = re.search(pattern, output, re.MULTILINE)
    if not found or f"Process {found[1]} has 9." not in found[2]:
        fail("the other process was to be in the way, and to be named", output)
    if f"alone: {9 * GIB}" not in output:
        fail("a killed process was to give its memory back", output)
    if "it fits" not in run(ohm, [], command):
        fail("without --shared-gpu each was to have its own card", output)


def main():
    os.environ.pop("LD_PRELOAD", None)  # ohm preloads it
    ohm = os.path.abspath(sys.argv[1])
    check_survivor(ohm)
    check_greedy(ohm)


main()
