#!/usr/bin/env python3
"""Writes recordings of PyTorch's allocator to VERSION/ of tests/golden/pytorch/recordings.

    python3 pack_recordings.py recordings.sm80.jsonl recordings.sm90.jsonl

One file per family of names; its head describes the lines. A line that only one of the two
architectures has starts with its number.
"""
import difflib
import json
import sys

import golden_archives

HEAD = """\
# What PyTorch {torch} allocated: small programs, recorded with its real CUDA build on two virtual GPUs of
# 80 GiB (80: A100, 90: H100). Packed by tests/comparisons/pack_recordings.py. Lines after "== program":
#   gpu N                          what follows is about GPU N
#   + bytes segment offset         a block was allocated     - segment offset    and freed
#   r segment offset               its free was requested    c segment offset    and completed later
#   S bytes segment                a segment was made        s bytes segment     and given back
#   M bytes segment offset         a part of one was mapped  m ...               and unmapped
#   ! bytes free                   out of memory
#   = allocated its-peak reserved its-peak label             a mark; events between marks
#   x error                                                  the program ended with it, early
# "~" at the end: on another stream than the default one. "80|", "90|": on this architecture only.
"""
CODES = {"alloc": "+", "free": "-", "free_requested": "r", "free_completed": "c", "segment_alloc": "S",
         "segment_free": "s", "segment_map": "M", "segment_unmap": "m", "oom": "!"}


def event_line(event):
    action, size, segment, offset, _, *side = event
    fields = {"alloc": (size, segment, offset), "segment_alloc": (size, segment),
              "segment_free": (size, segment), "segment_map": (size, segment, offset),
              "segment_unmap": (size, segment, offset), "oom": (size, segment)}
    numbers = fields.get(action, (segment, offset))
    return " ".join([CODES[action], *map(str, numbers), *("~" for _ in side)])


def lines_of(recording):
    lines = []
    devices = 1 + max(mark["device"] for mark in recording["marks"])
    for device in range(devices):
        if devices > 1:
            lines.append(f"gpu {device}")
        marks = [mark for mark in recording["marks"] if mark["device"] == device]
        for number, event in enumerate(recording["events"] + [None]):
            while marks and marks[0]["events_before"] == number:
                mark = marks.pop(0)
                lines.append("= {allocated} {max_allocated} {reserved} {max_reserved} {mark}".format(**mark))
            if event and event[4] == device:
                lines.append(event_line(event))
    if recording.get("error"):
        lines.append("x " + recording["error"].strip().splitlines()[-1])
    return lines


def merged(first, second):
    matcher = difflib.SequenceMatcher(None, first, second, autojunk=False)
    for kind, i1, i2, j1, j2 in matcher.get_opcodes():
        if kind == "equal":
            yield from first[i1:i2]
        else:
            yield from ("80|" + line for line in first[i1:i2])
            yield from ("90|" + line for line in second[j1:j2])


def store(torch, families):
    """Adds or replaces {family: text} of a release of PyTorch."""
    version = ".".join(torch.split(".")[:2])
    golden_archives.write("pytorch/recordings",
                          {f"{version}/{family}.txt": text for family, text in families.items()})


def main():
    first, second = ({r["program"]: r for r in map(json.loads, open(path))} for path in sys.argv[1:3])
    families = {}
    for name, recording in first.items():
        is_unstable = recording.get("free_order_at_autocast_exit") == "unstable"
        text = [f"== {name}" + (" frees in any order" if is_unstable else "")]
        text += merged(lines_of(recording), lines_of(second[name]))
        families.setdefault(name.split("_")[0], []).append("\n".join(text))
    torch = next(iter(first.values()))["torch"]
    store(torch, {family: HEAD.format(torch=torch) + "\n" + "\n\n".join(texts) + "\n"
                  for family, texts in families.items()})


if __name__ == "__main__":
    main()
