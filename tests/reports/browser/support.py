"""What the tests of reports in a browser have in common.

Usage of each: TEST.py OHM SOURCE_DIR OUTPUT_DIR. Pages and screenshots stay in OUTPUT_DIR.
"""

import os
import subprocess
import sys
import unittest

from webdriver import missing_program

SKIPPED = 77  # what CTest takes for "skipped"

OHM, SOURCE, OUTPUT = (os.path.abspath(path) for path in sys.argv[1:4])
ARROW_LEFT, ARROW_RIGHT, HOME, END = "\ue012", "\ue014", "\ue011", "\ue010"
ARROW_UP, ARROW_DOWN, ENTER, ESCAPE = "\ue013", "\ue015", "\ue007", "\ue00c"


def run_ohm(*arguments):
    done = subprocess.run([OHM, *arguments], cwd=SOURCE, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"ohm {' '.join(arguments)}: {done.returncode}\n{done.stdout}{done.stderr}")


def column(text):
    return [int(word) for word in text.split()]


def human(count):
    for name, size in (("TiB", 2**40), ("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if count >= size:
            return f"{count / size:.2f} {name}"
    return f"{count} B"


def peak_of(variant):
    return max(device["peak_allocated_bytes"] for device in variant["devices"])


def written(name, text):
    """The path of a file in OUTPUT with this text."""
    path = os.path.join(OUTPUT, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def main():
    name = missing_program()
    if name is not None:
        print(f"skipped: {name} is not installed (Debian: chromium, chromium-driver)")
        sys.exit(SKIPPED)
    os.makedirs(OUTPUT, exist_ok=True)
    unittest.main(module="__main__", argv=sys.argv[:1], verbosity=2)
