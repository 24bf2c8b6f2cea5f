#!/usr/bin/env python3
"""How right the categories of recorded jobs are: programs whose memory is known to the byte, run
under the installed PyTorch on a virtual GPU and recorded as ohm record does, beside what their
twins in the runtime say of the same peak.

    category_accuracy.py OHM TWIN_PEAKS [PART OF A NAME...]

To be started with libohm_preload.so preloaded (tests/with_torch/run does). Prints for each program
which part of the bytes at its peak has the right category, the least right last, and over all;
exits 1 where that is less than 95 %.
"""
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parents[1]
GOLDEN = TESTS / "golden/pytorch"
sys.dont_write_bytecode = True
sys.path[:0] = [str(TESTS / "with_torch"), str(TESTS.parent / "harness/record")]

import torch  # once: each program's process inherits it

from compare_programs import ALLOCATOR_SETTINGS, CAPACITY, VERSION, settings_of
from ohm_job_recorder import JobRecorder

PRELUDE = "mark = say = lambda *words: None\n"
AIM = 0.95


def read_truth(twin_peaks):
    """program -> for each GPU, bytes of each category"""
    lines = subprocess.run([twin_peaks, f"pytorch-{VERSION}"], text=True, check=True,
                           stdout=subprocess.PIPE, env=own_environment()).stdout.splitlines()
    truth = collections.defaultdict(list)
    for line in lines:
        name, _, *rest = line.split()
        truth[name].append({word: int(size) for word, size in (part.split("=") for part in rest)})
    return truth


def own_environment():
    """Of programs that are not PyTorch's."""
    return {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}


def run_recorded(program, gpus, folder):
    """In a process of its own: its record is folder/NAME.pickle."""
    name, settings = program["program"], settings_of(program["source"])
    gpu = f"golden-sm80,count={gpus}"
    if CAPACITY in settings:
        gpu += f",capacity={settings[CAPACITY]}"
    os.environ.update(OHM_GPU=gpu, OHM_ABSENT_RANKS="1", OHM_RECORD_NAMES=folder)
    if ALLOCATOR_SETTINGS in settings:
        os.environ[ALLOCATOR_SETTINGS] = settings[ALLOCATOR_SETTINGS]
        os.environ["PYTORCH_ALLOC_CONF"] = settings[ALLOCATOR_SETTINGS]
    source = os.path.join(folder, f"{name}.py")
    pathlib.Path(source).write_text(PRELUDE + program["source"])
    recorder = JobRecorder(os.path.join(folder, f"{name}.pickle"))
    recorder.wait_for_cuda(torch)
    torch.backends.cudnn.enabled = name.startswith("cudnn_")
    os.chdir(folder)
    scope = {"__name__": "__main__"}
    try:
        exec(compile(pathlib.Path(source).read_text(), source, "exec"), scope)
    except Exception as error:  # some run out of memory
        print(f"{name}: {str(error).splitlines()[0]}", file=sys.stderr)
    recorder.on_exit()


def in_child(function, *arguments):
    child = os.fork()
    if child == 0:
        try:
            function(*arguments)
        finally:
            os._exit(0)
    os.waitpid(child, 0)


def recorded_peaks(ohm, path):
    done = subprocess.run([ohm, "report", "-q", "--report", "json=-", path], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=own_environment())
    devices = json.loads(done.stdout)["scenarios"][0]["variants"][0]["devices"]
    return {int(d["device"].split(":")[1]): d["peak_by_category"] for d in devices}


def wrong_bytes(said, true):
    """(category said, true one) cannot be told of totals: what is said too much, and too little."""
    names = sorted(set(said) | set(true))
    return {n: said.get(n, 0) - true.get(n, 0) for n in names if said.get(n, 0) != true.get(n, 0)}


def main():
    ohm, twin_peaks, *parts = sys.argv[1:]
    programs = [json.loads(line) for line in (GOLDEN / "programs.jsonl").read_text().splitlines()]
    chosen = [p for p in programs if not parts or any(part in p["program"] for part in parts)]
    truth = read_truth(twin_peaks)
    rows, too_much = [], collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        for program in chosen:
            name = program["program"]
            true = truth.get(name, [])
            in_child(run_recorded, program, max(1, len(true)), folder)
            path = os.path.join(folder, f"{name}.pickle")
            if not true or not os.path.exists(path):
                print(f"{name}: not recorded")
                continue
            said = recorded_peaks(ohm, path)
            for gpu, known in enumerate(true):
                total = sum(known.values())
                if total == 0 or gpu not in said:
                    continue
                wrong = wrong_bytes(said[gpu], known)
                right = total - sum(max(0, -b) for b in wrong.values())
                rows.append((right / total, name, total, wrong))
                too_much.update(wrong)
    for share, name, total, wrong in sorted(rows, reverse=True):
        print(f"{share:7.1%} {total:>12,} {name} "
              + " ".join(f"{n}{b:+,}" for n, b in wrong.items()))
    mean = sum(row[0] for row in rows) / len(rows)
    whole = sum(row[2] for row in rows)
    of_bytes = sum(row[0] * row[2] for row in rows) / whole
    at_least = sum(row[0] >= AIM for row in rows)
    print(f"torch {torch.__version__}: {of_bytes:.1%} of all bytes, {mean:.1%} on the average of "
          f"{len(rows)} peaks, {at_least} of them at least {AIM:.0%}")
    sys.exit(0 if of_bytes >= AIM else 1)


if __name__ == "__main__":
    main()
