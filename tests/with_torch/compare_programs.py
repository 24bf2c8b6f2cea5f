#!/usr/bin/env python3
"""Runs the recorded programs under the installed PyTorch, on a virtual GPU, and compares what its
allocator did, event for event and address for address.

    compare_programs.py sm80|sm90 [PART OF A NAME...]

To be started with libohm_preload.so preloaded (tests/with_torch/run does). Each program runs in a
process of its own, which chooses its GPUs. Prints what differs; exits 1 where anything does.
"""
import builtins
import gc
import json
import os
import pathlib
import re
import sys
import traceback

TESTS = pathlib.Path(__file__).resolve().parents[1]
GOLDEN = TESTS / "golden/pytorch"
sys.path.insert(0, str(TESTS / "comparisons"))
sys.dont_write_bytecode = True

import torch  # once: each program's process inherits it
import torch._dynamo
import torch.distributed
import torch.nn.parallel
import torch.optim
import torch.utils.checkpoint

import golden_archives
from pack_recordings import lines_of

VERSION = ".".join(torch.__version__.split(".")[:2])
CAPACITY = "capacity_bytes"
ALLOCATOR_SETTINGS = "PYTORCH_CUDA_ALLOC_CONF"


def read_recordings(architecture):
    """name -> (whether frees between two marks come in any order, lines)"""
    found, lines = {}, []
    other = "90|" if architecture == "sm80" else "80|"
    families = golden_archives.read("pytorch/recordings")
    for text in (text for file, text in families.items() if file.startswith(f"{VERSION}/")):
        for line in text.splitlines():
            if line.startswith("== "):
                name, *rest = line[3:].split(" ", 1)
                lines = []
                found[name] = (bool(rest), lines)
            elif line and not line.startswith(("#", other)):
                lines.append(re.sub(r"^[89]0\|", "", line))
    return found


def settings_of(source):
    """What the first line of a program says: `# settings: NAME=VALUE...`."""
    first = source.splitlines()[0]
    marker = "# settings:"
    return dict(p.split("=", 1) for p in first[len(marker):].split()) if first.startswith(marker) else {}


class Places:
    """Segments of one device: an address as the number of its segment and the offset in it."""

    def __init__(self):
        self.segments = {}  # address -> [number, bytes]
        self.count = 0

    def add(self, address, size):
        self.segments[address] = [self.count, size]
        self.count += 1
        return self.count - 1

    def extend(self, address, size):
        """Maps memory: to the end of an expandable segment, or as a new one."""
        if self.find(address) != (None, None):
            return self.find(address)
        for base, segment in self.segments.items():
            if base + segment[1] == address:
                segment[1] += size
                return segment[0], address - base
        return self.add(address, size), 0

    def find(self, address):
        for base, (number, size) in self.segments.items():
            if base <= address < base + size:
                return number, address - base
        return None, None


def device_events(trace, device):
    """The entries of a device's history as (time, event); None at each mark."""
    places, events = Places(), []
    completed = None
    for entry, following in zip(trace, trace[1:] + [{}]):
        action, size, address = entry["action"], entry["size"], entry.get("addr")
        side = ["side_stream"] if entry["stream"] else []
        if entry is completed:
            continue
        if action == "snapshot":
            events.append(None)
            continue
        if action == "segment_alloc":
            event = [action, size, places.add(address, size), 0, device]
        elif action == "segment_free":
            event = [action, size, places.segments.pop(address)[0], 0, device]
        elif action == "segment_map":
            event = [action, size, *places.extend(address, size), device]
        elif action == "oom":
            event = [action, size, entry.get("device_free"), None, device]
        elif (action == "free_requested" and following.get("action") == "free_completed"
              and following["addr"] == address):
            completed = following
            event = ["free", size, *places.find(address), device]
        else:
            event = [action, size, *places.find(address), device, *side]
        events.append((entry["time_us"], event))
    return events


def merged_events(traces, marks):
    """All devices' events up to the last mark; each mark learns how many come before it."""
    rest = [device_events(trace, device) for device, trace in enumerate(traces)]
    events = []
    for rows in marks:
        part = []
        for queue in rest:
            while queue and queue[0] is not None:
                part.append(queue.pop(0))
            if queue:
                queue.pop(0)
        events += [event for _, event in sorted(part, key=lambda timed: timed[0])]
        for row in rows:
            row["events_before"] = len(events)
    return events


