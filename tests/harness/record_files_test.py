#!/usr/bin/env python3
"""The Python files that run in a user's process, without PyTorch.

    record_files_test.py FOLDER [unittest's arguments]    # harness/record
"""
import ast
import errno
import glob
import os
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

FOLDER = sys.argv.pop(1)
sys.path.insert(0, FOLDER)

# Reads a value in an expression that is a statement of its own.
READS = """
import sys
import ohm_uses

class Value:
    def item(self):
        global found
        found = ohm_uses.Uses().of_result(sys._getframe(1))

Value().item()
"""


def passed_on(count):
    """Source that passes a value through so many functions, to a branch."""
    functions = "".join(f"def step{n}(value):\n    return step{n + 1}(value)\n" for n in range(count))
    return functions + READS.replace("Value().item()\n", "") + (
        f"def step{count}(value):\n    return value\n"
        "if step0(Value().item()):\n    sys.modules.clear()\n")


class Files(unittest.TestCase):
    def test_are_python_3_9(self):
        paths = glob.glob(os.path.join(FOLDER, "*.py"))
        self.assertGreater(len(paths), 50)
        for path in paths:
            with open(path) as file:
                ast.parse(file.read(), path, feature_version=(3, 9))

    def test_follow_values_where_python_has_no_match_statement(self):
        match = ast.Match
        del ast.Match
        self.addCleanup(setattr, ast, "Match", match)
        sys.modules.pop("ohm_uses", None)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "reads.py")
            with open(path, "w") as file:
                file.write(READS)
            names = {}
            exec(compile(READS, path, "exec"), names)
        self.assertIsNone(names["found"])

    def test_follow_values_through_functions_as_far_as_python_can(self):
        for count, expected in ((3, "branch"), (400, "value")):
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "passes.py")
                with open(path, "w") as file:
                    file.write(passed_on(count))
                names = {}
                exec(compile(passed_on(count), path, "exec"), names)
            self.assertEqual(expected, names["found"])

    def test_let_programs_ask_for_hosts_that_cannot_be_noted(self):
        program = (f"import sys; sys.path.insert(0, {FOLDER!r}); import ohm_network\n"
                   "ohm_network.note_network(sys.argv[1])\n"
                   "sys.audit('socket.getaddrinfo', 'host.example', 80, 0, 0, 0)\n")
        with tempfile.TemporaryDirectory() as folder:
            for place in folder, os.path.join(folder, "gone"):
                subprocess.run([sys.executable, "-c", program, place], check=True)
            with open(os.path.join(folder, "network")) as file:
                self.assertEqual("host.example", file.read())


class Records(unittest.TestCase):
    """Of processes on a disk that is full."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def test_leave_a_mark_also_where_standard_error_is_closed(self):
        from ohm_record_files import RecordFolder

        full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        for stream in (None, open(os.devnull, "w")):
            if stream is not None:
                stream.close()
            record = RecordFolder(self.folder)
            with unittest.mock.patch.object(record, "_rename", side_effect=full), \
                    unittest.mock.patch.object(sys, "stderr", stream):
                self.assertRaises(OSError, record.write, "7.json", b"{}")
            self.assertEqual([f"7.json.unwritten-{errno.ENOSPC}"], os.listdir(self.folder))

    def test_of_jobs_leave_a_mark_also_where_standard_error_is_closed(self):
        program = ("import os, sys, unittest.mock, ohm_process\n"
                   "with unittest.mock.patch('os.replace', side_effect=OSError(28, 'full')):\n"
                   "    try: ohm_process.write_whole(sys.argv[1], b'')\n"
                   "    except OSError as error: sys.exit(error.errno)\n")
        names = os.path.join(self.folder, "names")
        os.mkdir(names)
        ended = subprocess.run(
            [sys.executable, "-c", f"import sys; sys.path.insert(0, {FOLDER!r}); sys.stderr = None\n"
             + program, os.path.join(self.folder, "memory.pickle")],
            env={**os.environ, "OHM_RECORD_NAMES": names})
        self.assertEqual(errno.ENOSPC, ended.returncode)
        self.assertEqual(1, len(os.listdir(names)))
        self.assertEqual(["names"], os.listdir(self.folder))


if __name__ == "__main__":
    unittest.main()
