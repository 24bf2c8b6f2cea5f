#!/usr/bin/env python3
"""When Python restarts as pytest on a virtual GPU (ohm._testing.restarting).

    restarting_test.py [unittest's arguments]
"""
import os
import sys
import unittest

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


if __name__ == "__main__":
    unittest.main()
