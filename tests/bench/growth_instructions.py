#!/usr/bin/env python3
"""How the instructions of growth_bench's scripts grow: the exponent that its seconds would have if
every access to memory took the same time. Other work on the machine does not change it.

    tests/bench/growth_instructions.py build/release/tests/bench/growth_bench [REGEX [N1 N2]]

The regular expression chooses curves; of each, all that growth_bench measures for N1 (16000) and for
N2 (96000) is counted. Valgrind counts (Debian's package valgrind), which takes a minute a curve. Exit
code 1: one grows faster than n^1.1.
"""

import math
import re
import subprocess
import sys

TIMED = "*processor_seconds_of*"
MOST = 1.1


def curves(program, chosen):
    listed = subprocess.run(
        [program, "--benchmark_list_tests"], capture_output=True, text=True, check=True
    )
    names = dict.fromkeys(line.split("/")[0] for line in listed.stdout.split())
    # Those of variants are times of several processes.
    return [name for name in names if re.search(chosen, name) and not name.startswith("variants")]


def instructions(program, curve, n):
    """Of what is timed, for n/8, n/4, n/2 and n together."""
    counted = subprocess.run(
        ["valgrind", "--tool=callgrind", "--collect-atstart=no", f"--toggle-collect={TIMED}"]
        + ["--callgrind-out-file=/dev/null", program, f"--benchmark_filter=^{curve}/{n}/"],
        capture_output=True,
        text=True,
        check=True,
    )
    return int(re.search(r"Collected : (\d+)", counted.stderr)[1])


def main():
    program = sys.argv[1]
    chosen = sys.argv[2] if len(sys.argv) > 2 else ""
    few, many = (int(n) for n in sys.argv[3:5]) if len(sys.argv) > 4 else (16000, 96000)
    worst = 0
    print(f"{'':<24} {'of one':>9}  exponent", flush=True)
    for curve in curves(program, chosen):
        counts = [instructions(program, curve, n) for n in (few, many)]
        # A sum of powers of n, n/2, … grows as the power of n does.
        exponent = math.log(counts[1] / counts[0]) / math.log(many / few)
        worst = max(worst, exponent)
        of_one = counts[1] / sum(many // part for part in (1, 2, 4, 8))
        print(f"{curve:<24} {of_one:>9,.0f}  {exponent:.3f}", flush=True)
    return 1 if worst > MOST else 0


if __name__ == "__main__":
    sys.exit(main())
