"""Runs the jobs of diagnosis/jobs.py under `ohm exec`, and compares the conclusion with what is wrong
with them: the cause, the line, and whether the job runs once its remedy is applied.

    check_diagnosis.py OHM [--cases] [--only WORDS] [--jobs N]

--cases: those after public reports alone (diagnosis/cases.py).

Prints precision and recall for each cause. Fails where a conclusion is false, fewer than nine in ten
causes are found, a line is wrong, a figure is not PyTorch's own, or a remedy that was printed does not
help: with it the job runs to its end, and has none of its causes any more."""
import argparse
import collections
import concurrent.futures
import dataclasses
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "diagnosis"))
from cases import cases  # noqa: E402
from jobs import jobs  # noqa: E402

LEAST_RECALL = 0.9
NO_CAUSE = "none"
ALLOCATED = re.compile(r"([\d.]+) (\w+) is allocated by PyTorch")
FREE = re.compile(r"of which ([\d.]+) (\w+) is free")
UNITS = {"bytes": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
ROUNDING = 0.0051


def run(ohm, job, source, folder):
    """(exit status, the result, the first lines of ohm why)."""
    result = Path(folder) / "result.json"
    for path, text in {**job.files, "job.py": source}.items():
        (Path(folder) / path).parent.mkdir(parents=True, exist_ok=True)
        (Path(folder) / path).write_text(text)
    ran = subprocess.run([ohm, "exec", "--quiet", *job.options, "--allow-unknown-values", "--report",
                          f"json={result}", "--", "python", "job.py"], cwd=folder,
                         capture_output=True, text=True, errors="replace",
                         env={**os.environ, "LD_PRELOAD": "", **job.environment})
    if not result.exists():
        return ran.returncode, None, [ran.stderr[-300:]]
    why = subprocess.run([ohm, "why", str(result)], capture_output=True, text=True,
                         env={**os.environ, "LD_PRELOAD": ""}).stdout
    if not json.loads(result.read_text())["scenarios"]:
        return ran.returncode, None, [ran.stderr[-300:]]
    scenarios = json.loads(result.read_text())["scenarios"]
    status = json.loads(result.read_text())["command"]["exit_status"]
    return status, scenarios[0]["variants"][0], why.splitlines()[:4]


def judge(ohm, job):
    with tempfile.TemporaryDirectory() as folder:
        status, variant, why = run(ohm, job, job.source, folder)
        row = {"job": job, "status": status, "why": why, "cause": "", "file": "", "line": 0,
               "remedy": None, "bytes": ""}
        if variant is None:
            return row
        conclusion = variant.get("conclusion")
        row["bytes"] = bytes_differ(variant.get("oom"))
        if conclusion:
            row.update({name: conclusion.get(name) for name in ("cause", "file", "line")})
        if conclusion and (job.fixed or job.fixed_environment):
            # The remedy in words is the fix of the job: what it says is applied.
            row["remedy"] = helps(ohm, job, folder)
    return row


def helps(ohm, job, folder):
    if job.fixed_environment:
        job = dataclasses.replace(job, environment=job.fixed_environment)
    job = dataclasses.replace(job, files=job.fixed_files or job.files)
    status, variant, why = run(ohm, job, limited(job.fixed or job.source), folder)
    if status or variant is None:
        return "fails: " + " | ".join(why)
    conclusion = variant.get("conclusion")
    return f"still {conclusion['cause']}" if conclusion and conclusion["cause"] in job.causes else True


def bytes_differ(oom):
    """How the figures of the report differ from those of PyTorch's message; "": they do not."""
    if oom is None:
        return ""
    alive = sum(oom["alive_by_category"].values()) + oom.get("private_pool_bytes", 0)
    for figure, pattern in ((alive, ALLOCATED), (oom.get("free_bytes", 0), FREE)):
        printed = pattern.search(oom["message"])
        if printed is None:
            continue
        unit = UNITS[printed[2]]
        if abs(figure / unit - float(printed[1])) > ROUNDING:
            return f"{figure / unit:.2f} in place of {printed[0]}"
    return ""


def limited(source):
    """As many steps as show that it does not grow any more."""
    return source.replace("range(40000)", "range(1500)").replace("range(4000)", "range(200)")


def kind_of(job):
    return job.causes[0] if job.causes else NO_CAUSE


def is_true(row):
    return row["cause"] in row["job"].causes or (not row["cause"] and not row["job"].causes)


def is_right_line(row):
    lines = row["job"].lines
    return not lines or row["line"] in lines or f"{row['file']}:{row['line']}" in lines


def parsed_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("ohm")
    parser.add_argument("--cases", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=2)
    return parser.parse_args()


def judged(arguments):
    """The rows of the jobs, each printed when it is there."""
    every = cases() + ([] if arguments.cases else jobs())
    chosen = [job for job in every if arguments.only in job.name]
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for row in pool.map(lambda job: judge(arguments.ohm, job), chosen):
            remedy = "" if row["remedy"] is None else f", remedy {row['remedy']}"
            print(f"{row['job'].name}: {row['cause']} at {row['file']}:{row['line']}{remedy}", flush=True)
            yield row


def counted(rows):
    """The counts of each cause."""
    table = collections.defaultdict(collections.Counter)
    for row in rows:
        counts = table[kind_of(row["job"])]
        is_found = bool(row["job"].causes) and is_true(row)
        counts["jobs"] += 1
        counts["found"] += is_found
        counts["false"] += bool(row["cause"]) and not is_true(row)
        counts["line"] += is_found and is_right_line(row)
        counts["remedies"] += row["remedy"] is not None
        counts["helped"] += row["remedy"] is True
        counts["bytes"] += not row["bytes"]
    return table


def mistake_of(row):
    """A line of text; "": there is none."""
    job = row["job"]
    is_wrong_line = bool(job.causes) and not is_right_line(row)
    if is_true(row) and not is_wrong_line and not row["bytes"] and row["remedy"] in (None, True):
        return ""
    return (f"{job.name}: wanted {job.causes} at {job.lines}, got {row['cause']!r} at "
            f"{row['file']}:{row['line']}, status {row['status']}, remedy {row['remedy']}, "
            f"bytes {row['bytes']!r}: " + " | ".join(row["why"]))


def print_table(table):
    print(f"{'cause':24} {'jobs':>5} {'found':>6} {'false':>6} {'right line':>11} {'bytes':>6} "
          f"{'remedies':>9} {'help':>5}")
    for kind, counts in table.items():
        print(f"{kind:24} {counts['jobs']:5} {counts['found']:6} {counts['false']:6} "
              f"{counts['line']:11} {counts['bytes']:6} {counts['remedies']:9} {counts['helped']:5}")


def has_failed(table):
    sums = sum(table.values(), collections.Counter())
    with_cause = sum(counts["jobs"] for kind, counts in table.items() if kind != NO_CAUSE)
    return (sums["false"] > 0 or sums["found"] < LEAST_RECALL * with_cause or sums["line"] < sums["found"]
            or sums["bytes"] < sums["jobs"] or sums["helped"] < sums["remedies"])


def main():
    rows = list(judged(parsed_arguments()))
    table = counted(rows)
    print_table(table)
    print("\n".join(filter(None, map(mistake_of, rows))))
    return int(has_failed(table))


if __name__ == "__main__":
    sys.exit(main())
