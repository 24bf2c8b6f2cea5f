"""Sessions of pytest with the plugin, each in a folder of its own."""
import atexit
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

# Of tests/wheel/run: what is installed is tested, rather than the checkout.
IS_INSTALLED = bool(os.environ.get("OHM_TEST_INSTALLED"))
PYTHON_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python")
# The environment's own entry point names the plugin, too.
PLUGIN = () if IS_INSTALLED else ("-p", "ohm.pytest_plugin")
GPU = ("--ohm-gpu", "l4-24g")
CI_VARIABLES = ("CI", "BUILD_NUMBER")


def package_path():
    """PYTHONPATH, with which programs find the package."""
    folders = [] if IS_INSTALLED else [PYTHON_FOLDER]
    return os.pathsep.join([*folders, os.environ.get("PYTHONPATH", "")]).strip(os.pathsep)


class Session:
    """How it ended: the status, the output, the outcome of each test and JUnit's properties."""

    def __init__(self, status, output, properties):
        self.status = status
        self.output = output
        self.properties = properties  # name of the test -> name -> text
        self.outcomes = {}
        for outcome, test in re.findall(r"^(PASSED|FAILED|ERROR|SKIPPED|XFAIL) \S*?::([^\s]+)", output,
                                        re.MULTILINE):
            self.outcomes.setdefault(test.rpartition("::")[2], outcome)

    def figures(self):
        """The peak and what was left, of each test that used a GPU."""
        return {test: (int(row["ohm_peak_allocated_bytes"]), int(row["ohm_leaked_bytes"]))
                for test, row in self.properties.items() if "ohm_peak_allocated_bytes" in row}


class Folder:
    """With the files of a project."""

    def __init__(self, **files):
        self.path = tempfile.mkdtemp(prefix="ohm-plugin-test-")
        atexit.register(shutil.rmtree, self.path, ignore_errors=True)
        for name, text in files.items():
            self.write(f"{name}.py", text)

    def write(self, name, text):
        with open(os.path.join(self.path, name), "w") as file:
            file.write(text)

    def read(self, name):
        with open(os.path.join(self.path, name)) as file:
            return file.read()

    def run(self, *options, preload=None, command=("-m", "pytest")):
        """`preload`: the stand-in libraries without ohm exec, as a real GPU is seen.

        The same everywhere: pytest shortens its summary to the width of the terminal, but not in CI.
        """
        environment = {**{name: value for name, value in os.environ.items() if name not in CI_VARIABLES},
                       "COLUMNS": "80", "LD_PRELOAD": preload or "", "PYTHONDONTWRITEBYTECODE": "1",
                       "PYTHONPATH": package_path()}
        report = os.path.join(self.path, "junit.xml")
        ended = subprocess.run(
            [sys.executable, *command, *PLUGIN, "-rA", f"--junitxml={report}",
             *options], cwd=self.path, env=environment, text=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return Session(ended.returncode, ended.stdout, properties_in(report))


def properties_in(path):
    if not os.path.exists(path):
        return {}
    cases = xml.etree.ElementTree.parse(path).getroot().iter("testcase")
    return {case.get("name"): {row.get("name"): row.get("value") for row in case.iter("property")}
            for case in cases}
