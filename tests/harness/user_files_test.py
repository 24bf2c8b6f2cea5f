#!/usr/bin/env python3
"""The rule of the user's files in Python is that of C++ (tests/reports/text/user_files_test.cpp).

    user_files_test.py FOLDER    # harness/record
"""
import os
import sys
import tempfile
import types

sys.path.insert(0, sys.argv[1])
import ohm_user_files as user_files
from ohm_sources import is_of_library
from ohm_sweep_places import Places
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
        # Above jobs/../../other lies folder, not jobs.
        beside = os.path.join(os.pardir, os.pardir, "other", "train.py")
        assert user_files.user_folders(jobs, beside) == [repository, os.path.join(folder, "other")]


def check_libraries():
    torch = types.SimpleNamespace(__file__="/src/pytorch/torch/__init__.py")
    for path, expected in (("/src/pytorch/torch/nn/modules/module.py", True),
                           ("/src/pytorch/torch_jobs/train.py", False),
                           ("/venv/lib/python3.11/site-packages/timm/v.py", True),
                           ("/usr/lib/python3/dist-packages/six.py", True),
                           ("/home/me/my-packages/train.py", False)):
        assert is_of_library(path, torch) == expected, path
    places = Places(torch)
    own = os.path.join(os.getcwd(), "my-packages", "train.py")
    assert places.name_of(own) == os.path.join("my-packages", "train.py"), places.name_of(own)
    assert not places.of_library(own)


check_ownership()
check_named()
check_folders()
check_libraries()
