#!/usr/bin/env python3
"""Holds what is predicted from recordings to what runs do.

    check_what_if.py OHM TRAIN_GPT2

To be started as tests/with_torch/run does. The largest batch that ohm fit says has to run, with the peak
that it says, and the next one to run out of memory; recordings of different GPUs are refused. A
recording with --optimizer fused has the peaks of the same program with a fused optimizer, one with
--checkpoint those of the program that checkpoints.
"""
import json
import os
import subprocess
import sys
import tempfile

PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs")
GPU = "l4-24g,capacity=6GiB"
CHECKPOINTED = ("transformer", "scores", "relu", "linears", "dropout", "sums", "wide", "convolutions")
OTHER_GPU = "a100-40g,capacity=6GiB"


def run(words, folder):
    environment = {**os.environ, "LD_PRELOAD": ""}
    return subprocess.run(words, cwd=folder, env=environment, text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def check(holds, what, ended):
    if not holds:
        print(ended.stdout, ended.stderr)
        sys.exit(f"failed: {what}")


class Jobs:
    def __init__(self, ohm, folder):
        self.ohm = ohm
        self.folder = folder

    def start(self, path, command, gpu=GPU, options=()):
        words = [self.ohm, "exec", "--gpu", gpu, "--no-record", "--", self.ohm, "record", "-o", path,
                 *options, "--", "python", *command]
        return run(words, self.folder)

    def record(self, path, command, gpu=GPU):
        ended = self.start(path, command, gpu)
        check(ended.returncode == 0, f"{command} runs", ended)

    def what_if(self, path, *words):
        """The best row."""
        ended = run([self.ohm, "replay", path, "--capacity", "1TiB", *words, "--json"], self.folder)
        check(ended.returncode == 0, "a replay", ended)
        return json.loads(ended.stdout)["what_ifs"][0]

    def fit(self, *words):
        return run([self.ohm, "fit", *words, "--gpu", GPU, "--json"], self.folder)


def check_batches(jobs, script):
    def training(batch):
        return [script, "--context", "256", "--steps", "2", "--batch", str(batch)]

    jobs.record("b4.pickle", training(4))
    jobs.record("b8.pickle", training(8))
    fit = jobs.fit("b4.pickle", "b8.pickle", "--vary", "batch=4,8")
    check(fit.returncode == 0, "a prediction", fit)
    best = json.loads(fit.stdout)["rows"][0]["best"]
    jobs.record("best.pickle", training(best["value"]))
    peak = jobs.what_if("best.pickle")["peak_allocated_bytes"]
    check(peak == best["peak_allocated_bytes"], f"{peak} bytes at the peak are as predicted", fit)
    ended = jobs.start("next.pickle", training(best["value"] + 1))
    check(ended.returncode == 1 and "OutOfMemoryError" in ended.stderr, "the next one fails", ended)
    jobs.record("other.pickle", training(8), OTHER_GPU)
    refused = jobs.fit("b4.pickle", "other.pickle", "--vary", "batch=4,8")
    check(refused.returncode == 3 and "NVIDIA L4" in refused.stderr, "another GPU is refused", refused)
    print(f"batch {best['value']} fits as predicted, with {peak} bytes at the peak")


def check_checkpointed(jobs):
    """What is predicted is what is allocated; the rest is refused. Most kinds are predicted."""
    program = os.path.join(PROGRAMS, "checkpointed.py")
    predicted, refused = 0, []
    for kind in CHECKPOINTED:
        for head in "8", "2048":
            words = [program, kind]
            plain = jobs.start("plain.pickle", [*words, "plain", "--head", head], options=["--modules"])
            check(plain.returncode == 0, f"{kind} runs", plain)
            jobs.record("checkpointed.pickle", [*words, "checkpointed", "--head", head])
            measured = jobs.what_if("checkpointed.pickle")["peak_allocated_bytes"]
            asked = run([jobs.ohm, "replay", "plain.pickle", "--checkpoint", "Net.blocks.*", "--json"],
                        jobs.folder)
            if asked.returncode == 3:
                refused.append(f"{kind} with a head of {head}: {asked.stderr.strip()}")
                continue
            check(asked.returncode == 0, f"{kind} is predicted", asked)
            rows = {row.get("change", ""): row["peak_allocated_bytes"]
                    for row in json.loads(asked.stdout)["what_ifs"]}
            peak = rows["--checkpoint Net.blocks.*"]
            check(peak == measured, f"{kind}, {head}: {peak} predicted, {measured} measured", asked)
            predicted += 1
    print(f"{predicted} checkpointed jobs have the peaks that are predicted; not predicted:", *refused,
          sep="\n  ")
    if predicted < len(CHECKPOINTED):
        sys.exit("failed: too few are predicted")


def check_fused(jobs, kind):
    program = os.path.join(PROGRAMS, "fused_adam.py")
    jobs.record("loops.pickle", [program, kind, "loops"])
    jobs.record("fused.pickle", [program, kind, "fused"])
    predicted = jobs.what_if("loops.pickle", "--optimizer", "fused")
    fused = jobs.what_if("fused.pickle")
    for figure in "peak_allocated_bytes", "peak_reserved_bytes":
        if predicted[figure] != fused[figure]:
            sys.exit(f"failed: {figure} of a fused {kind}: {predicted[figure]}, {fused[figure]} run")
    print(f"a fused {kind} has the peaks that are predicted: {fused['peak_allocated_bytes']} bytes")


def main():
    ohm, script = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        jobs = Jobs(ohm, folder)
        check_batches(jobs, script)
        check_checkpointed(jobs)
        for kind in "Adam", "AdamW":
            check_fused(jobs, kind)


if __name__ == "__main__":
    main()
