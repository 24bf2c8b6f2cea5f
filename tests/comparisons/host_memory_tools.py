#!/usr/bin/env python3
"""What it costs a program of the distribution to have its host memory recorded: by `ohm exec --memory
host`, heaptrack and Valgrind's massif (Debian's packages heaptrack and valgrind), in one run.

    host_memory_tools.py OHM [TURNS]

Prints processor seconds, of the program and the tool, the medians of so many turns (5), and the peak
that each has seen: of malloc and its like, with ohm of anonymous pages, too. Turns go round, so that
other work on the machine falls on all of them.
"""
import glob
import json
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

STATEMENTS = ("create table t (a integer primary key, b text);\n"
              + "".join(f"insert into t values ({i}, 'name {i % 97}');\n" for i in range(3000))
              + "select b, count(*) from t group by b order by 2 desc, 1 limit 3;\n")

PROGRAMS = {
    "ls -l": ["ls", "-l", "/usr/bin"],
    "sqlite3": ["sqlite3", ":memory:", ".read query.sql"],
    "python3": ["/usr/bin/python3", "-S", "-c", "print(len([str(i) for i in range(200000)]))"],
}


def commands(ohm):
    return {
        "alone": [],
        "ohm": [ohm, "exec", "--memory", "host", "--report", "json=ohm.json", "--"],
        "heaptrack": ["heaptrack", "--output", "heaptrack.out"],
        "massif": ["valgrind", "--quiet", "--tool=massif", "--massif-out-file=massif.out"],
    }


def seconds_of(words):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def peak_of_ohm():
    with open("ohm.json") as file:
        variant = json.load(file)["scenarios"][0]["variants"][0]
    return f"{variant['host']['peak_allocated_bytes']:,} B"


def peak_of_heaptrack():
    [path] = glob.glob("heaptrack.out*")
    text = subprocess.run(["heaptrack_print", path], capture_output=True, text=True).stdout
    os.remove(path)
    return re.search(r"peak heap memory consumption: (\S+)", text).group(1)


def peak_of_massif():
    with open("massif.out") as file:
        return f"{max(int(size) for size in re.findall(r'mem_heap_B=([0-9]+)', file.read())):,} B"


PEAKS = {"ohm": peak_of_ohm, "heaptrack": peak_of_heaptrack, "massif": peak_of_massif}


def main():
    ohm = os.path.abspath(sys.argv[1])
    turns = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with open("query.sql", "w") as file:
            file.write(STATEMENTS)
        for name, program in PROGRAMS.items():
            seconds = {}
            for _ in range(turns):
                for path in glob.glob("heaptrack.out*"):
                    os.remove(path)
                for tool, words in commands(ohm).items():
                    if words and shutil.which(words[0]) is None:
                        continue
                    seconds.setdefault(tool, []).append(seconds_of(words + program))
            for tool, each in seconds.items():
                peak = PEAKS[tool]() if tool in PEAKS else ""
                print(f"{name:10} {tool:10} {statistics.median(each):8.3f} s  {peak}", flush=True)


main()
