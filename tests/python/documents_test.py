#!/usr/bin/env python3
"""The examples of docs/python.md run, and print what stands there.

    documents_test.py PRELOAD [--approve]
"""
import importlib.metadata
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile

from sessions import package_path

CHECKOUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
PAGE = os.path.join(CHECKOUT, "docs", "python.md")
SNAPSHOT = os.path.join(CHECKOUT, "tests", "golden", "snapshots", "linear_no_grad.pickle")
VERSION = "2.15.0"  # whose output the page shows


def run(program, folder):
    path = os.path.join(folder, "program.py")
    with open(path, "w") as file:
        file.write(program)
    environment = {**os.environ, "LD_PRELOAD": "", "PYTHONPATH": package_path()}
    return subprocess.run([sys.executable, "program.py"], cwd=folder, env=environment, text=True,
                          check=True, stdout=subprocess.PIPE).stdout


def main():
    with open(PAGE) as file:
        page = file.read()
    estimate, columns = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(SNAPSHOT, os.path.join(folder, "job.pickle"))
        said = run(estimate, folder)
        if importlib.util.find_spec("numpy"):
            print(run(columns, folder), end="")
    output = re.search(r"```text\n(.*?)```", page, re.DOTALL)
    if "--approve" in sys.argv:
        with open(PAGE, "w") as file:
            file.write(page[:output.start(1)] + said + page[output.end(1):])
    elif importlib.metadata.version("torch").startswith(VERSION) and said != output[1]:
        sys.exit(f"{said}\nfailed: docs/python.md shows something else; --approve writes it")
    print(said, end="")


if __name__ == "__main__":
    main()
