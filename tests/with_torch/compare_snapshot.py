#!/usr/bin/env python3
"""Runs a program on a virtual GPU and compares the history that it dumps with one of a real card,
event for event.

    compare_snapshot.py GPU SNAPSHOT SCRIPT

SCRIPT is given the file to dump to. Addresses are compared by segment and offset: where a card's
driver puts segments is its own. To be started with libohm_preload.so preloaded (tests/with_torch/run
does). Prints the first difference and exits 1 where there is one.
"""
import bisect
import os
import pickle
import subprocess
import sys
import tempfile


def events_of(path):
    """(action, bytes, stream, (which segment, offset in it)) of the device that was used."""
    with open(path, "rb") as file:
        traces = pickle.load(file)["device_traces"]
    (trace,) = [trace for trace in traces if trace]
    ordinals, starts, events = {}, [], []
    for entry in trace:
        address = entry["addr"]
        if entry["action"] == "segment_alloc":
            ordinals[address] = len(ordinals)
            bisect.insort(starts, address)
        start = starts[bisect.bisect_right(starts, address) - 1]
        place = (ordinals[start], address - start)
        events.append((entry["action"], entry["size"], entry["stream"], place))
    return events


def main():
    gpu, snapshot, script = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        dumped = os.path.join(folder, "dumped.pickle")
        subprocess.run([sys.executable, script, dumped], env={**os.environ, "OHM_GPU": gpu},
                       check=True)
        here, there = events_of(dumped), events_of(snapshot)
    for number, (one, other) in enumerate(zip(here, there)):
        if one != other:
            sys.exit(f"event {number}: {one} here, {other} on the card")
    if len(here) != len(there):
        sys.exit(f"{len(here)} events here, {len(there)} on the card")
    print(f"{len(here)} events are those of the card")


if __name__ == "__main__":
    main()
