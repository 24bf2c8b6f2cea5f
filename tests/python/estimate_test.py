#!/usr/bin/env python3
"""ohm.estimate() and ohm.fit() with a stock wheel of PyTorch.

    estimate_test.py PRELOAD [unittest's arguments]
"""
import os
import subprocess
import sys
import unittest

from sessions import IS_INSTALLED, PYTHON_FOLDER, package_path

sys.argv.pop(1)
if not IS_INSTALLED:
    sys.path.insert(0, PYTHON_FOLDER)
os.environ.pop("LD_PRELOAD", None)
os.environ["PYTHONPATH"] = package_path()

import ohm

MiB = 1 << 20
PROGRAM = "import sys, torch; torch.zeros(int(sys.argv[2]) << 20, dtype=torch.uint8, device='cuda')"


def allocate(mib, keep=0):
    import torch

    held = torch.zeros(keep * MiB, dtype=torch.uint8, device="cuda")
    return torch.zeros(mib * MiB, dtype=torch.uint8, device="cuda"), held


def fails():
    raise ValueError("as it should")


def reads_unknown():
    import torch

    x = torch.randn(1000, device="cuda")
    torch.zeros(int((x @ x).item()), device="cuda")


def uses_no_gpu():
    pass


class Estimates(unittest.TestCase):
    def test_are_the_figures_of_the_allocator(self):
        estimate = ohm.estimate(allocate, args=(8,), kwargs={"keep": 4}, gpu="l4-24g")
        self.assertEqual((True, 12 * MiB, "l4-24g"),
                         (estimate.fits, estimate.peak_allocated_bytes, estimate.gpu))
        self.assertGreaterEqual(estimate.peak_reserved_bytes, 12 * MiB)
        self.assertEqual([8 * MiB, 4 * MiB], [row.bytes for row in estimate.live])
        self.assertEqual("estimate_test.py", os.path.basename(estimate.live[0].file))
        self.assertIn("fits on l4-24g: peak 12.00 MiB allocated", estimate._repr_html_())

    def test_say_what_does_not_fit(self):
        estimate = ohm.estimate(allocate, args=(64,), kwargs={"keep": 4}, gpu="l4-24g", capacity="1 GiB")
        self.assertTrue(estimate.fits, estimate)
        estimate = ohm.estimate(allocate, args=(600,), kwargs={"keep": 4}, gpu="l4-24g", capacity="1 GiB")
        self.assertFalse(estimate.fits)
        self.assertIn("CUDA out of memory. Tried to allocate 600.00 MiB", estimate.error)
        self.assertEqual([4 * MiB], [row.bytes for row in estimate.live])

    def test_report_errors_with_their_line(self):
        with self.assertRaisesRegex(ohm.OhmError, r"^ValueError: as it should \(.*estimate_test\.py:\d+\)"):
            ohm.estimate(fails)
        with self.assertRaisesRegex(ohm.OhmError, 'unknown profile "no-such"'):
            ohm.estimate(uses_no_gpu, gpu="no-such")
        with self.assertRaisesRegex(ValueError, "not '2 GB'"):
            ohm.estimate(uses_no_gpu, capacity="2 GB")

    def test_mark_what_depends_on_unknown_values(self):
        estimate = ohm.estimate(reads_unknown)
        self.assertRegex(" ".join(estimate.unknown_values), r"estimate_test\.py:\d+")
        self.assertEqual([], ohm.estimate(reads_unknown, values="cpu").unknown_values)

    def test_of_a_function_without_a_gpu_are_zero(self):
        estimate = ohm.estimate(uses_no_gpu)
        self.assertEqual((True, 0, []), (estimate.fits, estimate.peak_allocated_bytes, estimate.live))

    def test_reject_what_cannot_be_sent(self):
        hidden = {"cloudpickle": None}  # not to be imported
        before = sys.modules.get("cloudpickle")
        sys.modules.update(hidden)
        try:
            with self.assertRaisesRegex(TypeError, "move it into a module, or install cloudpickle"):
                ohm.estimate(lambda: None)
        finally:
            del sys.modules["cloudpickle"]
            if before is not None:
                sys.modules["cloudpickle"] = before
        with self.assertRaisesRegex(TypeError, "a function is needed"):
            ohm.estimate(7)
        with self.assertRaisesRegex(TypeError, "the arguments cannot be sent"):
            ohm.estimate(allocate, args=(lambda: None,))

    def test_do_not_run_the_script_again(self):
        script = ("import ohm\ndef f():\n    import torch\n    torch.ones(4, device='cuda')\n"
                  "if __name__ == '__main__':\n    print(ohm.estimate(f).peak_allocated_bytes)\n")
        path = os.path.join(os.environ.get("TMPDIR", "/tmp"), f"ohm_estimate_{os.getpid()}.py")
        with open(path, "w") as file:
            file.write(script)
        self.addCleanup(os.remove, path)
        said = subprocess.run([sys.executable, path], text=True, stdout=subprocess.PIPE)
        self.assertEqual("512\n", said.stdout)


class Fits(unittest.TestCase):
    def test_find_the_largest_value(self):
        fit = ohm.fit([sys.executable, "-c", PROGRAM, "--mib", "{mib}"], vary="mib=1..40000", gpu="l4-24g")
        self.assertIn("out of memory", fit.rows[0].why_not)
        self.assertEqual(fit.value + 1, fit.rows[0].next_value)
        self.assertEqual(fit.value << 20, fit.rows[0].peak_allocated_bytes)
        self.assertIn("l4-24g", fit._repr_html_())


if __name__ == "__main__":
    unittest.main()
