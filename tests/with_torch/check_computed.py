#!/usr/bin/env python3
"""Compares what programs compute with --values cpu with what they compute on the CPU.

    check_computed.py RECORD_FOLDER MODULE...

RECORD_FOLDER is harness/record of the build; MODULE a file of the folder computed: its cases are
functions of a device that return numbers. To be started with libohm_preload.so preloaded
(tests/with_torch/run does). Prints what differs, was not computed or was reported as unknown; exits 1
where anything was."""
import importlib
import os
import pathlib
import sys
import time
import traceback
import warnings

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "computed"))


def start_with_values(folder):
    """sitecustomize of that folder follows PyTorch from its import on."""
    if os.environ.get("OHM_VALUES") != "cpu":
        os.environ.update(OHM_VALUES="cpu", PYTHONPATH=folder, OHM_GPU="l4-24g",
                          CUBLAS_WORKSPACE_CONFIG=":4096:8")
        os.execv(sys.executable, [sys.executable, *sys.argv])


def differences(found, expected, tolerance):
    if len(found) != len(expected):
        return [f"{len(found)} numbers instead of {len(expected)}"]
    return [f"number {place} is {ours:.9g} instead of {theirs:.9g}"
            for place, (ours, theirs) in enumerate(zip(found, expected))
            if not abs(ours - theirs) <= tolerance * max(1, abs(theirs))]


def left_out(known):
    """By the virtual GPU, since the last call."""
    found = [f"{name} was not computed" for name in known.not_computed]
    found += [f"{row['kind']} at {row['file']}:{row['line']} is unknown"
              for row in known.reads.report()]
    known.not_computed.clear()
    known.reads.rows.clear()
    return found


def check(case, known):
    try:
        found = case("cuda")
        problems = left_out(known)
        expected = case.expected if hasattr(case, "expected") else case("cpu")
        return problems + differences(found, expected, getattr(case, "tolerance", 1e-4))
    except Exception:
        return [traceback.format_exc()]


def main():
    folder, *names = sys.argv[1:]
    start_with_values(folder)
    warnings.simplefilter("ignore")
    failed = 0
    for name in names:
        module = importlib.import_module(name)
        known = sys.modules["ohm_values"]._known
        for case in module.CASES:
            started = time.perf_counter()
            problems = check(case, known)
            failed += bool(problems)
            print(f"{case.__name__}: {'; '.join(problems[:4]) or 'equal'} "
                  f"({time.perf_counter() - started:.1f} s)", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
