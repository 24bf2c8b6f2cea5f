#!/usr/bin/env python3
"""Runs training jobs whose peaks real cards published under ohm exec, and prints both.

    board.py OHM PYTHON [--kind cnn|transformer] [--sample N] [--seed N] [--minutes N]
             [--results FILE] [--markdown]

with a Python that has PyTorch, torchvision and transformers: tests/with_torch/run makes one from
requirements/vision-2.6.0.txt and models-2.6.0.txt. A job is run three times: on the card; on one
that has what it reserved and the context, where it must succeed; and on one with 1 % less, where
it must run out. Results are kept in FILE (default: accuracy.jsonl) and found there again: of a
run that was interrupted, only the job that was not finished is run again.
"""
import argparse
import csv
import json
import pathlib
import random
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
MIB = 1 << 20
MISS_PERCENT = 1.0


def published_jobs():
    lines = (HERE / "xmem.csv").read_text().splitlines()
    return [parsed_job(row) for row in csv.DictReader(line for line in lines if line[0] != "#")]


def parsed_job(row):
    job = {**row, "batch": int(row["batch"]), "first_run": int(row["first_run"]),
           "estimate": int(row["estimate"]), "runs_out": row["runs_out"] == "yes",
           "second_run": None}
    if row["second_error"]:
        # Not above the estimate, at which the run was capped.
        job["second_run"] = round(
            job["estimate"] - float(row["second_error"]) * job["first_run"])
    return job


def error_percent(job, figure):
    """Against the nearer of the card's two runs: some runs count the context, and others do not."""
    runs = [run for run in (job["first_run"], job["second_run"]) if run is not None]
    return min((100 * (figure - run) / run for run in runs), key=abs)


def name_of(job):
    return " ".join(str(job[key]) for key in ("model", "optimizer", "batch", "card"))


class Runner:
    """Jobs under ohm exec."""

    def __init__(self, ohm, python):
        self.ohm = ohm
        self.python = python
        self.contexts = {gpu["name"]: gpu["context_bytes"] for gpu in json.loads(
            subprocess.check_output([ohm, "gpus", "--json"], text=True))}

    def finished(self, job):
        """The job with its figures."""
        started = time.monotonic()
        peaks = self.peaks(job, job["card"])
        seconds = time.monotonic() - started
        done = {"name": name_of(job), "seconds": round(seconds, 1), "fits": peaks is not None}
        if peaks is None:
            return done
        capacity = peaks["reserved"] + self.contexts[job["card"]]
        less = capacity - peaks["reserved"] // 100
        return {**done, **peaks,
                "fits_in_its_own": self.fits(job, capacity), "fits_in_less": self.fits(job, less)}

    def fits(self, job, capacity):
        return self.peaks(job, f"{job['card']},capacity={capacity}") is not None

    def peaks(self, job, gpu):
        """None: out of memory."""
        script = str(HERE / f"train_{job['kind']}.py")
        command = [self.ohm, "exec", "--no-record", "--gpu", gpu, "--", self.python, script,
                   job["model"], job["optimizer"], str(job["batch"])]
        ended = subprocess.run(command, capture_output=True, text=True)
        if ended.returncode == 0:
            return json.loads(ended.stdout.splitlines()[-1])
        if "OutOfMemoryError" in ended.stderr:
            return None
        sys.exit(f"{' '.join(command)} failed:\n{ended.stderr[-2000:]}")


def known_results(path):
    """By name; a line that was cut off is not a result."""
    results = {}
    if not path.exists():
        return results
    for line in path.read_text().splitlines():
        try:
            result = json.loads(line)
        except json.JSONDecodeError:
            continue
        results[result["name"]] = result
    return results


def run_jobs(jobs, runner, path, minutes):
    results = known_results(path)
    started = time.monotonic()
    for job in jobs:
        if name_of(job) in results:
            continue
        if minutes is not None and time.monotonic() - started >= 60 * minutes:
            print(f"time is up: {len(jobs) - len(results)} jobs are left", file=sys.stderr)
            break
        result = runner.finished(job)
        results[result["name"]] = result
        with path.open("a") as file:
            file.write("\n" + json.dumps(result) + "\n")  # not behind one that was cut off
        print(f"{result['name']}: {result['seconds']} s", file=sys.stderr)
    return results


def board_rows(jobs, results):
    rows = []
    for job in jobs:
        result = results.get(name_of(job))
        if result is not None:
            rows.append((job, result))
    return rows


