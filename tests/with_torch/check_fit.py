#!/usr/bin/env python3
"""Foretells the largest batch of a GPT-2 from recordings at other batches, and runs it.

    check_fit.py OHM TRAIN_GPT2

To be started as tests/with_torch/run does. The largest batch that ohm fit says has to run, with the peak
that it says, and the next one to run out of memory; recordings of different GPUs are refused.
"""
import json
import os
import subprocess
import sys
import tempfile

GPU = "l4-24g,capacity=6GiB"
OTHER_GPU = "a100-40g,capacity=6GiB"


def run(words, folder):
    environment = {**os.environ, "LD_PRELOAD": ""}
    return subprocess.run(words, cwd=folder, env=environment, text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def check(holds, what, ended):
    if not holds:
        print(ended.stdout, ended.stderr)
        sys.exit(f"failed: {what}")


class Job:
    def __init__(self, ohm, script, folder):
        self.ohm = ohm
        self.script = script
        self.folder = folder

    def train(self, batch, path, gpu=GPU):
        command = [self.ohm, "exec", "--gpu", gpu, "--no-record", "--", self.ohm, "record", "-o", path,
                   "--", "python", self.script, "--context", "256", "--steps", "2", "--batch", str(batch)]
        return run(command, self.folder)

    def record(self, batch, path, gpu=GPU):
        ended = self.train(batch, path, gpu)
        check(ended.returncode == 0, f"batch {batch} runs", ended)

    def fit(self, *words):
        return run([self.ohm, "fit", *words, "--gpu", GPU, "--json"], self.folder)


def main():
    ohm, script = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        job = Job(ohm, script, folder)
        job.record(4, "b4.pickle")
        job.record(8, "b8.pickle")
        fit = job.fit("b4.pickle", "b8.pickle", "--vary", "batch=4,8")
        check(fit.returncode == 0, "a prediction", fit)
        best = json.loads(fit.stdout)["rows"][0]["best"]
        job.record(best["value"], "best.pickle")
        replay = run([ohm, "replay", "best.pickle", "--capacity", "1TiB", "--json"], folder)
        peak = json.loads(replay.stdout)["what_ifs"][0]["peak_allocated_bytes"]
        check(peak == best["peak_allocated_bytes"], f"{peak} bytes at the peak are as foretold", fit)
        ended = job.train(best["value"] + 1, "next.pickle")
        check(ended.returncode == 1 and "OutOfMemoryError" in ended.stderr, "the next one fails", ended)
        job.record(8, "other.pickle", OTHER_GPU)
        refused = job.fit("b4.pickle", "other.pickle", "--vary", "batch=4,8")
        check(refused.returncode == 3 and "NVIDIA L4" in refused.stderr, "another GPU is refused",
              refused)
        print(f"batch {best['value']} fits as foretold, with {peak} bytes at the peak")


if __name__ == "__main__":
    main()
