"""Records the memory histories of jobs.py and usual_jobs.py: one snapshot each, and the table of what is true.

    ohm exec --no-record --gpu a100-80g,count=2 -- python record.py OUT [NAME...]
    ohm exec --no-record --gpu l4-24g --limit 1350MiB -- python record.py OUT --limit 1350MiB
    python3 ../comparisons/golden_archives.py pack recorded_jobs OUT

Every job runs in a process of its own, forked after the import of PyTorch; without --limit those
that need none.
"""
import argparse
import os
import pathlib
import pickle
import sys
import traceback

import torch

import jobs
import usual_jobs

HERE = os.path.basename(__file__)
EVENT_KEYS = ("action", "addr", "size", "stream", "time_us", "frames")


def with_short_frames(frames, known):
    """The program's own and the libraries' Python frames; of paths what follows the folder
    that they were installed in."""
    out = []
    for frame in frames:
        path = frame["filename"]
        if path.endswith(HERE):
            continue
        for folder in ("/lib/python3", "/site-packages/"):
            path = folder * (folder in path) + path.split(folder)[-1]
        key = (frame["name"], path, frame["line"])
        out.append(known.setdefault(key, {"name": key[0], "filename": path, "line": key[2]}))
    stack = tuple(map(id, out))
    return known.setdefault(stack, out)


def shortened(snapshot, marked):
    known = {}
    for trace in snapshot["device_traces"]:
        for i, entry in enumerate(trace):
            kept = {key: entry[key] for key in EVENT_KEYS if key in entry}
            kept["frames"] = with_short_frames(entry.get("frames", []), known)
            if "device_free" in entry:
                kept["device_free"] = entry["device_free"]
            trace[i] = kept
    for segment in snapshot["segments"]:
        segment["frames"] = []
        for block in segment["blocks"]:
            block["frames"] = with_short_frames(block.get("frames", []), known)
    if not marked:
        snapshot["external_annotations"] = []
    return snapshot


def count_moments(snapshot):
    """Ordinals in place of times: the order is what matters, and they take less room."""
    rows = [*snapshot.get("external_annotations", [])]
    for trace in snapshot["device_traces"]:
        rows += trace
    moments = {time: i for i, time in enumerate(sorted({row["time_us"] for row in rows}))}
    for row in rows:
        row["time_us"] = moments[row["time_us"]]


def run(job, folder):
    torch.cuda.memory._record_memory_history(max_entries=200_000, stacks="python")
    program = {"__name__": "__main__"}
    try:
        exec(compile(job.source, "train.py", "exec"), program)
    except torch.cuda.OutOfMemoryError:
        if not job.limit:
            raise
    snapshot = torch.cuda.memory._snapshot()
    count_moments(snapshot)
    with open(folder / f"{job.name}.pickle", "wb") as file:
        pickle.dump(shortened(snapshot, job.marked), file, protocol=4)


def run_apart(job, folder):
    """Whether it ran: in a process of its own, that nothing of an earlier job is in."""
    process = os.fork()
    if process == 0:
        status = 1
        try:
            run(job, folder)
            status = 0
        except BaseException:
            traceback.print_exc()
        sys.stderr.flush()
        os._exit(status)
    return os.waitpid(process, 0)[1] == 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--limit", default="")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    failed = 0
    all_jobs = [*jobs.all_jobs(), *usual_jobs.all_jobs()]
    for job in all_jobs:
        if job.limit != arguments.limit or (arguments.names and job.name not in arguments.names):
            continue
        if not run_apart(job, arguments.out):
            print("failed:", job.name, file=sys.stderr)
            failed += 1
    rows = [f"{job.name}\t{','.join(job.truths)}\n" for job in all_jobs]
    (arguments.out / "truths.tsv").write_text("".join(rows))
    return failed > 0


sys.exit(main())
