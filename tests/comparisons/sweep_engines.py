#!/usr/bin/env python3
"""Whether both engines of `ohm sweep -- COMMAND` come to the same verdicts: in copies of the program
that are made at the fault, and in a run of its own for each fault.

    sweep_engines.py OHM [--python PYTHON] [--only NAME]...

sweeps programs of the distribution for their host memory and, with a Python that has PyTorch,
training programs for the memory of their virtual GPU. Prints a line for each program, each verdict
that differs, and how many faults were judged in copies: where a copy would not do as the program
does, and where a verdict of a copy is not confirmed, faults have a run of their own with both.
Ends with 1 where verdicts differ.

A report names each bad verdict. Of the good ones it has how many there are of each kind, and at each
point how many reached no handler: both are compared, and so is what is said of recoveries that nothing
checks.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))

FILES = {
    "hello.c": "#include <stdio.h>\nint main(void) { return puts(\"hello\") < 0; }\n",
    "Makefile": "all: hello\nhello: hello.c\n\tcc -o $@ $<\n",
    "words": "".join(f"word{i * 7919 % 1000} {i}\n" for i in range(400)),
    "others": "".join(f"word{i * 7919 % 1000} {i}\n" for i in range(2, 402)),
    "query.sql": "create table t (a integer primary key, b text, c real);\n"
                 + "".join(f"insert into t values ({i}, 'name {i % 7}', {i}.5);\n"
                           for i in range(40))
                 + "create index names on t (b);\n"
                   "select b, count(*), sum(c) from t where a > 3 group by b order by 2 desc, 1;\n"
                   "with recursive n(x) as (select 1 union all select x + 1 from n where x < 50)\n"
                   "select x, group_concat(b) from n join t on t.a = n.x group by x % 5;\n"
                   "explain query plan select * from t where b = 'name 3';\n",
    "tables.lua": "local t = {}\nfor i = 1, 200 do t['k' .. i] = {i, tostring(i)} end\n"
                  "local n = 0\nfor _, v in pairs(t) do n = n + v[1] end\n"
                  "print(n, pcall(error, {}) , #string.rep('x', 1000))\n",
    "objects.py": "import re\n"
                  "class Node:\n"
                  "    def __init__(self, n):\n"
                  "        self.children = [Node(n - 1) for _ in range(n)]\n"
                  "def count(node):\n"
                  "    return 1 + sum(map(count, node.children))\n"
                  "try:\n"
                  "    print(count(Node(4)), re.sub('a+', 'b', 'caaat'), sorted({'x': 1, 'y': 2}))\n"
                  "except MemoryError:\n"
                  "    print('none left')\n",
    "lists.pl": "my %h; $h{$_ % 17} .= \"$_,\" for 1..300;\n"
                "print map { \"$_ $h{$_}\\n\" } sort { $a <=> $b } keys %h;\n",
}

# Of the distribution, and what of each is failed.
HOST_PROGRAMS = {
    "ls": (["ls", "-l", "."], "unique"),
    "sort": (["sort", "-k2", "-n", "words"], "unique"),
    "paste": (["paste", "-d,", "words", "others"], "unique"),
    "diff": (["diff", "words", "words"], "unique"),
    "grep": (["grep", "-cE", "w(o|x)rd1+[0-9]*", "words"], "unique"),
    "sed": (["sed", "-n", "s/word\\(1.*\\)/\\1/p", "words"], "unique"),
    "awk": (["awk", "{ n[$1]++ } END { for (k in n) s += n[k]; print s }", "words"], "sample=150"),
    "find": (["find", ".", "-name", "*.c", "-size", "-10k"], "unique"),
    "bash": (["bash", "-c", "x=(1 2 3); for i in ${x[@]}; do echo \"${i/2/two}\"; done"], "unique"),
    "tar": (["tar", "-cf", "-", "hello.c", "words"], "unique"),
    "make": (["make", "-n", "all"], "sample=200"),
    "git": (["git", "hash-object", "words"], "unique"),
    "curl": (["curl", "-s", "file:///etc/hostname"], "unique"),
    "sqlite3": (["sqlite3", ":memory:", ".read query.sql"], "unique"),
    "sqlite3, any": (["sqlite3", ":memory:", ".read query.sql"], "sample=300"),
    "lua": (["lua", "tables.lua"], "unique"),
    "perl": (["perl", "lists.pl"], "sample=200"),
    "python3": (["python3", "-S", "objects.py"], "unique"),
    "python3, any": (["python3", "-S", "objects.py"], "sample=300"),
    "gcc": (["gcc", "-fsyntax-only", "hello.c"], "unique"),
}

# Relative to the root of the project.
TORCH_PROGRAMS = {
    "adamw_retry": (["scenarios/pytorch/adamw_retry.py"], "all"),
    **{f"optimizers {row}": (["tests/with_torch/swept/optimizers.py", row], "unique")
       for row in ("SGD foreach", "Adam fused", "Adagrad plain", "RMSprop foreach")},
    **{f"recovery {row}": (["tests/with_torch/swept/recovery.py", row], "unique")
       for row in ("grad_scaler", "clip_grad_norm", "checkpointing", "halved_batch")},
}


class NotSwept(Exception):
    """It does not end well without faults."""


def swept(ohm, words, points, engine):
    """The only variant of the report, what was said beside it, and seconds."""
    start = time.monotonic()
    ended = subprocess.run([ohm, "sweep", "--json", "--points", points, "--form", "both",
                            "--engine", engine, *words], stdin=subprocess.DEVNULL,
                           capture_output=True, text=True)
    try:
        variant = json.loads(ended.stdout)["scenarios"][0]["variants"][0]
    except ValueError:
        sys.exit(f"{words}: there is no report: {ended.stdout}{ended.stderr}")
    if variant["error"]:
        raise NotSwept(variant["error"]["message"])
    return variant, ended.stderr, time.monotonic() - start


MOST_LINES = 20  # of what differs in one program


def without_names_of_the_run(text):
    return re.sub(r"0x[0-9a-fA-F]+|/tmp/[^ :'\"]*", "", text)


def found_in(variant, said):
    """What has to be the same, by a name for it."""
    found = {"said of recoveries": line for line in said.splitlines() if "recovered_same" in line}
    found |= {f"number of {name}": count for name, count in variant["verdicts"].items()}
    for failed in variant["failed"]:
        found[failed["plan"] or "without faults"] = (
            f"{failed['verdict']}: {without_names_of_the_run(failed['what'])}")
    for point in variant["points"]:
        found[f"unhandled at {point['point']}"] = point["unhandled"]
    return found


def differences(copies, runs):
    """Of what swept() returns."""
    of_copies, of_runs = found_in(*copies[:2]), found_in(*runs[:2])
    return [f"{name}: {of_copies.get(name, 'good')} in copies, {of_runs.get(name, 'good')} in runs"
            for name in sorted(of_copies.keys() | of_runs.keys())
            if of_copies.get(name) != of_runs.get(name)]


def runs_of_their_own(faults, said):
    """Of the faults that were to be judged in copies."""
    if "each failure gets its own run" in said:
        return faults
    told = re.search(r"(\d+) of \d+ faults needed their own run", said)
    return int(told.group(1)) if told else 0


class Total:
    def __init__(self):
        self.faults = self.in_copies = self.differing = 0
        self.not_swept = []

    def try_to_compare(self, ohm, name, words, points):
        try:
            self.compare(ohm, name, words, points)
        except NotSwept as error:
            print(f"{name:28} not swept: {error}", flush=True)
            self.not_swept.append(name)

    def compare(self, ohm, name, words, points):
        of_copies = swept(ohm, words, points, "fork")
        of_runs = swept(ohm, words, points, "exec")
        copies, said, copy_seconds = of_copies
        run_seconds = of_runs[2]
        alone = runs_of_their_own(copies["faults"], said)
        differing = differences(of_copies, of_runs)
        print(f"{name:28} {copies['faults']:6} faults, {copies['faults'] - alone:6} in copies, "
              f"{copy_seconds:7.1f} s and {run_seconds:7.1f} s"
              + (f", {len(differing)} differ" if differing else ""), flush=True)
        for line in said.splitlines() + differing[:MOST_LINES]:
            print(f"    {line[:200]}", flush=True)
        self.faults += copies["faults"]
        self.in_copies += copies["faults"] - alone
        self.differing += len(differing)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ohm")
    parser.add_argument("--python")
    parser.add_argument("--only", action="append", default=[])
    arguments = parser.parse_args()
    ohm = os.path.abspath(arguments.ohm)
    # Otherwise no two runs of them ask for the same.
    os.environ.update(PERL_HASH_SEED="0", PYTHONHASHSEED="0", LC_ALL="C.UTF-8")
    total = Total()

    def is_wanted(name):
        return not arguments.only or any(word in name for word in arguments.only)

    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, text in FILES.items():
            with open(name, "w") as file:
                file.write(text)
        for name, (words, points) in HOST_PROGRAMS.items():
            if not is_wanted(name):
                continue
            if shutil.which(words[0]) is None:
                print(f"{name:28} left out: there is no {words[0]} here")
                continue
            total.try_to_compare(ohm, name, ["--memory", "host", "--", *words], points)
        for name, (words, points) in TORCH_PROGRAMS.items():
            if arguments.python is None or not is_wanted(name):
                continue
            script = os.path.join(ROOT, words[0])
            total.try_to_compare(ohm, name, ["--memory", "device", "--", arguments.python, script,
                                             *words[1:]], points)
    print(f"{total.faults} faults, {total.in_copies} of them in copies: "
          f"{total.differing} differences")
    sys.exit(1 if total.differing or total.not_swept else 0)


if __name__ == "__main__":
    main()
