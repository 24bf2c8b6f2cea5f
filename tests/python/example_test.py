#!/usr/bin/env python3
"""The example project (python/example) fails and passes as expected; docs/pytest.md shows two tests.

    example_test.py PRELOAD [--approve]

The page's transcript is of PyTorch 2.15.0; another version has the same outcomes. --approve writes it.
"""
import importlib.metadata
import os
import re
import shutil
import sys

from sessions import GPU, Folder

CHECKOUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
PAGE = os.path.join(CHECKOUT, "docs", "pytest.md")
SHOWN = "freed or little"
BEGIN, END = f'$ pytest --ohm-gpu l4-24g -k "{SHOWN}"\n', "```\n"
VERSION = "2.15.0"
OUTCOMES = {"test_features_are_freed": "PASSED", "test_prediction_needs_little_memory": "FAILED",
            "test_adamw_fits_beside_the_model": "FAILED", "test_validation_does_not_grow": "FAILED",
            "test_training_is_clean": "PASSED"}


def shown(output):
    """What is the same on every machine: from the first error to the end."""
    first = output.index("=", output.index("[100%]") + 8)
    # As many signs of equality as the time that the session took leaves room for.
    text = re.sub(r"^=+ (.+) in [0-9.]+s( \([0-9:]+\))? =+$", r"===== \1 =====", output[first:].rstrip(),
                  flags=re.MULTILINE)
    return "\n".join(line.rstrip() for line in text.splitlines()
                     if not line.startswith(("PASSED", "--- generated", "- generated", "-"))) + "\n"


def main():
    folder = Folder()
    for name in ("classifier.py", "test_memory.py"):
        shutil.copy(os.path.join(CHECKOUT, "python", "example", name), folder.path)
    outcomes = folder.run(*GPU, "-q")
    if outcomes.outcomes != OUTCOMES or "ERROR test_memory.py::test_features_are_freed" not in outcomes.output:
        sys.exit(f"{outcomes.output}\nfailed: the outcomes are {outcomes.outcomes}")
    if not importlib.metadata.version("torch").startswith(VERSION):
        print("the outcomes are as expected")
        return
    session = folder.run(*GPU, "-r", "fE", "-k", SHOWN)
    with open(PAGE) as file:
        page = file.read()
    begin = page.index(BEGIN) + len(BEGIN)
    end = page.index(END, begin)
    if "--approve" in sys.argv:
        with open(PAGE, "w") as file:
            file.write(page[:begin] + shown(session.output) + page[end:])
    elif page[begin:end] != shown(session.output):
        sys.exit(f"{shown(session.output)}\nfailed: docs/pytest.md shows something else; "
                 "example_test.py --approve writes it")
    else:
        print("docs/pytest.md shows what is printed")


if __name__ == "__main__":
    main()
