#!/usr/bin/env python3
"""The Python package without PyTorch: what it imports, sizes, and the functions that need no GPU.

    package_test.py CHECKOUT [unittest's arguments]; $OHM_COMMAND is the command
"""
import ast
import glob
import importlib.util
import os
import pickle
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

CHECKOUT = sys.argv.pop(1)
from sessions import IS_INSTALLED, PYTHON_FOLDER, package_path

if not IS_INSTALLED:
    sys.path.insert(0, PYTHON_FOLDER)

import ohm
from ohm import _functions
from ohm._bytes import human_bytes, parse_bytes

SNAPSHOT = os.path.join(CHECKOUT, "tests", "golden", "snapshots", "linear_no_grad.pickle")
HAS_NUMPY = importlib.util.find_spec("numpy") is not None


def python(program):
    environment = {**os.environ, "PYTHONPATH": package_path()}
    return subprocess.run([sys.executable, "-c", program], env=environment, text=True, check=True,
                          stdout=subprocess.PIPE).stdout


class Package(unittest.TestCase):
    def test_is_imported_in_50_ms_without_numpy_and_torch(self):
        program = ("import sys, time; start = time.process_time(); import ohm; "
                   "print(time.process_time() - start); assert not {'torch', 'numpy'} & set(sys.modules)")
        self.assertLess(min(float(python(program)) for _ in range(3)), 0.05)

    def test_has_all_that_it_names(self):
        for name in ohm.__all__:
            self.assertTrue(getattr(ohm, name).__doc__, name)
            self.assertIn(name, dir(ohm))

    def test_is_python_3_9(self):
        files = glob.glob(os.path.join(CHECKOUT, "python", "ohm", "**", "*.py"), recursive=True)
        self.assertGreater(len(files), 20)
        for path in files:
            with open(path) as file:
                ast.parse(file.read(), path, feature_version=(3, 9))

    def test_has_files_of_400_lines_at_most(self):
        for path in glob.glob(os.path.join(CHECKOUT, "python", "**", "*.py"), recursive=True):
            with open(path) as file:
                self.assertLessEqual(len(file.readlines()), 400, path)


class Sizes(unittest.TestCase):
    def test_are_read_as_the_command_reads_them(self):
        for text, count in ((0, 0), (512, 512), ("512", 512), ("2 GiB", 2 << 30), ("1.5GiB", 3 << 29),
                            ("1kib", 1024), ("7 B", 7), (3.0, 3)):
            self.assertEqual(count, parse_bytes(text))

    def test_that_are_none_are_rejected(self):
        for size in (-1, 1.5, "2 GB", "", "x", "-1 MiB", None, True, float("nan"), float("inf")):
            with self.subTest(size=size), self.assertRaises(ValueError):
                parse_bytes(size)

    def test_are_printed_with_their_unit(self):
        self.assertEqual(["0 B", "1023 B", "1.00 KiB", "1.50 GiB", "-2.00 MiB", "2048.00 TiB"],
                         [human_bytes(n) for n in (0, 1023, 1024, 3 << 29, -(2 << 20), 2 << 50)])


