#!/usr/bin/env python3
"""The rule of the user's files in Python is that of C++ (tests/reports/text/user_files_test.cpp).

    user_files_test.py FOLDER    # harness/record
"""
import os
import sys
import tempfile

sys.path.insert(0, sys.argv[1])
import ohm_user_files as user_files
from ohm_user_files import ELSEWHERE, LIBRARY, OWN, UserFiles

CASES = [
    (["/home/me/project"], "/home/me/project/train.py", OWN),
    (["/home/me/project"], "/home/me/project/third_party/layers.py", OWN),
    (["/home/me/project"], "/home/me/projects/train.py", ELSEWHERE),
    (["/home/me/project"], "/tmp/torchinductor_me/ab/cab.py", ELSEWHERE),
    (["/home/me/project/"], "/home/me/project/.venv/lib/python3.11/site-packages/timm/v.py",
     LIBRARY),
    (["/home/me/project/"], "/home/me/project/env/lib/python3.11/contextlib.py", LIBRARY),
    (["/data/torch"], "/data/torch/train.py", OWN),
    (["/home/me/project"], "/tmp/ipykernel_12/34.py", OWN),
    (["/home/me/project"], "<frozen runpy>", LIBRARY),
    (["/home/me/project"], "<string>", ELSEWHERE),
    ([], "/anywhere/train.py", OWN),
    ([], "/usr/lib/python3.11/runpy.py", LIBRARY),
    ([], os.path.join(user_files.OWN_FOLDER, "ohm_known.py"), LIBRARY),
]


def check_ownership():
    for folders, path, expected in CASES:
        found = UserFiles(folders).ownership(path)
        assert found == expected, (folders, path, found)


def check_named():
    files = UserFiles(["/repo"])
    stack = ["/venv/lib/python3.11/site-packages/torch/f.py", "/opt/l/cache.py", "/repo/t.py"]
    assert files.named(stack, lambda path: path) == "/repo/t.py"
    assert files.named(stack[:2], lambda path: path) == "/opt/l/cache.py"
    assert files.named(stack[:1], lambda path: path) is None


def check_folders():
    with tempfile.TemporaryDirectory() as folder:
        folder = os.path.realpath(folder)
        os.makedirs(os.path.join(folder, "repo", ".git"))
        os.makedirs(os.path.join(folder, "repo", "jobs"))
        os.makedirs(os.path.join(folder, "other"))
        script = os.path.join(folder, "other", "train.py")
        with open(script, "w", encoding="utf-8"):
            pass
        repository = os.path.join(folder, "repo")
        jobs = os.path.join(repository, "jobs")
        assert user_files.user_folders(jobs, "-c") == [repository]
        assert user_files.user_folders(jobs, script) == [repository, os.path.join(folder, "other")]
        assert user_files.user_folders("", "") == []


check_ownership()
check_named()
check_folders()