def record(name, source):
    devices = range(torch.cuda.device_count())
    torch.cuda.init()
    torch.backends.cudnn.enabled = name.startswith("cudnn_")
    torch.cuda.memory._record_memory_history(enabled="all", context=None, stacks="python",
                                             max_entries=10**7)
    marks, printed, error = [], [], None

    def mark(label):
        marks.append([{"mark": label, "device": d, "allocated": torch.cuda.memory_allocated(d),
                       "max_allocated": torch.cuda.max_memory_allocated(d),
                       "reserved": torch.cuda.memory_reserved(d),
                       "max_reserved": torch.cuda.max_memory_reserved(d)} for d in devices])
        torch.cuda.memory._snapshot()

    builtins.mark = mark
    builtins.say = lambda *words: printed.append(" ".join(map(str, words)))
    scope = {"__name__": "__main__"}
    try:
        exec(compile(source, name, "exec"), scope)
    except Exception:
        error = traceback.format_exc(limit=3)
    mark("end of program (globals alive)")
    scope.clear()
    gc.collect()
    mark("globals deleted")
    events = merged_events(torch.cuda.memory._snapshot()["device_traces"], marks)
    return {"marks": [row for rows in marks for row in rows], "events": events,
            "printed": printed, "error": error}


def between_marks_sorted(lines):
    done, part = [], []
    for line in lines + ["="]:
        if line.startswith("="):
            done += sorted(part) + [line]
            part = []
        else:
            part.append(line)
    return done


def difference(recording, printed, in_any_order, expected):
    """None, or the first thing that differs."""
    found = lines_of(recording)
    if in_any_order:
        found, expected = between_marks_sorted(found), between_marks_sorted(expected)
    for number, (ours, theirs) in enumerate(zip(found, expected)):
        if ours != theirs:
            return f"line {number}: \"{ours}\" instead of \"{theirs}\""
    if len(found) != len(expected):
        return f"{len(found)} lines instead of {len(expected)}"
    if recording["printed"] != printed:
        return f"prints {recording['printed']} instead of {printed}"
    return None


def check(program, architecture, golden, printed):
    """In a process of its own. What differs, or None."""
    name, source = program["program"], program["source"]
    settings = settings_of(source)
    in_any_order, expected = golden[name]
    # PyTorch keeps workspaces in a hash table, by the addresses of cuBLAS's handles.
    in_any_order = in_any_order or "_cuda_clearCublasWorkspaces" in source
    gpus = 1 + max((int(line[4:]) for line in expected if line.startswith("gpu ")), default=0)
    gpu = f"golden-{architecture},count={gpus}"
    if CAPACITY in settings:
        gpu += f",capacity={settings[CAPACITY]}"
    os.environ["OHM_GPU"] = gpu
    os.environ["OHM_ABSENT_RANKS"] = "1"
    if ALLOCATOR_SETTINGS in settings:
        os.environ[ALLOCATOR_SETTINGS] = os.environ["PYTORCH_ALLOC_CONF"] = settings[ALLOCATOR_SETTINGS]
    recording = record(name, source)
    found = difference(recording, printed.get(name, {}).get(architecture, []), in_any_order, expected)
    return found and f"{found}\n{recording['error'] or ''}".rstrip()


def in_child(program, *arguments):
    """What differs, by a pipe, with the exit status of a process that ended otherwise."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            text = check(program, *arguments) or ""
        except BaseException:
            text = traceback.format_exc()
        os.write(writer, text.encode()[:4096])
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as stream:
        text = stream.read()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return text or (f"ended with {status}" if status else None)


def main():
    architecture, *parts = sys.argv[1:]
    golden = read_recordings(architecture)
    printed = json.loads((GOLDEN / "printed.json").read_text())[VERSION]
    programs = [json.loads(line) for line in (GOLDEN / "programs.jsonl").read_text().splitlines()]
    chosen = [p for p in programs if not parts or any(part in p["program"] for part in parts)]
    if not chosen:
        sys.exit(f"no program is called {' or '.join(parts)}")
    differing = 0
    for program in chosen:
        found = in_child(program, architecture, golden, printed)
        if found:
            differing += 1
            print(f"{program['program']}: {found}", flush=True)
    print(f"torch {torch.__version__}, {architecture}: {len(chosen) - differing} of {len(chosen)} "
          "programs allocate as recorded")
    sys.exit(1 if differing else 0)


if __name__ == "__main__":
    main()