class Functions(unittest.TestCase):
    """On their way to the process in which ohm.estimate() runs them."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def send(self, function, *args):
        _functions.write(os.path.join(self.folder, "call"), function, args, {})

    def test_of_a_module_are_called(self):
        made = os.path.join(self.folder, "made")
        self.send(os.makedirs, made)
        ended = subprocess.run([sys.executable, _functions.__file__, self.folder])
        self.assertEqual(0, ended.returncode, os.listdir(self.folder))
        self.assertTrue(os.path.isdir(made))

    def test_that_cannot_be_imported_are_named(self):
        with unittest.mock.patch.dict(sys.modules, cloudpickle=None):
            with self.assertRaisesRegex(TypeError, "^'Functions.*' cannot be imported by another"):
                self.send(lambda: None)
        with self.assertRaisesRegex(TypeError, "^the arguments cannot be sent"):
            self.send(print, lambda: None)


class Commands(unittest.TestCase):
    def test_list_gpus(self):
        by_name = {gpu.name: gpu for gpu in ohm.gpus()}
        self.assertEqual(42298834944, by_name["a100-40g"].capacity_bytes)
        self.assertEqual((8, 9), by_name["l4-24g"].compute_capability)
        self.assertIn("<td>l4-24g</td>", ohm.gpus()._repr_html_())

    def test_explain_a_message(self):
        text = ("CUDA out of memory. Tried to allocate 4.00 GiB. GPU 0 has a total capacity of 22.17 GiB "
                "of which 1.71 GiB is free.")
        self.assertIn("4.00 GiB", str(ohm.why(text)))
        self.assertEqual(str(ohm.why(RuntimeError(text)))[-200:], str(ohm.why(text))[-200:])
        self.assertIn("&lt;", ohm.Explanation("<b>")._repr_html_())

    def test_reject_what_is_no_input(self):
        with self.assertRaises(FileNotFoundError):
            ohm.why("no-such.log")
        with self.assertRaises(TypeError):
            ohm.replay(7)
        with self.assertRaises(FileNotFoundError):
            ohm.read_snapshot("no-such.pickle") if HAS_NUMPY else ohm.replay("no-such.pickle")
        with self.assertRaises(ohm.OhmError) as raised:
            ohm.replay(__file__)
        self.assertEqual(2, raised.exception.exit_code)

    def test_replay_a_snapshot(self):
        result = ohm.replay(SNAPSHOT, capacity=["1 MiB", "80 GiB"], conf="")
        self.assertEqual([True, False], sorted((run.fits for run in result.what_ifs), reverse=True))
        self.assertIn("out of memory", next(run for run in result.what_ifs if not run.fits).failure)
        with open(SNAPSHOT, "rb") as file:
            snapshot = pickle.load(file)
        self.assertEqual(result.what_ifs, ohm.replay(snapshot, capacity=["1 MiB", "80 GiB"],
                                                     conf="").what_ifs)

    def test_are_looked_for(self):
        program = "import os; os.environ.update(PATH='', OHM_COMMAND='/no/ohm'); import ohm; ohm.gpus()"
        ended = subprocess.run([sys.executable, "-c", program], text=True, stderr=subprocess.PIPE,
                               env={**os.environ, "PYTHONPATH": package_path()})
        self.assertIn("OhmError: /no/ohm cannot be run", ended.stderr)


@unittest.skipUnless(HAS_NUMPY, "skipped: there is no NumPy")
class Snapshots(unittest.TestCase):
    def test_are_read_as_pickle_reads_them(self):
        with open(SNAPSHOT, "rb") as file:
            expected = pickle.load(file)
        snapshot = ohm.read_snapshot(SNAPSHOT)
        for trace, events in zip(expected["device_traces"], snapshot.events):
            self.assertEqual(len(trace), len(events))
            for i, event in enumerate(trace):
                self.assertEqual((event["action"], event["addr"], event["size"], event["stream"]),
                                 (snapshot.actions[events.action[i]], events.address[i],
                                  events.bytes[i], events.stream[i]))
                frames = [(row["filename"], row["line"], row["name"]) for row in event["frames"]]
                self.assertEqual(frames, snapshot.frames(events.stack[i]))
        blocks = [block for segment in expected["segments"] for block in segment["blocks"]]
        self.assertEqual([block["size"] for block in blocks], snapshot.blocks.bytes.tolist())
        self.assertEqual(sum(row["total_size"] for row in expected["segments"]), snapshot.reserved_bytes)
        self.assertEqual(len(snapshot.events[0]), len(snapshot.allocated()))
        self.assertIn("<table>", snapshot._repr_html_())

    def test_without_events_have_empty_columns(self):
        snapshot = ohm.read_snapshot({"segments": [], "device_traces": [[]]})
        self.assertEqual((1, 0, 0), (len(snapshot.events), len(snapshot.events[0]), len(snapshot.blocks)))


if __name__ == "__main__":
    unittest.main()