def cells(job, result):
    first = "out of memory" if job["runs_out"] else f"{job['first_run'] / MIB:.0f}"
    second = "" if job["second_run"] is None else f"{job['second_run'] / MIB:.0f}"
    ours, error, estimate_error = "out of memory", "", ""
    if result["fits"]:
        ours = f"{result['reserved'] / MIB:.0f}"
    if result["fits"] and not job["runs_out"]:
        error = f"{error_percent(job, result['reserved']):+.2f}"
    if not job["runs_out"]:
        estimate_error = f"{error_percent(job, job['estimate']):+.2f}"
    return [f"{job['model']} {job['optimizer']}", str(job["batch"]), job["card"], first, second,
            ours, error, f"{job['estimate'] / MIB:.0f}", estimate_error]


HEADINGS = ["job", "batch", "card", "first run", "second run", "ohm", "error %", "xMem", "error %"]


def print_table(table, markdown):
    if markdown:
        print("| " + " | ".join(HEADINGS) + " |\n|---|---|---|---:|---:|---:|---:|---:|---:|")
        for row in table:
            print("| " + " | ".join(row) + " |")
        return
    widths = [max(len(row[i]) for row in [HEADINGS, *table]) for i in range(len(HEADINGS))]
    for row in [HEADINGS, *table]:
        print("  ".join(cell.rjust(width) for cell, width in zip(row, widths)))


def summary(title, errors):
    errors = sorted(map(abs, errors))
    if not errors:
        return f"{title}: nothing"
    ninth = errors[min(len(errors) - 1, int(0.9 * len(errors)))]
    return f"{title}: median {statistics.median(errors):.2f} %, p90 {ninth:.2f} %"


def print_summary(kind, rows):
    measured = [(job, result) for job, result in rows
                if not job["runs_out"] and result["fits"]]
    ours = [error_percent(job, result["reserved"]) for job, result in measured]
    estimates = [error_percent(job, job["estimate"]) for job, _ in measured]
    seconds = statistics.median(result["seconds"] for _, result in rows)
    print(f"{len(rows)} jobs of {kind}s, {seconds:.0f} s each")
    print("  " + summary("ohm", ours))
    print("  " + summary("xMem", estimates))
    wrong = sum(result["fits"] == job["runs_out"] for job, result in rows)
    refused = sum(not result["fits_in_its_own"] for _, result in measured)
    roomy = sum(result["fits_in_less"] for _, result in measured)
    print(f"  whether it fits on its card: {wrong} of {len(rows)} wrong")
    print(f"  runs out with what it reserved: {refused} of {len(measured)}; "
          f"succeeds with 1 % less: {roomy} of {len(measured)}")
    misses = [f"{name_of(job)} {error:+.1f} %" for (job, _), error in zip(measured, ours)
              if abs(error) > MISS_PERCENT]
    print(f"  errors above {MISS_PERCENT:.0f} %: {', '.join(misses) or 'none'}")


def parsed_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ohm")
    parser.add_argument("python")
    parser.add_argument("--kind", choices=["cnn", "transformer"])
    parser.add_argument("--sample", type=int, help="so many jobs of each kind")
    parser.add_argument("--seed", type=int, default=1, help="which of them, and in which order")
    parser.add_argument("--minutes", type=float, help="start no job after this time")
    parser.add_argument("--results", type=pathlib.Path, default=pathlib.Path("accuracy.jsonl"))
    parser.add_argument("--markdown", action="store_true")
    return parser.parse_args()


def main():
    arguments = parsed_arguments()
    kinds = [arguments.kind] if arguments.kind else ["transformer", "cnn"]
    chosen = {}
    for kind in kinds:
        jobs = [job for job in published_jobs() if job["kind"] == kind]
        random.Random(arguments.seed).shuffle(jobs)
        chosen[kind] = jobs[:arguments.sample]
    runner = Runner(arguments.ohm, arguments.python)
    # The kinds take turns: a run that ends early has some of each.
    turns = [job for turn in range(max(map(len, chosen.values())))
             for kind in kinds for job in chosen[kind][turn:turn + 1]]
    results = run_jobs(turns, runner, arguments.results, arguments.minutes)
    for kind in kinds:
        rows = board_rows(sorted(chosen[kind], key=name_of), results)
        if not rows:
            continue
        print_table([cells(job, result) for job, result in rows], arguments.markdown)
        print_summary(kind, rows)


if __name__ == "__main__":
    main()
