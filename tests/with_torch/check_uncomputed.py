#!/usr/bin/env python3
"""Holds the list of operators without values (docs/values.md) to what this PyTorch has: kernels for the
GPU, none for the CPU, and no substitute.

    check_uncomputed.py RECORD_FOLDER

RECORD_FOLDER is harness/record of the build. To be started with libohm_preload.so preloaded
(tests/with_torch/run does). Prints what differs; exits 1 where anything does."""
import pathlib
import re
import sys

import torch

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/values.md"
COMPOSED = [f"Composite{kind}" for kind in
            ("ExplicitAutograd", "ImplicitAutograd", "ExplicitAutogradNonFunctional")]
# They return no tensor, or are AMD's.
LEFT_OUT = re.compile(r"_use_|miopen")


def uncomputed():
    from ohm_operators import MOVES_NOTHING, Operator
    from ohm_random import DRAWN
    from ohm_substitutes import SUBSTITUTES

    has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key
    for name in torch._C._dispatch_get_all_op_names():
        if not name.startswith("aten::") or not has_kernel(name, "CUDA"):
            continue
        if any(has_kernel(name, key) for key in ("CPU", *COMPOSED)):
            continue
        operator = Operator.named(torch, name, torch._C._parse_dispatch_key("CustomRNGKeyId"))
        if not ({operator.base, operator.full_name} & {*SUBSTITUTES, *DRAWN, *MOVES_NOTHING}
                or LEFT_OUT.search(operator.base)):
            yield operator.base


def listed():
    section = PAGE.read_text().split("## Operators without values")[1]
    return set(re.findall(r"`(_?[a-z]+_\w+)`", section))


def main():
    sys.path.insert(0, sys.argv[1])
    found, expected = set(uncomputed()), listed()
    for name in sorted(found ^ expected):
        print(f"{name} is {'not listed' if name in found else 'listed, and has values'}")
    sys.exit(1 if found != expected else 0)


if __name__ == "__main__":
    main()
