#!/usr/bin/env python3
"""Runs the tests of example_project on a virtual GPU, with and without computed values.

    check_example.py OHM

With --values cpu all tests pass. By default those fail that need what kernels compute, and ohm exec
names the lines that read it.
"""
import os
import re
import subprocess
import sys

PROJECT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "example_project")
NEEDS_NO_VALUES = {"test_training_stays_within_its_memory"}
PYTEST = ["python", "-m", "pytest", "-rA", "--tb=no", "-p", "no:cacheprovider"]


def run(ohm, *options):
    environment = {**os.environ, "LD_PRELOAD": "", "PYTHONDONTWRITEBYTECODE": "1"}
    ended = subprocess.run([ohm, "exec", "--gpu", "t4-16g", *options, "--", *PYTEST], cwd=PROJECT,
                           env=environment, text=True, stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return ended.returncode, ended.stdout


def check(holds, what, output):
    if not holds:
        print(output)
        sys.exit(f"failed: {what}")


def tests_that(verdict, output):
    return set(re.findall(rf"^{verdict} \S+::(\w+)", output, re.MULTILINE))


def main():
    ohm = sys.argv[1]
    status, computed = run(ohm, "--values", "cpu")
    check(status == 0 and not tests_that("FAILED", computed), "all pass with values", computed)
    check("not computed" not in computed, "all values are computed", computed)
    status, default = run(ohm)
    check(status == 1 and tests_that("PASSED", default) == NEEDS_NO_VALUES,
          f"only {NEEDS_NO_VALUES} passes without values", default)
    check("shape at counting/training.py:13 depends on values that were not computed" in default,
          "the line that selects rows is named", default)
    print(f"{len(tests_that('PASSED', computed))} tests pass with values, "
          f"{len(NEEDS_NO_VALUES)} without")


if __name__ == "__main__":
    main()
