#!/usr/bin/env python3
"""Sweeps the faults of a program that has several ways, each with a bug or without one, and holds the
verdicts to what they should be.

    check_faults.py OHM [--options WORDS] [--nvcc SOURCE] WAY=VERDICT... -- COMMAND...

COMMAND is started in an empty folder with what its words name of this one, and the way as its last
word. WAY=VERDICT: it has a bug, which brings this verdict, and no other. WAY=: it is right, and has no
bad verdict. --nvcc: COMMAND is what nvcc makes of the source; without nvcc it exits with 77.
"""
import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

SKIPPED = 77


def fail(what, output=""):
    print(output)
    sys.exit(f"failed: {what}")


def run(words, folder):
    return subprocess.run(words, cwd=folder, stdin=subprocess.DEVNULL, text=True,
                          capture_output=True)


def swept(arguments, way, folder):
    words = [arguments.ohm, "sweep", "--json", *shlex.split(arguments.options), "--",
             *arguments.command, way]
    begin = time.monotonic()
    ended = run(words, folder)
    try:
        variant = json.loads(ended.stdout)["scenarios"][0]["variants"][0]
    except ValueError:
        fail(f"{way}: there is no report", ended.stdout + ended.stderr)
    if variant["error"]:
        fail(f"{way}: not swept: {variant['error']['message']}")
    return variant, time.monotonic() - begin


def check_way(arguments, way, expected, folder):
    variant, seconds = swept(arguments, way, folder)
    found = {name: count for name, count in variant["verdicts"].items() if count}
    print(f"{way}: {variant['faults']} faults in {seconds:.0f} s: {found}", flush=True)
    for failed in variant["failed"]:
        if failed["verdict"] not in expected.split("|"):
            fail(f"{way}: {failed['verdict']} at {failed['plan']}: {failed['what']}\n"
                 f"{failed['rerun']}")
    if expected and not variant["failed"]:
        fail(f"{way}: no fault is {expected}")
    if variant["faults"] == 0:
        fail(f"{way}: there are no faults")


def build(source, folder):
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    if not os.path.exists(nvcc):
        print("skipped: there is no nvcc")
        sys.exit(SKIPPED)
    subprocess.run([nvcc, os.path.abspath(source), "-o", os.path.join(folder, "program")],
                   check=True)
    return ["./program"]


def copy_files(words, folder):
    for word in words:
        if os.path.isfile(word) and not os.path.isabs(word):
            shutil.copy(word, folder)
    return [os.path.basename(word) if os.path.isfile(word) and not os.path.isabs(word) else word
            for word in words]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ohm")
    parser.add_argument("--options", default="")
    parser.add_argument("--nvcc")
    parser.add_argument("ways", nargs="+")
    own, command = sys.argv[1:], []
    if "--" in own:
        cut = own.index("--")
        own, command = own[:cut], own[cut + 1:]
    arguments = parser.parse_args(own)
    arguments.ohm = os.path.abspath(arguments.ohm)
    os.environ.pop("LD_PRELOAD", None)  # ohm preloads it
    # In the store that torchrun of 2.15 keeps over restarts, ranks may find the NCCL id of the group before.
    os.environ["TORCH_DISABLE_SHARE_RDZV_TCP_STORE"] = "1"
    with tempfile.TemporaryDirectory() as folder:
        arguments.command = (build(arguments.nvcc, folder) if arguments.nvcc
                             else copy_files(command, folder))
        for text in arguments.ways:
            way, _, expected = text.partition("=")
            check_way(arguments, way, expected, folder)


main()
