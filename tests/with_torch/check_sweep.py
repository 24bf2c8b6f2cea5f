#!/usr/bin/env python3
"""Sweeps a program, and holds the verdicts on its failures to what they should be.

    check_sweep.py OHM [--options WORDS] [--bad VERDICT=TEXT]... [--note TEXT]... [--says TEXT]
                   -- COMMAND...

There is no bad verdict but these, and each of them is there: VERDICT of a fault that the report
describes with TEXT at its end. The line that repeats the first of each says the same. Of recoveries
the report notes what --note says, "DEVIATION COUNT", and nothing else. --says: on stderr. No point is
in a source of ohm's own.
"""
import argparse
import json
import os
import shlex
import subprocess
import sys


def fail(what, output=""):
    print(output)
    sys.exit(f"failed: {what}")


def run(words):
    return subprocess.run(words, stdin=subprocess.DEVNULL, text=True, capture_output=True)


def check_repeated(ohm, failed):
    """The last line of an error is that of the sweep; a program that ends well says nothing."""
    words = shlex.split(failed["rerun"])
    assert words[0] == "ohm", words
    again = run([ohm, *words[1:]])
    text = failed["what"].split(": ", 1)[1] if failed["verdict"] == "wrong_error" else ""
    if text not in again.stderr:
        fail(f"{failed['rerun']} does not say {text}", again.stdout + again.stderr)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ohm")
    parser.add_argument("--options", default="")
    parser.add_argument("--bad", action="append", default=[])
    parser.add_argument("--note", action="append")
    parser.add_argument("--says", default="")
    parser.add_argument("command", nargs="+")
    arguments = parser.parse_args()
    os.environ.pop("LD_PRELOAD", None)  # ohm preloads it
    swept = run([arguments.ohm, "sweep", "--json", *shlex.split(arguments.options), "--",
                 *arguments.command])
    try:
        variant = json.loads(swept.stdout)["scenarios"][0]["variants"][0]
    except ValueError:
        fail("there is no report", swept.stdout + swept.stderr)
    if variant["error"]:
        fail(f"not swept: {variant['error']['message']}")
    if arguments.says not in swept.stderr:
        fail(f"it does not say {arguments.says!r}", swept.stderr)
    for point in variant["points"]:
        if os.path.basename(point["file"]).startswith("ohm_"):
            fail(f"a point is in {point['file']}")
    first = {}
    for failed in variant["failed"]:
        known = [bad for bad in arguments.bad
                 if bad.startswith(failed["verdict"] + "=")
                 and failed["what"].endswith(bad.partition("=")[2])]
        if not known:
            fail(f"{failed['verdict']} at {failed['plan']}: {failed['what']}\n{failed['rerun']}")
        first.setdefault(known[0], failed)
    for bad in arguments.bad:
        if bad not in first:
            fail(f"no fault is {bad}: {variant['verdicts']}")
        check_repeated(arguments.ohm, first[bad])
    notes = [f"{note['deviation']} {note['count']}" for note in variant.get("notes", [])]
    if arguments.note is not None and notes != arguments.note:
        fail(f"it notes {notes}")
    print(f"{variant['faults']} faults of {variant['calls']} calls: "
          f"{ {name: count for name, count in variant['verdicts'].items() if count} }")


main()
