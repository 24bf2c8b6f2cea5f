#!/usr/bin/env python3
"""Blocks that another stream uses (record_stream) stay pending while its work is in flight (ohm exec
--in-flight): more is reserved, and a card that is too small for it is saved by PyTorch's retry,
which waits for them.

    check_in_flight.py OHM
"""
import os
import re
import subprocess
import sys

PROGRAM = "programs/recorded_streams.py"
BLOCK = 128 << 20


def fail(what, output):
    print(output)
    sys.exit(f"failed: {what}")


def run(ohm, *options):
    """What is reserved at most, how often PyTorch retries, and whether an event is ready at once."""
    ran = subprocess.run([ohm, "exec", "--gpu", "t4-16g", *options, "--", "python", PROGRAM],
                         stdin=subprocess.DEVNULL, text=True, capture_output=True)
    print(" ".join(options), ran.stdout.strip())
    pattern = r"reserved (\d+) retries (\d+) out of memory 0 ready (True|False) True"
    found = re.search(pattern, ran.stdout)
    if ran.returncode != 0 or not found:
        fail(f"exit status {ran.returncode}", ran.stdout + ran.stderr)
    return int(found[1]), int(found[2]), found[3] == "True"


def main():
    os.environ.pop("LD_PRELOAD", None)  # ohm preloads it
    ohm = os.path.abspath(sys.argv[1])
    at_once, retries, is_ready = run(ohm)
    if run(ohm, "--in-flight", "0") != (at_once, retries, is_ready):
        fail("--in-flight 0 was to change nothing", "")
    if retries != 0 or not is_ready or not BLOCK <= at_once < 2 * BLOCK:
        fail("work was to be complete at once", "")
    pending, retries, is_ready = run(ohm, "--in-flight", "16")
    if is_ready or retries != 0 or pending < at_once + 3 * BLOCK:
        fail("blocks were to stay pending", "")
    context = 450 << 20
    small, retries, _ = run(ohm, "--in-flight", "16", "--limit", str(context + at_once + BLOCK))
    if retries == 0 or small >= pending:
        fail("the retry was to free what was pending", "")


main()
