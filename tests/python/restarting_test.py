#!/usr/bin/env python3
"""When Python restarts as pytest on a virtual GPU (ohm._testing.restarting).

    restarting_test.py [unittest's arguments]
"""
import os
import sys
import unittest
from unittest import mock

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python"))
from ohm._testing import restarting  # noqa: E402


class CommandLines(unittest.TestCase):
    def test_pytest_is_a_module_or_a_script(self):
        for words, first in ((["python", "-m", "pytest", "-q"], 3),
                             (["python", "-W", "error", "-X", "dev", "-m", "pytest"], 7),
                             (["/usr/bin/python3", "/venv/bin/pytest", "-q"], 2),
                             (["python", "-B", "bin/py.test"], 3)):
            self.assertEqual(restarting.first_argument(words), first, words)

    def test_anything_else_is_left_alone(self):
        for words in (["python"], ["python", "-c", "pytest"], ["python", "-m", "unittest"],
                      ["python", "tool.py", "pytest"], ["python", "-"], ["python", "-m"]):
            self.assertIsNone(restarting.first_argument(words), words)

    def test_the_last_value_of_an_option_counts(self):
        arguments = ["--ohm-gpu=a", "-q", "--ohm-gpu", "b"]
        self.assertEqual(restarting.option(arguments, "--ohm-gpu"), "b")
        self.assertIsNone(restarting.option(arguments, "--ohm-values"))
        self.assertIsNone(restarting.option(["--ohm-gpu"], "--ohm-gpu"))


class Early(unittest.TestCase):
    """`true` and `false` stand for an ohm that accepts the options, or refuses them."""

    def restarted(self, words, ohm="/bin/true", **variables):
        with mock.patch.dict(os.environ, variables, clear=True), \
                mock.patch.object(sys, "orig_argv", words, create=True), \
                mock.patch.object(restarting, "command_path", lambda: ohm), \
                mock.patch.object(os, "execv") as execv:
            restarting.early()
            return execv.call_args and execv.call_args[0][1], dict(os.environ)

    def test_the_same_command_line_runs_under_ohm_exec(self):
        words = ["python", "-m", "pytest", "-q", "--ohm-gpu", "l4-24g", "--ohm-values=none"]
        command, variables = self.restarted(words, OMP_NUM_THREADS="4")
        self.assertEqual(command, ["/bin/true", "exec", "--no-record", "--gpu", "l4-24g", "--values",
                                   "none", "--", sys.executable, *words[1:]])
        self.assertEqual(variables["OMP_NUM_THREADS"], "4")
        self.assertEqual(variables["MKL_NUM_THREADS"], "1")

    def test_what_it_set_can_be_undone(self):
        _, variables = self.restarted(["python", "pytest", "--ohm-gpu=l4-24g"], OMP_NUM_THREADS="4")
        with mock.patch.dict(os.environ, variables, clear=True):
            restarting.undo_early()
            self.assertEqual(dict(os.environ), {"OMP_NUM_THREADS": "4"})

    def test_what_is_not_plain_is_left_to_the_plugin(self):
        words = ["python", "pytest", "--ohm-gpu", "l4-24g"]
        self.assertIsNone(self.restarted(words, ohm="/bin/false")[0])
        self.assertIsNone(self.restarted(words, ohm="/nowhere/ohm")[0])
        self.assertIsNone(self.restarted(words, OHM_GPU="t4-16g")[0])
        self.assertIsNone(self.restarted([*words[:2], "--ohm-gpu"])[0])
        self.assertIsNone(self.restarted(["python", "tool.py", *words[2:]])[0])


if __name__ == "__main__":
    unittest.main()
