#!/usr/bin/env python3
"""Gates of a small project in a repository, over its pull requests: one adds a training step, one
leaks a little in each step, one renames a function, one grows inside of a library.

    check_gates.py OHM
"""
import json
import os
import subprocess
import sys
import tempfile

TRAIN = """\
import torch
from layers import cache

kept = []


def train(steps):
    model = torch.nn.Linear(1024, 1024, device="cuda")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(steps):
        batch = torch.zeros(256, 1024, device="cuda")
        held = cache.cached(batch)
        loss = model(batch).sum()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=False)


train(6)
"""
LIBRARY = """\
import torch


def cached(batch):
    return torch.zeros(4, *batch.shape, device="cuda")
"""
BASELINE = "memory.json"


class Project:
    """A repository, whose library is installed in an environment within it."""

    def __init__(self, ohm, folder):
        self.ohm, self.folder = ohm, folder
        self.library = os.path.join(folder, ".venv", "lib", "python3", "site-packages")
        os.makedirs(os.path.join(self.library, "layers"))
        os.makedirs(os.path.join(folder, ".git"))
        self.write(TRAIN, LIBRARY)

    def write(self, train=TRAIN, library=LIBRARY):
        for path, text in (("train.py", train),
                           (os.path.join(self.library, "layers", "cache.py"), library),
                           (os.path.join(self.library, "layers", "__init__.py"), "")):
            with open(os.path.join(self.folder, path), "w", encoding="utf-8") as file:
                file.write(text)

    def run(self, *options, command=("python", "train.py"), within="."):
        environment = {**os.environ, "LD_PRELOAD": "", "PYTHONDONTWRITEBYTECODE": "1",
                       "PYTHONPATH": self.library, "GITHUB_ACTIONS": "true",
                       "GITHUB_WORKSPACE": self.folder}
        ended = subprocess.run(
            [self.ohm, "exec", "--gpu", "t4-16g", *options, "--", *command],
            cwd=os.path.join(self.folder, within), env=environment, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        # Lines are wrapped at the width of a terminal.
        return ended.returncode, " ".join(ended.stdout.split())

    def read(self, name):
        with open(os.path.join(self.folder, name), encoding="utf-8") as file:
            return file.read()


def check(holds, what, output):
    if not holds:
        print(output)
        sys.exit(f"failed: {what}")


def line_of(text, part):
    return 1 + text[:text.index(part)].count("\n")


def check_more_steps(project):
    project.write(TRAIN.replace("train(6)", "train(7)"))
    status, output = project.run("--baseline", BASELINE)
    check(status == 0 and "larger, but not judged: steps +1" in output,
          "one more step fails nothing", output)
    status, output = project.run("--baseline", BASELINE, "--measure", "steps")
    check(status == 1, "one more step fails where steps are measured", output)


def check_leak(project):
    leaking = TRAIN.replace("        loss = model", "        kept.append(torch.zeros(256, device="
                            "'cuda'))\n        loss = model")
    project.write(leaking)
    line = line_of(leaking, "kept.append")
    reports = ("--report", "codequality=quality.json", "--report", "junit=junit.xml",
               "--report", "markdown=comment.md")
    status, output = project.run("--baseline", BASELINE, *reports)
    check(status == 1 and "growth_bytes_per_step +1.00 KiB" in output, "a leak fails", output)
    check(f"::error file=train.py,line={line}," in output, "its line is annotated", output)
    issue = json.loads(project.read("quality.json"))[0]
    check(issue["location"] == {"path": "train.py", "lines": {"begin": line}},
          "code quality names the line", issue)
    check(f'file="train.py" line="{line}"' in project.read("junit.xml"), "JUnit names it", output)
    check(f"`train.py:{line}`" in project.read("comment.md"), "the comment has it", output)
    status, output = project.run("--gate", "growth_bytes_per_step == 0")
    cause = output.find(f"1.00 KiB train.py:{line}")
    finding = output.find("explained by")
    check(status == 1 and cause >= 0 and (finding < 0 or cause < finding),
          "what grows comes first", output)


def check_renamed(project):
    project.write("\n\n" + TRAIN.replace("train(", "run_training("))
    status, output = project.run("--baseline", BASELINE)
    check(status == 0, "another name, and lines that move, fail nothing", output)


def check_library(project):
    project.write(library=LIBRARY.replace("(4,", "(64,"))
    line = line_of(TRAIN, "cache.cached")
    status, output = project.run("--baseline", BASELINE)
    check(status == 1 and "peak_allocated_bytes +" in output, "a library's growth fails", output)
    check(f"::error file=train.py,line={line}," in output,
          "the line that calls the library is annotated", output)
    status, output = project.run("--baseline", BASELINE, "--tolerance", "1000")
    check(status == 0, "it is within a large tolerance", output)


def check_peak(project):
    project.write()
    status, output = project.run("--gate", "peak_allocated_bytes < 1 MiB")
    line = line_of(TRAIN, "torch.nn.Linear")
    check(status == 1 and "alive at the peak of cuda:0" in output and f"train.py:{line}" in output,
          "a broken limit names what was alive", output)


def check_other_folder(project):
    os.makedirs(os.path.join(project.folder, "runs"))
    project.write(TRAIN.replace("train(6)", "train(6); torch.zeros(1 << 34, device='cuda')"))
    line = line_of(TRAIN, "train(6)")
    status, output = project.run("--gate", "num_ooms == 0", within="runs",
                                 command=("python", "../train.py"))
    check(status == 1 and f"::error file=train.py,line={line}," in output,
          "the line is named from the top of the repository", output)


def main():
    with tempfile.TemporaryDirectory() as folder:
        project = Project(sys.argv[1], os.path.realpath(folder))
        status, output = project.run("--report", f"json={BASELINE}")
        check(status == 0, "the first run passes", output)
        for check_one in (check_more_steps, check_leak, check_renamed, check_library, check_peak,
                          check_other_folder):
            check_one(project)
    print("ordinary changes pass, and what grows is named in the repository")


if __name__ == "__main__":
    main()
