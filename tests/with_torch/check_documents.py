#!/usr/bin/env python3
"""Runs the commands of the documents that need PyTorch, with the Python that this is run by.

    check_documents.py DOCS_COMMANDS_TESTS
"""
import os
import subprocess
import sys

environment = {**os.environ, "OHM_TORCH_PYTHON": sys.executable}
del environment["LD_PRELOAD"]  # ohm exec preloads the library itself
test = subprocess.run([sys.argv[1], "--gtest_filter=*SaysWhatTheProgramDoes*"], env=environment)
sys.exit(test.returncode)
